"""A kernel as an operator of torch: usable under torch.compile, in exported programs, with a backward of one's own.

torch is only imported when an operator is made. What it sees is `torch.library.custom_op` (torch 2.4 or later).
"""

from __future__ import annotations

import importlib
import inspect
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from headrace.errors import HeadraceError, LaunchError
from headrace.language.dtypes import ArrayType, DType
from headrace.language.facts import Parameter
from headrace.language.interpretation import enabled
from headrace.language.kernel import KernelFunction
from headrace.tuning.autotune import TunedKernel
from headrace.tuning.named import call_named

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*::[A-Za-z_][A-Za-z0-9_]*")

#: Interpreted kernels take tensors of the CPU.
_DEVICES = ("cpu", "cuda")

#: Types that `types` may name, of torch's schemas. A SymInt does not bind a compiled graph to one value.
_TYPES = ("Tensor", "SymInt", "int", "float", "bool", "str")

#: What a default of each type must be.
_DEFAULTS = {"SymInt": int, "int": int, "float": (int, float), "bool": bool, "str": str}


@dataclass(frozen=True, eq=False)
class _Operator:
    """What an operator does with its arguments, apart from torch.

    `taken` are the kernel's parameters that are the operator's, with their types in order; `outputs` makes the tensors
    that the operator returns, by parameter; `mutated` are written in place; `constants` are the same in every call;
    `defaults` are those of the last of `taken`. `checked` has the types for which all writes are known of.
    """

    kernel: KernelFunction | TunedKernel
    taken: dict[str, str]
    outputs: dict[str, Callable]
    mutated: tuple[str, ...]
    constants: dict[str, Any]
    defaults: dict[str, Any]
    checked: set[tuple] = field(default_factory=set)

    def schema(self) -> str:
        """``(Tensor A, Tensor(a0!) C, SymInt n=1) -> Tensor``"""
        parts = []
        for name, kind in self.taken.items():
            alias = f"(a{self.mutated.index(name)}!)" if name in self.mutated else ""
            default = f"={_spelled(self.defaults[name], kind)}" if name in self.defaults else ""
            parts.append(f"{kind}{alias} {name}{default}")
        results = ["Tensor"] * len(self.outputs)
        returned = results[0] if len(results) == 1 else f"({', '.join(results)})"
        return f"({', '.join(parts)}) -> {returned}"

    def values(self, args: tuple, kwargs: dict[str, Any]) -> dict[str, Any]:
        """The arguments of a call by name. torch leaves out those at the end that equal their defaults."""
        return {**self.constants, **self.defaults, **dict(zip(self.taken, args, strict=False)), **kwargs}

    def make_outputs(self, values: dict[str, Any]) -> dict[str, Any]:
        return {name: call_named(make, values, f"the output '{name}'") for name, make in self.outputs.items()}

    def run(self, *args: Any, **kwargs: Any) -> Any:
        values = self.values(args, kwargs)
        made = self.make_outputs(values)
        values.update(made)
        self._check_written(values)
        self.kernel(**values)
        return _returned(made)

    def fake(self, *args: Any, **kwargs: Any) -> Any:
        """The results without their content: torch asks for them when it traces."""
        return _returned(self.make_outputs(self.values(args, kwargs)))

    def _check_written(self, values: dict[str, Any]) -> None:
        """torch must know of every write, or it takes what a tensor held before. Looks once for each set of types."""
        tuned = isinstance(self.kernel, TunedKernel)
        kernel = self.kernel.kernel if tuned else self.kernel
        constant = {parameter.name for parameter in kernel.parameters if parameter.constant}
        types = tuple(
            value if name in constant else (getattr(value, "dtype", type(value)), getattr(value, "ndim", 0))
            for name, value in values.items()
        )
        if types in self.checked:
            return
        chosen = self.kernel.configs[0] if tuned else {}
        if enabled():
            from headrace.eager import checked, host_arguments

            program = checked(kernel, host_arguments(kernel, (), {**values, **chosen})[1]).program
        else:
            program = kernel.program(kernel.facts((), {**values, **chosen})[1])
        silent = sorted(program.written - {*self.outputs, *self.mutated})
        if silent:
            raise LaunchError(
                f"operator of kernel '{program.name}': expected the arrays that it writes among outputs or mutates, "
                f"got {', '.join(silent)} in neither"
            )
        self.checked.add(types)


