"""Cases R01 to R07 and D01 to D07 of test/Cases: whole kernels, and what is refused, predicted and told."""

from __future__ import annotations

import json
import re
import shutil
import subprocess

import ml_dtypes
import numpy as np
import pytest
from case_runs import (
    CASES,
    LIBRARY,
    PRODUCT,
    ROOT,
    TARGETS,
    TOOLS,
    Program,
    fresh,
    fresh_numbers,  # noqa: F401
    needs_tools,
    small,
)

pytestmark = needs_tools

every_target = pytest.mark.parametrize("target", TARGETS)

_BF16, _F16, _F32, _I32 = ml_dtypes.bfloat16, np.float16, np.float32, np.int32
_GEMM = ROOT / "examples" / "gemm.mlir"


@every_target
@pytest.mark.parametrize("columns", [3, 17, 127, 768])
def test_r01_columns_behind_the_last_do_not_count(target, columns, tmp_path, rng):
    """Far from zero, where a fill of zero would change the variance most."""
    width = 1 << (columns - 1).bit_length()
    settings = {"T": "f16", "BR": 4, "BC": width, "WARPS": 4, "OCCUPANCY": 1}
    program = Program(LIBRARY / "layer_norm.mlir", target, tmp_path, **settings)
    x = (rng.standard_normal((9, columns)) + 10).astype(_F16)
    weight, bias = (rng.standard_normal(columns).astype(_F32) for _ in range(2))
    wide = x.astype(np.float64)
    mean = wide.mean(axis=1)
    rstd = 1 / np.sqrt(wide.var(axis=1) + 1e-5)
    y = (wide - mean[:, None]) * rstd[:, None] * weight + bias
    outputs = {"Y": y.astype(_F16), "mean": mean.astype(_F32), "rstd": rstd.astype(_F32)}
    near = {"Y": (2e-3, 2e-3), "mean": (1e-5, 0), "rstd": (1e-4, 0)}
    program.run({"X": x, "weight": weight, "bias": bias}, outputs, {"eps": 1e-5}, near=near, options=["--processors=2"])


def attended(q, k, v, scale: float, seen: np.ndarray) -> np.ndarray:
    """softmax(scale q k^T) v over the keys that are seen; zero for a query that sees none."""
    scores = np.where(seen, q.astype(np.float64) @ k.astype(np.float64).T * scale, -np.inf)
    top = scores.max(axis=1, initial=-np.inf, keepdims=True)
    weights = np.where(seen, np.exp(scores - np.where(np.isfinite(top), top, 0)), 0)
    total = weights.sum(axis=1, keepdims=True)
    return (weights @ v.astype(np.float64) / np.where(total == 0, 1, total)).astype(_F32)


#: Queries, keys, the first and the last key that query 0 sees, where the keys begin and end, what is added to scores.
WINDOWS = {
    "causal, more queries than keys": (128, 64, -1000, -64, 0, 64, 0),
    "one key for each query": (64, 64, 0, 0, 0, 64, 0),
    "first blocks without a key": (64, 160, 64, 100, 0, 160, 0),
    "some rows without any key": (64, 96, 40, 50, 0, 96, 0),
    "scores near -6e4": (64, 96, -1000, 0, 0, 96, -6e4),
    "scores near 6e4": (64, 96, -1000, 0, 0, 96, 6e4),
    "end before the beginning": (64, 96, -1000, 1000, 64, 32, 0),
    "no keys": (64, 0, -1000, 1000, 0, 0, 0),
}


@every_target
@pytest.mark.parametrize(("stages", "specialize"), [(1, "auto"), (2, "on")])
def test_r02_rows_and_blocks_without_keys(target, stages, specialize, tmp_path, rng):
    program = Program(CASES / "R02.mlir", target, tmp_path, STAGES=stages, SPECIALIZE=specialize)
    names = list(WINDOWS) if target in ("sm_80", "sm_90a", "sm_100a") else list(WINDOWS)[:4]
    for name in names:
        queries, keys, first, last, begin, end, shift = WINDOWS[name]
        q, k, v = (rng.standard_normal((rows, 64)).astype(_F16) for rows in (queries, keys, keys))
        scale = 0.125
        if shift:
            # One component of q and k makes all scores so large. The others are quarters: near 6e4 a unit of a score
            # is 2^-8, and only multiples of it are summed without an error that the exponential makes a factor.
            q, k = np.rint(4 * q) / _F16(4), np.rint(4 * k) / _F16(4)
            q[:, 0], k[:, 0] = 800, shift / scale / 800
        i, j = np.arange(queries)[:, None], np.arange(keys)
        seen = (j >= i + first) & (j <= i + last) & (j >= begin) & (j < end)
        o = attended(q, k, v, scale, seen)
        scalars = {"scale": scale, "first": first, "last": last, "begin": begin, "end": end}
        # Weights are rounded to f16.
        program.run({"Q": q, "K": k, "V": v}, {"O": o}, scalars, near={"O": (2e-3, 2e-3)})


