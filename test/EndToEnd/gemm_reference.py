"""Inputs, float64 references and error bounds for C = A * B, in torch, on any device.

A is M x K and B is K x N; an orientation says how each is stored, as BLAS does: first letter A, second B.
    A: T stored [M, K] (K contiguous), N stored [K, M] (M contiguous)
    B: N stored [N, K] (K contiguous), T stored [K, N] (N contiguous)
Every matrix lies in a larger poisoned allocation: rows are padded to a stride beyond their length, and further rows and
an offset surround them. A kernel that reads outside A or B computes NaN (or a wrong integer), one that writes outside C
or leaves an element of C unwritten is found by its poison.
"""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Dtype:
    """`unit` is half the distance from 1 to the next number, `tiny` half the smallest distance between numbers.

    `exact_limit` bounds the integer inputs with which sums over K < 5000 stay exact in the accumulator.
    """

    torch: torch.dtype
    unit: float
    tiny: float
    exact_limit: int


DTYPES = {
    "bf16": Dtype(torch.bfloat16, 2.0**-8, 2.0**-134, 4),
    "f16": Dtype(torch.float16, 2.0**-11, 2.0**-25, 4),
    "f32": Dtype(torch.float32, 2.0**-24, 2.0**-150, 16),
    "f64": Dtype(torch.float64, 2.0**-53, 0.0, 1000),
    "e4m3": Dtype(torch.float8_e4m3fn, 2.0**-4, 2.0**-10, 2),
    "e5m2": Dtype(torch.float8_e5m2, 2.0**-3, 2.0**-17, 2),
    "i8": Dtype(torch.int8, 0.0, 0.0, 128),
    "i32": Dtype(torch.int32, 0.0, 0.0, 128),
}

#: Relative error of one accumulation. Tensor cores truncate; on sm_90 they keep 14 bits of the sum of 8-bit floats.
_ACCUMULATOR_UNIT = {"f16": 2.0**-11, "f32": 2.0**-23, "f64": 2.0**-53, "fp8": 2.0**-13}
#: Products that a tensor core adds in one accumulation, at least.
_PRODUCTS_PER_STEP = {1: 32, 2: 8, 4: 4, 8: 1}
#: Poison of integers; floats get NaN, which in both 8-bit floats may be written 0x7f.
_POISON = {torch.int8: 0x7F, torch.int32: -(2**31)}
_POISON_BYTE = 0x7F
_BITS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
_GUARD_ROWS = 2


@dataclass(frozen=True)
class Problem:
    """One kind of product. `align` is the alignment, in bytes, of pointers and row strides, which are no better aligned
    than that when it is below 16. `precision` is "ieee" or "tf32", of f32 inputs."""

    orientation: str
    dtype: str
    out: str
    acc: str = "f32"
    precision: str = "ieee"
    align: int = 16

    @property
    def exact(self) -> bool:
        """Whether even random inputs have an exact result."""
        return self.dtype == "i8"


@dataclass
class Matrix:
    """A matrix `view` inside `storage`, a flat allocation whose remaining elements are poison."""

    storage: torch.Tensor
    view: torch.Tensor

    def poison(self) -> None:
        """Overwrites the whole allocation, guards and matrix."""
        if self.storage.dtype.itemsize == 1:
            bits(self.storage).fill_(_POISON_BYTE)
        else:
            self.storage.fill_(_POISON.get(self.storage.dtype, math.nan))


def bits(tensor: torch.Tensor) -> torch.Tensor:
    """`tensor` as integers of the same width, so that NaNs compare equal."""
    return tensor.view(_BITS[tensor.element_size()])


def case_seed(seed: int, *what) -> int:
    """A seed of its own for each case, the same in every process."""
    return zlib.crc32(repr((seed, *what)).encode())


