"""Results on disk: NAME.json with a line for each run, NAME.npz beside it with what the programs left."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np


def save(path: Path, where: str, outcomes: dict) -> None:
    """Writes both files. `outcomes` maps names to (Outcome, seconds)."""
    arrays = {
        f"{name}/{key}": value for name, (outcome, _) in outcomes.items() for key, value in outcome.outputs.items()
    }
    np.savez_compressed(path.with_suffix(".npz"), **arrays)
    runs = {
        name: {"status": outcome.status, "detail": outcome.detail, "seconds": round(seconds, 3)}
        for name, (outcome, seconds) in outcomes.items()
    }
    _write(path, {"on": where, "runs": runs})


def _write(path: Path, content: dict) -> None:
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def add_facts(path: Path, probes) -> None:
    """Adds the facts of `probes` to the JSON file, those that it lacks: they take longer than the runs."""
    content, arrays = load(path)
    missing = [probe for probe in probes if "facts" not in content["runs"].get(probe.name, {"facts": None})]
    for probe in missing:
        content["runs"][probe.name]["facts"] = facts_of(probe, arrays.get(probe.name, {}))
    if missing:
        _write(path, content)


def load(path: Path) -> tuple[dict, dict[str, dict[str, np.ndarray]]]:
    """The JSON file's content, and the arrays of each run. Raises OSError or ValueError."""
    content = json.loads(path.read_text(encoding="utf-8"))
    arrays: dict[str, dict[str, np.ndarray]] = {}
    archive = path.with_suffix(".npz")
    if archive.exists():
        with np.load(archive) as stored:
            for key in stored.files:
                name, _, output = key.rpartition("/")
                arrays.setdefault(name, {})[output] = stored[key]
    return content, arrays


def facts_of(probe, outputs: dict[str, np.ndarray]) -> dict:
    """The probe's facts, or why there are none."""
    if set(probe.outputs) - set(outputs):
        return {}
    try:
        return probe.facts(outputs)
    except Exception as error:  # a result nobody thought of must not lose the others
        return {"none": f"{type(error).__name__}: {error}"}


def print_facts(name: str, question: str, run: dict) -> None:
    print(f"{name}: {question}\n  {run['status']}{': ' + run['detail'].splitlines()[0] if run['detail'] else ''}")
    for key, value in run["facts"].items():
        if isinstance(value, list) and any(isinstance(v, str) and len(v) > 20 for v in value):
            print(f"  {key}:", *value, sep="\n    ")
        else:
            print(f"  {key}: {value}")
    print()


def compare(left_path: Path, right_path: Path) -> int:
    """Prints what differs between two files: status, facts, and how many elements of the outputs. Result: how much."""
    (left, left_arrays), (right, right_arrays) = load(left_path), load(right_path)
    names = (left["on"], right["on"])
    differing = 0
    for name in sorted(set(left["runs"]) | set(right["runs"])):
        runs = [content["runs"].get(name) for content in (left, right)]
        if None in runs:
            print(f"{name}: only on {names[runs[0] is None]}")
            differing += 1
            continue
        lines = _fact_lines(runs, names) + _array_lines(left_arrays.get(name, {}), right_arrays.get(name, {}))
        statuses = [run["status"] for run in runs]
        differing += bool(lines)
        print(f"{name}: {' / '.join(statuses)}{'' if lines else ', equal'}")
        for line in lines:
            print(f"    {line}")
    print(f"{differing} of {len(set(left['runs']) | set(right['runs']))} differ ({names[0]} / {names[1]})")
    return differing


def _fact_lines(runs, names) -> list[str]:
    lines = []
    facts = [run.get("facts", {}) for run in runs]
    for key in dict.fromkeys([*facts[0], *facts[1]]):
        values = [fact.get(key, "-") for fact in facts]
        if values[0] == values[1]:
            continue
        if all(isinstance(value, dict) for value in values):
            lines += [
                f"{key}, {part}: {values[0].get(part, '-')} / {values[1].get(part, '-')}"
                for part in dict.fromkeys([*values[0], *values[1]])
                if values[0].get(part) != values[1].get(part)
            ][:24]
        elif any(isinstance(value, list) for value in values):
            for where, value in zip(names, values, strict=True):
                lines += [f"{key}, {where}:"] + [
                    f"    {v}" for v in (value if isinstance(value, list) else [value])[:6]
                ]
        else:
            lines.append(f"{key}: {values[0]} / {values[1]}")
    return lines


def _array_lines(left: dict[str, np.ndarray], right: dict[str, np.ndarray]) -> list[str]:
    lines = []
    for name in sorted(set(left) & set(right)):
        a, b = left[name], right[name]
        if a.shape != b.shape:
            lines.append(f"{name}: shapes {a.shape} / {b.shape}")
            continue
        bits = f"u{a.itemsize}"
        different = int((a.view(bits) != b.view(bits)).sum())
        if different:
            lines.append(f"{name}: {different} of {a.size} elements differ in their bits")
    return lines
