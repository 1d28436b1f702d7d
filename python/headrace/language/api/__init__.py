"""What a kernel may call: signatures and documentation. What each one emits is in `headrace.language.lowering`."""

from headrace.language.api import control, elementwise, memory, reductions  # noqa: F401 - define the functions
from headrace.language.api.builtin import ALL as BUILTINS

__all__ = ["BUILTINS"]
