"""The arguments of a call as several sets, whose arrays lie in different memory: launches that rotate find L2 cold."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from headrace.language.facts import describe_array
from headrace.runtime.arrays import DeviceArray, adapt, is_torch_tensor
from headrace.tuning.copies import Copies, size_of
from headrace.tuning.timing import sets_needed

#: Positional and keyword arguments of one launch.
Arguments = tuple[tuple, dict[str, Any]]


@contextlib.contextmanager
def rotating_torch(args: tuple, kwargs: Mapping[str, Any], clock: Any, sets: int | None) -> Iterator[list[Arguments]]:
    """Sets of `args` and `kwargs` with copies of their torch tensors, as many as exceed three L2 caches (or `sets`)."""
    tensors = [value for value in (*args, *kwargs.values()) if is_torch_tensor(value)]
    size = sum(tensor.untyped_storage().nbytes() for tensor in tensors)
    count = sets or sets_needed(size, clock.cache_bytes, clock.free_bytes)
    yield [_replaced(args, kwargs, is_torch_tensor, _torch_copy) for _ in range(count)]


def _torch_copy(tensor: Any) -> Any:
    """Elements at other addresses, but as far apart: what lies between rows is copied too."""
    length = 1 + sum((extent - 1) * stride for extent, stride in zip(tensor.shape, tensor.stride(), strict=True))
    if tensor.numel() == 0:
        return tensor.clone()
    flat = tensor.detach().as_strided((length,), (1,)).clone()
    return flat.as_strided(tuple(tensor.shape), tuple(tensor.stride()), 0)


@contextlib.contextmanager
def rotating(args: tuple, kwargs: Mapping[str, Any], clock: Any, sets: int | None) -> Iterator[list[Arguments]]:
    """Sets of `args` and `kwargs` whose arrays are `DeviceArray`s, copies of the given ones.

    As many as exceed three L2 caches (or `sets`). Raises LaunchError if the device has not the memory.
    """
    arrays: dict[int, DeviceArray] = {
        id(value): adapt(value, "array") for value in (*args, *kwargs.values()) if _is_array(value)
    }
    clock.synchronize()
    size = size_of(list(arrays.values()))
    count = sets or sets_needed(size, clock.cache_bytes, clock.free_bytes)
    with Copies() as copies:
        made = []
        for _ in range(count):
            copied = dict(zip(arrays, copies.copy(list(arrays.values())), strict=True))
            made.append(
                _replaced(args, kwargs, lambda value: id(value) in arrays, lambda value, c=copied: c[id(value)])
            )
        clock.synchronize()
        yield made
        clock.synchronize()


def _is_array(value: Any) -> bool:
    return not hasattr(value, "__array_interface__") and describe_array(value) is not None


def _replaced(args: tuple, kwargs: Mapping[str, Any], wanted: Any, replace: Any) -> Arguments:
    def one(value: Any) -> Any:
        return replace(value) if wanted(value) else value

    return tuple(one(value) for value in args), {name: one(value) for name, value in kwargs.items()}
