"""Tuning kernels: with the compiler's table alone, on the simulator, and by measuring on a GPU that is none."""

from __future__ import annotations

import io
import warnings

import numpy as np
import pytest
from language_tools import use_tools

import headrace as hr
from headrace.driver import launcher
from headrace.driver.cache import Entry
from headrace.driver.compiled import Compiled
from headrace.driver.diagnostics import PerformanceWarning
from headrace.language.errors import InternalError
from headrace.runtime import driver
from headrace.tuning import SearchSpace, autotune, search_space
from headrace.tuning.parallel import cores, for_each
from headrace.tuning.progress import progress
from records import array

pytest.importorskip("cuda.bindings.driver")

from tuning_device import TimedDriver


@hr.kernel
def product(A, B, C, n: hr.i32 = 0, BM: hr.constexpr = 128, BN: hr.constexpr = 128, BK: hr.constexpr = 64):  # noqa: N803
    i, j = hr.grid(hr.cdiv(C.shape[0], BM), hr.cdiv(C.shape[1], BN))
    acc = hr.zeros((BM, BN), hr.f32)
    for k in hr.pipelined(0, A.shape[1], BK):
        acc += A[i * BM : i * BM + BM, k : k + BK] @ B[j * BN : j * BN + BN, k : k + BK].T
    C[i * BM : i * BM + BM, j * BN : j * BN + BN] = acc.to(C.dtype)


@hr.kernel
def scale(X, Y, BLOCK: hr.constexpr, PARTS: hr.constexpr = 1):  # noqa: N803
    start = hr.grid(hr.cdiv(Y.shape[0], BLOCK)) * BLOCK
    Y[start : start + BLOCK] = X[start : start + BLOCK] * 2.0


_TYPES = dict.fromkeys("ABC", hr.bf16[:, ::1])


@pytest.fixture(autouse=True)
def tools(monkeypatch, tmp_path):
    use_tools(monkeypatch, tmp_path)


def status(results) -> dict[int, str]:
    return {result.config["BM"]: result.status for result in results}


def test_examine_says_why_not():
    tuned = autotune([{"BM": 60, "BK": 64}, {"BM": 128, "BK": 64}, {"BM": 128, "BK": 4096}, {"BM": 100000, "BK": 64}])(
        product
    )
    results = tuned.examine(**_TYPES, target="sm_90a")
    assert results is tuned.results
    assert results.best.config == tuned.best == {"BM": 128, "BK": 64}
    assert results.best.bound >= 1
    reasons = {tuple(result.config.values()): (result.status, result.reason) for result in results}
    assert reasons[60, 64][0] == "pruned"
    assert reasons[60, 64][1].startswith("matmul without tensor cores: operand a: 60 rows")
    assert reasons[128, 4096][0] == "refused"
    assert "bytes of shared memory, sm_90a has 232448" in reasons[128, 4096][1]
    assert "'A+B' takes 1 x" in reasons[128, 4096][1]
    assert reasons[100000, 64][0] == "refused"


def test_examine_is_of_the_target():
    tuned = autotune(search_space(BM=[128], BN=[256], BK=[128]))(product)
    assert tuned.examine(**_TYPES, target="sm_90a").best is not None
    assert tuned.examine(**_TYPES, target="sm_75").best is None
    assert "the target is sm_75" in tuned.results[0].reason


def test_a_loop_without_room_for_stages_is_pruned():
    tuned = autotune(search_space(BM=[128], BN=[256], BK=[64, 128]))(product)
    results = tuned.examine(**_TYPES, target="sm_90a")
    assert [(r.config["BK"], r.status) for r in results] == [(64, "fits"), (128, "pruned")]
    assert results[1].reason.endswith("shared memory has room for one stage only")


def test_the_same_program_is_measured_once():
    tuned = autotune(search_space(BLOCK=[256, 512], PARTS=[1, 2]))(scale)
    results = tuned.examine(hr.f32[::1], hr.f32[::1], target="sm_80")
    assert [result.status for result in results] == ["fits", "fits", "pruned", "pruned"]
    assert results[2].reason == "the same program as BLOCK=256, PARTS=1"


