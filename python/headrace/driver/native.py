"""The compiler as a module of this process: of the installed package, or of a checkout's build folder."""

from __future__ import annotations

import functools
import importlib
import importlib.machinery
import importlib.util
import sysconfig
from pathlib import Path
from types import ModuleType

_PACKAGE = Path(__file__).resolve().parent.parent
_NAME = "headrace._native"


@functools.cache
def module() -> ModuleType | None:
    """`headrace._native`; None where the package has none, as in a checkout that was built without it."""
    try:
        return importlib.import_module(_NAME)
    except ModuleNotFoundError:
        pass
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    built = _PACKAGE.parents[1] / "build" / "python" / "headrace" / f"_native{suffix}"
    if not built.exists():
        return None
    loader = importlib.machinery.ExtensionFileLoader(_NAME, str(built))
    made = importlib.util.module_from_spec(importlib.util.spec_from_file_location(_NAME, built, loader=loader))
    loader.exec_module(made)
    return made
