"""Timing launches: rotation, graphs, copies, and the clocks, on a GPU that is none."""

from __future__ import annotations

import sys
import types

import pytest

from headrace import Kernel, LaunchError
from headrace.runtime import driver
from headrace.tuning import Timing, bench
from headrace.tuning.copies import Copies, regions, size_of, span
from headrace.tuning.driver_clock import DriverClock
from headrace.tuning.timing import Series, sets_needed
from records import BASE, array, gemm_arguments, gemm_record

pytest.importorskip("cuda.bindings.driver")

from tuning_device import TimedDriver


@pytest.fixture
def gpu(monkeypatch):
    fake = TimedDriver(lambda grid, shared: 25.0)
    monkeypatch.setattr(driver, "bindings", lambda: fake)
    return fake


class FakeClock:
    """A clock whose launches take `seconds` each; `ran` lists the sets in order, -1 for a replay of a graph."""

    cache_bytes, free_bytes = 100, 10**6

    def __init__(self, seconds: float):
        self.seconds, self.now, self.ran, self.length = seconds, 0.0, [], 0

    def launch(self, index: int) -> None:
        self.ran.append(index)
        self.now += self.seconds

    def timed(self, work):
        begin = self.now
        work()
        return self.now - begin

    def capture(self, work):
        before = len(self.ran)
        work()
        count = len(self.ran) - before
        del self.ran[before:]

        def replay():
            self.ran.append(-1)
            self.now += count * self.seconds

        return replay

    def synchronize(self):
        pass


def test_short_launches_come_from_a_graph():
    clock = FakeClock(1e-5)
    series = Series(clock, clock.launch, 3)
    series.prepare()
    assert (series.graph, series.launches) == (True, 800)
    assert series.estimate == pytest.approx(1e-5)
    # Every set once, ten to look, the graph loaded and timed.
    assert clock.ran == [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, -1, -1]
    assert series.burst() == pytest.approx(1e-5)


def test_long_launches_need_no_graph():
    clock = FakeClock(0.003)
    series = Series(clock, clock.launch, 2)
    series.prepare()
    assert (series.graph, series.launches) == (False, 3)
    clock.ran.clear()
    assert series.burst() == pytest.approx(0.003)
    assert clock.ran == [0, 1, 0]


@pytest.mark.parametrize("graph", [False, True])
def test_graph_as_the_caller_decides(graph):
    clock = FakeClock(0.0005 if not graph else 0.1)
    series = Series(clock, clock.launch, 1)
    series.prepare(graph=graph)
    assert series.graph == graph
    assert series.launches == (16 if not graph else 1)


def test_number_of_launches_is_bounded():
    clock = FakeClock(1e-9)
    series = Series(clock, clock.launch, 1)
    series.prepare()
    assert series.launches == 4000


def test_sustained_runs_as_long_before_it_counts():
    clock = FakeClock(1e-5)
    series = Series(clock, clock.launch, 3)
    series.prepare()
    clock.ran.clear()
    assert series.sustained(0.08) == pytest.approx(1e-5)
    assert clock.ran == [-1] * 10


@pytest.mark.parametrize(
    ("size", "cache", "free", "sets"),
    [(100, 100, None, 4), (101, 100, None, 3), (10**6, 100, None, 2), (1, 10**6, None, 256), (0, 100, None, 1),
     (100, 1000, 1000, 5), (100, 1000, 10, 1)],
)  # fmt: skip
def test_sets_exceed_three_caches(size, cache, free, sets):
    assert sets_needed(size, cache, free) == sets


def test_timing():
    timing = Timing((2e-6, 1e-6, 4e-6), 7, True, 3)
    assert (timing.median, timing.spread, timing.rate(4e6)) == (2e-6, 1.5, 2e12)
    assert str(timing) == "2.00 us, spread 150.0% (3 rounds of 7 launches in a graph, 3 sets of buffers)"


def test_memory_of_an_array():
    assert span(array((3, 4), (8, 1))) == (BASE, BASE + 2 * (2 * 8 + 3 + 1))
    assert span(array((3, 4), (-8, 1))) == (BASE - 32, BASE + 8)
    assert span(array((0, 4))) == (BASE, BASE)
    assert span(array((5, 4), (0, 1))) == (BASE, BASE + 8)


def test_arrays_that_overlap_are_copied_together():
    a, part = array((4, 8)), array((2, 8), ptr=BASE + 32)
    other, empty = array((4,), ptr=BASE + 4096), array((0,), ptr=BASE + 8000)
    assert regions([other, part, empty, a]) == [(BASE, BASE + 64), (BASE + 4096, BASE + 4104)]
    assert size_of([a, part, other]) == 72


def test_copies_keep_strides_alignment_and_overlap(gpu):
    a, part, other = (
        array((4, 8), ptr=BASE + 16),
        array((2, 8), ptr=BASE + 48),
        array((9,), dtype="f32", ptr=BASE + 4100),
    )
    with Copies() as copies:
        copied = copies.copy([a, part, other, array((0,))])
        assert [c.ptr % 1024 for c in copied[:3]] == [16, 48, 4]
        assert copied[1].ptr - copied[0].ptr == 32
        assert [(c.shape, c.strides, c.dtype) for c in copied] == [
            (x.shape, x.strides, x.dtype) for x in (a, part, other, array((0,)))
        ]
        assert sorted(gpu.copied) == sorted([(copied[0].ptr, a.ptr, 64), (copied[2].ptr, other.ptr, 36)])
        for to, _, size in gpu.copied:
            assert any(begin <= to and to + size <= begin + length for begin, length in gpu.allocated.items())
    assert not gpu.allocated


