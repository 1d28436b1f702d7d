"""Probes of tensor copies: boxes narrower than their swizzle, boxes out of bounds, and reductions."""

from __future__ import annotations

import numpy as np

import ptx
from formats import FORMATS, decode, encode
from probe import Array, Probe, poisoned

_DUMP_BYTES = 4096
_THREADS = 128


def _load_body(threads: int) -> str:
    """Fills shared memory with 0xee, loads one box at (s_c0, s_c1), expecting s_bytes, and dumps the memory."""
    return f"""\
    shl.b32 %r1, %tid_x, 4;
    add.s32 %r1, %r1, %smem;
    mov.b32 %r2, 0xeeeeeeee;
    mov.b32 %r3, {_DUMP_BYTES // (16 * threads)};
FILL:
    st.shared.v4.b32 [%r1], {{%r2, %r2, %r2, %r2}};
    add.s32 %r1, %r1, {16 * threads};
    sub.s32 %r3, %r3, 1;
    setp.ne.s32 %p1, %r3, 0;
    @%p1 bra FILL;
    fence.proxy.async;
    add.s32 %r4, %smem, {_DUMP_BYTES};
    setp.ne.u32 %p2, %tid_x, 0;
    @%p2 bra READY;
    mbarrier.init.shared::cta.b64 [%r4], 1;
    fence.mbarrier_init.release.cluster;
READY:
    bar.sync 0;
    @%p2 bra ISSUED;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], %s_bytes;
    cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
        [%smem], [%map0, {{%s_c0, %s_c1}}], [%r4];
ISSUED:
{ptx.bounded_wait("%r4", 0, "%r10")}\
    @%p2 bra STORED;
{ptx.store_word("FLAG", 0, "%r10")}\
STORED:
    bar.sync 0;
{ptx.copy_from_shared("DUMP", _DUMP_BYTES, threads)}"""


def _load_probe(name, question, source: Array, tensor_map: dict, start, box_bytes: int, facts) -> Probe:
    arrays = {"X": (source.dtype, source.data.shape), "DUMP": ("i8", (_DUMP_BYTES,)), "FLAG": ("i32", (1,))}
    scalars = ["c0", "c1", "bytes"]
    return Probe(
        name=name,
        question=question,
        ptx=ptx.module(_load_body(_THREADS), list(arrays), scalars, maps=1, threads=_THREADS),
        record=ptx.record(arrays, scalars, [tensor_map], threads=_THREADS, shared_bytes=_DUMP_BYTES + 64),
        arguments={
            "X": source,
            "DUMP": poisoned("i8", _DUMP_BYTES),
            "FLAG": poisoned("i32", 1),
            "c0": start[0],
            "c1": start[1],
            "bytes": box_bytes,
        },
        outputs=("DUMP", "FLAG"),
        facts=facts,
    )