def test_keep_takes_the_lowest_bounds():
    tuned = autotune(search_space(BM=[64, 128], BN=[64, 256]), keep=1)(product)
    results = tuned.examine(**_TYPES, target="sm_90a")
    assert results.best.config == {"BM": 128, "BN": 256}
    assert [result.reason for result in results[1:]] == ["not among the 1 of the lowest bound"] * 3


def test_rule_of_the_user_sees_the_report():
    def rule(config, report):
        return "too small" if config["BM"] * report["shared_limit"] < 128 * 232448 else ""

    results = autotune(search_space(BM=[64, 128]), prune=rule)(product).examine(**_TYPES, target="sm_90a")
    assert status(results) == {128: "fits", 64: "pruned"}


def test_fault_of_the_compiler_is_no_end(monkeypatch):
    from headrace.tuning import candidates

    real = candidates.fetch

    def fetch(source, target, level, kernel):
        if "tensor<64x64xbf16>" in source:
            raise InternalError("a fault of headrace while it compiles 'product'")
        return real(source, target, level, kernel)

    monkeypatch.setattr(candidates, "fetch", fetch)
    results = autotune(search_space(BM=[64, 128]))(product).examine(**_TYPES, target="sm_90a")
    assert status(results) == {128: "fits", 64: "failed"}


def test_simulator_runs_the_configuration_of_the_lowest_bound():
    tuned = autotune(search_space(BM=[16, 64, 4096], BN=[64]))(product)
    rng = np.random.default_rng()
    a, b = (rng.integers(-4, 5, shape).astype(np.float16) for shape in ((70, 96), (50, 96)))
    c = np.full((70, 50), np.nan, np.float32)
    run = tuned.run_on("sim", a, b, c, target="sm_80")
    assert np.array_equal(c, a.astype(np.float32) @ b.astype(np.float32).T)
    assert tuned.best in ({"BM": 64, "BN": 64}, {"BM": 16, "BN": 64})
    assert f"tensor<{tuned.best['BM']}x64x" in run.compiled.mlir
    assert not any(result.measured for result in tuned.results)


def test_compile_takes_the_lowest_bound():
    tuned = autotune(search_space(BM=[64, 128], BN=[256]))(product)
    assert tuned.compile(**_TYPES, target="sm_90a").mlir == product.mlir(**_TYPES, BM=128, BN=256)


def test_no_configuration_fits():
    tuned = autotune(search_space(BM=[4096, 8192]))(product)
    with pytest.raises(
        hr.LaunchError, match="kernel 'product': expected a configuration that runs on sm_90a, none of 2"
    ):
        tuned.compile(**_TYPES, target="sm_90a")
    assert status(tuned.results) == {4096: "refused", 8192: "refused"}


def test_constants_that_are_chosen_cannot_be_given():
    tuned = autotune([{"BM": 64}])(product)
    with pytest.raises(TypeError, match="expected no value for 'BM' of 'product', which autotune chooses"):
        tuned.examine(**_TYPES, BM=128, target="sm_90a")
    assert tuned.kernel is product
    assert tuned.__name__ == "product"


@pytest.fixture
def gpu(monkeypatch):
    """A GPU on which a launch takes a microsecond for each program, and code that is made without ptxas."""
    fake = TimedDriver(lambda grid, shared: 1.0 * grid[0] * grid[1])
    monkeypatch.setattr(driver, "bindings", lambda: fake)
    monkeypatch.setattr(launcher, "_CAPABILITIES", {})
    monkeypatch.setattr("headrace.tuning.measuring.time.sleep", lambda seconds: None)
    fake.compiled = []

    def entry(self, level):
        fake.compiled.append(self.program.plain)
        return Entry(b"cubin", self.record)

    monkeypatch.setattr(Compiled, "entry", entry)
    return fake


def arrays(m=1024, n=1024, k=256):
    return array((m, k)), array((n, k), ptr=0x7F1000000000), array((m, n), ptr=0x7F2000000000)


