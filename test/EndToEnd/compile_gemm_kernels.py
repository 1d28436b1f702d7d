"""Compiles the GEMMs of the end-to-end checks into a folder: NAME.cubin, NAME.json and NAME.meta.json each.

    python3 test/EndToEnd/compile_gemm_kernels.py FOLDER --compiler build/bin/headrace-compile [--set SET ...]

Sets are named below; every set is compiled for its own targets. A configuration that the compiler refuses is an error.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from gemm_source import GemmConfig, gemm_source

ORIENTATIONS = ("TN", "TT", "NN", "NT")


def _stages() -> list[tuple[str, GemmConfig]]:
    """bf16 with every number of stages, specialized or not, both alignments."""
    result = []
    for stages in "12345":
        for specialize in ("on", "off"):
            tile = {"bm": 128, "bn": 128, "bk": 64 if stages != "5" else 32}
            result.append(("sm_90a", GemmConfig(stages=stages, specialize=specialize, **tile)))
        result.append(("sm_80", GemmConfig(stages=stages, bm=128, bn=128, bk=32)))
    result.append(("sm_90a", GemmConfig(align=2, stages="2", specialize="on")))
    return result


def _types() -> list[tuple[str, GemmConfig]]:
    """Every type in every orientation, aligned and not."""
    result = []
    for orientation in ORIENTATIONS:
        for target in ("sm_80", "sm_90a"):
            for align in (16, None):
                rows = [
                    GemmConfig(dtype="bf16", out="bf16", bk=32),
                    GemmConfig(dtype="f16", out="f16", bk=32),
                    GemmConfig(dtype="bf16", out="f32", bm=64, bn=128, bk=32),
                    GemmConfig(dtype="f32", out="f32", precision="ieee", bm=64, bn=64, bk=16),
                    GemmConfig(dtype="f32", out="f32", precision="tf32", bm=64, bn=128, bk=32),
                    GemmConfig(dtype="i8", out="i32", bm=128, bn=64, bk=64),
                    GemmConfig(dtype="f64", out="f64", bm=64, bn=64, bk=16),
                ]
                if target == "sm_90a":
                    rows += [
                        GemmConfig(dtype="e4m3", out="bf16", bm=128, bn=64, bk=64),
                        GemmConfig(dtype="e5m2", out="f32", bm=128, bn=64, bk=64),
                    ]
                size = {"bf16": 2, "f16": 2, "f32": 4, "f64": 8}
                for row in rows:
                    result.append(
                        (
                            target,
                            dataclasses.replace(
                                row, orientation=orientation, align=align or size.get(row.dtype, 1), stages="3"
                            ),
                        )
                    )
    return result


def _tiles() -> list[tuple[str, GemmConfig]]:
    """Tile shapes that are not powers of two, consumer groups, M02's columns, M01's K tiles."""
    result = []
    for bn in (24, 40, 48, 56, 72, 104, 176, 192, 256):
        result.append(("sm_90a", GemmConfig(bn=bn, stages="2")))
    result.append(("sm_90a", GemmConfig(bm=64, bn=48, consumers="2", stages="2")))
    result.append(("sm_90a", GemmConfig(bm=192, bn=128, consumers="3", stages="2")))
    result.append(("sm_90a", GemmConfig(bm=256, bn=128, consumers="2", stages="2")))
    result.append(("sm_90a", GemmConfig(bm=64, bn=128, consumers="1", stages="4")))
    for bk in (8, 16, 24, 40):
        result.append(("sm_80", GemmConfig(bm=64, bn=64, bk=bk, stages="2")))
        result.append(("sm_90a", GemmConfig(bm=64, bn=64, bk=bk, stages="2")))
    result.append(("sm_80", GemmConfig(bm=96, bn=112, bk=48, stages="3")))
    result.append(("sm_80", GemmConfig(bm=16, bn=8, bk=16, stages="3")))
    result.append(("sm_80", GemmConfig(persistent=False, stages="3")))
    result.append(("sm_90a", GemmConfig(persistent=False, stages="3")))
    return result


def _speed() -> list[tuple[str, GemmConfig]]:
    """The kernels that are timed."""
    return [
        ("sm_90a", GemmConfig(bm=128, bn=256, bk=64)),
        ("sm_90a", GemmConfig(bm=128, bn=256, bk=64, group=32)),
        ("sm_90a", GemmConfig(bm=128, bn=256, bk=64, group=64)),
        ("sm_80", GemmConfig(bm=128, bn=256, bk=64)),
        ("sm_80", GemmConfig(bm=128, bn=128, bk=64, occupancy=2)),
    ]


SETS = {"stages": _stages, "types": _types, "tiles": _tiles, "speed": _speed}


def compile_kernel(compiler: str, folder: Path, target: str, config: GemmConfig) -> str:
    """Compiles one kernel; returns the compiler's messages if it refused, else an empty string."""
    name = config.name(target)
    source = folder / f"{name}.mlir"
    source.write_text(gemm_source(config), encoding="utf-8")
    command = [compiler, str(source), f"--target={target}", "-o", str(folder / f"{name}.cubin")]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode:
        return f"{name}: exit code {run.returncode}\n{run.stderr}"
    if not target.endswith("a"):
        # Later devices take code without a suffix as PTX.
        command[-1] = str(folder / f"{name}.ptx")
        subprocess.run([*command, "--emit=ptx"], capture_output=True, text=True, check=True)
    meta = {key: value for key, value in dataclasses.asdict(config).items() if value is not None}
    (folder / f"{name}.meta.json").write_text(json.dumps({**meta, "acc": config.acc, "target": target}))
    spills = [line for line in run.stderr.splitlines() if "warning" in line]
    if spills:
        print(f"{name}: " + "; ".join(spills), file=sys.stderr)
    return ""


def main() -> int:
    """Compiles the sets asked for (default: all)."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--compiler", default="build/bin/headrace-compile")
    parser.add_argument("--set", action="append", choices=sorted(SETS), dest="sets")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    work = {config.name(target): (target, config) for name in arguments.sets or SETS for target, config in SETS[name]()}
    with ThreadPoolExecutor(arguments.jobs) as pool:
        errors = list(
            pool.map(lambda item: compile_kernel(arguments.compiler, arguments.folder, *item), work.values())
        )
    refused = [error for error in errors if error]
    for error in refused:
        print(error, file=sys.stderr)
    print(f"{len(errors) - len(refused)} compiled, {len(refused)} refused")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
