"""The CUDA driver through cuda-bindings, imported at the first call, with its status codes turned into LaunchError."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable

from headrace.errors import LaunchError

#: The CUDA version whose cuLaunchKernel is meant: its arguments have not changed since.
_SINCE = 12000


@functools.cache
def bindings():
    """The module cuda.bindings.driver. Raises LaunchError saying how to install it."""
    try:
        from cuda.bindings import driver
    except ImportError:
        raise LaunchError(
            "expected the package 'cuda-bindings', got none, because kernels are launched through it: "
            "pip install cuda-bindings"
        ) from None
    return driver


def call(name: str, *args, context: str = ""):
    """Calls the driver function `name`: its result, a tuple of results or None.

    Raises LaunchError naming the call, CUDA's code and text, and `context`, which says what was being done.
    """
    module = bindings()
    try:
        status, *results = getattr(module, name)(*args)
    except (RuntimeError, OSError) as error:
        # cuda-bindings raises, rather than returns a status, when it finds no driver library.
        raise LaunchError(f"{name} cannot be called: {error}{_while(context)}") from error
    if status != module.CUresult.CUDA_SUCCESS:
        raise LaunchError(f"{name}: {status.name}, {_error_text(module, status)}{_while(context)}")
    return results[0] if len(results) == 1 else tuple(results) or None


def bare_launch() -> Callable[..., int] | None:
    """cuLaunchKernel as the driver has it: a call costs half of the package's, whose arguments are objects.

    Every argument is a number of `ctypes` or an int that fits into 32 bits; the result is the status. None if the
    driver does not say where it is.
    """
    try:
        address, _ = call("cuGetProcAddress", b"cuLaunchKernel", _SINCE, 0)
    except LaunchError:
        return None
    pointer, number = ctypes.c_void_p, ctypes.c_uint
    shape = (pointer, *(number,) * 7, pointer, pointer, pointer)
    return ctypes.CFUNCTYPE(ctypes.c_int, *shape)(int(address)) if address else None


def _error_text(module, status) -> str:
    found, text = module.cuGetErrorString(status)
    return text.decode() if found == module.CUresult.CUDA_SUCCESS else "unknown error"


def _while(context: str) -> str:
    return f", {context}" if context else ""
