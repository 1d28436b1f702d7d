"""What each function of `headrace.language.api` emits."""

from headrace.language.lowering import control, elementwise, memory, reductions, tiles  # noqa: F401 - fill the registry
