"""Cases P01 to P17 of test/Cases: pipelined loops, their trips, results, conditions and masked loads."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from case_runs import (
    CASES,
    ROOT,
    TARGETS,
    Placed,
    Program,
    fresh,
    fresh_numbers,  # noqa: F401
    needs_tools,
    small,
)

pytestmark = needs_tools

every_target = pytest.mark.parametrize("target", TARGETS)

#: Stages, and whether copies get warps of their own.
PIPELINES = [(0, "off"), (1, "on"), (2, "on"), (3, "off"), (4, "on"), (5, "auto")]
_F16, _F32, _I32 = np.float16, np.float32, np.int32


def ranges(stages: int) -> list[tuple[int, int, int]]:
    """Bounds and steps: no trip, one, as many as stages, one fewer and one more, and an upper bound below the lower."""
    trips = {0, 1, 2, max(stages - 1, 0), stages, stages + 1, 17}
    plain = [(0, n, 1) for n in sorted(trips)]
    return [*plain, (3, 3 + stages, 1), (3, 4, 2), (3, 3, 1), (5, 3, 1), (5, 3, 2), (3, 10, 2), (0, 17, 5), (16, 17, 1)]


@every_target
@pytest.mark.parametrize(("stages", "specialize"), PIPELINES)
def test_p01_copies_of_any_range(target, stages, specialize, tmp_path, rng):
    table = ranges(stages)
    x = small(rng, (len(table), 20 * 128))
    z = fresh(x.shape, _F32)
    for p, bounds in enumerate(table):
        for i in range(*bounds):
            z[p, i * 128 : (i + 1) * 128] = x[p, i * 128 : (i + 1) * 128] + 1
    before = {"Z": fresh(x.shape, _F32)}
    program = Program(CASES / "P01.mlir", target, tmp_path, "copy", STAGES=stages, SPECIALIZE=specialize)
    program.run({"X": x, "T": np.array(table, _I32)}, {"Z": z}, before=before)


@every_target
@pytest.mark.parametrize(("stages", "specialize"), [(0, "auto"), (2, "on"), (3, "off")])
def test_p01_products_of_any_range(target, stages, specialize, tmp_path, rng):
    table = ranges(stages)
    a, b = small(rng, (128, 17 * 32), _F16), small(rng, (17 * 32, 64), _F16)
    z = np.zeros((len(table) * 128, 64), _F32)
    for p, bounds in enumerate(table):
        for i in range(*bounds):
            k = slice(32 * i, 32 * i + 32)
            z[128 * p : 128 * p + 128] += a[:, k].astype(_F32) @ b[k].astype(_F32)
    program = Program(CASES / "P01.mlir", target, tmp_path, "product", STAGES=stages, SPECIALIZE=specialize)
    program.run({"A": a, "B": b, "T": np.array(table, _I32)}, {"Z": z})


@every_target
@pytest.mark.parametrize(("stages", "specialize"), PIPELINES[2:5])
def test_p02_results_of_early_stages(target, stages, specialize, tmp_path, rng):
    trips = sorted({0, 1, 2, stages - 1, stages, stages + 1, 5, 17})
    x = small(rng, (17, 128))
    loaded = np.concatenate([np.full((1, 128), -2, _F32), np.full((1, 128), -1, _F32), x])
    outputs = {
        "last": loaded[[n + 1 for n in trips]],
        "previous": loaded[trips],
        "number": np.array([10 * (n - 1) if n else -5 for n in trips], _I32),
    }
    program = Program(CASES / "P02.mlir", target, tmp_path, STAGES=stages, SPECIALIZE=specialize)
    program.run({"X": x, "T": np.array(trips, _I32)}, outputs)


@every_target
@pytest.mark.parametrize(
    ("kernel", "width", "stages"), [("scalars", 1, 2), ("tiles", 1, 2), ("tiles", 1, 3), ("tiles", 4, 2)]
)
def test_p03_use_under_a_condition(target, kernel, width, stages, tmp_path, rng):
    settings = {"STAGES": stages} if kernel == "scalars" else {"STAGES": stages, "WIDTH": width}
    program = Program(CASES / "P03.mlir", target, tmp_path, kernel, **settings)
    table = rng.permutation(17 * width).astype(_I32)
    z = np.empty_like(table)
    z[table] = np.arange(17 * width) // width + 1
    program.run({"table": table}, {"Z": z}, {"flag": 1})
    before = fresh(z.shape, _I32)
    program.run({"table": table}, {"Z": before}, {"flag": 0}, {"Z": before})


@every_target
@pytest.mark.parametrize(("stages", "specialize"), PIPELINES[1:4])
def test_p07_read_before_the_load_that_overwrites(target, stages, specialize, tmp_path, rng):
    width = 32
    program = Program(CASES / "P07.mlir", target, tmp_path, STAGES=stages, SPECIALIZE=specialize, W=width)
    x, s = small(rng, (17, width), _I32), small(rng, width, _I32)
    rows = np.concatenate([s[None], x])
    for trips in (0, 1, 8, stages + 1):
        outputs = {"sum": rows[:trips].sum(axis=0, dtype=_I32), "last": rows[trips]}
        program.run({"X": x, "S": s}, outputs, {"trips": trips})


_FILLS = {"1.0": 1, "-99.0": -99, "0xFF800000": -np.inf, "0x7FC00000": np.nan}


@every_target
@pytest.mark.parametrize(
    ("fill", "stages", "specialize"),
    [("1.0", 3, "on"), ("-99.0", 2, "off"), ("0xFF800000", 3, "auto"), ("0x7FC00000", 1, "auto")],
)
def test_p08_fill_of_pipelined_loads(target, fill, stages, specialize, tmp_path, rng):
    program = Program(CASES / "P08.mlir", target, tmp_path, FILL=fill, STAGES=stages, SPECIALIZE=specialize)
    for length in (1000, 100, 1):
        x = small(rng, length)
        padded = np.full(-(-length // 128) * 128, _FILLS[fill], _F32)
        padded[:length] = x
        outputs = {"sum": padded.reshape(-1, 128).sum(axis=0), "most": padded.reshape(-1, 128).max(axis=0)}
        program.run({"X": x}, outputs)


@every_target
@pytest.mark.parametrize(("stages", "specialize"), [(1, "off"), (3, "auto"), (2, "on")])
def test_p09_wild_places_of_masked_elements(target, stages, specialize, tmp_path, rng):
    """Nothing lies before X: an element read below its beginning is outside of every allocation."""
    program = Program(CASES / "P09.mlir", target, tmp_path, "gradient", STAGES=stages, SPECIALIZE=specialize)
    x, g = small(rng, (8, 8, 3), _F16), small(rng, (64, 16), _F16)
    gradient = np.zeros((32, 16), _F32)
    gradient[:27] = np.concatenate([tap @ g.astype(_F32) for tap in taps(x)])
    arrays = {"X": Placed(x.reshape(64, 3), dense=True, around=0), "G": g}
    program.run(arrays, {"dW": gradient}, {"width": 8})


@every_target
@pytest.mark.parametrize(("channels", "align"), [(3, 2), (8, 16)])
def test_p09_windows_from_negative_offsets(target, channels, align, tmp_path, rng):
    program = Program(CASES / "P09.mlir", target, tmp_path, "lines", ALIGN=align)
    x, g = small(rng, (8, 8, channels), _F16), small(rng, (8, 8, 16), _F16)
    for tap in (0, 2, 4, 6, 8):
        gradient = np.zeros((16, 16), _F32)
        gradient[:channels] = taps(x)[tap] @ g.reshape(64, 16).astype(_F32)
        arrays = {"X": Placed(x, dense=True, around=0), "G": g}
        program.run(arrays, {"dW": gradient}, {"tapY": tap // 3, "tapX": tap % 3})


def taps(x: np.ndarray) -> list[np.ndarray]:
    """For each of 3 x 3 taps the channels of all 8 x 8 pixels, padded by one with zeros: [channels, 64]."""
    padded = np.pad(x.astype(_F32), ((1, 1), (1, 1), (0, 0)))
    return [padded[y : y + 8, c : c + 8].reshape(64, -1).T for y in range(3) for c in range(3)]


@every_target
@pytest.mark.parametrize(
    ("stages", "inner", "specialize"), [(0, 3, "off"), (2, 2, "auto"), (3, 1, "auto"), (3, 4, "on")]
)
def test_p11_empty_inner_loops(target, stages, inner, specialize, tmp_path, rng):
    table = [(5, 3, 1), (5, 3, 2), (5, 5, 1), (0, 0, 2), (5, 6, 2), (5, 9, 3), (7, -3, 4), (3, 3 + inner, 1), (0, 9, 1)]
    x = small(rng, (16, 64))
    counts = np.array([4 * len(range(*bounds)) for bounds in table], _I32)
    z = np.stack([x[:4].sum(axis=0) + 4 * x[list(range(*bounds))].sum(axis=0) for bounds in table])
    settings = {"STAGES": stages, "INNER": inner, "SPECIALIZE": specialize}
    program = Program(CASES / "P11.mlir", target, tmp_path, **settings)
    program.run({"X": x, "T": np.array(table, _I32)}, {"counts": counts, "Z": z})


@every_target
@pytest.mark.parametrize(
    ("kernel", "stages", "specialize"),
    [("both", 2, "auto"), ("both", 3, "on"), ("one", 3, "auto")],
)
def test_p13_loads_below_a_limit(target, kernel, stages, specialize, tmp_path, rng):
    # 128 rows, where that is what tensor memory has.
    rows = 128 if target == "sm_100a" else 64
    program = Program(CASES / "P13.mlir", target, tmp_path, kernel, STAGES=stages, SPECIALIZE=specialize, BM=rows)
    if target != "sm_75":  # nothing copies asynchronously there
        assert [loop["stages"] for loop in program.report["loops"]] == [stages]
    a, b = small(rng, (rows, 5 * 32), _F16), small(rng, (5 * 32, 64), _F16)
    for limit in (0, 1, 3, 5, 9):
        c = a[:, : 32 * limit].astype(_F32) @ b[: 32 * limit].astype(_F32)
        program.run({"A": a, "B": b}, {"C": c}, {"limit": limit})


@every_target
@pytest.mark.parametrize("stages", [3])
def test_p13_loads_that_a_mask_names(target, stages, tmp_path, rng):
    program = Program(CASES / "P13.mlir", target, tmp_path, "masked", STAGES=stages)
    if target != "sm_75":
        assert [loop["stages"] for loop in program.report["loops"]] == [stages]
    for mask in (rng.integers(0, 2, 7), np.zeros(3), np.array([0, 1, 0, 0, 1])):
        a, b = small(rng, (64, len(mask) * 32), _F16), small(rng, (len(mask) * 32, 64), _F16)
        kept = np.repeat(mask != 0, 32)
        c = a[:, kept].astype(_F32) @ b[kept].astype(_F32)
        program.run({"A": a, "B": b, "mask": mask.astype(_I32)}, {"C": c})


@every_target
@pytest.mark.parametrize("stages", [0, 1])
def test_p17_no_overlap(target, stages, tmp_path, rng):
    dtype = _F16 if target == "sm_75" else ml_dtypes.bfloat16
    tiles = {"BM": 128 if target == "sm_100a" else 64, "BN": 64, "BK": 32}
    program = Program(ROOT / "examples" / "gemm.mlir", target, tmp_path, STAGES=stages, **tiles)
    assert all(channel["slots"] == 1 for channel in program.report["channels"])
    for k in (0, 32, 160):
        a, b = small(rng, (65, k), dtype), small(rng, (130, k), dtype)
        c = (a.astype(_F32) @ b.astype(_F32).T).astype(dtype)
        program.run({"A": a, "B": b}, {"C": c})
