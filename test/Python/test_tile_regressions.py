"""Programs that once came out wrong, and stand in test/Fuzz/regressions: what they compute, on the simulator."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from tile_op_runs import ROOT, TARGETS, compile_ptx, fresh_numbers, needs_tools, numbers, run  # noqa: F401

pytestmark = [needs_tools, pytest.mark.parametrize("target", TARGETS)]

_FOLDER = ROOT / "test" / "Fuzz" / "regressions"
_ORDERS = 3
_F16, _F32 = np.float16, np.float32


def check(name, target, folder, inputs, outputs, kernel=None, before=None, scalars=None):
    """Runs a kernel of NAME.mlir; outputs start as NaN, or as `before` has them."""
    source = _FOLDER / f"{name}.mlir"
    compile_ptx(source, target, folder / "k.ptx", kernel or name.replace("-", "_"))
    starts = {key: np.full_like(value, np.nan if value.dtype.kind == "f" else -7) for key, value in outputs.items()}
    run(folder / "k.json", source, {**inputs, **starts, **(before or {})}, outputs, scalars, _ORDERS)


def product(a, b) -> np.ndarray:
    """a @ b in f32: exact, as the numbers are small integers."""
    return a.astype(_F32) @ b.astype(_F32)


def test_fill_of_an_operand(target, tmp_path, rng):
    a, b = numbers(rng, (16, 16), _F16), numbers(rng, (16, 16), _F16)
    c = product(a, np.full((16, 16), -2))
    check("fill-of-an-operand", target, tmp_path, {"A": a, "B": b}, {"C": c})


def test_fill_kept_in_shared(target, tmp_path, rng):
    a = numbers(rng, (24,), np.float64)
    b = np.concatenate([a, np.full(8, -2.0)])
    check("fill-kept-in-shared", target, tmp_path, {"A": a}, {"B": b}, scalars={"n": 2})


def test_nested_pipelines(target, tmp_path, rng):
    a, b, one = numbers(rng, (32, 16), _F16), numbers(rng, (16, 64), _F16), np.ones((16, 16))
    c = np.tile(product(a, one), (1, 4))
    d = sum(product(b[:, k : k + 16], one) for k in range(0, 64, 16))
    check("nested-pipelines", target, tmp_path, {"A": a, "B": b}, {"C": c, "D": d})


def test_loop_without_trips(target, tmp_path, rng):
    a = numbers(rng, (16, 16), np.int8)
    check("loop-without-trips", target, tmp_path, {"A": a}, {"C": np.zeros((16, 16), np.int32)})


def test_replicas_and_stmatrix(target, tmp_path, rng):
    a = numbers(rng, (16, 16), _F16)
    check("replicas-and-stmatrix", target, tmp_path, {"A": a}, {"C": product(a, a), "D": np.full(8, 3, _F32)})


@pytest.mark.parametrize("kernel", ["tcgen05_first", "mma_sync_first"])
@pytest.mark.parametrize("depth", [64, 256, 40])
def test_mixed_families(target, kernel, depth, tmp_path, rng):
    a, d, b = (numbers(rng, (rows, depth), ml_dtypes.bfloat16, -3, 3) for rows in (128, 64, 64))
    outputs = {"C": product(a, b.T), "E": product(d, b.T)}
    check("mixed-families", target, tmp_path, {"A": a, "D": d, "B": b}, outputs, kernel)


def test_reshape_to_a_row(target, tmp_path, rng):
    x = numbers(rng, (16, 32))
    check("reshape-through-shared", target, tmp_path, {"X": x}, {"Z": x.reshape(-1)}, "to_a_row")


def test_reshape_to_other_rows(target, tmp_path, rng):
    """In place: the array holds both tiles."""
    x = numbers(rng, (16, 16))
    after = x.copy()
    after[:8] = np.minimum(x[:, :8].reshape(8, 16), 2)
    check("reshape-through-shared", target, tmp_path, {}, {"A": after}, "to_other_rows", {"A": x})


def test_scatter_of_reversed_rows(target, tmp_path, rng):
    x = numbers(rng, (16, 32))
    check("scatter-of-reversed-rows", target, tmp_path, {"X": x}, {"Z": x[::-1].copy()})


def test_bulk_store_at_the_end(target, tmp_path):
    outputs = {"V": np.full(16, 7, np.int32), "C": np.zeros((128, 16), _F32)}
    check("bulk-store-at-the-end", target, tmp_path, {}, outputs)


@pytest.mark.parametrize("trips", [0, 1, 3])
def test_accumulator_of_a_while(target, trips, tmp_path, rng):
    """Beside each other: the loop's sum, and what scf.while carried."""
    a = numbers(rng, (128, 192), _F16, -3, 3)
    blocks = (a[:64, 64 * trip : 64 * trip + 64] for trip in range(trips))
    loop = sum((product(block, block) for block in blocks), np.zeros((64, 64), _F32))
    c = np.hstack([loop, trips * product(a[:64, :64], a[64:, :64].T)]).astype(_F32)
    check("accumulator-of-a-while", target, tmp_path, {"A": a}, {"C": c}, scalars={"n": trips})
