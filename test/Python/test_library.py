"""The check of the library of kernels: what it accepts and rejects, and a short run on the simulator."""

import dataclasses
import json
import os
import random
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest
from library import on_gpu, on_simulator
from library.arrays import holding, judge, realigned, surrounded
from library.case import FOLDER, TARGETS
from library.catalog import variants
from library.random_settings import random_variants
from library.running_error import Real, dot, real
from library_check import chosen, parse_options
from sim_reference import Array

ROOT = Path(__file__).resolve().parents[2]
TOOLS = Path(os.environ.get("HEADRACE_TOOLS", ROOT / "build" / "bin"))

needs_tools = pytest.mark.skipif(not (TOOLS / "headrace-sim").exists(), reason=f"no headrace-sim in {TOOLS}")


def named(name):
    return next(variant for variant in variants() if variant.name == name)


def options(*more):
    return parse_options(["--tools", str(TOOLS), "--quick", "--all-calls", *more])


# Running errors.


def test_error_bounds_f32_arithmetic():
    rng = np.random.default_rng(7)
    a, b = (rng.standard_normal(1000).astype(np.float32) for _ in range(2))
    x, y = real(a), real(b)
    pairs = [
        (x + y, a + b),
        (x - y, a - b),
        (x * y * x, a * b * a),
        (x / y, a / b),
        (x.exp(), np.exp(a)),
        ((x * x + 1).log(), np.log(a * a + 1)),
        ((x * x + 1).rsqrt(), 1 / np.sqrt(a * a + 1)),
        (x.tanh(), np.tanh(a)),
        (x.sum(0), a.sum(keepdims=True)),
        (x.cumsum(0), a.cumsum()),
        (x.rounded_to("f16"), a.astype(np.float16)),
    ]
    for bound, computed in pairs:
        assert computed.dtype != np.float64
        error = np.abs(computed.astype(np.float64) - bound.value)
        assert (error <= bound.error).all()
        assert np.median(bound.error) < 0.01


def test_error_passes_through():
    x = Real(np.array([2.0, 3.0]), np.array([0.01, 0.02]))
    np.testing.assert_allclose((x * 10).error, [0.1, 0.2], rtol=1e-4)
    np.testing.assert_allclose((x + x).error, [0.02, 0.04], rtol=1e-4)
    np.testing.assert_allclose((1 / x).error, [0.0025, 0.0022], rtol=0.02)
    assert (x.exp().error >= np.exp(x.value) * x.error).all()


def test_infinity_has_no_error():
    assert (real(np.array([-np.inf])) - 1.0).error == 0


@pytest.mark.parametrize("dtype", ["bf16", "f16", "e4m3", "i8"])
def test_dot_notices_one_product(dtype):
    rng = np.random.default_rng(7)
    a, b = holding(dtype, rng.integers(1, 3, (8, 64))), holding(dtype, rng.integers(1, 3, (64, 8)))
    whole = dot(a.view, b.view, dtype)
    assert (np.abs(dot(a.view[:, 1:], b.view[1:], dtype).value - whole.value) > whole.error).all()


# Arrays and judges.


@pytest.mark.parametrize("shape", [(5,), (3, 7), (2, 3, 7), (2, 1, 3, 7), (0, 3, 7)])
def test_surrounded_by_poison(shape):
    array = surrounded("bf16", shape)
    assert array.view.shape == shape
    assert np.isnan(array.storage.astype(np.float32)).all()
    inside = np.zeros(array.storage.shape, bool)
    inside[array.slices] = True
    for axis in range(len(shape)):
        assert not inside.take(0, axis).any()
        assert not inside.take(-1, axis).any()


@pytest.mark.parametrize("exact", [False, True])
def test_judge_sees_faults(exact):
    expected = np.arange(24.0).reshape(2, 3, 4)
    array = surrounded("f32", expected.shape)

    def verdict(change):
        after = Array("f32", array.storage.copy(), array.slices)
        after.view[:] = expected
        change(after)
        return judge(array, after.storage, expected if exact else real(expected)).status

    assert verdict(lambda after: None) == "ok"
    assert verdict(lambda after: after.view.__setitem__((1, 2, 3), 23.001)) == "wrong"
    assert verdict(lambda after: after.view.__setitem__((1, 2, 3), np.nan)) in ("wrong", "unwritten")
    assert verdict(lambda after: after.view.__setitem__((1, 2, 3), array.view[1, 2, 3])) == "unwritten"
    assert verdict(lambda after: after.storage.__setitem__((0, 0, 0), 0)) == "guard"


# The catalog.


def test_every_source_has_variants():
    assert {variant.source for variant in variants()} == {path.stem for path in FOLDER.glob("*.mlir")}


def test_names_are_different():
    names = [variant.name for variant in variants()]
    assert len(set(names)) == len(names)


