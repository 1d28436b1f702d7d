"""One tuning, from configurations to results: emit, examine, prune, compile, measure."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from headrace.driver.compiled import Compiled
from headrace.errors import LaunchError
from headrace.language.errors import CompileError, InternalError
from headrace.runtime.launch import Kernel
from headrace.tuning import prediction
from headrace.tuning.candidates import Candidate, Emitted, examine, reason_of
from headrace.tuning.driver_clock import DriverClock
from headrace.tuning.measuring import measure
from headrace.tuning.parallel import for_each
from headrace.tuning.progress import progress
from headrace.tuning.pruning import Rule, prune
from headrace.tuning.results import Result, Results
from headrace.tuning.rotation import Arguments, rotating
from headrace.tuning.timing import Series


@dataclass(frozen=True)
class Plan:
    """How to tune. `rule` is `pruning.Rule`, `keep` how many configurations are measured at most, by their bound.

    `workers` processes compile at once (None: as many as there are cores), `shown` is `progress`'s.
    """

    rule: Rule | None = None
    keep: int | None = None
    rounds: int = 5
    workers: int | None = None
    shown: bool | None = None


@dataclass(frozen=True)
class _Ranked:
    candidate: Candidate
    bound: float | None

    def result(self, status: str, reason: str = "") -> Result:
        return Result(self.candidate.config, status, reason, bound=self.bound)


def shortlist(
    emitted: Sequence[Emitted], target: str, plan: Plan, waves: Callable[[Candidate], float]
) -> tuple[list[_Ranked], list[Result]]:
    """What is worth measuring, the lowest bound first, and the results of the rest; no code is made.

    `waves` is `prediction.wave_share` of a candidate for the arguments of the call.
    """
    with progress("examining", len(emitted), plan.shown) as advance:
        candidates, results = examine(emitted, target, advance, plan.workers)
    candidates, left_out = prune(candidates, plan.rule)
    ranked = [_Ranked(c, prediction.bound_of(c.report, waves(c))) for c in candidates]
    ranked.sort(key=lambda each: (each.bound is None, each.bound or 0.0))
    results += left_out
    if plan.keep is not None:
        results += [
            each.result("pruned", f"not among the {plan.keep} of the lowest bound") for each in ranked[plan.keep :]
        ]
        ranked = ranked[: plan.keep]
    return ranked, results


def predict(emitted: Sequence[Emitted], target: str, plan: Plan) -> Results:
    """The results without a GPU: what fits, by its bound, and why the others do not."""
    ranked, results = shortlist(emitted, target, plan, lambda candidate: 1.0)
    return Results([*(each.result("fits") for each in ranked), *results])


def tune(
    emitted: Sequence[Emitted], target: str, plan: Plan, values: dict[str, Any], clock: DriverClock, grids: Callable
) -> Results:
    """The results by measuring on the clock's GPU, on copies of the arrays in `values` (the arguments by name).

    ``grids(config)`` is the grid to launch a configuration with, None for the kernel's own.
    """
    processors = clock.attribute("MULTIPROCESSOR_COUNT")

    def waves(candidate: Candidate) -> float:
        if grids(candidate.config) is not None:
            return 1.0
        return prediction.wave_share(candidate.record, [values[n] for n in candidate.program.arguments], processors)

    ranked, results = shortlist(emitted, target, plan, waves)
    kernels, failed = _compile(ranked, target, plan)
    results += failed
    ready = [each for each in ranked if id(each) in kernels]
    names = ready[0].candidate.program.arguments if ready else ()
    passed = {name: values[name] for name in names}
    with rotating((), passed, clock, None) as sets:

        def start(index: int) -> Series:
            each = ready[index]
            return _series(kernels[id(each)], each.candidate, grids(each.candidate.config), sets, clock)

        with progress("measuring", len(ready), plan.shown) as advance:
            configs = [(each.candidate.config, each.bound) for each in ready]
            results += measure(configs, start, advance, plan.rounds)
    return Results(results)


def _series(kernel: Kernel, candidate: Candidate, grid: Any, sets: list[Arguments], clock: DriverClock) -> Series:
    orders = [[named[name] for name in candidate.program.arguments] for _, named in sets]
    return Series(clock, lambda index: kernel(*orders[index], stream=clock.stream, grid=grid), len(sets))


def _compile(ranked: Sequence[_Ranked], target: str, plan: Plan) -> tuple[dict[int, Kernel], list[Result]]:
    """Kernels by the identity of what they are of, made on all cores; and the results of those that fail."""

    def make(each: _Ranked) -> Kernel | Result:
        try:
            entry = Compiled(each.candidate.program, target).entry("cubin")
        except CompileError as error:
            return each.result("refused", reason_of(error))
        except InternalError as error:
            return each.result("failed", str(error))
        return Kernel(entry.record, cubin=entry.code)

    # That a configuration spills shows in its time; a warning for each would only be noise.
    with warnings.catch_warnings(), progress("compiling", len(ranked), plan.shown) as advance:
        warnings.simplefilter("ignore")
        made = for_each(ranked, make, advance, plan.workers)
    kernels = {id(each): kernel for each, kernel in zip(ranked, made, strict=True) if isinstance(kernel, Kernel)}
    return kernels, [result for result in made if isinstance(result, Result)]


def demand(results: Results, kernel: str, target: str) -> Result:
    """The best of `results`. Raises LaunchError, with the first reasons, if none is any good."""
    best = results.best
    if best is not None:
        return best
    reasons = list(dict.fromkeys(f"{_spelled(result)}: {result.reason}" for result in results))
    shown = "; ".join(reasons[:3]) + (f"; and {len(reasons) - 3} more in .results" if len(reasons) > 3 else "")
    raise LaunchError(
        f"kernel '{kernel}': expected a configuration that runs on {target}, none of {len(results)} does: {shown}"
    )


def _spelled(result: Result) -> str:
    return ", ".join(f"{name}={value}" for name, value in result.config.items())
