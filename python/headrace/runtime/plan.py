"""Turns checked arguments into a launch plan: the grid and the kernel's parameters in memory."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass

from headrace.errors import LaunchError
from headrace.runtime.dtypes import checked_integer, scalar_to_ctypes
from headrace.runtime.schema import Param, Record, evaluate
from headrace.runtime.tensor_map import EncodeParameters, encode_parameters

#: Programs along x, y and z that CUDA launches at most.
_GRID_LIMITS = (2**31 - 1, 65535, 65535)

#: Makes the 128-byte map of tensor map `index` from its parameters.
Encoder = Callable[[int, EncodeParameters], ctypes.Array]


@dataclass(frozen=True)
class Plan:
    """One launch, ready to repeat. `parameters` are the kernel's, `pointers` an array of their addresses."""

    grid: tuple[int, int, int]
    parameters: tuple
    pointers: ctypes.Array
    #: Indices of the tensor maps that stand on a zeroed buffer.
    zeroed_maps: tuple[int, ...]

    @property
    def empty(self) -> bool:
        """Whether there is nothing to launch."""
        return 0 in self.grid


def make_plan(record: Record, args, processors: int, encode: Encoder, grid=None) -> Plan:
    """The plan for `args`, which satisfy the contract. `processors` is the device's number of SMs, `grid` an override.

    Raises LaunchError for a grid that CUDA cannot launch, or arguments that a tensor map cannot describe.
    """
    programs = _checked_grid(grid, record) if grid is not None else programs_of(record, args, processors)
    if 0 in programs:
        return Plan(programs, (), (ctypes.c_void_p * 0)(), ())
    zeroed = []

    def tensor_map(index: int):
        described = record.tensor_maps[index]
        parameters = encode_parameters(described, args[described.arg], record.args[described.arg].name)
        if parameters.address is None:
            zeroed.append(index)
        return encode(index, parameters)

    parameters = tuple(
        tensor_map(param.index) if param.kind == "tensor_map" else _parameter(record, param, args[param.index])
        for param in record.params
    )
    pointers = (ctypes.c_void_p * len(parameters))(*(ctypes.addressof(p) for p in parameters))
    return Plan(programs, parameters, pointers, tuple(zeroed))


def _parameter(record: Record, param: Param, value):
    name = record.args[param.index].name
    if param.kind == "pointer":
        return ctypes.c_uint64(value.ptr)
    if param.kind == "scalar":
        return scalar_to_ctypes(value, param.type, name)
    number = value.shape[param.dim] if param.kind == "dim" else value.strides[param.dim]
    if param.kind == "stride" and value.shape[param.dim] <= 1:
        # Free: no address depends on it, so it must not be refused for its size either.
        number = 0 if number < 0 or number >= 2**31 else number
    return scalar_to_ctypes(checked_integer(number, param.type, name), param.type, name)


def programs_of(record: Record, args, processors: int) -> tuple[int, int, int]:
    """Programs to launch along x, y, z by the record's grid; one of them may be 0."""
    axes = tuple(
        evaluate(expr, lambda arg, dim: args[arg].shape[dim], lambda arg: args[arg].__index__())
        for expr in (record.grid.x, record.grid.y, record.grid.z)
    )
    if record.grid.persistent and axes[0] > 0:
        resident = processors * record.min_ctas_per_sm
        programs = _persistent_programs(axes[0], resident, record.cluster[0], record.grid.trips)
        axes = (programs, axes[1], axes[2])
    return _checked_grid(axes, record)


def _persistent_programs(tiles: int, resident: int, width: int, trips: int | None) -> int:
    """The fewest programs that need no more rounds over `tiles` than `resident` programs would, or than `trips` if that
    is less, in whole clusters.

    512 tiles on 132 multiprocessors take 4 rounds, and so they do on 128: the 4 that would idle in the last round
    leave their share of power and L2 to the others, and every round covers the same number of tile columns.
    """
    limit = max(resident // width, 1)
    rounds = -(-tiles // (limit * width))
    if trips is not None:
        rounds = min(rounds, trips)
    return -(-tiles // (rounds * width)) * width


def _checked_grid(grid, record: Record) -> tuple[int, int, int]:
    axes = (grid,) if isinstance(grid, int) else tuple(grid)
    axes += (1,) * (3 - len(axes))
    for axis, count, limit, width in zip("xyz", axes, _GRID_LIMITS, record.cluster, strict=True):
        if not 0 <= count <= limit:
            raise LaunchError(f"kernel '{record.kernel}': expected 0 to {limit} programs along {axis}, got {count}")
        if count % width:
            raise LaunchError(
                f"kernel '{record.kernel}': expected a multiple of {width} programs along {axis}, got {count}, "
                f"because of its cluster {record.cluster}"
            )
    return axes