SPACE = SearchSpace([*search_space(BM=[64, 128], BN=[64, 128, 256]), {"BM": 4096, "BN": 64}])


def test_call_measures_once_and_launches_the_best(gpu):
    tuned = autotune(SPACE)(product)
    tuned(*arrays(), stream=5)
    assert tuned.best == {"BM": 128, "BN": 256}
    # 8 x 4 programs of a microsecond.
    assert tuned.results.best.seconds == pytest.approx(32e-6)
    assert tuned.results.best.spread == pytest.approx(0, abs=1e-6)
    assert [r.status for r in tuned.results] == ["measured"] * 6 + ["refused"]
    assert tuned.results[1].reason == "2.00 times the fastest at a look"
    assert tuned.results[1].seconds == pytest.approx(64e-6)
    assert gpu.launched[-1] == ((8, 4, 1), gpu.launched[-1][1], 5)
    assert {stream for _, _, stream in gpu.launched[:-1]} == {77}
    assert not gpu.allocated
    launches = len(gpu.launched)
    tuned(*arrays(), stream=5)
    assert len(gpu.launched) == launches + 1


def test_measuring_writes_to_copies_only(gpu):
    tuned = autotune(SPACE)(product)
    given = arrays()
    tuned.choose(*given)
    # The launches see addresses through tensor maps or pointers: none of the given ones is encoded.
    encoded = {int(call[2]) for call in gpu.named("cuTensorMapEncodeTiled")}
    assert encoded
    assert not encoded & {a.ptr for a in given}
    assert {source for _, source, _ in gpu.copied} == {a.ptr for a in given}


def test_key_decides_when_to_measure_again(gpu):
    by_all, by_k, by_n = (autotune(SPACE, key=key)(product) for key in (None, ["A.shape[1]"], ["n"]))

    def tunings(tuned, *calls):
        counts = []
        for args, kwargs in calls:
            before = len(gpu.named("cuStreamCreate"))
            tuned.choose(*args, **kwargs)
            counts.append(len(gpu.named("cuStreamCreate")) - before)
        return counts

    shapes = [(arrays(), {}), (arrays(m=2048), {}), (arrays(m=2048), {"n": 16}), (arrays(k=512), {"n": 16})]
    assert tunings(by_all, *shapes) == [1, 1, 1, 1]
    # Types change with n: 0 and 16 are multiples of 16 alike.
    assert tunings(by_k, *shapes) == [1, 0, 0, 1]
    assert tunings(by_n, *shapes) == [1, 0, 1, 0]


def test_types_decide_too(gpu):
    tuned = autotune(SPACE, key=[])(product)
    tuned.choose(*arrays())
    before = len(gpu.named("cuStreamCreate"))
    tuned.choose(*(array(a.shape, dtype="f16", ptr=a.ptr) for a in arrays()))
    assert len(gpu.named("cuStreamCreate")) == before + 1


def test_results_are_kept_on_disk(gpu):
    autotune(SPACE)(product).choose(*arrays())
    compiled, launched = len(gpu.compiled), len(gpu.launched)
    again = autotune(SPACE)(product)
    assert again.choose(*arrays()) == {"BM": 128, "BN": 256}
    assert (len(gpu.compiled), len(gpu.launched)) == (compiled, launched)
    assert [r.status for r in again.results] == ["measured"] * 6 + ["refused"]
    # Other configurations, another key and an explicit wish are another tuning.
    autotune(SPACE[1:])(product).choose(*arrays())
    assert len(gpu.launched) > launched
    launched = len(gpu.launched)
    again.choose(*arrays(), again=True)
    assert len(gpu.launched) > launched


def test_only_what_fits_is_made_into_code(gpu):
    tuned = autotune(SPACE, keep=2)(product)
    tuned.choose(*arrays())
    assert len(gpu.compiled) == 2
    assert [r.status for r in tuned.results].count("measured") == 2