def row_stride(columns: int, size: int, align: int) -> int:
    """The smallest stride in elements of `size` bytes that is longer than a row and a multiple of `align` bytes, and of
    no larger power of two when `align` is below 16."""
    step = max(align // size, 1)
    stride = (columns // step + 1) * step
    if align < 16 and (stride // step) % 2 == 0:
        stride += step
    return stride


def empty_matrix(rows: int, columns: int, dtype: str, align: int, device) -> Matrix:
    """A poisoned rows x columns matrix with guards around it."""
    kind = DTYPES[dtype].torch
    size = kind.itemsize
    stride = row_stride(columns, size, align)
    offset = _GUARD_ROWS * stride
    # Allocations are aligned to 256 bytes, so this start has the alignment asked for and, below 16, no more.
    coarse = max(align, 16)
    start = -(-offset * size // coarse) * coarse // size + (max(align // size, 1) if align < 16 else 0)
    storage = torch.empty(start + (rows + _GUARD_ROWS) * stride, dtype=kind, device=device)
    matrix = Matrix(storage, torch.as_strided(storage, (rows, columns), (stride, 1), start))
    matrix.poison()
    return matrix


def make_inputs(problem: Problem, m: int, n: int, k: int, integers: bool, seed: int, device) -> tuple[Matrix, Matrix]:
    """A and B as stored (see the module's text), from integers that give exact sums, or from a normal distribution."""
    generator = torch.Generator(device=device).manual_seed(seed)
    stored_a = (m, k) if problem.orientation[0] == "T" else (k, m)
    stored_b = (n, k) if problem.orientation[1] == "N" else (k, n)
    return tuple(
        _filled(problem, rows, columns, k, integers, generator, device) for rows, columns in (stored_a, stored_b)
    )


def _filled(problem: Problem, rows: int, columns: int, k: int, integers: bool, generator, device) -> Matrix:
    matrix = empty_matrix(rows, columns, problem.dtype, problem.align, device)
    if integers or problem.exact:
        limit = 1 if problem.acc == "f16" else DTYPES[problem.dtype].exact_limit
        high = limit if problem.dtype == "i8" else limit + 1
        values = torch.randint(-limit, high, (rows, columns), generator=generator, device=device)
    else:
        wide = torch.float64 if problem.dtype == "f64" else torch.float32
        values = torch.randn((rows, columns), generator=generator, device=device, dtype=wide)
        if problem.out in ("e4m3", "e5m2"):
            values *= max(k, 1) ** -0.25  # keeps the results far below the largest 8-bit float
    wanted = matrix.view.dtype
    bits(matrix.view).copy_(bits(values.to(wanted) if wanted.itemsize > 1 else _narrowed(values, wanted)))
    return matrix


def _narrowed(values: torch.Tensor, kind: torch.dtype) -> torch.Tensor:
    """`values` as an 8-bit type; torch converts to 8-bit floats from float32 only on some devices."""
    return values.to(kind) if kind == torch.int8 else values.to(torch.float32).to(kind)


def logical(problem: Problem, a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Stored A and B as an M x K and a K x N view."""
    return (a if problem.orientation[0] == "T" else a.t()), (b.t() if problem.orientation[1] == "N" else b)


def reference(problem: Problem, a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The product in float64 (exact for integers: |C| < 2^53) and sqrt(sum of squared products), both M x N."""
    wide_a, wide_b = (x.to(torch.float64) for x in logical(problem, a, b))
    return wide_a @ wide_b, ((wide_a * wide_a) @ (wide_b * wide_b)).sqrt_()


def tolerance(problem: Problem, k: int, exact: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    """The largest admissible |C - exact|, element-wise. `scale` is sqrt(sum of squared products).

    Partial sums of independent products stay below 6 * scale; each accumulation errs by a unit of that.
    """
    dtype, out = DTYPES[problem.dtype], DTYPES[problem.out]
    if problem.dtype in ("f32", "f64") and problem.precision == "ieee":
        # Rounded to nearest at every step: errors add like a random walk.
        bound = (4 * math.sqrt(k) + 8) * dtype.unit * 6 * scale
    else:
        unit = _ACCUMULATOR_UNIT["fp8" if problem.dtype in ("e4m3", "e5m2") else problem.acc]
        steps = k / _PRODUCTS_PER_STEP[dtype.torch.itemsize] + 4
        bound = steps * unit * 6 * scale
    if problem.dtype == "f32" and problem.precision == "tf32":
        # Inputs cut to 11 bits: up to 2^-10 each, of one sign on average.
        bound = bound + 2.0**-9 * exact.abs() + 6 * 2.0**-10 * scale
    return bound + out.unit * (exact.abs() + bound) + out.tiny


@dataclass(frozen=True)
class Verdict:
    """`status` is "ok", "wrong", "unwritten" or "guard"; `ratio` the largest error over its tolerance."""

    status: str
    detail: str = ""
    ratio: float = 0.0


def expected_exact(problem: Problem, exact: torch.Tensor) -> torch.Tensor:
    """`exact` rounded once to the output type (saturating for 8-bit floats)."""
    kind = DTYPES[problem.out].torch
    if problem.out in ("e4m3", "e5m2"):
        limit = torch.finfo(kind).max
        return exact.clamp(-limit, limit).to(torch.float32).to(kind)
    return exact.to(kind)


def judge(problem: Problem, a: torch.Tensor, b: torch.Tensor, c: Matrix, integers: bool) -> Verdict:
    """Compares C, poisoned before the kernel ran, with the reference, and looks for writes outside it."""
    guard = _guard_verdict(c)
    if guard is not None:
        return guard
    if c.view.numel() == 0:
        return Verdict("ok")
    exact, scale = reference(problem, a, b)
    computed = c.view
    poison = _POISON.get(computed.dtype)
    untouched = (computed == poison) if poison is not None else computed.to(torch.float32).isnan()
    if integers or problem.exact:
        wrong = bits(computed.contiguous()) != bits(expected_exact(problem, exact))
        # +0 and -0 differ in their bits only.
        wrong &= ~((computed.to(torch.float64) == 0) & (exact == 0))
        ratio = 0.0
    else:
        error = (computed.to(torch.float64) - exact).abs()
        relative = error / tolerance(problem, logical_k(problem, a), exact, scale)
        relative = torch.where(error == 0, 0.0, torch.where(relative.isnan(), math.inf, relative))
        wrong = relative > 1
        ratio = relative.max().item()
    if not wrong.any().item():
        return Verdict("ok", ratio=ratio)
    return _wrong_verdict(wrong, untouched & wrong, computed, exact, ratio)


def logical_k(problem: Problem, a: torch.Tensor) -> int:
    """K of stored A."""
    return a.shape[1] if problem.orientation[0] == "T" else a.shape[0]


def _guard_verdict(c: Matrix) -> Verdict | None:
    fresh = Matrix(torch.empty_like(c.storage), c.view)
    fresh.poison()
    touched = bits(c.storage) != bits(fresh.storage)
    view = torch.as_strided(touched, c.view.shape, c.view.stride(), c.view.storage_offset())
    view.fill_(False)
    if not touched.any().item():
        return None
    first = int(touched.nonzero()[0].item()) - c.view.storage_offset()
    row, column = divmod(first, c.view.stride(0))
    count = int(touched.sum().item())
    return Verdict("guard", f"{count} elements written outside C, first at row {row}, column {column}", math.inf)


def _wrong_verdict(wrong, untouched, computed, exact, ratio: float) -> Verdict:
    where = wrong.nonzero()
    row, column = where[0].tolist()
    last_row, last_column = where.amax(dim=0).tolist()
    missing = int(untouched.sum().item())
    detail = (
        f"{len(where)} of {wrong.numel()} wrong ({missing} still poison), rows {row}..{last_row}, columns "
        f"{where[:, 1].min().item()}..{last_column}; at ({row}, {column}) expected {exact[row, column].item():.8g}, "
        f"got {computed[row, column].item():.8g}"
    )
    return Verdict("unwritten" if missing == len(where) else "wrong", detail, ratio or math.inf)