@every_target
@pytest.mark.parametrize("queries_keys", [(128, 64), (1, 1), (70, 1)], ids=str)
def test_r02_causal_with_fewer_keys(target, queries_keys, tmp_path, rng):
    """The kernel of the library, which leaves blocks out: the first queries see a negative number of keys."""
    queries, keys = queries_keys
    tiles = {"T": "f16", "D": 64, "BM": 128 if target == "sm_100a" else 64, "BN": 32, "WARPS": 4, "CAUSAL": "true"}
    program = Program(LIBRARY / "attention.mlir", target, tmp_path, **tiles)
    q, k, v = (rng.standard_normal((rows, 64)).astype(_F16) for rows in (queries, keys, keys))
    seen = np.arange(keys) <= np.arange(queries)[:, None] + keys - queries
    o = attended(q, k, v, 0.125, seen).astype(_F16)
    arrays = {"Q": q[None, None], "K": k[None, None], "V": v[None, None]}
    program.run(arrays, {"O": o[None, None]}, {"scale": 0.125}, near={"O": (5e-3, 2e-3)})


@every_target
@pytest.mark.parametrize("kernel", ["plain", "persistent"])
def test_r07_groups_that_do_not_divide(target, kernel, tmp_path, rng):
    program = Program(CASES / "R07.mlir", target, tmp_path, kernel)
    for rows, columns in ((9, 4), (10, 3), (13, 1), (int(rng.integers(1, 20)), int(rng.integers(1, 9)))):
        tiles = np.empty((rows, columns), _I32)
        number = 0
        for start in range(0, rows, 8):
            for column in range(columns):
                for row in range(start, min(start + 8, rows)):
                    tiles[row, column] = number
                    number += 1
        # The last tiles are ragged.
        c = np.repeat(np.repeat(tiles, 8, axis=0), 16, axis=1)[: 8 * rows - 3, : 16 * columns - 5]
        outputs = {"C": np.ascontiguousarray(c), "count": np.ones((rows, columns), _I32)}
        before = {"count": np.zeros((rows, columns), _I32)}
        program.run({}, outputs, before=before, options=["--processors=5"], orders=1)


@every_target
def test_d01_sums_after_branches(target, tmp_path):
    program = Program(CASES / "D01.mlir", target, tmp_path, "sums")
    x = np.ones((4, 4), _F32)
    program.run({"X": x}, {"mark": np.ones(1, _F32), "Z": np.full((3, 4), 4, _F32)}, {"none": 0})
    untouched = {"mark": fresh(1, _F32), "Z": fresh((3, 4), _F32)}
    program.run({"X": x}, untouched, {"none": 1}, untouched)


@every_target
def test_d01_product_of_which_one_lane_stores_less(target, tmp_path, rng):
    program = Program(CASES / "D01.mlir", target, tmp_path, "product")
    a, b = small(rng, (16, 16), _F16), small(rng, (16, 8), _F16)
    for kept in (0, 5, 22):
        c = a.astype(_F32) @ b.astype(_F32)
        c[np.add.outer(np.arange(16), np.arange(8)) == kept] = 7
        program.run({"A": a, "B": b}, {"C": c}, {"kept": kept}, {"C": fresh(c.shape, _F32, 7)})


@every_target
def test_d01_everything_collective_is_convergent(target, tmp_path):
    for kernel in ("sums", "product"):
        command = [TOOLS / "headrace-compile", CASES / "D01.mlir", f"--kernel={kernel}", f"--target={target}"]
        text = subprocess.run([*command, "--emit=llvm"], capture_output=True, text=True, check=True).stdout
        assert 'target triple = "nvptx64-nvidia-cuda"' in text
        groups = set(re.findall(r"attributes (#\d+) = \{[^}]*\bconvergent\b", text))
        collective = r"(asm sideeffect|declare .*@llvm\.nvvm\.(shfl|barrier|bar|mma|ldmatrix|vote|redux|match))"
        for line in text.splitlines():
            if re.search(collective, line):
                assert groups & set(re.findall(r"#\d+", line)), line


#: What ptxas of a release takes: .version times 10.
RELEASES = {"12.4": 84, "12.6": 85, "12.8": 87, "12.9": 88, "13.0": 90}
#: The .version that a target needs.
# sm_90a: bulk copies to shared::cta came with 8.6.
NEEDED = {"sm_75": 63, "sm_80": 70, "sm_90a": 86, "sm_100a": 86, "sm_103a": 88, "sm_120a": 87}