def test_grid_may_be_a_function_of_constants(gpu):
    @hr.kernel
    def fill(Y, BLOCK: hr.constexpr):  # noqa: N803
        start = hr.program_id(0) * BLOCK
        Y[start : start + BLOCK] = hr.full((BLOCK,), 1.0)

    tuned = autotune(search_space(BLOCK=[256, 1024]))(fill)
    y = array((4096,), dtype="f32")
    tuned[lambda BLOCK: -(-4096 // BLOCK)](y)  # noqa: N803
    assert tuned.best == {"BLOCK": 1024}
    assert gpu.launched[-1][0] == (4, 1, 1)


def test_configuration_that_fails_to_launch_is_listed(gpu):
    cost = gpu.cost

    def failing(grid, shared):
        if grid[:2] == (8, 4):
            raise hr.LaunchError("cuLaunchKernel: CUDA_ERROR_LAUNCH_FAILED, unspecified\nmore")
        return cost(grid, shared)

    gpu.cost = failing
    tuned = autotune(SPACE)(product)
    tuned.choose(*arrays())
    assert tuned.best == {"BM": 128, "BN": 128} or tuned.best == {"BM": 64, "BN": 256}
    (failed,) = (r for r in tuned.results if r.status == "failed")
    assert (failed.config, failed.reason) == (
        {"BM": 128, "BN": 256}, "cuLaunchKernel: CUDA_ERROR_LAUNCH_FAILED, unspecified",
    )  # fmt: skip


def test_nothing_runs(gpu):
    def failing(grid, shared):
        raise hr.LaunchError("no")

    gpu.cost = failing
    tuned = autotune(SPACE)(product)
    with pytest.raises(hr.LaunchError, match=r"runs on sm_90a, none of 7 does: BM=\d+, BN=\d+: no; .*; and 4 more in"):
        tuned(*arrays())
    assert [result.status for result in tuned.results] == ["failed"] * 6 + ["refused"]


def test_failed_tunings_are_not_the_last_word(gpu):
    cost, gpu.cost = gpu.cost, lambda grid, shared: 1 / 0
    tuned = autotune(SPACE)(product)
    with pytest.raises(ZeroDivisionError):
        tuned.choose(*arrays())
    gpu.cost, gpu.captured = cost, None
    assert tuned.choose(*arrays()) == {"BM": 128, "BN": 256}


def test_warnings_of_the_compiler_are_not_repeated_for_each(gpu, monkeypatch):
    plain = Compiled.entry

    def entry(self, level):
        warnings.warn("spills", PerformanceWarning, stacklevel=1)
        return plain(self, level)

    monkeypatch.setattr(Compiled, "entry", entry)
    tuned = autotune(SPACE)(product)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tuned.choose(*arrays())


def test_all_cores_work():
    done = []
    assert for_each([3, 1, 2], lambda item: item * 2, done.append) == [6, 2, 4]
    assert len(done) == 3
    assert cores() >= 1


def test_first_error_ends_the_work():
    def work(item):
        if item == 3:
            raise KeyError(item)
        return item

    with pytest.raises(KeyError):
        for_each(range(10), work, lambda text: None, workers=1)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_plain_bar(monkeypatch):
    monkeypatch.setattr("headrace.tuning.progress.importlib.util.find_spec", lambda name: None)
    terminal = Terminal()
    with progress("measuring", 4, stream=terminal) as advance:
        advance("9.0 us")
        advance("")
    lines = terminal.getvalue().split("\r")
    assert lines[2].rstrip() == "measuring [######..................] 1/4 9.0 us"
    assert lines[3].rstrip() == "measuring [############............] 2/4"
    assert lines[-1] == ""


def test_rich_bar():
    pytest.importorskip("rich")
    terminal = Terminal()
    with progress("measuring", 2, stream=terminal) as advance:
        advance("9.0 us")
        advance("[not markup]")
    assert "measuring" in terminal.getvalue()


@pytest.mark.parametrize(
    ("stream", "shown", "total"), [(io.StringIO(), None, 3), (Terminal(), False, 3), (Terminal(), None, 0)]
)
def test_no_bar(stream, shown, total):
    with progress("x", total, shown, stream) as advance:
        advance("y")
    assert not stream.getvalue()
