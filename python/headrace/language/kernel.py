"""The kernel that a user holds: specialised, compiled and launched when it is called."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any, overload

from headrace.driver.repeats import Repeats
from headrace.errors import HeadraceError
from headrace.language.errors import CompileError, InternalError, Place
from headrace.language.facts import Fact, Parameter, RefusedError, bind, fact_of, parameters_of
from headrace.language.interpretation import enabled
from headrace.language.program import Program, emit
from headrace.language.source import FunctionSource, source_of

if TYPE_CHECKING:
    from headrace.driver.compiled import Compiled
    from headrace.driver.simulator import Simulation

#: Programs kept for one function; a caller that passes ever new constants does not fill the memory.
_LIMIT = 256


class KernelFunction:
    """A kernel, see `kernel`. ``kernel(...)`` launches it, ``kernel[grid](...)`` with a grid of the caller's choice."""

    headrace_kernel = True

    def __init__(self, function: Callable, warps: int | str | None, occupancy: int | str | None):
        self.function = function
        #: `warps` and `occupancy`: numbers, or names of constexpr parameters.
        self.knobs: dict[str, Any] = {"warps": warps, "occupancy": occupancy}
        self._programs: dict[tuple, Program] = {}
        #: What launches kept compiled, by facts and target; see `headrace.driver.launcher`.
        self.launchers: dict[tuple, Any] = {}
        #: Launches that were made before; see `headrace.driver.repeats`.
        self.repeats = Repeats()
        functools.update_wrapper(self, function)

    @functools.cached_property
    def source(self) -> FunctionSource:
        return source_of(self.function)

    @functools.cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        return parameters_of(self.function)

    def facts(self, args: tuple, kwargs: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Fact]]:
        """The arguments by name, and what the kernel is compiled for when they are passed. Raises CompileError."""
        try:
            values = bind(self.function.__name__, self.parameters, args, kwargs)
            return values, {p.name: fact_of(p, values[p.name]) for p in self.parameters}
        except RefusedError as refused:
            raise CompileError(str(refused), self._place(refused.parameter)) from None

    def _place(self, parameter: str) -> Place:
        """Where the parameter is declared, or the kernel."""
        arguments = self.source.node.args
        named = {node.arg: node for node in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
        return self.source.place(named.get(parameter, self.source.node))

    def program(self, facts: dict[str, Fact]) -> Program:
        """The kernel in the tile dialect for `facts`: emitted once, and again when a constant from outside changes."""
        key = tuple((name, type(fact), fact) for name, fact in facts.items())
        program = self._programs.get(key)
        if program is None or is_stale(program):
            if len(self._programs) >= _LIMIT:
                self._programs.clear()
            program = self._programs[key] = emit(self.source, facts, **self.knobs)
        return program

    def mlir(self, *args: Any, locations: bool = False, **kwargs: Any) -> str:
        """The kernel in the tile dialect, as text, for arguments or their types. `locations` adds the source lines.

        Raises CompileError.

        ```python
        print(gemm.mlir(hr.bf16[:, ::1], hr.bf16[:, ::1], hr.bf16[:, ::1], BM=128))
        ```
        """
        try:
            program = self.program(self.facts(args, kwargs)[1])
        except HeadraceError as error:
            raise shown(error) from error.__cause__
        return program.text if locations else program.plain

    def compile(self, *args: Any, target: str, **kwargs: Any) -> Compiled:
        """The kernel compiled for `target`, for arguments or their types: see `hr.compile`."""
        from headrace.driver.compiled import compile_kernel

        try:
            return compile_kernel(self, args, kwargs, target)
        except HeadraceError as error:
            raise shown(error) from error.__cause__

    def run_on(
        self, where: str, *args: Any, target: str = "sm_90a", grid: Any = None, seeds: int = 1, **kwargs: Any
    ) -> Simulation:
        """Runs the kernel on ``"sim"``, the simulator, with numpy arrays; those it writes are written in place.

        The PTX for `target` runs on the CPU, and races, deadlocks and other faults are looked for, in `seeds` orders of
        its asynchronous operations. bf16 and 8-bit floats are arrays of ml_dtypes, or of uint16 and uint8 for annotated
        parameters. `grid` is the number of programs, if the kernel does not say it.

        With HEADRACE_INTERPRET set nothing is compiled: see `interpret`.

        Result: a `headrace.driver.simulator.Simulation`. Raises CompileError if the kernel is refused, SimulationError
        if the simulator finds a fault, LaunchError for arguments that do not fit.

        ```python
        vector_add.run_on("sim", x, y, z, target="sm_80")
        ```
        """
        from headrace.driver.simulator import interpreted, simulate

        try:
            if enabled():
                return interpreted(self, where, args, kwargs, target, grid)
            return simulate(self, where, args, kwargs, target, grid, seeds)
        except HeadraceError as error:
            raise shown(error) from error.__cause__

    def interpret(self, *args: Any, grid: Any = None, **kwargs: Any) -> None:
        """Runs the kernel's own Python function in this process, once for each program of the grid, in order.

        For looking inside: `print`, `breakpoint()`, pdb and exceptions work in it, at its lines. Tiles and scalars
        print as their numbers; ``x.numpy()`` is a copy to look at. Results are those of the language: types, rounding
        and what lies outside of arrays; matrix products and sums round once. Arrays are numpy's, or others in the
        memory of the CPU, and are written in place. With HEADRACE_INTERPRET=1 every call of a kernel, and `run_on`, do
        this.

        Raises CompileError for what the compiler refuses, LaunchError for arguments that do not fit.

        ```python
        vector_add.interpret(x, y, z)
        ```
        """
        from headrace.eager import interpret

        try:
            interpret(self, args, kwargs, grid)
        except HeadraceError as error:
            raise shown(error) from error.__cause__

    def __getitem__(self, grid: int | tuple[int, ...]) -> Callable[..., None]:
        """``kernel[grid](...)``: launches with so many programs along x, y, z. `grid` may be a function of nothing."""
        return functools.partial(self, grid=grid)

    def __call__(self, *args: Any, grid: Any = None, stream: Any = None, **kwargs: Any) -> None:
        """Launches the kernel on the GPU of its arrays (torch, cupy, DLPack or `hr.DeviceArray`), asynchronously.

        It is compiled at the first call with new facts, and kept in memory and on disk. `stream` defaults to torch's
        current one, `grid` to what the kernel says. Raises CompileError, or LaunchError if CUDA refuses.
        """
        if enabled():
            self.interpret(*args, grid=grid, **kwargs)
            return
        try:
            _launcher().launch(self, args, kwargs, grid, stream)
        except HeadraceError as error:
            raise shown(error) from error.__cause__

    def __repr__(self) -> str:
        return f"<hr.kernel {self.function.__module__}.{self.function.__qualname__}>"


@functools.cache
def _launcher() -> ModuleType:
    """The module that launches, which is above this one; an import statement takes a twentieth of a launch."""
    from headrace.driver import launcher

    return launcher


def shown(error: HeadraceError) -> HeadraceError:
    """`error` as its user sees it: without the way through this package, unless the fault is in there."""
    if not isinstance(error, InternalError):
        error.__cause__ = error.__context__ = None
        error.__traceback__ = None
    return error


def is_stale(program: Program) -> bool:
    """Whether a constant that the program took from outside is another one now."""
    for lookup, name, value in program.reads:
        try:
            now = lookup(name)
        except AttributeError:
            return True
        if now is not value and (type(now) is not type(value) or now != value):
            return True
    return False


@overload
def kernel(function: Callable) -> KernelFunction: ...
@overload
def kernel(
    *, warps: int | str | None = None, occupancy: int | str | None = None
) -> Callable[[Callable], KernelFunction]: ...
def kernel(
    function: Callable | None = None, *, warps: int | str | None = None, occupancy: int | str | None = None
) -> KernelFunction | Callable[[Callable], KernelFunction]:
    """Makes a Python function a kernel: what one program of the grid does with tiles.

    Parameters are arrays, numbers, and compile-time constants annotated `hr.constexpr`. Annotations of arrays
    (``A: hr.bf16[:, ::1]``) and numbers (``n: hr.i64``) are optional: a call brings the types. None may be passed for
    an array or a number that the kernel can do without (``if bias is not None:``). `warps` are those that compute,
    `occupancy` the programs resident on one multiprocessor: a number, or the name of a constexpr parameter.

    The body is Python: assignments, `if`, `for`, `while`, functions marked `@hr.inline`; names from outside are
    constants. What the language does not have is refused at its line, by CompileError, when the kernel is first
    compiled.

    ```python
    @hr.kernel
    def add(X, Y, Z, BLOCK: hr.constexpr = 1024):
        i = hr.grid(hr.cdiv(Z.shape[0], BLOCK)) * BLOCK
        Z[i:i + BLOCK] = X[i:i + BLOCK] + Y[i:i + BLOCK]

    add(x, y, z)                         # on the GPU of the arrays
    add.run_on("sim", x, y, z)           # anywhere, with numpy arrays and race checking
    ```
    """
    if function is None:
        return lambda inner: KernelFunction(inner, warps, occupancy)
    return KernelFunction(function, warps, occupancy)