@pytest.mark.parametrize("release", RELEASES)
def test_d02_version_that_ptxas_takes(release, tmp_path):
    assembler = tmp_path / "ptxas"
    seen = tmp_path / "seen.ptx"
    assembler.write_text(
        f"""#!/bin/sh
[ "$1" = --version ] && echo "Cuda compilation tools, release {release}, V{release}.1" && exit
for word; do case "$word" in *.ptx) cp "$word" {seen} ;; esac; last="$word"; done
[ -f {seen} ] || cp /dev/stdin {seen}
echo a cubin > "$last"
""",
        encoding="utf-8",
    )
    assembler.chmod(0o755)
    for target, needed in NEEDED.items():
        seen.unlink(missing_ok=True)
        settings = "--set=T=f16" if target == "sm_75" else "--set=BK=32"
        command = [TOOLS / "headrace-compile", PRODUCT, "--kernel=tn", settings, f"--target={target}"]
        result = subprocess.run(
            [*command, f"--ptxas={assembler}", "-o", tmp_path / "k.cubin"], capture_output=True, text=True
        )
        if needed <= RELEASES[release]:
            assert result.returncode == 0, f"{target}: {result.stderr}"
            version = re.search(r"^\.version (\d+)\.(\d+)", seen.read_text(encoding="utf-8"), re.MULTILINE)
            assert needed <= 10 * int(version[1]) + int(version[2]) <= RELEASES[release], target
        else:
            assert result.returncode == 1, target
            assert f"{needed // 10}.{needed % 10}" in result.stderr
            assert f"{RELEASES[release] // 10}.{RELEASES[release] % 10}" in result.stderr


@pytest.mark.parametrize(
    ("target", "operands", "feature"),
    [("sm_90", "bf16", "wgmma needs sm_90a"), ("sm_100", "bf16", "tcgen05 needs sm_100a"),
     ("sm_103a", "i8", "kind::i8 needs sm_100a"), ("sm_103a", "bf16", ""), ("sm_120", "bf16", ""),
     ("sm_121a", "bf16", "")],
)  # fmt: skip
def test_d03_variants_without_a_feature(target, operands, feature, tmp_path, rng):
    """Another family multiplies, says why, and is right."""
    types = {"T": "i8", "ACC": "i32", "ZERO": "0"} if operands == "i8" else {}
    program = Program(PRODUCT, target, tmp_path, "tn", BM=128, **types)
    assert feature in program.remarks
    assert bool(feature) == ("remark: matmul" in program.remarks)
    assert ("tcgen05.mma" in program.ptx) == (target == "sm_103a" and operands == "bf16")
    assert "wgmma" not in program.ptx
    dtype = np.int8 if operands == "i8" else _BF16
    a, b = small(rng, (128, 136), dtype), small(rng, (64, 136), dtype)
    c = (a.astype(_F32) @ b.astype(_F32).T).astype(_I32 if operands == "i8" else _F32)
    program.run({"A": a, "B": b}, {"C": c}, {"arg3": 136}, orders=1)


LIMITS = {"sm_75": 65536, "sm_80": 166912, "sm_86": 101376, "sm_90a": 232448, "sm_100a": 232448, "sm_120a": 101376}


@pytest.mark.parametrize("target", LIMITS)
def test_d05_bytes_predicted_are_bytes_allocated(target, tmp_path, rng):
    """Some tiles and stages, of which some do not fit. Of a refusal the numbers add up, and what it offers fits."""
    for _ in range(6):
        tiles = {"BM": rng.choice([64, 128]), "BN": rng.choice([64, 128, 256]), "BK": rng.choice([32, 64, 128])}
        tiles = {name: int(extent) for name, extent in tiles.items()}
        tiles["BN"] = min(tiles["BN"], 128) if target in ("sm_75", "sm_80", "sm_86") else tiles["BN"]
        stages = int(rng.integers(2, 7))
        result = compiled_gemm(target, tmp_path, {**tiles, "STAGES": stages})
        if result.returncode == 0:
            check_bytes(target, tmp_path)
            continue
        message = result.stderr
        assert result.returncode == 1, message
        needed, limit = map(int, re.search(r"needs (\d+) bytes of shared memory .* has (\d+)", message).groups())
        assert limit == LIMITS[target] < needed
        parts = re.findall(r"note: '[^']*' takes (\d+) x (\d+) bytes", message)
        rest = re.findall(r"note: barriers and alignment take (\d+) bytes", message)
        assert sum(int(n) * int(size) for n, size in parts) + sum(map(int, rest)) == needed, message
        offered = re.search(r"note: stages = (\d+) fits", message)
        if offered:
            assert int(offered[1]) < stages
            assert compiled_gemm(target, tmp_path, {**tiles, "STAGES": offered[1]}).returncode == 0
            check_bytes(target, tmp_path)
            more = compiled_gemm(target, tmp_path, {**tiles, "STAGES": int(offered[1]) + 1})
            assert more.returncode == 1, "one stage more than offered fits"
        else:
            assert "not even one stage fits" in message


