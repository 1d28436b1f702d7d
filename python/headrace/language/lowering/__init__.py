"""What each function of `headrace.language.api` emits."""

from headrace.language.lowering import (  # noqa: F401 - fill the registry
    control,
    elementwise,
    memory,
    reductions,
    scaled,
    tiles,
)