def test_copies_go_when_something_else_fails(gpu):
    gpu.failing = ("cuMemFree",)
    with Copies() as copies:
        copies.copy([array((4,))])
        error = ZeroDivisionError()
        copies.__exit__(type(error), error, None)
        gpu.failing = ()


def test_bench_of_a_kernel(gpu):
    kernel = Kernel(gemm_record(), b"cubin")
    args = [array((1024, 1024), ptr=BASE + index * 2**24) for index in range(3)] + [0.5, 4]
    timing = bench(kernel, *args, rounds=3, rest=0)
    assert timing.median == pytest.approx(25e-6)
    assert (len(timing.times), timing.launches, timing.graph) == (3, 320, True)
    # Three arrays of 2 MB, three caches of 50 MB.
    assert timing.sets == 26
    addresses = {call[2] for call in gpu.named("cuTensorMapEncodeTiled")}
    assert len(addresses) == 52
    assert not addresses & {a.ptr for a in args[:3]}
    assert not gpu.allocated
    assert {stream for _, _, stream in gpu.launched} == {77}
    assert len(gpu.named("cuStreamDestroy")) == len(gpu.named("cuGraphExecDestroy")) == 1


def test_bench_passes_keywords_and_a_stream_to_functions(gpu):
    kernel = Kernel(gemm_record(), b"cubin")
    seen = []

    def function(a, *, rest_of, stream):
        seen.append((a.shape, stream))
        kernel(a, *rest_of[1:], stream=stream)

    args = gemm_arguments()
    timing = bench(function, args[0], rest_of=args, rounds=1, rest=0, sets=2, graph=False)
    assert (timing.sets, timing.graph) == (2, False)
    assert set(seen) == {((300, 64), 77)}


def test_bench_of_long_kernels_captures_nothing(gpu):
    gpu.cost = lambda grid, shared: 5000.0
    timing = bench(Kernel(gemm_record(), b"cubin"), *gemm_arguments(), rounds=2, rest=0)
    assert timing.median == pytest.approx(0.005)
    assert not gpu.graphs


def test_failure_in_a_capture_ends_it(gpu):
    with DriverClock() as clock, pytest.raises(ZeroDivisionError):
        clock.capture(lambda: 1 / 0)
    assert gpu.captured is None


def test_error_of_cuda_is_not_hidden(gpu):
    gpu.failing = ("cuMemcpyDtoD", "cuMemFree", "cuStreamDestroy")
    with pytest.raises(LaunchError, match="cuMemcpyDtoD"):
        bench(Kernel(gemm_record(), b"cubin"), *gemm_arguments(), rest=0)


@pytest.mark.parametrize("options", [{"rounds": 0}, {"sets": 0}])
def test_wrong_numbers(options):
    with pytest.raises(ValueError, match="expected at least one round and one set"):
        bench(print, **options)


class FakeTensor:
    """Just what is asked of a torch tensor."""

    def __init__(self, shape=(4, 8), stride=None, name="x"):
        self.shape, self._stride, self.name = shape, stride or (shape[1], 1), name
        self.device = types.SimpleNamespace(type="cuda", index=0)

    def stride(self):
        return self._stride

    def numel(self):
        return self.shape[0] * self.shape[1] if len(self.shape) == 2 else self.shape[0]

    def untyped_storage(self):
        return types.SimpleNamespace(nbytes=lambda: 1000)

    def detach(self):
        return self

    def as_strided(self, shape, stride, offset=None):
        return FakeTensor(shape, stride, f"{self.name} as {shape} {stride} {offset}")

    def clone(self):
        return FakeTensor(self.shape, self._stride, f"({self.name}) cloned")


@pytest.fixture
def torch(monkeypatch):
    """A torch with events and graphs, whose launches take 25 us."""
    clock = FakeClock(25e-6)

    class Event:
        def __init__(self, enable_timing):
            assert enable_timing

        def record(self):
            self.time = clock.now

        def synchronize(self):
            pass

        def elapsed_time(self, other):
            return (other.time - self.time) * 1000

    class Graph:
        def __enter__(self):
            self.begin, self.ran = clock.now, len(clock.ran)

        def __exit__(self, *error):
            self.length, clock.now = clock.now - self.begin, self.begin
            del clock.ran[self.ran :]

        def replay(self):
            clock.now += self.length

    class Device:
        def __init__(self, device):
            clock.device = device

        def __enter__(self):
            pass

        def __exit__(self, *error):
            pass

    module = types.ModuleType("torch")
    module.Tensor = FakeTensor
    module.clock = clock
    module.cuda = types.SimpleNamespace(
        Event=Event, CUDAGraph=Graph, graph=lambda graph: graph, synchronize=lambda device: None, device=Device,
        get_device_properties=lambda device: types.SimpleNamespace(L2_cache_size=1200),
        mem_get_info=lambda device: (10**6, 10**6), current_device=lambda: 0,
    )  # fmt: skip
    monkeypatch.setitem(sys.modules, "torch", module)
    return module


def test_bench_of_torch(torch):
    seen = []

    def function(x, scale, *, y):
        seen.append((x.name, y.name, scale))
        torch.clock.launch(0)

    x, y = FakeTensor(), FakeTensor((3, 5), (6, 1), "y")
    timing = bench(function, x, 2.0, y=y, rounds=2, rest=0)
    assert timing.median == pytest.approx(25e-6)
    # Two storages of 1000 bytes, three caches of 1200.
    assert (timing.sets, timing.graph, timing.launches) == (2, True, 320)
    assert torch.clock.device is x.device
    assert set(seen) == {
        ("(x as (32,) (1,) None) cloned as (4, 8) (8, 1) 0", "(y as (17,) (1,) None) cloned as (3, 5) (6, 1) 0", 2.0)
    }