def narrow_box(inner: int, swizzle: int, rows: int = 16) -> Probe:
    """Row r of the source has the bytes 16 * (r % 16) + piece, each piece of 16 bytes, so a dump shows the way."""
    pieces = np.arange(256) // 16
    source = (np.arange(rows)[:, None] * 16 + pieces[None, :]).astype(np.uint8)

    def facts(outputs):
        dump = outputs["DUMP"].view(np.uint8).reshape(-1, 16)
        places = {}
        for at, piece in enumerate(dump):
            if piece[0] != 0xEE and (piece == piece[0]).all():
                places[f"row {piece[0] >> 4} piece {piece[0] & 15}"] = at * 16
        dense = all(
            at == (r * inner + 16 * p) ^ (((r * inner + 16 * p) >> 7) % (swizzle // 16) << 4)
            for r in range(rows)
            for p in range(inner // 16)
            if (at := places.get(f"row {r} piece {p}")) is not None
        )
        padded = all(
            at == (r * swizzle + 16 * p) ^ (((r * swizzle + 16 * p) >> 7) % (swizzle // 16) << 4)
            for r in range(rows)
            for p in range(inner // 16)
            if (at := places.get(f"row {r} piece {p}")) is not None
        )
        return {
            "wait completes": int(outputs["FLAG"][0]),
            "pieces found": len(places),
            "rows are dense": dense,
            "rows are padded to the swizzle": padded,
            "byte offset of each piece": places,
        }

    return _load_probe(
        f"narrow-box-{inner}-of-{swizzle}",
        f"where go the rows of a box {inner} bytes wide with a swizzle of {swizzle} bytes?",
        Array("i8", source.view(np.int8)),
        ptx.tensor_map(0, "u8", (inner, rows), swizzle),
        (0, 0),
        inner * rows,
        facts,
    )


_OUTSIDE = {
    "inside": (0, 0),
    "past the end of both": (48, 12),
    "wholly past the end of rows": (0, 16),
    "wholly past the end of columns": (64, 0),
    "before the start of both": (-8, -4),
    "wholly before": (-64, -8),
    "far away": (1 << 20, 1 << 20),
}


def outside_box(label: str) -> Probe:
    """A box of 64 x 8 bf16 of a 16 x 64 array whose element (r, c) is the bits 64 * r + c + 1."""
    start = _OUTSIDE[label]
    source = (np.arange(16)[:, None] * 64 + np.arange(64)[None, :] + 1).astype(np.uint16)

    def facts(outputs):
        tile = outputs["DUMP"].view(np.uint16)[:512].reshape(8, 64)
        expected = np.zeros((8, 64), np.uint16)
        for r in range(8):
            for c in range(64):
                row, column = r + start[1], c + start[0]
                if 0 <= row < 16 and 0 <= column < 64:
                    expected[r, c] = source[row, column]
        return {
            "wait for the whole box completes": int(outputs["FLAG"][0]),
            "elements that are not as expected (outside: 0)": int((tile != expected).sum()),
        }

    return _load_probe(
        "outside-box-" + label.replace(" ", "-"),
        f"how many bytes does a box {label} complete? start {start}",
        Array("bf16", source),
        ptx.tensor_map(0, "bf16", (64, 8)),
        start,
        64 * 8 * 2,
        facts,
    )


def _pairs(dtype: str, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Bits of addends: special ones, ties, subnormal sums, and random bits."""
    form = FORMATS[dtype]
    rng = np.random.default_rng(5)
    one, ulp = encode(1.0, dtype), 2.0**-form.mantissa
    smallest, largest = 1, form.infinity - 1
    sign = form.sign
    special = [
        (one, encode(ulp / 2, dtype)),
        (one, encode(ulp / 2 * 1.5, dtype)),
        (one + 1, encode(ulp / 2, dtype)),
        (one, encode(-ulp / 4, dtype)),
        (sign | one, encode(-ulp / 2 * 1.5, dtype)),
        (smallest, smallest),
        (smallest, 0),
        (sign | smallest, 0),
        (0, smallest * 5),
        (one, smallest),
        (1 << form.mantissa, sign | ((1 << form.mantissa) + 1)),
        (largest, largest),
        (largest, encode(2.0 ** (form.max_exponent - form.mantissa - 1), dtype)),
        (form.infinity, sign | form.infinity),
        (form.infinity, one),
        (form.infinity | 1, one),
        (form.infinity | sign | 3, one),
        (sign, 0),
        (sign, sign),
        (0, 0),
    ]
    left = rng.integers(0, 2 * sign, count, np.int64)
    right = rng.integers(0, 2 * sign, count, np.int64)
    near = rng.random(count) < 0.6  # the same exponent, or nearly: the sum then depends on rounding
    shift = rng.integers(-3, 4, count) << form.mantissa
    right = np.where(near, (left & ~((1 << form.mantissa) - 1)) + shift + (right & ((1 << form.mantissa) - 1)), right)
    right &= 2 * sign - 1
    for i, (a, b) in enumerate(special):
        left[i], right[i] = a, b
    return left, right


def reduction(dtype: str, tensor: bool) -> Probe:
    """Adds a tile in shared memory to an array, by cp.reduce.async.bulk with or without a tensor map."""
    form = FORMATS[dtype]
    rows, columns = 32, 128 // form.bytes
    total = rows * 128
    left, right = (bits.reshape(rows, columns) for bits in _pairs(dtype, rows * columns))
    storage = {"f32": np.float32, "f16": np.float16, "bf16": np.uint16}[dtype]
    unsigned = np.uint32 if form.bytes == 4 else np.uint16
    arrays = {"X": (dtype, left.shape), "S": (dtype, left.shape)}
    mode = {"f32": "f32", "f16": "noftz.f16", "bf16": "noftz.bf16"}[dtype]
    issue = (
        "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%map0, {%r1, %r1}], [%smem];"
        if tensor
        else f"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.{mode} [%X], [%smem], {total};"
    )
    body = f"""\
{ptx.copy_to_shared("S", total, _THREADS)}\
    fence.proxy.async;
    bar.sync 0;
    setp.ne.u32 %p1, %tid_x, 0;
    @%p1 ret;
    mov.b32 %r1, 0;
    {issue}
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
"""

    def facts(outputs):
        got = outputs["X"].view(unsigned).astype(np.int64)
        a, b = decode(left, dtype), decode(right, dtype)
        with np.errstate(all="ignore"):
            exact = a + b  # of f32: rounded to double first, which is harmless (53 >= 2 * 24 + 2)
        nan = np.isnan(exact)
        nearest = np.where(nan, got, encode(exact, dtype))
        tiny = (nearest & (form.sign - 1) & ~((1 << form.mantissa) - 1)) == 0
        tiny &= (nearest & (form.sign - 1)) != 0
        inputs_tiny = _is_subnormal(left, form) | _is_subnormal(right, form)
        wrong = (got != nearest) & ~nan
        listed = [
            f"{int(left[at]):#x} + {int(right[at]):#x} -> {int(got[at]):#x}, to nearest {int(nearest[at]):#x}"
            for at in list(zip(*np.nonzero(wrong), strict=True))[:12]
        ]
        return {
            "sums": int(got.size),
            "not rounded to nearest even": int(wrong.sum()),
            "of these with subnormal addends": int((wrong & inputs_tiny).sum()),
            "of these with subnormal sums": int((wrong & tiny).sum()),
            "subnormal sums": int(tiny.sum()),
            "of these stored as zero": int((tiny & ((got & (form.sign - 1)) == 0)).sum()),
            "bits of NaN": sorted({hex(int(v)) for v in got[nan]})[:8],
            "examples": listed,
        }

    maps = [ptx.tensor_map(0, dtype, (columns, rows))] if tensor else []
    return Probe(
        name=f"reduce-{'tensor' if tensor else 'bulk'}-{dtype}",
        question=f"how does cp.reduce.async.bulk{'.tensor' if tensor else ''} round a sum of {dtype}?",
        ptx=ptx.module(body, list(arrays), maps=len(maps), threads=_THREADS),
        record=ptx.record(arrays, maps=maps, threads=_THREADS, shared_bytes=total),
        arguments={
            "X": Array(dtype, left.astype(unsigned).view(storage)),
            "S": Array(dtype, right.astype(unsigned).view(storage)),
        },
        outputs=("X",),
        facts=facts,
    )


def _is_subnormal(bits, form):
    magnitude = bits & (form.sign - 1)
    return (magnitude != 0) & (magnitude < 1 << form.mantissa)


def probes() -> list[Probe]:
    narrow = [(32, 128), (64, 128), (16, 128), (32, 64), (16, 64), (16, 32), (128, 128)]
    return (
        [narrow_box(*sizes) for sizes in narrow]
        + [outside_box(label) for label in _OUTSIDE]
        + [reduction(dtype, tensor) for dtype in ("f32", "f16", "bf16") for tensor in (True, False)]
    )
