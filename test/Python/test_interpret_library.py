"""Every ready kernel and every kernel of the library, interpreted: the calls and references of the end-to-end tests."""

from __future__ import annotations

import os
import re

import pytest
from language_library import TWINS
from library.catalog import variants
from test_kernels_library import FUNCTIONS, run

import headrace as hr

VARIANTS = {variant.name: variant for variant in variants() if variant.in_quick}
#: One variant of each file, with the activation that its twin has.
LIBRARY = list({v.source: name for name, v in reversed(VARIANTS.items()) if v.settings.get("ACT", 0) == 0}.values())
#: First and last of the variants of a function.
READY = sorted(
    {
        name
        for ordered in (list(VARIANTS), list(reversed(VARIANTS)))
        for name in {VARIANTS[name].source: name for name in ordered}.values()
        if VARIANTS[name].source in FUNCTIONS
    }
)


@pytest.fixture(autouse=True)
def _interpreted(monkeypatch):
    monkeypatch.setenv("HEADRACE_INTERPRET", "1")


def smallest(name: str):
    """The smallest of the variant's calls on fresh random numbers, and the seed."""
    seed = int.from_bytes(os.urandom(4), "little")
    calls = VARIANTS[name].launches(seed)
    return min(calls, key=lambda call: sum(call.args[i].storage.size for i in call.arrays())), f"seed {seed}"


@pytest.mark.parametrize("name", READY)
def test_ready_kernel(name):
    call, seed = smallest(name)
    verdict = run(call, lambda *args: FUNCTIONS[VARIANTS[name].source](VARIANTS[name].settings, *args))
    assert verdict.status == "ok", f"{seed}, {call.label}: {verdict.detail}"


def parameters(name: str) -> dict:
    """The values of the file's parameters, as constants of Python."""
    variant = VARIANTS[name]
    values = dict(re.findall(r"^// param (\w+) = ([^,\n]+)", variant.path.read_text(), re.MULTILINE))
    values.update({key: str(value) for key, value in variant.settings.items()})
    spelled = {"true": True, "false": False}
    return {
        key: spelled.get(text := value.strip(), int(text) if re.fullmatch(r"-?\d+", text) else text)
        for key, value in values.items()
    }


@pytest.mark.parametrize("name", LIBRARY)
def test_kernel_of_the_library(name):
    call, seed = smallest(name)
    twin, values = TWINS[VARIANTS[name].source], parameters(name)
    constants = {p.name: values[p.name] for p in twin.kernel.parameters if p.constant and p.name in values}
    constants.update({name: value for name, value in twin.types(hr.f32).items() if value is None})
    given = [p.name for p in twin.kernel.parameters if not p.constant and p.name not in constants]

    def interpret(*args):
        twin.kernel(**dict(zip(given, args, strict=True)), **{**constants, **twin.constants})

    verdict = run(call, interpret)
    assert verdict.status == "ok", f"{seed}, {call.label}: {verdict.detail}"


def test_every_kernel_is_interpreted():
    assert {VARIANTS[name].source for name in LIBRARY} == set(TWINS)
    assert {VARIANTS[name].source for name in READY} == set(FUNCTIONS)