def torch_op(
    kernel: KernelFunction | TunedKernel,
    name: str,
    *,
    outputs: Mapping[str, Callable] | None = None,
    mutates: Iterable[str] = (),
    constants: Mapping[str, Any] | None = None,
    types: Mapping[str, str] | None = None,
) -> Any:
    """`kernel` as the operator `name`, such as "mylib::linear": a function of tensors that torch.compile can trace.

    Its parameters are the kernel's, in order, without those in `outputs` and `constants`. `outputs` has a function for
    each array that the operator returns: of the other parameters, by name, it makes the tensor that the kernel fills,
    on real and on fake tensors alike. `mutates` names the parameters that are written in place. `constants` are values
    of compile-time constants; others take their defaults. `types` says what a parameter is in torch's schema: "Tensor",
    "SymInt", "int", "float", "bool" or "str"; without it, parameters annotated as numbers are numbers, and others are
    tensors. A constant in `types` becomes a parameter of the operator.

    Result: torch's `CustomOpDef`, which is called like a function and has `register_autograd`, `register_vmap` and so
    on. It returns a tensor, a tuple in the order of `outputs`, or None. Kernels run on the current stream of torch. An
    autotuned kernel measures in its first eager call: make one before capturing a CUDA graph.

    Raises HeadraceError without torch, ValueError for what names no parameter. A call raises LaunchError if the kernel
    writes an array that is in neither `outputs` nor `mutates`.

    ```python
    linear = hr.torch_op(
        gemm,                                     # gemm(A, B, C, BM: hr.constexpr = 128, ...), C = A B^T
        "mylib::linear",
        outputs={"C": lambda A, B: A.new_empty(A.shape[0], B.shape[0])},
    )
    linear.register_autograd(backward, setup_context=setup_context)
    y = torch.compile(lambda x: linear(x, w).relu())(x)
    ```
    """
    operator = _operator(kernel, name, dict(outputs or {}), tuple(mutates), dict(constants or {}), dict(types or {}))
    library = _library()
    defined = library.custom_op(
        name, operator.run, mutates_args=operator.mutated, device_types=_DEVICES, schema=operator.schema()
    )
    defined.register_fake(operator.fake)
    return defined


def _library() -> Any:
    try:
        library = importlib.import_module("torch.library")
    except ImportError:
        raise HeadraceError(
            "expected the package 'torch', got none, because hr.torch_op makes an operator of it"
        ) from None
    if not hasattr(library, "custom_op"):
        raise HeadraceError("expected torch of version 2.4 or later, which has torch.library.custom_op")
    return library


def _operator(
    kernel: KernelFunction | TunedKernel, name: str, outputs: dict, mutates: tuple, constants: dict, types: dict
) -> _Operator:
    if not isinstance(kernel, (KernelFunction, TunedKernel)):
        raise TypeError(f"expected an @hr.kernel, with or without @hr.autotune, got {type(kernel).__name__}")
    if not _NAME.fullmatch(name):
        raise ValueError(f"expected an operator's name such as 'mylib::linear', got '{name}'")
    tuned = isinstance(kernel, TunedKernel)
    chosen = set(kernel.configs.names) if tuned else set()
    parameters = (kernel.kernel if tuned else kernel).parameters
    _check_names(parameters, outputs=outputs, mutates=mutates, constants=constants, types=types)
    for constant in constants:
        if constant in chosen:
            raise ValueError(f"expected constants that autotune does not choose, got '{constant}'")
    taken: dict[str, str] = {}
    for parameter in parameters:
        if parameter.name in {*outputs, *constants, *chosen}:
            continue
        kind = types.get(parameter.name) or _kind(parameter)
        if kind is not None:
            taken[parameter.name] = kind
        elif parameter.default is inspect.Parameter.empty:
            raise ValueError(f"expected a value for the constant '{parameter.name}' in constants or its type in types")
    for written in mutates:
        if taken.get(written) != "Tensor":
            raise ValueError(f"expected mutates to name arrays that are no outputs, got '{written}'")
    return _Operator(kernel, taken, outputs, mutates, constants, _defaults(parameters, taken))


def _check_names(parameters: tuple[Parameter, ...], **given: Iterable[str]) -> None:
    known = [parameter.name for parameter in parameters]
    for what, names in given.items():
        for name in names:
            if name not in known:
                raise ValueError(f"expected {what} to name parameters among {', '.join(known)}, got '{name}'")
    for name, kind in dict(given["types"]).items():
        if kind not in _TYPES:
            raise ValueError(f"expected the type of '{name}' among {', '.join(_TYPES)}, got {kind!r}")


def _kind(parameter: Parameter) -> str | None:
    """The type in the schema; None for a constant, which keeps its default."""
    if parameter.constant:
        return None
    declared = parameter.declared
    if isinstance(declared, DType):
        return {"float": "float", "bool": "bool"}.get(declared.kind, "SymInt")
    if declared is None or isinstance(declared, ArrayType):
        return "Tensor"
    raise AssertionError(f"unknown annotation {declared!r}")


def _defaults(parameters: tuple[Parameter, ...], taken: dict[str, str]) -> dict[str, Any]:
    """Defaults of the last parameters: as in Python, none without a default may follow."""
    defaults: dict[str, Any] = {}
    by_name = {parameter.name: parameter.default for parameter in parameters}
    for name in reversed(taken):
        default, expected = by_name[name], _DEFAULTS.get(taken[name])
        right = expected is not None and isinstance(default, expected)
        if not right or (isinstance(default, bool) and taken[name] != "bool"):
            break
        if isinstance(default, float) and not math.isfinite(default):
            break
        defaults[name] = default
    return defaults


def _spelled(value: Any, kind: str) -> str:
    """A default as torch's schemas spell it."""
    return json.dumps(value) if kind == "str" else str(float(value)) if kind == "float" else str(value)


def _returned(made: dict[str, Any]) -> Any:
    tensors = tuple(made.values())
    return None if not tensors else tensors[0] if len(tensors) == 1 else tensors
