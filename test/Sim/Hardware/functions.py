"""Probes of approximate functions and conversions, over tables of inputs."""

from __future__ import annotations

import numpy as np

import ptx
from formats import FORMATS, decode, encode, exponent_of
from probe import Array, Probe

COUNT = 1 << 16
_THREADS = 256

#: Function -> (exact function of float64, where inputs are interesting).
_EXACT = {
    "ex2": (np.exp2, (-151.0, 129.0)),
    "lg2": (np.log2, (0.25, 4.0)),
    "rcp": (lambda x: 1.0 / x, (1.0, 2.0)),
    "rsqrt": (lambda x: 1.0 / np.sqrt(x), (1.0, 4.0)),
    "sqrt": (np.sqrt, (1.0, 4.0)),
    "tanh": (np.tanh, (-10.0, 10.0)),
    "sin": (np.sin, (-7.0, 7.0)),
    "cos": (np.cos, (-7.0, 7.0)),
}

_F32_OPCODES = [
    "ex2.approx.f32", "ex2.approx.ftz.f32", "lg2.approx.f32", "lg2.approx.ftz.f32", "rcp.approx.f32",
    "rcp.approx.ftz.f32", "rsqrt.approx.f32", "rsqrt.approx.ftz.f32", "sqrt.approx.f32", "tanh.approx.f32",
    "sin.approx.f32", "cos.approx.f32",
]  # fmt: skip
_PACKED_OPCODES = ["ex2.approx.f16x2", "tanh.approx.f16x2", "ex2.approx.ftz.bf16x2", "tanh.approx.bf16x2"]

_SPECIAL = {
    "0": 0, "-0": 0x80000000, "inf": 0x7F800000, "-inf": 0xFF800000, "nan": 0x7FC00000, "snan": 0x7F800001,
    "-nan": 0xFFC00001, "smallest": 1, "-smallest": 0x80000001, "largest subnormal": 0x007FFFFF,
    "-largest subnormal": 0x807FFFFF, "smallest normal": 0x00800000, "largest": 0x7F7FFFFF, "-largest": 0xFF7FFFFF,
    "1": 0x3F800000, "-1": 0xBF800000, "0.5": 0x3F000000, "2": 0x40000000, "128": 0x43000000, "-126": 0xC2FC0000,
    "-127": 0xC2FE0000, "-149": 0xC3150000, "-150": 0xC3160000, "2^126": 0x7E800000, "2^127": 0x7F000000,
}  # fmt: skip


def _spread(low: float, high: float) -> np.ndarray:
    """Bits of inputs: the special values, 64 of every sign and exponent, and as many between low and high."""
    rng = np.random.default_rng(7)
    mantissas = rng.integers(0, 1 << 23, (512, 64))
    mantissas[:, 0], mantissas[:, 1] = 0, (1 << 23) - 1
    bits = ((np.arange(512)[:, None] << 23) | mantissas).ravel()
    inner = rng.uniform(low, high, COUNT - bits.size).astype(np.float32).view(np.uint32)
    result = np.concatenate([bits, inner]).astype(np.uint32)
    result[-len(_SPECIAL) :] = list(_SPECIAL.values())
    return result


def _map_body(opcode: str, width: int, in_size: int = 4, out_size: int = 4) -> str:
    """Y[i] = opcode(X[i]) for each thread i."""
    load = {4: "ld.global.b32 %r3", 2: "ld.global.b16 %h3", 8: "ld.global.v2.b32 {%r3, %r4}"}[in_size]
    store = {4: "st.global.b32 [%rd2], %r5", 2: "st.global.b16 [%rd2], %h5"}[out_size]
    return f"""\
    mad.lo.u32 %r1, %cta_x, {width}, %tid_x;
    mul.wide.u32 %rd1, %r1, {in_size};
    add.s64 %rd1, %rd1, %X;
    mul.wide.u32 %rd2, %r1, {out_size};
    add.s64 %rd2, %rd2, %Y;
    {load}, [%rd1];
    {opcode};
    {store};
"""


