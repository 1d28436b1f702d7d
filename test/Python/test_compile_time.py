"""Large tiles and long loops compile in time that grows with their size, not faster."""

import time

import pytest

from headrace.driver import compiler

_ARRAY = "memref<?x?xf32, strided<[?, 1]>>"
_SECONDS = 5.0


def kernel(body: str, warps: int) -> str:
    """A kernel from array X to array Y."""
    arguments = ", ".join(f'%{name}: {_ARRAY} {{tile.name = "{name}", tile.align = 16 : i64}}' for name in "XY")
    return f"""tile.kernel @k({arguments}) attributes {{warps = {warps} : i64}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
{body}
  tile.return
}}
"""


def elementwise(columns: int) -> str:
    tile = f"tensor<4x{columns}xf32>"
    return kernel(
        f"""  %x = tile.load %X[%c0, %c0] : {_ARRAY} -> {tile}
  %square = arith.mulf %x, %x : {tile}
  %sum = arith.addf %square, %x : {tile}
  %y = math.exp %sum : {tile}
  tile.store %y, %Y[%c0, %c0] : {tile}, {_ARRAY}""",
        warps=32,
    )


def reduction(columns: int) -> str:
    return kernel(
        f"""  %x = tile.load %X[%c0, %c0] : {_ARRAY} -> tensor<1x{columns}xf32>
  %sum = tile.reduce %x axis 1 {{
  ^bb0(%a: f32, %b: f32):
    %both = arith.addf %a, %b : f32
    tile.yield %both : f32
  }} : (tensor<1x{columns}xf32>) -> tensor<1xf32>
  %y = tile.expand_dims %sum axis 1 : tensor<1xf32> -> tensor<1x1xf32>
  tile.store %y, %Y[%c0, %c0] : tensor<1x1xf32>, {_ARRAY}""",
        warps=32,
    )


def loop(operations: int) -> str:
    tile = "tensor<64x64xf32>"
    names = ["%x", *(f"%v{i}" for i in range(operations))]
    kinds, others = ("addf", "mulf", "maximumf"), ("%acc", "%x")
    lines = [
        f"    {names[i + 1]} = arith.{kinds[i % 3]} {names[i]}, {others[i % 2]} : {tile}" for i in range(operations)
    ]
    return kernel(
        f"""  %step = arith.constant 64 : index
  %columns = memref.dim %X, %c1 : {_ARRAY}
  %zero = arith.constant dense<0.0> : {tile}
  %y = tile.for %k = %c0 to %columns step %step iter_args(%acc = %zero) -> ({tile}) pipeline(stages = 3) {{
    %x = tile.load %X[%c0, %k] : {_ARRAY} -> {tile}
{chr(10).join(lines)}
    tile.yield {names[-1]} : {tile}
  }}
  tile.store %y, %Y[%c0, %c0] : {tile}, {_ARRAY}""",
        warps=4,
    )


def seconds(source: str, level: str) -> float:
    """The least of three compilations, of which others beside them can only lengthen some."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        output = compiler.run(source, "sm_90a", level)
        times.append(time.perf_counter() - start)
        assert output.status == compiler.FINE, output.messages
    return min(times)


@pytest.mark.parametrize("source", [elementwise(65536), reduction(131072), loop(60)], ids=["tile", "reduction", "loop"])
def test_large_kernels_compile_at_once(source):
    assert seconds(source, "cubin") < _SECONDS


@pytest.mark.parametrize(("make", "size"), [(elementwise, 8192), (reduction, 32768), (loop, 60)])
def test_time_grows_with_the_size(make, size):
    # Four times the size takes about three times as long. Ten times it was when a pass compared all values of a branch.
    assert seconds(make(4 * size), "ptx") < 6 * seconds(make(size), "ptx")
