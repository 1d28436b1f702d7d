"""A kernel compiled for one target: every level of it as text, its code, its launch record, its report."""

from __future__ import annotations

import functools
import json
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace.driver import cache, compiler
from headrace.driver.diagnostics import check
from headrace.driver.tools import ToolError, find_nvidia_tool
from headrace.language.program import Program
from headrace.report.report import Report, report_of

if TYPE_CHECKING:
    from headrace.language.kernel import KernelFunction


class Compiled:
    """A kernel for one target, see `compile`. Levels are made when they are first asked for."""

    def __init__(self, program: Program, target: str):
        self.program = program
        self.name = program.name
        self.target = target

    @property
    def mlir(self) -> str:
        """The kernel in the tile dialect, what the language emits."""
        return self.program.plain

    @functools.cached_property
    def layout(self) -> str:
        """The tile dialect with a layout for every tile."""
        return self._text("layout")

    @functools.cached_property
    def pipe(self) -> str:
        """The pipe dialect: channels, asynchronous copies and matmuls, roles."""
        return self._text("pipe")

    @functools.cached_property
    def nvvm(self) -> str:
        """The NVVM and LLVM dialects."""
        return self._text("nvvm")

    @functools.cached_property
    def llvm(self) -> str:
        """LLVM IR."""
        return self._text("llvm")

    @functools.cached_property
    def ptx(self) -> str:
        """PTX, with the source's lines."""
        return self._entry("ptx").code.decode()

    @functools.cached_property
    def cubin(self) -> bytes:
        """The code that the GPU runs; needs ptxas."""
        return self._entry("cubin").code

    @functools.cached_property
    def record(self) -> dict:
        """The launch record, as parsed JSON: arguments, tensor maps, grid, memory, what must hold at a launch."""
        return _record(self._run("record"))

    @functools.cached_property
    def sass(self) -> str:
        """The machine code as text; needs nvdisasm. Raises ToolError without it."""
        tool = find_nvidia_tool("nvdisasm")
        if tool is None:
            raise ToolError(
                "expected nvdisasm in $CUDA_HOME, on PATH or as the pip package nvidia-cuda-nvdisasm, found none"
            )
        with tempfile.TemporaryDirectory(prefix="headrace-") as folder:
            path = Path(folder) / "kernel.cubin"
            path.write_bytes(self.cubin)
            done = subprocess.run([str(tool), "-c", str(path)], capture_output=True, text=True, check=False)
        if done.returncode:
            raise ToolError(f"{tool} does not take the cubin: {done.stderr.strip()}")
        return done.stdout

    def report(self, level: str | None = None) -> Report:
        """What the compiler chose and why: memory, roles, loops, channels, copies and why they are not faster.

        ``print(compiled.report())`` prints text, ``compiled.report().show()`` draws tables if rich is installed, and a
        notebook shows them. `level` is "record" (quick), "ptx" or "cubin" (with registers and spills); None is "cubin"
        where there is a ptxas, else "record". Raises CompileError if the kernel is refused at that level.
        """
        return report_of(self, level)

    def save(self, directory: str | Path) -> Path:
        """Writes NAME.mlir, NAME.ptx, NAME.cubin (if there is a ptxas) and the launch record NAME.json to `directory`.

        `headrace.Kernel` loads and launches them from there without this compiler. Returns the record's path.
        """
        folder = Path(directory)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{self.name}.mlir").write_text(self.mlir, encoding="utf-8")
        (folder / f"{self.name}.ptx").write_text(self.ptx, encoding="utf-8")
        record = {**self.record, "ptx": f"{self.name}.ptx"}
        if find_nvidia_tool("ptxas") is not None:
            (folder / f"{self.name}.cubin").write_bytes(self.cubin)
            record["cubin"] = f"{self.name}.cubin"
        path = folder / f"{self.name}.json"
        path.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
        return path

    def entry(self, level: str) -> cache.Entry:
        """The code (`level` "ptx" or "cubin") with the launch record, from the cache if it is there."""
        return self._entry(level)

    def _entry(self, level: str) -> cache.Entry:
        key = cache.key_of("1", level, self.target, compiler.version(), self.program.text)

        def make() -> cache.Entry:
            output = self._run(level)
            return cache.Entry(output.code, _record(output))

        return cache.get(key, make)

    def _run(self, level: str) -> compiler.Output:
        output = compiler.run(self.program.text, self.target, level)
        check(output, self.name)
        return output

    def _text(self, level: str) -> str:
        return self._run(level).code.decode()

    def __repr__(self) -> str:
        return f"<headrace kernel {self.name} for {self.target}>"


def _record(output: compiler.Output) -> dict:
    assert output.record is not None
    return output.record


def compile_kernel(kernel: KernelFunction, args: tuple, kwargs: dict[str, Any], target: str) -> Compiled:
    """`kernel` for `target`, checked down to the level that says what it needs. Raises CompileError."""
    compiled = Compiled(kernel.program(kernel.facts(args, kwargs)[1]), target)
    _ = compiled.record
    return compiled


def compile(kernel: KernelFunction, signature: Mapping[str, Any] | tuple, target: str) -> Compiled:
    """Compiles a kernel without running it.

    `signature` has a type, an example or a constant for each parameter: a mapping by name, or a tuple in order. Types
    of arrays are ``hr.bf16[:, ::1]`` (rank 2, last stride 1, aligned to 16 bytes), of numbers ``hr.i32`` or ``int``.
    `target` is "sm_75", "sm_80", "sm_90a", "sm_100a", "sm_120a", ...

    Result: `.mlir .layout .pipe .nvvm .llvm .ptx .cubin .sass .record .report()` and `.save(directory)`. Raises
    CompileError at the line of the kernel that is refused, ToolError without a compiler.

    ```python
    matrix = hr.bf16[:, ::1]
    compiled = hr.compile(gemm, {"A": matrix, "B": matrix, "C": matrix, "BM": 128}, "sm_90a")
    print(compiled.report())
    ```
    """
    args, kwargs = ((), dict(signature)) if isinstance(signature, Mapping) else (tuple(signature), {})
    return kernel.compile(*args, target=target, **kwargs)
