"""The interpretation that runs now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.errors import HeadraceError
from headrace.language.interpretation import CURRENT

if TYPE_CHECKING:
    from headrace.eager.evaluation import Evaluation


def interpretation() -> Evaluation:
    """The evaluation of the kernel that runs. Raises HeadraceError if none does: its values are for it alone."""
    current = CURRENT.get()
    if current is None:
        raise HeadraceError("expected a kernel that runs, got a value of one that has ended: keep x.numpy()")
    return current  # type: ignore[return-value]
