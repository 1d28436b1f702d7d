"""Loads and stores with options, and atomics. Their first argument is a part of an array, not its value."""

from __future__ import annotations

from typing import Any

from headrace.language import access
from headrace.language.api import memory as api
from headrace.language.emitter import Emitter
from headrace.language.lowering.registry import lowers, want_constant
from headrace.language.values import Part

#: Built-ins whose first argument is named, not read.
TAKE_PART = (api.load, api.store, api.atomic_add, api.atomic_min, api.atomic_max)


@lowers(api.load)
def load(em: Emitter, part: Part, fill: Any, cache: Any):
    return access.load(em, part, want_constant(em, fill, "fill"), want_constant(em, cache, "cache"))


@lowers(api.store)
def store(em: Emitter, part: Part, value: Any, cache: Any) -> None:
    access.store(em, part, value, want_constant(em, cache, "cache"))


@lowers(api.atomic_add)
def atomic_add(em: Emitter, part: Part, value: Any) -> None:
    access.combine(em, part, value, "add")


@lowers(api.atomic_min)
def atomic_min(em: Emitter, part: Part, value: Any) -> None:
    access.combine(em, part, value, "min")


@lowers(api.atomic_max)
def atomic_max(em: Emitter, part: Part, value: Any) -> None:
    access.combine(em, part, value, "max")
