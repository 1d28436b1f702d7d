"""Where the compiler, the simulator and NVIDIA's tools are."""

from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path

from headrace.errors import HeadraceError

_PACKAGE = Path(__file__).resolve().parent.parent

#: The variable that names each of our tools.
_VARIABLES = {"headrace-compile": "HEADRACE_COMPILE", "headrace-sim": "HEADRACE_SIM"}


class ToolError(HeadraceError):
    """A program that is needed cannot be found, or does not run."""


def find_tool(name: str) -> Path:
    """`headrace-compile` or `headrace-sim`: named by $HEADRACE_COMPILE or $HEADRACE_SIM, in the package, in the build
    folder of a checkout, beside the other tool, or on PATH. Raises ToolError.
    """
    variable = _VARIABLES[name]
    given = os.environ.get(variable)
    if given:
        if not os.access(given, os.X_OK):
            raise ToolError(f"expected ${variable} to name a program, got '{given}'")
        return Path(given)
    folders = [_PACKAGE / "bin", _PACKAGE.parents[1] / "build" / "bin"]
    folders += [Path(os.environ[other]).parent for other in _VARIABLES.values() if os.environ.get(other)]
    for folder in folders:
        if os.access(folder / name, os.X_OK):
            return folder / name
    found = shutil.which(name)
    if found is None:
        raise ToolError(f"expected {name} on PATH, or its path in ${variable}, found neither")
    return Path(found)


def find_nvidia_tool(name: str) -> Path | None:
    """`ptxas` or `nvdisasm`, where the compiler looks: $HEADRACE_PTXAS, $CUDA_HOME, PATH, pip package; or None."""
    candidates = [os.environ.get("HEADRACE_PTXAS")] if name == "ptxas" else []
    if os.environ.get("CUDA_HOME"):
        candidates.append(os.path.join(os.environ["CUDA_HOME"], "bin", name))
    candidates.append(shutil.which(name))
    candidates += [str(path) for path in _pip_tools(name)]
    return next((Path(path) for path in candidates if path and os.access(path, os.X_OK)), None)


def _pip_tools(name: str) -> list[Path]:
    spec = importlib.util.find_spec("nvidia")
    folders = list(spec.submodule_search_locations or ()) if spec else []
    return [path for folder in folders for path in sorted(Path(folder).glob(f"*/bin/{name}"))]


def identity(path: Path | None) -> str:
    """What changes when the program does: its path, size and time. "none" without a path."""
    if path is None:
        return "none"
    real = path.resolve()
    status = real.stat()
    return f"{real}:{status.st_size}:{status.st_mtime_ns}"