def compiled_gemm(target, folder, settings) -> subprocess.CompletedProcess:
    """The example compiled to k.ptx, with k.report.json."""
    values = ",".join(f"{name}={value}" for name, value in settings.items())
    command = [TOOLS / "headrace-compile", _GEMM, f"--target={target}", f"--set={values}", "--emit=ptx"]
    command += ["-o", folder / "k.ptx", f"--report={folder / 'k.report.json'}"]
    return subprocess.run([str(part) for part in command], capture_output=True, text=True)


def check_bytes(target, folder):
    """The report's bytes are the record's, and hold every piece of memory that the record names."""
    record = json.loads((folder / "k.json").read_text(encoding="utf-8"))
    report = json.loads((folder / "k.report.json").read_text(encoding="utf-8"))
    assert report["shared_bytes"] == record["shared_bytes"] <= LIMITS[target]
    pieces = [entry for entry in record["memory"] if entry.get("space", "shared") == "shared"]
    assert max(piece["offset"] + piece["bytes"] for piece in pieces) <= record["shared_bytes"]


needs_ptxas = pytest.mark.skipif(not shutil.which("ptxas"), reason="no ptxas in PATH")

KERNELS = [("zeroed", {}), ("zeroed", {"SPECIALIZE": "on"}), ("zeroed", {"BM": 128, "BN": 256, "SPECIALIZE": "on"}),
           ("zeroed", {"BM": 192, "BN": 128, "CONSUMERS": 3, "SPECIALIZE": "on"}), ("two", {"BN": 128}),
           ("two", {"BN": 256})]  # fmt: skip


@needs_ptxas
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: "-".join([kernel[0], *map(str, kernel[1].values())]))
def test_d06_ptxas_has_nothing_to_say(kernel, tmp_path):
    """No spills, no serialised wgmma, no register budget that is ignored; or the program is refused."""
    name, settings = kernel
    command = [TOOLS / "headrace-compile", CASES / "D06.mlir", f"--kernel={name}", "--target=sm_90a"]
    command += [f"--set={','.join(f'{key}={value}' for key, value in settings.items())}"] if settings else []
    command += ["-o", tmp_path / "k.cubin", f"--report={tmp_path / 'k.report.json'}"]
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if name == "two" and settings["BN"] == 256 and result.returncode:
        assert result.returncode == 1
        assert "registers" in result.stderr
        return
    assert result.returncode == 0, result.stderr
    assert "warning" not in result.stderr, result.stderr
    report = json.loads((tmp_path / "k.report.json").read_text(encoding="utf-8"))["ptxas"]
    assert not report["notes"]
    assert not any(value for key, value in report.items() if "spill" in key), report


@pytest.mark.parametrize("kernel", KERNELS[:4], ids=lambda kernel: "-".join([kernel[0], *map(str, kernel[1].values())]))
def test_d06_products_of_zeroed_accumulators(kernel, tmp_path, rng):
    """The same programs are right, and say how many threads they have and how many programs are resident."""
    name, settings = kernel
    program = Program(CASES / "D06.mlir", "sm_90a", tmp_path, name, **settings)
    assert re.search(r"\.(req|max)ntid", program.ptx)
    assert ".minnctapersm" in program.ptx
    rows, columns = settings.get("BM", 64), settings.get("BN", 256)
    a, b = small(rng, (2 * rows, 128), _BF16), small(rng, (columns, 128), _BF16)
    program.run({"A": a, "B": b}, {"C": a.astype(_F32) @ b.astype(_F32).T}, orders=1)


def malformed() -> dict[str, str]:
    """The programs of D07.mlir by their titles."""
    pieces = (CASES / "D07.mlir").read_text(encoding="utf-8").split("// -----\n")[1:]
    return {piece.splitlines()[0].removeprefix("// "): piece for piece in pieces}


@pytest.mark.parametrize("title", malformed())
def test_d07_malformed_programs_are_errors(title, tmp_path):
    """An error with a place, and neither an assertion nor a crash, in both tools."""
    source = tmp_path / "k.mlir"
    source.write_text(malformed()[title], encoding="utf-8")
    for tool, *options in (("headrace-opt",), ("headrace-compile", "--target=sm_90a", "--emit=ptx")):
        command = [TOOLS / tool, source, *options]
        result = subprocess.run([str(part) for part in command], capture_output=True, text=True)
        assert result.returncode == 1, f"{result.returncode}: {result.stderr}"
        assert re.search(r"k\.mlir:\d+:\d+: error: ", result.stderr), result.stderr
        assert not re.search("[Aa]ssert|Stack dump|LLVM ERROR|fault of headrace", result.stderr)