def stored(call, index):
    """What argument `index` holds after a kernel that computes exactly."""
    array, expected = call.args[index], call.expected[index]
    after = Array(array.dtype, array.storage.copy(), array.slices)
    after.view[:] = (expected.value if isinstance(expected, Real) else expected).astype(array.storage.dtype)
    return after


@pytest.mark.parametrize("variant", [v for v in variants() if v.in_quick], ids=lambda variant: variant.name)
def test_reference_accepts_itself_alone(variant):
    for call in variant.launches(7):
        after = {i: call.args[i].storage.copy() for i in call.arrays()}
        after.update({i: stored(call, i).storage for i in call.expected})
        verdict = call.judge(after)
        assert (verdict.status, verdict.detail) == ("ok", ""), call.label
        for i in call.expected:
            wrong = stored(call, i)
            if wrong.view.size:
                at = (-1,) * wrong.view.ndim
                wrong.view[at] = wrong.view[at] + np.asarray(1.01 * max(1, abs(float(wrong.view[at])))).astype(
                    wrong.storage.dtype
                )
                assert call.judge({**after, i: wrong.storage}).status == "wrong", call.label
        is_input = next(i for i in call.arrays() if i not in call.expected)
        touched = after[is_input].copy()
        touched.reshape(-1).view(np.uint8)[0] ^= 1
        assert call.judge({**after, is_input: touched}).status == "guard"


def test_random_variants_keep_what_calls_need():
    everything = variants()
    first, again, other = (random_variants(everything, 2, random.Random(seed)) for seed in (3, 3, 4))
    assert [v.settings for v in first] == [v.settings for v in again] != [v.settings for v in other]
    assert len({v.name for v in first}) == len(first) == 2 * len({v.source for v in everything})
    for variant in first:
        base = next(v for v in everything if variant.name.startswith(f"{v.name}-random"))
        assert set(base.settings) <= set(variant.settings)
        plain, call = next(iter(base.launches(7))), next(iter(variant.launches(7)))
        assert [type(arg) for arg in plain.args] == [type(arg) for arg in call.args]
        assert set(plain.expected) == set(call.expected)


@pytest.mark.parametrize("align", [4, 8, 16])
def test_realigned_keeps_numbers(align):
    array = holding("bf16", np.arange(42).reshape(2, 3, 7))
    other = realigned(array, align)
    assert (other.view == array.view).all()
    starts = [other.view[i, j : j + 1].ctypes.data - other.storage.ctypes.data for i in range(2) for j in range(3)]
    assert all(start % align == 0 for start in starts)
    assert align == 16 or any(start % (2 * align) for start in starts)


def test_same_seed_same_inputs():
    first, again = (next(iter(named("embedding").launches(3))) for _ in range(2))
    other = next(iter(named("embedding").launches(4)))
    assert first.args[0].storage.tobytes() == again.args[0].storage.tobytes()
    assert first.args[0].storage.tobytes() != other.args[0].storage.tobytes()


def test_patterns_choose():
    assert chosen(named("embedding"), "sm_80", options("--kernel", "emb*"))
    assert not chosen(named("embedding"), "sm_80", options("--kernel", "gemm*"))
    assert not chosen(named("embedding"), "sm_80", options("--target", "sm_90a"))
    assert not chosen(named("embedding-large"), "sm_80", options())
    assert not chosen(named("gemm_fp8_row_scaled"), "sm_80", options())


# The simulator.


def checked(variant, tmp_path):
    return on_simulator.check(variant, "sm_80", options(), 7, tmp_path)


@needs_tools
def test_simulator_accepts_right_kernel(tmp_path):
    result = checked(named("embedding"), tmp_path)
    assert (result.status, result.detail, result.calls) == ("passed", "", 2)
    assert not list(tmp_path.iterdir())


@needs_tools
def test_simulator_rejects_wrong_numbers(tmp_path):
    right = named("embedding")

    def calls(rng):
        for call in right.calls(rng):
            yield dataclasses.replace(call, expected={2: call.expected[2] + 1})

    result = checked(dataclasses.replace(right, calls=calls), tmp_path)
    assert (result.status, result.calls) == ("wrong", 2)
    assert "37 of 50x200: wrong: " in result.detail
    tools = [Path(command.split()[0]).name for command in result.commands]
    assert tools == ["headrace-compile", "headrace-sim", "headrace-sim"]


@needs_tools
def test_simulator_accuses_race(tmp_path, monkeypatch):
    compile_ptx = on_simulator.compile_ptx

    def without_barriers(*args):
        outcome = compile_ptx(*args)
        ptx = args[4].with_suffix(".ptx")
        ptx.write_text(ptx.read_text().replace("cp.async.wait_group", "// cp.async.wait_group"))
        return outcome

    monkeypatch.setattr(on_simulator, "compile_ptx", without_barriers)
    result = checked(named("gemm_residual"), tmp_path)
    assert result.status == "accused"
    assert result.detail.startswith("129x200x200: kernel.ptx:")


