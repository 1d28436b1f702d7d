"""Settles open questions about the hardware: runs small PTX programs on a GPU or on headrace-sim.

    python3 test/Sim/Hardware/run_probes.py --on sim --out sim.json
    python3 test/Sim/Hardware/run_probes.py --on gpu --out gpu.json
    python3 test/Sim/Hardware/run_probes.py --compare sim.json gpu.json
    python3 test/Sim/Hardware/run_probes.py --show gpu.json
    python3 test/Sim/Hardware/run_probes.py --on gpu --kernels FOLDER --out gpu-kernels.json
    python3 test/Sim/Hardware/run_probes.py --kernels FOLDER --compare sim-kernels.json gpu-kernels.json

Each run is on its own: one that hangs or fails costs none of the others. Results are NAME.json and NAME.npz; --show and
--compare work out what they mean and add that to NAME.json. Needs numpy; on a GPU cuda-bindings, too. Exit code 0 if
all ran (on the simulator: also if it found something), or nothing differs.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from pathlib import Path

import barriers
import copies
import functions
import kernels
import products
from backends import REPOSITORY, job_of, runner
from probe import Probe
from results import add_facts, compare, load, print_facts, save


def all_probes() -> list[Probe]:
    """Every probe. Those that may hang come last."""
    return [*barriers.probes(), *functions.probes(), *products.probes(), *copies.probes()]


def run_all(jobs, options) -> dict:
    """Name -> (Outcome, seconds) of each job."""
    run, stop = runner(options.on, options.sim, options.seconds)
    deadline = time.monotonic() + options.budget
    outcomes = {}
    for job in jobs:
        if time.monotonic() > deadline:
            print(f"the budget of {options.budget:g} s is used up, {len(jobs) - len(outcomes)} left", file=sys.stderr)
            break
        start = time.monotonic()
        outcome = run(job)
        outcomes[job.name] = outcome, time.monotonic() - start
        print(f"{outcomes[job.name][1]:7.2f} s  {outcome.status:8} {job.name}", flush=True)
        if outcome.status not in ("ok", "finding"):
            print(f"           {outcome.detail}", flush=True)
    stop()
    return outcomes


def selected(items, options, name):
    return [item for item in items if not options.only or re.search(options.only, name(item))]


def run_probes(options) -> int:
    probes = selected(all_probes(), options, lambda probe: probe.name)
    outcomes = run_all([job_of(probe) for probe in probes], options)
    save(options.out, options.on, outcomes)
    return 0 if len(outcomes) == len(probes) and all(o.status in ("ok", "finding") for o, _ in outcomes.values()) else 1


def run_kernels(options) -> int:
    jobs = selected([job for job, _ in kernels.jobs(options.kernels)], options, lambda job: job.name)
    outcomes = run_all(jobs, options)
    save(options.out, options.on, outcomes)
    return 0 if len(outcomes) == len(jobs) and all(o.status == "ok" for o, _ in outcomes.values()) else 1


def compare_kernels(options) -> int:
    (left, left_arrays), (right, right_arrays) = (load(path) for path in options.compare)
    wrong = compared = 0
    for job, meta in kernels.jobs(options.kernels):
        runs = [content["runs"].get(job.name) for content in (left, right)]
        arrays = [found.get(job.name, {}).get(job.outputs[0]) for found in (left_arrays, right_arrays)]
        if None in runs or any(array is None for array in arrays):
            print(f"{job.name}: " + " / ".join(run["status"] if run else "missing" for run in runs))
            wrong += 1
            continue
        verdict = kernels.judge(job, meta, *arrays)
        compared += 1
        wrong += not verdict["fine"]
        word = "fine " if verdict["fine"] else "WRONG"
        ratio = verdict.get("largest difference over bound", "")
        print(f"{word} {job.name}: {verdict['differ']} of {verdict['elements']} differ {ratio}")
    print(f"{compared} compared, {wrong} wrong or missing")
    return 1 if wrong else 0


def compare_probes(options) -> int:
    for path in options.compare:
        add_facts(path, all_probes())
    return min(compare(*options.compare), 1)


def show(path: Path, options) -> int:
    """Prints the facts of stored results."""
    probes = selected(all_probes(), options, lambda probe: probe.name)
    add_facts(path, probes)
    content, _ = load(path)
    for probe in probes:
        if probe.name in content["runs"]:
            print_facts(probe.name, probe.question, content["runs"][probe.name])
    return 0


def write_sources(folder: Path) -> int:
    """Writes NAME.ptx and NAME.json of every probe, for ptxas or headrace-sim by hand."""
    folder.mkdir(parents=True, exist_ok=True)
    for probe in all_probes():
        (folder / f"{probe.name}.ptx").write_text(probe.ptx)
        (folder / f"{probe.name}.json").write_text(json.dumps({**probe.record, "ptx": f"{probe.name}.ptx"}, indent=1))
    return 0


def parse_options(argv) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--on", choices=("sim", "gpu"), default="sim", help="where to run (default %(default)s)")
    parser.add_argument("--out", type=Path, default=Path("probes.json"), help="results (default %(default)s)")
    parser.add_argument("--only", help="regular expression that names must match")
    parser.add_argument("--kernels", type=Path, help="run compiled products of this folder instead of probes")
    parser.add_argument("--compare", type=Path, nargs=2, metavar=("A", "B"), help="print what differs between results")
    parser.add_argument("--show", type=Path, metavar="FILE", help="print the facts of results")
    parser.add_argument("--write", type=Path, metavar="FOLDER", help="write the probes' PTX and records")
    parser.add_argument("--seconds", type=float, default=10, help="a run without answer hangs (default %(default)s)")
    parser.add_argument("--budget", type=float, default=600, help="start no run after that (default %(default)s s)")
    sim = REPOSITORY / "build" / "bin" / "headrace-sim"
    parser.add_argument("--sim", type=Path, default=sim, help="path of headrace-sim")
    return parser.parse_args(argv)


def main(argv=None) -> int:
    options = parse_options(argv)
    if options.write:
        return write_sources(options.write)
    if options.show:
        return show(options.show, options)
    if options.compare:
        return compare_kernels(options) if options.kernels else compare_probes(options)
    return run_kernels(options) if options.kernels else run_probes(options)


if __name__ == "__main__":
    sys.exit(main())
