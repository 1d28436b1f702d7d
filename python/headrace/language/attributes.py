"""Attributes and methods of tiles, scalars and arrays."""

from __future__ import annotations

import difflib
from typing import Any

from headrace.language.emitter import Emitter
from headrace.language.lowering.tiles import transpose
from headrace.language.values import Array, Method, Scalar, Tile

#: Methods by the kind of their owner; each is a built-in function of the same name, but for `to`.
METHODS: dict[type, tuple[str, ...]] = {
    Tile: ("to", "reshape", "sum", "max", "min"),
    Scalar: ("to",),
    Array: (),
}
_DATA: dict[type, tuple[str, ...]] = {
    Tile: ("shape", "dtype", "ndim", "T"),
    Scalar: ("dtype",),
    Array: ("shape", "dtype", "ndim"),
}
_HINTS = {
    "astype": "write .to(dtype)",
    "cast": "write .to(dtype)",
    "float": "write .to(hr.f32)",
    "half": "write .to(hr.f16)",
    "load": "write A[m:m+BM, k:k+BK]",
    "store": "write A[m:m+BM, n:n+BN] = tile",
    "trans": "write .T",
    "t": "write .T",
    "transpose": "write .T",
    "size": "write .shape",
    "mean": "write x.sum(axis) / n",
    "exp": "write hr.exp(x)",
    "strides": "strides are the compiler's matter: index the array",
    "stride": "strides are the compiler's matter: index the array",
    "item": "write A[i] to load a scalar",
    "broadcast_to": "write hr.broadcast_to(x, shape)",
    "view": "write .reshape(shape)",
    "expand_dims": "write x[:, None]",
    "unsqueeze": "write x[:, None]",
    "dot": "write hr.dot(a, b)",
    "copy": "write the name",
}


def attribute(em: Emitter, owner: Tile | Scalar | Array, name: str) -> Any:
    """``owner.name``. Raises CompileError if there is no such attribute."""
    kind = next(kind for kind in METHODS if isinstance(owner, kind))
    if name in METHODS[kind]:
        return Method(owner, name)
    if name not in _DATA[kind]:
        known = (*_DATA[kind], *METHODS[kind])
        close = difflib.get_close_matches(name, known, 1)
        hint = _HINTS.get(name) or (f"did you mean .{close[0]}?" if close else f"it has {', '.join(known)}")
        em.fail(f"{'an array' if kind is Array else f'a {kind.__name__.lower()}'} has no '.{name}': {hint}")
    if name == "dtype":
        return owner.type.dtype if isinstance(owner, Array) else owner.dtype
    if name == "ndim":
        return owner.type.rank if isinstance(owner, Array) else len(owner.shape)
    if name == "T":
        return transpose(em, owner)
    if isinstance(owner, Array):
        return tuple(em.extent(owner, dim) for dim in range(owner.type.rank))
    return owner.shape