@needs_tools
def test_refusal_has_message(tmp_path):
    result = checked(dataclasses.replace(named("embedding"), settings={"BR": "many"}), tmp_path)
    assert result.status == "refused"
    assert result.detail.startswith("compiler: embedding.mlir:")


# The GPU, played by the CPU.


class Memory:
    """A torch tensor of bytes."""

    device = types.SimpleNamespace(index=0)

    def __init__(self, array):
        self.array = array

    def cuda(self):
        return Memory(self.array.copy())

    def cpu(self):
        return self

    def numpy(self):
        return self.array

    def data_ptr(self):
        return self.array.ctypes.data


@pytest.fixture
def device(monkeypatch):
    """library.device with a torch whose memory is the CPU's."""
    torch = types.ModuleType("torch")
    torch.from_numpy = Memory
    torch.cuda = types.SimpleNamespace(synchronize=lambda: None)
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.delitem(sys.modules, "library.device", raising=False)
    from library import device

    yield device
    sys.modules.pop("library.device", None)


def on_cpu(array):
    """The numbers of a DeviceArray."""
    kind = {"bf16": np.uint16, "i32": np.int32}[array.dtype]
    size = np.dtype(kind).itemsize
    last = sum((extent - 1) * stride for extent, stride in zip(array.shape, array.strides, strict=True))
    memory = np.ctypeslib.as_array((np.ctypeslib.ctypes.c_uint8 * ((last + 1) * size)).from_address(array.ptr))
    return np.lib.stride_tricks.as_strided(memory.view(kind), array.shape, [s * size for s in array.strides])


@pytest.mark.parametrize(("added", "status"), [(0, "ok"), (1, "wrong")])
def test_device_passes_arrays_in_place(device, added, status):
    def embedding(table, ids, out):
        rows, places = on_cpu(table), on_cpu(ids)
        for i, place in enumerate(places):
            on_cpu(out)[i] = rows[place] + added if 0 <= place < len(rows) else 0

    call = next(iter(named("embedding").launches(7)))
    assert device._launched(embedding, call)[2].shape == call.args[2].storage.shape
    worker = device.Worker.__new__(device.Worker)
    assert worker._check(embedding, call, 2).status == status


def test_device_sees_unstable_result(device):
    times = []

    def sometimes(table, ids, out):
        times.append(1)
        on_cpu(out)[:] = 0
        for i, place in enumerate(on_cpu(ids)):
            if 0 <= place < len(on_cpu(table)) and (i != 7 or len(times) < 3):
                on_cpu(out)[i] = on_cpu(table)[place]

    call = next(iter(named("embedding").launches(7)))
    worker = device.Worker.__new__(device.Worker)
    assert worker._check(sometimes, call, 1).status == "ok"
    times.clear()
    assert worker._check(sometimes, call, 3).status == "unstable"


def serve(connection, folder, seed):
    """A child that finds the second call of each kernel wrong and dies of "rms_norm-3"."""
    connection.send("ready")
    while True:
        _, name, number, _ = connection.recv()
        if name == "rms_norm-3":
            os._exit(3)
        connection.send(("wrong", "it is", 2.0, False) if number else ("ok", "", 0.5, False))


def test_gpu_results():
    work = [(named(name), "sm_90a") for name in ("embedding", "rms_norm-3", "transpose-i8")]
    results = list(on_gpu.run_all(work, options("--gpu", "nowhere"), 7, serve))
    assert [result.status for result in results] == ["wrong", "crashed", "wrong"]
    assert results[0].detail.endswith("wrong: it is")
    assert results[0].calls == 2


@needs_tools
def test_folder_names_its_kernels(tmp_path):
    result = on_gpu.compile_into(tmp_path, named("embedding"), "sm_80", options())
    if result.status == "crashed" or "ptxas" in result.detail:
        pytest.skip(result.detail)
    assert result.status == "passed"
    assert on_gpu.kernels(tmp_path) == [("embedding", "sm_80")]
    assert {path.suffix for path in tmp_path.iterdir()} == {".cubin", ".ptx", ".json"}


# All kernels.


@needs_tools
@pytest.mark.parametrize("target", TARGETS)
def test_kernels_are_right_and_without_findings(target, tmp_path):
    results = tmp_path / "results.json"
    command = [sys.executable, str(ROOT / "test" / "EndToEnd" / "library_check.py"), "--quick", "--tools", str(TOOLS)]
    command += ["--target", target, "--out", str(tmp_path), "--json", str(results)]
    run = subprocess.run(command, capture_output=True, text=True)
    print(run.stdout)
    assert run.returncode == 0, run.stdout + run.stderr
    assert all(result["calls"] for result in json.loads(results.read_text(encoding="utf-8"))["results"])
