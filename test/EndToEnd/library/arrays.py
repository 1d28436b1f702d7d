"""Arguments of kernels: arrays of any rank in the middle of poison, and the judges of what a kernel leaves in them."""

from __future__ import annotations

import math

import numpy as np
from sim_reference import DTYPES, Array, Verdict, bits, judge_exact, poisoned

from library.running_error import Real

#: Further slices around an array along each of its outer dimensions.
_GUARD_SLICES = 1


def surrounded(dtype: str, shape: tuple[int, ...], align: int = 16) -> Array:
    """An array in poison, it too poison, of any rank: `sim_reference.poisoned` for each of its matrices."""
    if len(shape) <= 2:
        return poisoned(dtype, shape, align)
    inner = poisoned(dtype, shape[-2:], align)
    outer = tuple(extent + 2 * _GUARD_SLICES for extent in shape[:-2])
    storage = np.broadcast_to(inner.storage, (*outer, *inner.storage.shape)).copy()
    slices = tuple(slice(_GUARD_SLICES, _GUARD_SLICES + extent) for extent in shape[:-2])
    return Array(dtype, storage, slices + inner.slices)


def holding(dtype: str, values, align: int = 16) -> Array:
    """`values`, rounded to the type, in poison."""
    values = np.asarray(values)
    array = surrounded(dtype, values.shape, align)
    array.storage[array.slices] = values.astype(DTYPES[dtype].numpy)
    return array


def realigned(array: Array, align: int) -> Array:
    """The same numbers in poison with another alignment, in bytes, of start and rows."""
    result = surrounded(array.dtype, array.view.shape, align)
    result.storage[result.slices] = array.view
    return result


def normal(rng: np.random.Generator, dtype: str, shape: tuple[int, ...], scale: float = 1.0) -> Array:
    """Random numbers of a normal distribution, rounded to the type."""
    return holding(dtype, scale * rng.standard_normal(shape))


def judge(before: Array, after: np.ndarray, expected: Real | np.ndarray) -> Verdict:
    """Compares an output's storage with `expected`: within its error and the rounding to the output's type, or exactly
    if it is an array; poison as before around it."""
    if not isinstance(expected, Real):
        return judge_exact(before, after, expected)
    got = Array(before.dtype, after, before.slices)
    touched = np.argwhere(got.outside() != before.outside())
    if len(touched):
        place = tuple(int(at) - part.start for at, part in zip(touched[0], got.slices, strict=True))
        return Verdict("guard", f"{len(touched)} elements written outside the output, first at {place}", math.inf)
    rounded = expected.rounded_to(before.dtype)
    values = got.view.astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        error = np.abs(values - rounded.value)
        ratio = np.where((values == rounded.value), 0.0, np.where(np.isnan(error), math.inf, error / rounded.error))
    if not ratio.size or ratio.max() <= 1:
        return Verdict("ok", ratio=float(ratio.max(initial=0.0)))
    return _described(before, got, ratio, rounded)


def _described(before: Array, got: Array, ratio: np.ndarray, expected: Real) -> Verdict:
    wrong = ratio > 1
    where = np.argwhere(wrong)
    lowest, highest = (tuple(int(i) for i in at) for at in (where.min(axis=0), where.max(axis=0)))
    worst = tuple(int(i) for i in np.unravel_index(ratio.argmax(), ratio.shape))
    missing = int((wrong & (bits(got.view) == bits(before.view))).sum())
    detail = (
        f"{len(where)} of {wrong.size} wrong ({missing} as before), within {lowest}..{highest}; at {worst} expected "
        f"{expected.value[worst]:.8g} +- {expected.error[worst]:.2g}, got {float(got.view[worst]):.8g}"
    )
    return Verdict("unwritten" if missing == len(where) else "wrong", detail, float(ratio.max()))
