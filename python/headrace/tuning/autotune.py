"""The decorator that lets a kernel's constants be chosen by measuring, and the kernel that it makes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from headrace.driver import compiler
from headrace.driver.compiled import compile_kernel
from headrace.driver.launcher import device_target
from headrace.language.errors import CompileError
from headrace.language.interpretation import enabled
from headrace.language.kernel import KernelFunction
from headrace.runtime.arrays import device_of
from headrace.tuning import store, tuner
from headrace.tuning.candidates import Emitted, emit_all
from headrace.tuning.driver_clock import DriverClock
from headrace.tuning.keys import Key
from headrace.tuning.named import call_named
from headrace.tuning.pruning import Rule
from headrace.tuning.results import Results
from headrace.tuning.space import Config, SearchSpace


class TunedKernel:
    """A kernel whose constants are chosen when it is called, see `autotune`.

    `kernel` is the kernel itself, `configs` what is chosen from, `results` what the last tuning found (empty before).
    """

    def __init__(self, kernel: KernelFunction, configs: SearchSpace, key: Sequence[str] | None, plan: tuner.Plan):
        self.kernel = kernel
        self.configs = configs
        self.results = Results()
        self._key = Key(key, kernel.parameters, configs.names)
        self._plan = plan
        self._chosen: dict[tuple, Results] = {}
        self._check_names()
        functools.update_wrapper(self, kernel.function)

    def _check_names(self) -> None:
        if not self.configs:
            raise ValueError(f"expected at least one configuration for '{self.kernel.function.__name__}', got none")
        constants = {parameter.name for parameter in self.kernel.parameters if parameter.constant}
        for name in self.configs.names:
            if name not in constants:
                raise ValueError(
                    f"expected hr.constexpr parameters of '{self.kernel.function.__name__}' in the configurations, "
                    f"got '{name}'; it has {', '.join(sorted(constants)) or 'none'}"
                )

    @property
    def best(self) -> Config | None:
        """The configuration that the last tuning chose; None before."""
        return dict(self.results.best.config) if self.results.best is not None else None

    def __call__(self, *args: Any, grid: Any = None, stream: Any = None, **kwargs: Any) -> None:
        """Launches the kernel with the best configuration for these arguments, asynchronously, as `hr.kernel` does.

        With HEADRACE_INTERPRET set the first configuration is interpreted, see `KernelFunction.interpret`.
        The first call with new types or a new key measures, on copies of the arrays, and keeps the results in memory
        and on disk; it cannot be part of a CUDA graph's capture. `grid` may be a function of constants, such as
        ``lambda BM: ...``.
        Raises what a kernel raises, and LaunchError if no configuration runs; `results` then has every reason.
        """
        config = self._first() if enabled() else self.choose(*args, grid=grid, **kwargs)
        self.kernel(*args, grid=_grid_of(grid, config), stream=stream, **kwargs, **config)

    def __getitem__(self, grid: Any) -> Callable[..., None]:
        """``kernel[grid](...)``: launches with so many programs along x, y, z, or a function of constants."""
        return functools.partial(self, grid=grid)

    def choose(self, *args: Any, grid: Any = None, again: bool = False, **kwargs: Any) -> Config:
        """The best configuration for these arguments on their GPU, without launching. `again` measures anew.

        Raises LaunchError without a GPU, or if no configuration runs.
        """
        values, facts = self._bound(args, kwargs)
        device = device_of(values.values())
        target = device_target(device)
        chosen = {name: value for name, value in facts.items() if name not in self.configs.names}
        key = (target, device, self._key.values(self._without_chosen(values)),
               *((name, type(fact), fact) for name, fact in chosen.items()))  # fmt: skip
        results = self._chosen.get(key)
        if results is None or again:
            results = self._chosen[key] = self._tuned(args, kwargs, values, target, device, grid, again)
        self.results = results
        return dict(tuner.demand(results, self.kernel.function.__name__, target).config)

    def examine(self, *args: Any, target: str, **kwargs: Any) -> Results:
        """What the compiler says of every configuration for `target`, such as "sm_90a": needs no GPU.

        Arguments are arrays or types (``hr.bf16[:, ::1]``). Those that fit come first, the lowest bound first; the
        others have the reason why they are refused or not worth measuring. Raises CompileError for arguments that no
        kernel takes.

        ```python
        print(gemm.examine(A=matrix, B=matrix, C=matrix, target="sm_90a"))
        ```
        """
        self._bound(args, kwargs)
        self.results = tuner.predict(self._emitted(args, kwargs), target, self._plan)
        return self.results

    def run_on(self, where: str, *args: Any, target: str = "sm_90a", grid: Any = None, seeds: int = 1, **kwargs: Any):
        """Runs on ``"sim"`` with the configuration of the lowest bound, see `KernelFunction.run_on`.

        Nothing is measured. Raises LaunchError if no configuration fits `target`.
        """
        if enabled():
            config = self._first()
        else:
            results = self.examine(*args, target=target, **kwargs)
            config = tuner.demand(results, self.kernel.function.__name__, target).config
        grid = _grid_of(grid, config)
        return self.kernel.run_on(where, *args, target=target, grid=grid, seeds=seeds, **kwargs, **config)

    def _first(self) -> Config:
        """The configuration of interpreted kernels, which are not measured."""
        return dict(self.configs[0])

    def compile(self, *args: Any, target: str, **kwargs: Any):
        """The kernel compiled for `target` with the configuration of the lowest bound, see `hr.compile`."""
        results = self.examine(*args, target=target, **kwargs)
        config = tuner.demand(results, self.kernel.function.__name__, target).config
        return compile_kernel(self.kernel, args, {**kwargs, **config}, target)

    def _bound(self, args: tuple, kwargs: dict[str, Any]) -> tuple[dict, dict]:
        """The arguments by name and their facts; constants that are chosen have any of their values."""
        for name in self.configs.names:
            if name in kwargs:
                raise TypeError(
                    f"expected no value for '{name}' of '{self.kernel.function.__name__}', which autotune chooses: "
                    "call its .kernel to choose it yourself"
                )
        try:
            return self.kernel.facts(args, {**kwargs, **self.configs[0]})
        except CompileError as error:
            raise error.with_traceback(None) from None

    def _without_chosen(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in values.items() if name not in self.configs.names}

    def _emitted(self, args: tuple, kwargs: dict[str, Any]) -> list[Emitted]:
        def emit(config: Config):
            return self.kernel.program(self.kernel.facts(args, {**kwargs, **config})[1])

        return emit_all(self.configs, emit)

    def _tuned(
        self, args: tuple, kwargs: dict, values: dict, target: str, device: int | None, grid: Any, again: bool
    ) -> Results:
        emitted = self._emitted(args, kwargs)
        with DriverClock(device) as clock:
            constants = self._key.values(self._without_chosen(values))
            programs = [item.identity for item in emitted]
            key = store.key_of(programs, self.configs, constants, target, clock.name, compiler.version())
            with store.lock(key):
                results = None if again else store.load(key)
                if results is None or results.best is None:
                    results = tuner.tune(emitted, target, self._plan, values, clock, lambda c: _grid_of(grid, c))
                    about = {"kernel": self.kernel.function.__name__, "target": target, "device": clock.name,
                             "key": repr(constants)}  # fmt: skip
                    store.save(key, results, about)
        return results

    def __repr__(self) -> str:
        return f"<hr.autotune of {self.configs!r} for {self.kernel!r}>"


def _grid_of(grid: Any, config: Config) -> Any:
    return call_named(grid, config, "the grid") if callable(grid) else grid


def autotune(
    configs: Iterable[Mapping[str, Any]],
    key: Sequence[str] | None = None,
    *,
    prune: Rule | None = None,
    keep: int | None = None,
    rounds: int = 5,
    workers: int | None = None,
    progress: bool | None = None,
) -> Callable[[KernelFunction], TunedKernel]:
    """Chooses the `hr.constexpr` parameters of a kernel by measuring, the first time that it is called for a problem.

    `configs` are mappings from names to values, or an `hr.search_space`. `key` names what the choice depends on beside
    types: ``"n"`` (a number, or the extents of an array), ``"A.shape[1]"``; None is the extents of all arrays and every
    integer, ``[]`` one choice for all. `prune` is a rule of one's own: given a configuration and the compiler's report
    (JSON, see `Report.data`), it returns the reason to leave it out, or "". `keep` measures only so many, by the
    compiler's bound; `rounds` are those of the last measurement; `workers` compile at once (default: all cores).
    `progress` shows a bar or not (None: on a terminal).

    All configurations are compiled to the level where memory is known, in parallel; what is refused or over budget is
    left out with its reason, and so is what cannot win (no tensor cores where others use them, no room to pipeline, the
    same program as another). The rest is made into code, in parallel, and measured on copies of the arguments. Results
    are kept on disk, in the cache of compiled kernels, and shared by all processes; `.results` lists them. On the
    simulator nothing is measured: `run_on` takes the configuration of the lowest bound.

    Raises ValueError for names that are no constants of the kernel or no parameters, TypeError for what is no kernel.

    ```python
    @hr.autotune(
        hr.search_space(lambda BM, BN: BM * BN <= 128 * 256, BM=[64, 128, 256], BN=[64, 128, 256], BK=[64]),
        key=["A", "B"],
    )
    @hr.kernel
    def gemm(A, B, C, BM: hr.constexpr, BN: hr.constexpr, BK: hr.constexpr):
        ...

    gemm(a, b, c)                                               # tunes once, then launches the best
    print(gemm.results)                                         # every configuration, its time or why it has none
    print(gemm.examine(a, b, c, target="sm_100a"))              # no GPU: what fits, and what bounds it
    ```
    """
    if keep is not None and keep < 1:
        raise ValueError(f"expected keep of at least 1, got {keep}")
    if rounds < 1:
        raise ValueError(f"expected rounds of at least 1, got {rounds}")
    space = configs if isinstance(configs, SearchSpace) else SearchSpace(configs)
    plan = tuner.Plan(prune, keep, rounds, workers, progress)

    def decorate(kernel: KernelFunction) -> TunedKernel:
        if not isinstance(kernel, KernelFunction):
            raise TypeError(f"expected an @hr.kernel below @hr.autotune, got {type(kernel).__name__}")
        return TunedKernel(kernel, space, key, plan)

    return decorate