def _table_probe(name: str, question: str, opcode: str, x: Array, y: Array, sizes, facts) -> Probe:
    threads_all = x.data.nbytes // sizes[0]
    arrays = {"X": (x.dtype, x.data.shape), "Y": (y.dtype, y.data.shape)}
    return Probe(
        name=name,
        question=question,
        ptx=ptx.module(_map_body(opcode, _THREADS, *sizes), list(arrays), threads=_THREADS),
        record=ptx.record(arrays, threads=_THREADS, programs=threads_all // _THREADS),
        arguments={"X": x, "Y": y},
        outputs=("Y",),
        facts=facts,
    )


def _errors(x_bits, y_bits, dtype: str, exact) -> dict:
    """How far results are from the exact ones, in units of the last place of the exact result."""
    form = FORMATS[dtype]
    x, y = decode(x_bits, dtype), decode(y_bits, dtype)
    with np.errstate(all="ignore"):
        true = exact(x)
    rounded = encode(true, dtype)
    finite = np.isfinite(true) & np.isfinite(y) & np.isfinite(decode(rounded, dtype))
    with np.errstate(all="ignore"):
        unit = np.ldexp(1.0, np.maximum(exponent_of(np.abs(true)), form.min_exponent) - form.mantissa)
        error = np.where(finite, np.abs(y - true) / unit, 0)
    worst = int(np.argmax(error))
    subnormal = finite & (np.abs(true) < 2.0**form.min_exponent) & (true != 0)
    normal = finite & ~subnormal & (np.abs(x) >= 2.0**form.min_exponent)
    return {
        "max error of normal results, ulp": round(float(error[normal].max(initial=0)), 4),
        "max error, ulp": round(float(error[worst]), 4),
        "at": f"{int(x_bits[worst]):#x} -> {int(y_bits[worst]):#x}, exact {int(rounded[worst]):#x}",
        "correctly rounded, of finite": f"{int((finite & (y_bits == rounded)).sum())} of {int(finite.sum())}",
        "subnormal results": int(subnormal.sum()),
        "of these zero": int((subnormal & (y == 0)).sum()),
        "finite only on one side": int(
            (np.isfinite(true) & np.isfinite(decode(rounded, dtype)) != np.isfinite(y)).sum()
        ),
        "bits of NaN": sorted({hex(int(v)) for v in y_bits[np.isnan(y)]})[:8],
    }


def f32_function(opcode: str) -> Probe:
    exact, (low, high) = _EXACT[opcode.split(".")[0]]
    x = _spread(low, high)

    def facts(outputs):
        y = outputs["Y"].view(np.uint32).astype(np.int64)
        special = dict(zip(_SPECIAL, (f"0x{int(v):08x}" for v in y[-len(_SPECIAL) :]), strict=True))
        return {**_errors(x.astype(np.int64), y, "f32", exact), "special values": special}

    return _table_probe(
        opcode,
        f"how exact is {opcode}?",
        f"{opcode} %r5, %r3",
        Array("i32", x.view(np.int32)),
        Array("i32", np.full(COUNT, -1, np.int32)),
        (4, 4),
        facts,
    )


def packed_function(opcode: str) -> Probe:
    """All inputs of a 16-bit type."""
    name, dtype = opcode.split(".")[0], opcode.split(".")[-1].removesuffix("x2")
    exact = _EXACT[name][0]
    x = np.arange(COUNT, dtype=np.uint16)

    def facts(outputs):
        return _errors(x.astype(np.int64), outputs["Y"].view(np.uint16).astype(np.int64), dtype, exact)

    return _table_probe(
        opcode,
        f"how exact is {opcode}?",
        f"{opcode} %r5, %r3",
        Array("i16", x.view(np.int16)),
        Array("i16", np.full(COUNT, -1, np.int16)),
        (4, 4),
        facts,
    )


def _conversion_facts(values, dtype: str, relu: bool):
    """Compares with rounding to nearest even and saturation to the largest finite number."""
    form = FORMATS[dtype]
    largest = float(decode(form.infinity - 1, dtype))
    nan = np.isnan(values)
    clipped = np.clip(np.where(nan, 0, values), 0.0 if relu else -largest, largest)
    expected = np.where(nan, -1, encode(clipped, dtype))

    def facts(outputs):
        got = outputs["Y"].view(np.uint8).astype(np.int64)
        wrong = np.nonzero((got != expected) & ~nan)[0]
        return {
            "conversions": int(got.size),
            "not rounded to nearest even and saturated": int(wrong.size),
            "examples": [
                f"{float(values[i])!r} -> {int(got[i]):#x}, expected {int(expected[i]):#x}" for i in wrong[:12]
            ],
            "bits of NaN": sorted({hex(int(v)) for v in got[nan]}),
        }

    return facts


def narrowing_from_f32(dtype: str, relu: bool) -> Probe:
    """All numbers with 16 significant leading bits, and those just above and below each."""
    high = np.arange(1 << 16, dtype=np.uint32) << 16
    x = np.concatenate([high, high | 1, high | 0x8000, high | 0xFFFF]).astype(np.uint32)
    suffix = ".relu" if relu else ""
    values = decode(x.astype(np.int64), "f32")
    return _table_probe(
        f"cvt-f32-{dtype}{suffix.replace('.', '-')}",
        f"does cvt.rn.satfinite{suffix}.{dtype}x2.f32 round as expected?",
        f"cvt.rn.satfinite{suffix}.{dtype}x2.f32 %h5, %r4, %r3",
        Array("i32", x.view(np.int32)),
        Array("i8", np.full(x.size, -18, np.int8)),
        (8, 2),
        _conversion_facts(values, dtype, relu),
    )


def narrowing_from_f16(dtype: str) -> Probe:
    x = np.arange(COUNT, dtype=np.uint16)
    return _table_probe(
        f"cvt-f16-{dtype}",
        f"does cvt.rn.satfinite.{dtype}x2.f16x2 round as expected, for all inputs?",
        f"cvt.rn.satfinite.{dtype}x2.f16x2 %h5, %r3",
        Array("i16", x.view(np.int16)),
        Array("i8", np.full(COUNT, -18, np.int8)),
        (4, 2),
        _conversion_facts(decode(x.astype(np.int64), "f16"), dtype, False),
    )


def widening(dtype: str) -> Probe:
    """All pairs with the low byte running through all values."""
    x = (np.arange(256) | (np.arange(256)[::-1] << 8)).astype(np.uint16)
    values = decode(x.view(np.uint8).astype(np.int64), dtype)

    def facts(outputs):
        got = outputs["Y"].view(np.uint16).astype(np.int64)
        nan = np.isnan(values)
        return {
            "conversions": int(got.size),
            "not exact": int(((got != encode(values, "f16")) & ~nan).sum()),
            "bits of NaN": sorted({hex(int(v)) for v in got[nan]}),
        }

    return _table_probe(
        f"cvt-{dtype}-f16",
        f"is cvt.rn.f16x2.{dtype}x2 exact, and what becomes of NaN?",
        f"cvt.rn.f16x2.{dtype}x2 %r5, %h3",
        Array("i16", x.view(np.int16)),
        Array("i16", np.full(512, -1, np.int16)),
        (2, 4),
        facts,
    )


def probes() -> list[Probe]:
    types = ("e4m3", "e5m2")
    return (
        [f32_function(opcode) for opcode in _F32_OPCODES]
        + [packed_function(opcode) for opcode in _PACKED_OPCODES]
        + [narrowing_from_f32(dtype, relu) for dtype in types for relu in (False, True)]
        + [narrowing_from_f16(dtype) for dtype in types]
        + [widening(dtype) for dtype in types]
    )
