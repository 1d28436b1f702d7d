"""Kernels run by Python itself, one program of the grid after another: for print, breakpoints and exceptions in them.

With HEADRACE_INTERPRET set, a call of a kernel executes its own function on numpy arrays. Three things work together:
the frontend first emits the kernel, so that what the compiler refuses is refused (`check`); the function is compiled
with a few calls added (`instrument`); and what it calls is computed at once, by the frontend's rules and the
arithmetic of `headrace.interpreter` (`evaluation`, `emitter`).
"""

from headrace.eager.check import checked
from headrace.eager.run import host_arguments, interpret

__all__ = ["checked", "host_arguments", "interpret"]
