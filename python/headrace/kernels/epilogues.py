"""Activation functions of the products' epilogues, for kernels."""

from __future__ import annotations

import headrace as hr
from headrace.errors import LaunchError
from headrace.language.functions import InlineFunction


@hr.inline
def relu(x):
    """max(x, 0)"""
    return hr.maximum(x, 0.0)


@hr.inline
def gelu(x):
    """x times the normal distribution's share below x, by its approximation with tanh."""
    return x * 0.5 * (hr.tanh((x * x * 0.044715 + 1) * x * 0.7978845608) + 1)


@hr.inline
def silu(x):
    """x times the logistic function of x; also known as swish."""
    return x / (hr.exp(-x) + 1)


ACTIVATIONS = {"relu": relu, "gelu": gelu, "silu": silu}


def activation_of(given: str | InlineFunction | None) -> InlineFunction | None:
    """The function that is called `given`, or `given` itself. Raises LaunchError for another name."""
    if given is None or isinstance(given, InlineFunction):
        return given
    if given not in ACTIVATIONS:
        raise LaunchError(
            f"expected {', '.join(ACTIVATIONS)}, an @hr.inline function or None as activation, got {given!r}"
        )
    return ACTIVATIONS[given]
