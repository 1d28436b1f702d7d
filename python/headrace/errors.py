"""The errors that Headrace raises. All derive from HeadraceError; messages are lower case, "expected X, got Y"."""

from __future__ import annotations


class HeadraceError(Exception):
    """Base of every error that Headrace raises on purpose."""


class LaunchError(HeadraceError):
    """A kernel cannot be loaded or launched: a broken record, arguments outside its contract, or a CUDA error."""
