"""Headrace: pipelined tensor-core kernels, from a tile program to a launched cubin.

Importing this package loads no compiler, no CUDA library and no array library; each part is loaded when it is first
used. ``headrace.Kernel`` launches a compiled kernel, ``headrace.DeviceArray`` describes an array by its pointer.
"""

from __future__ import annotations

import importlib

from headrace.errors import HeadraceError, LaunchError

__all__ = ["DeviceArray", "HeadraceError", "Kernel", "LaunchError"]

_LAZY = {"Kernel": "headrace.runtime.launch", "DeviceArray": "headrace.runtime.arrays"}


def __getattr__(name: str):
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'headrace' has no attribute {name!r}")
