"""The interpreter of the tile dialect: tiles, arrays, control flow, arguments, errors and the command line."""

import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from headrace import interpreter
from headrace.interpreter import InterpreterError

ROOT = Path(__file__).resolve().parents[2]
RNG = np.random.default_rng(5)

NUMPY = {
    "bf16": ml_dtypes.bfloat16, "f16": np.float16, "f32": np.float32, "f64": np.float64, "i8": np.int8,
    "i16": np.int16, "i32": np.int32, "i64": np.int64, "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
}  # fmt: skip
NAMES = {np.dtype(value): name for name, value in NUMPY.items()}


def array_type(array: np.ndarray) -> str:
    """The memref type that an array is passed as."""
    extents = "x".join(["?"] * array.ndim + [NAMES[array.dtype]])
    strides = ", ".join(["?"] * (array.ndim - 1) + ["1"])
    return f"memref<{extents}, strided<[{strides}]>>"


def tile_type(array: np.ndarray) -> str:
    return f"tensor<{'x'.join(map(str, (*array.shape, NAMES[array.dtype])))}>"


def run(body: str, **arguments) -> None:
    """Runs `body` as a kernel. Arrays become arguments by their names, integers become i32."""
    types = {n: array_type(v) if isinstance(v, np.ndarray) else "i32" for n, v in arguments.items()}
    header = ", ".join(f"%{name}: {type_}" for name, type_ in types.items())
    for name, type_ in types.items():
        body = body.replace(f"${name}", type_)
    text = f"tile.kernel @test({header}) {{\n  %c0 = arith.constant 0 : index\n{body}\n  tile.return\n}}\n"
    interpreter.run(text, arguments)


def apply(operation: str, *operands: np.ndarray, result: np.ndarray) -> np.ndarray:
    """`operation` on tiles that hold the operands, its result stored over `result`, which tells the type.

    %0, %1, ... are the tiles, $0, $1, ... and $r the types of operands and result. Of several lines one names %r.
    """
    lines = []
    arguments = {f"x{i}": operand for i, operand in enumerate(operands)} | {"out": result}
    for i, operand in enumerate(operands):
        places = ", ".join(["%c0"] * operand.ndim)
        lines.append(f"%t{i} = tile.load %x{i}[{places}] : {array_type(operand)} -> {tile_type(operand)}")
        operation = operation.replace(f"%{i}", f"%t{i}").replace(f"${i}", tile_type(operand))
    operation = operation.replace("$r", tile_type(result))
    lines.append(operation if "%r = " in operation else f"%r = {operation}")
    places = ", ".join(["%c0"] * result.ndim)
    lines.append(f"tile.store %r, %out[{places}] : {tile_type(result)}, {array_type(result)}")
    run("\n".join(lines), **arguments)
    return result


def numbers(*shape, dtype=np.float32, low=-8, high=8):
    return RNG.integers(low, high, shape, endpoint=True).astype(dtype)


# Tiles.


def test_shapes():
    x = numbers(4, 6)
    np.testing.assert_array_equal(apply("tile.transpose %0 [1, 0] : $0 -> $r", x, result=np.empty((6, 4), "f4")), x.T)
    reshaped = apply("tile.reshape %0 : $0 -> $r", x, result=np.empty((3, 8), "f4"))
    np.testing.assert_array_equal(reshaped, x.reshape(3, 8))
    text = "%e = tile.expand_dims %0 axis 0 : $0 -> tensor<1x6xf32>\n%r = tile.broadcast %e : tensor<1x6xf32> -> $r"
    np.testing.assert_array_equal(apply(text, x[0].copy(), result=np.empty((4, 6), "f4")), np.tile(x[0], (4, 1)))
    np.testing.assert_array_equal(apply("tile.join %0, %1 : $0 -> $r", x, -x, result=np.empty((4, 6, 2), "f4")),
                                  np.stack([x, -x], axis=2))  # fmt: skip
    text = "%a, %b = tile.split %0 : $0 -> tensor<2x3xf32>\n%r = arith.subf %a, %b : $r"
    pairs = numbers(2, 3, 2)
    np.testing.assert_array_equal(apply(text, pairs, result=np.empty((2, 3), "f4")), pairs[..., 0] - pairs[..., 1])
    np.testing.assert_array_equal(apply("tile.iota axis 1 : $r", result=np.empty((2, 3), "i2")), [[0, 1, 2]] * 2)


@pytest.mark.parametrize("flip_a", [False, True])
@pytest.mark.parametrize("flip_b", [False, True])
@pytest.mark.parametrize("name", ["bf16", "f16", "f32", "f8E4M3FN"])
def test_dot_adds_product(name, flip_a, flip_b):
    a, b, acc = numbers(5, 9, dtype=NUMPY[name]), numbers(9, 7, dtype=NUMPY[name]), numbers(5, 7)
    expected = acc + a.astype(np.float32) @ b.astype(np.float32)
    a, b = (np.ascontiguousarray(x.T if flip else x) for x, flip in ((a, flip_a), (b, flip_b)))
    text = f"tile.dot %0{' transpose_a' * flip_a}, %1{' transpose_b' * flip_b}, %2 : $0, $1 -> $r"
    np.testing.assert_array_equal(apply(text, a, b, acc, result=np.empty((5, 7), "f4")), expected)


def test_dot_rounds_once():
    a, b = np.array([[2.0**24, 1, 1, -(2.0**24)]], np.float32), np.ones((4, 1), np.float32)
    acc = np.array([[0.5]], np.float32)
    assert apply("tile.dot %0, %1, %2 : $0, $1 -> $r", a, b, acc, result=np.empty((1, 1), "f4"))[0, 0] == 2.5


def test_integer_dot_wraps():
    a, b = np.full((1, 2), -128, np.int8), np.full((2, 1), -128, np.int8)
    acc = np.array([[2**31 - 1]], np.int32)
    assert (
        apply("tile.dot %0, %1, %2 : $0, $1 -> $r", a, b, acc, result=np.empty((1, 1), "i4"))[0, 0] == -(2**31) + 32767
    )


SUM = "{ ^bb0(%p: f32, %q: f32): %s = arith.addf %p, %q : f32 tile.yield %s : f32 }"


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("extent", [1, 2, 7, 24])
def test_reduce_along_axis(axis, extent):
    x = numbers(extent, extent)
    text = f"tile.reduce %0 axis {axis} {SUM} : ($0) -> $r"
    np.testing.assert_array_equal(apply(text, x, result=np.empty(extent, "f4")), x.sum(axis))


def test_reduce_sums_in_float64():
    x = np.array([1, 2.0**-24, 2.0**-24, 2.0**-24], np.float32)
    text = f"%n = tile.reduce %0 axis 0 {SUM} : ($0) -> f32\n%r = tensor.splat %n : $r"
    assert apply(text, x, result=np.empty(1, "f4"))[0] == np.float32(1 + 3 * 2.0**-24)


def test_reduce_of_value_and_place():
    x = numbers(6, 16)
    places = np.tile(np.arange(16, dtype=np.int32), (6, 1))
    region = (
        "{ ^bb0(%p: f32, %i: i32, %q: f32, %j: i32): %g = arith.cmpf ogt, %p, %q : f32 "
        "%e = arith.cmpf oeq, %p, %q : f32 %l = arith.cmpi slt, %i, %j : i32 %b = arith.andi %e, %l : i1 "
        "%c = arith.ori %g, %b : i1 %v = arith.select %c, %p, %q : f32 %k = arith.select %c, %i, %j : i32 "
        "tile.yield %v, %k : f32, i32 }"
    )
    text = f"%w, %r = tile.reduce %0, %1 axis 1 {region} : ($0, $1) -> (tensor<6xf32>, $r)"
    np.testing.assert_array_equal(apply(text, x, places, result=np.empty(6, "i4")), x.argmax(1))


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("reverse", [False, True])
def test_scan_is_inclusive(axis, reverse):
    x = numbers(5, 7)
    text = f"tile.scan %0 axis {axis}{' attributes {reverse}' * reverse} {SUM} : ($0) -> $r"
    expected = np.flip(np.flip(x, axis).cumsum(axis), axis) if reverse else x.cumsum(axis)
    np.testing.assert_array_equal(apply(text, x, result=np.empty((5, 7), "f4")), expected)


@pytest.mark.parametrize("reverse", [False, True])
def test_scan_combines_lower_places_first(reverse):
    """x -> a x + b composed: (a, b) then (c, d) is (a c, b c + d)."""
    a, b = numbers(6, dtype=np.int32, low=-2, high=2), numbers(6, dtype=np.int32)
    region = (
        "{ ^bb0(%a: i32, %b: i32, %c: i32, %d: i32): %e = arith.muli %a, %c : i32 %f = arith.muli %b, %c : i32 "
        "%g = arith.addi %f, %d : i32 tile.yield %e, %g : i32, i32 }"
    )
    text = f"%w, %r = tile.scan %0, %1 axis 0{' attributes {reverse}' * reverse} {region} : ($0, $1) -> ($0, $r)"
    got = apply(text, a, b, result=np.empty(6, "i4"))
    for i in range(6):
        value = 0
        for j in range(i, 6) if reverse else range(i + 1):
            value = a[j] * value + b[j]
        assert got[i] == value


def test_tiles_of_arrays_of_more_dimensions():
    x, out = numbers(3, 4, 5, 6), np.zeros((2, 4, 6), np.float32)
    body = """%c1 = arith.constant 1 : index
        %n = arith.index_cast %place : i32 to index
        %t = tile.load %x[%c1, %n, %c1, %c0] {fill = 7.0 : f32} : $x -> tensor<4x6xf32>
        tile.store %t, %out[%c1, %c0, %c0] : tensor<4x6xf32>, $out"""
    for place in (2, -1, 4):
        run(body, x=x, out=out, place=place)
        np.testing.assert_array_equal(out[1], x[1, place, 1:5] if 0 <= place < 4 else np.full((4, 6), 7))
        assert not out[0].any()


def test_splat_of_scalar_argument():
    out = np.zeros((2, 3), np.int32)
    run("%t = tensor.splat %n : tensor<2x3xi32>\ntile.store %t, %out[%c0, %c0] : tensor<2x3xi32>, $out", n=-7, out=out)
    assert (out == -7).all()


# Arrays.


@pytest.mark.parametrize("row", [-5, -2, 0, 3, 9])
@pytest.mark.parametrize("column", [-9, -1, 2, 20])
def test_load_fills_and_store_skips_outside(row, column):
    x, out = numbers(6, 8), np.full((6, 8), 99, np.float32)
    padded = np.full((40, 60), 3, np.float32)
    padded[20:26, 20:28] = x
    run(
        f"""%m = arith.constant {row} : index
        %n = arith.constant {column} : index
        %t = tile.load %x[%m, %n] {{fill = 3.0 : f32}} : $x -> tensor<4x5xf32>
        tile.store %t, %out[%m, %n] : tensor<4x5xf32>, $out""",
        x=x,
        out=out,
    )
    expected = np.full((40, 60), 99, np.float32)
    expected[20 + row : 24 + row, 20 + column : 25 + column] = padded[20 + row : 24 + row, 20 + column : 25 + column]
    np.testing.assert_array_equal(out, expected[20:26, 20:28])


def test_arrays_may_have_strides():
    whole = numbers(12, 20)
    out = np.zeros((4, 5), np.float32)
    run("%t = tile.load %x[%c0, %c0] : $x -> tensor<4x5xf32>\ntile.store %t, %out[%c0, %c0] : tensor<4x5xf32>, $out",
        x=whole[2:10:2, 3:8], out=out)  # fmt: skip
    np.testing.assert_array_equal(out, whole[2:10:2, 3:8])


def test_scalars_of_arrays():
    table, out = np.array([4, 5, 6], np.int32), np.zeros(3, np.int32)
    run(
        """%c2 = arith.constant 2 : index
        %c3 = arith.constant 3 : index
        %a = tile.load_scalar %table[%c2] : $table -> i32
        %b = tile.load_scalar %table[%c3] : $table -> i32
        %s = arith.addi %a, %b : i32
        tile.store_scalar %s, %out[%c2] : i32, $out
        tile.store_scalar %s, %out[%c3] : i32, $out""",
        table=table,
        out=out,
    )
    assert list(out) == [0, 0, 6]


def test_gather_takes_slices_and_elements():
    x, rows = numbers(6, 10), np.array([5, -1, 0, 6], np.int32)
    expected = np.full((4, 3), 2, np.float32)
    expected[0], expected[2] = x[5, 4:7], x[0, 4:7]
    text = (
        "%c4 = arith.constant 4 : index\n%r = tile.gather %x1[%0, %c4] {fill = 2.0 : f32} "
        ": $x1, ($0, index) -> tensor<4x3xf32>"
    )
    text = text.replace("$x1", array_type(x))
    got = apply(f"%unused = arith.addf %1, %1 : $1\n{text}", rows, x, result=np.empty((4, 3), "f4"))
    np.testing.assert_array_equal(got, expected)
    columns = numbers(4, 3, dtype=np.int32, low=0, high=9)
    text = f"%r = tile.gather %x2[%0, %1] : {array_type(x)}, ($0, $1) -> $r\n%unused = arith.addf %2, %2 : $2"
    got = apply(text, np.array([1, 2, 3, 4], np.int32), columns, x, result=np.empty((4, 3), "f4"))
    np.testing.assert_array_equal(got, np.take_along_axis(x[1:5], columns, 1))


def test_scatter_combines_what_meets():
    out, places = np.array([10, 20, 30], np.int32), np.array([2, 0, 2, 7, -1], np.int32)
    values = np.array([1, 2, 3, 4, 5], np.int32)
    text = """%p = tile.load %places[%c0] : $places -> tensor<5xi32>
        %v = tile.load %values[%c0] : $values -> tensor<5xi32>
        tile.scatter COMBINE %v, %out[%p] : tensor<5xi32>, $out, (tensor<5xi32>)"""
    run(text.replace("COMBINE", "combine #tile.combine<add>"), places=places, values=values, out=out)
    assert list(out) == [12, 20, 34]
    run(text.replace("COMBINE", "combine #tile.combine<min>"), places=places, values=values, out=out)
    assert list(out) == [2, 20, 1]
    run(text.replace("COMBINE", ""), places=places[:5], values=values, out=out)
    assert out[0] == 2
    assert out[2] in (1, 3)


@pytest.mark.parametrize(("combine", "expected"), [("add", [3, 5, 7]), ("min", [1, 2, 3]), ("max", [2, 3, 4])])
def test_reduce_store_combines(combine, expected):
    out, x = np.array([2, 3, 4], np.float32), np.array([1, 2, 3, 4], np.float32)
    run(
        f"""%t = tile.load %x[%c0] : $x -> tensor<4xf32>
        tile.reduce_store #tile.combine<{combine}> %t, %out[%c0] : tensor<4xf32>, $out""",
        x=x,
        out=out,
    )
    assert list(out) == expected


# Control flow and the grid.


@pytest.mark.parametrize(("low", "high", "step"), [(0, 0, 1), (3, 3, 2), (5, 3, 1), (3, 10, 3), (-4, 2, 5), (0, 1, 9)])
@pytest.mark.parametrize("kind", ["tile", "scf"])
def test_loop_sums_its_range(kind, low, high, step):
    out = np.zeros(1, np.int32)
    run(
        f"""%l = arith.index_cast %low : i32 to index
        %h = arith.index_cast %high : i32 to index
        %s = arith.index_cast %step : i32 to index
        %z = arith.constant 0 : i32
        %n, %sum = {kind}.for %i = %l to %h step %s iter_args(%a = %z, %b = %z) -> (i32, i32) {{
          %j = arith.index_cast %i : index to i32
          %c = arith.addi %a, %j : i32
          {kind}.yield %b, %c : i32, i32
        }}
        %all = arith.addi %n, %sum : i32
        tile.store_scalar %all, %out[%c0] : i32, $out""",
        out=out,
        low=low,
        high=high,
        step=step,
    )
    a = b = 0
    for i in range(low, high, step):
        a, b = b, a + i
    assert out[0] == a + b


def test_step_must_be_positive():
    with pytest.raises(InterpreterError, match=r"line 4: tile.for: expected a positive step, got 0"):
        run("%s = arith.index_cast %n : i32 to index\ntile.for %i = %c0 to %s step %s {\ntile.yield\n}", n=0)


def test_while_with_chained_ifs():
    """Collatz: the number of steps down to 1."""
    out = np.zeros(1, np.int32)
    run(
        """%c0i = arith.constant 0 : i32
        %c1 = arith.constant 1 : i32
        %c2 = arith.constant 2 : i32
        %c3 = arith.constant 3 : i32
        %last, %steps = scf.while (%x = %n, %s = %c0i) : (i32, i32) -> (i32, i32) {
          %more = arith.cmpi ne, %x, %c1 : i32
          scf.condition(%more) %x, %s : i32, i32
        } do {
        ^bb0(%x: i32, %s: i32):
          %r = arith.remsi %x, %c2 : i32
          %odd = arith.cmpi ne, %r, %c0i : i32
          %next = scf.if %odd -> i32 {
            %t = arith.muli %x, %c3 : i32
            %u = arith.addi %t, %c1 : i32
            scf.yield %u : i32
          } else {
            %h = arith.divsi %x, %c2 : i32
            %big = arith.cmpi sgt, %h, %c3 : i32
            scf.if %big {
              tile.store_scalar %h, %seen[%c0] : i32, $seen
            }
            scf.yield %h : i32
          }
          %s1 = arith.addi %s, %c1 : i32
          scf.yield %next, %s1 : i32, i32
        }
        tile.store_scalar %steps, %out[%c0] : i32, $out""",
        n=6,
        seen=np.zeros(1, np.int32),
        out=out,
    )
    assert out[0] == 8


def test_grid_runs_every_program():
    out = np.zeros((3, 2), np.int32)
    body = """%c1 = arith.constant 1 : index
        %m = memref.dim %out, %c0 : $out
        %n = memref.dim %out, %c1 : $out
        tile.grid %n, %m
        %x = tile.program_id 0
        %y = tile.program_id 1
        %p = tile.num_programs 0
        %a = arith.muli %y, %p : index
        %b = arith.addi %a, %x : index
        %v = arith.index_cast %b : index to i32
        tile.store_scalar %v, %out[%y, %x] : i32, $out"""
    run(body, out=out)
    np.testing.assert_array_equal(out, np.arange(6).reshape(3, 2))


@pytest.mark.parametrize("programs", [1, 2, 3, 100])
def test_persistent_programs_share_grouped_tiles(programs):
    out = np.zeros((5, 3), np.int32)
    text = """tile.kernel @test(%out: memref<?x?xi32, strided<[?, 1]>>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %m = memref.dim %out, %c0 : memref<?x?xi32, strided<[?, 1]>>
      %n = memref.dim %out, %c1 : memref<?x?xi32, strided<[?, 1]>>
      %tiles = arith.muli %m, %n : index
      tile.grid %tiles persistent
      %first = tile.program_id 0
      %step = tile.num_programs 0
      scf.for %t = %first to %tiles step %step {
        %r, %c = tile.grouped_index %t of %m x %n group 2
        %v = arith.index_cast %t : index to i32
        tile.store_scalar %v, %out[%r, %c] : i32, memref<?x?xi32, strided<[?, 1]>>
      }
      tile.return
    }"""
    interpreter.run(text, {"out": out}, persistent_programs=programs)
    np.testing.assert_array_equal(out, [[0, 2, 4], [1, 3, 5], [6, 8, 10], [7, 9, 11], [12, 13, 14]])


# Arguments, parameters and errors.


def test_names_of_arguments():
    text = """tile.kernel @test(%A: memref<?xi32, strided<[1]>> {tile.name = "first"}, %B: i32) {
      %c0 = arith.constant 0 : index
      tile.store_scalar %B, %A[%c0] : i32, memref<?xi32, strided<[1]>>
      tile.return
    }"""
    for names in (("first", "arg1"), ("A", "B")):
        out = np.zeros(1, np.int32)
        interpreter.run(text, {names[0]: out, names[1]: 4})
        assert out[0] == 4
    with pytest.raises(InterpreterError, match="argument 'arg1' is missing"):
        interpreter.run(text, {"first": np.zeros(1, np.int32)})
    with pytest.raises(InterpreterError, match="'C' is not an argument of kernel 'test'"):
        interpreter.run(text, {"A": np.zeros(1, np.int32), "B": 1, "C": 2})
    with pytest.raises(InterpreterError, match="'first': expected elements of i32, got float32"):
        interpreter.run(text, {"A": np.zeros(1, np.float32), "B": 1})


def test_parameters_by_target_and_setting():
    text = "// param N = 3, sm_80: 4\n%x = ${N} // ${N}\n// ${UNKNOWN}"
    assert interpreter.substitute(text).split("\n")[1] == "%x = 3 // 3"
    assert interpreter.substitute(text, "sm_80").split("\n")[1] == "%x = 4 // 4"
    assert interpreter.substitute(text, "sm_80", {"N": "5"}).split("\n")[1] == "%x = 5 // 5"
    with pytest.raises(InterpreterError, match="line 1: parameter 'M' is not declared"):
        interpreter.substitute("${M}")
    with pytest.raises(InterpreterError, match="declares no parameter 'M'"):
        interpreter.substitute(text, settings={"M": "1"})


def test_broken_promise_is_an_error():
    with pytest.raises(InterpreterError, match=r"line 4: tile.assume: expected a multiple of 8, got 12"):
        run("%i = arith.index_cast %n : i32 to index\n%j = tile.assume %i multiple_of 8", n=12)


def test_unknown_operation_is_named_with_its_line():
    x = np.zeros((2, 2), np.float32)
    with pytest.raises(InterpreterError, match=r"line 4: math.sin is not supported"):
        apply("math.sin %0 : $0", x, result=np.empty_like(x))


def test_syntax_error_has_its_line():
    with pytest.raises(InterpreterError, match="line 3: "):
        run("%x = tile.nothing")


def test_gemm_of_the_examples():
    text = (ROOT / "examples" / "gemm.mlir").read_text(encoding="utf-8")
    a, b = numbers(130, 70, dtype=NUMPY["bf16"]), numbers(140, 70, dtype=NUMPY["bf16"])
    c = np.zeros((130, 140), np.uint16)  # bf16 as bits
    interpreter.run(text, {"A": a, "B": b, "C": c})
    expected = (a.astype(np.float32) @ b.astype(np.float32).T).astype(NUMPY["bf16"])
    np.testing.assert_array_equal(c, expected.view(np.uint16))


def test_command_line(tmp_path):
    a, b = numbers(40, 32, dtype=NUMPY["bf16"]), numbers(24, 32, dtype=NUMPY["bf16"])
    np.save(tmp_path / "a.npy", np.pad(a, ((1, 0), (2, 3))).view(np.uint16))
    np.save(tmp_path / "b.npy", b.view(np.uint16))
    command = [sys.executable, "-m", "headrace.interpreter", str(ROOT / "examples" / "gemm.mlir"), "--set=BM=16,BN=16"]
    command += ["--arg", f"A={tmp_path / 'a.npy'}[1:41,2:34]", "--arg", f"B={tmp_path / 'b.npy'}", "--arg=C=new:40x24"]
    run_ = subprocess.run([*command, "--out", f"C={tmp_path / 'c.npy'}"], capture_output=True, text=True, check=False,
                          cwd=ROOT / "python")  # fmt: skip
    assert (run_.returncode, run_.stderr) == (0, "")
    expected = (a.astype(np.float32) @ b.astype(np.float32).T).astype(NUMPY["bf16"])
    np.testing.assert_array_equal(np.load(tmp_path / "c.npy"), expected.view(np.uint16))
    run_ = subprocess.run(command[:-1], capture_output=True, text=True, check=False, cwd=ROOT / "python")
    assert run_.returncode == 1
    assert run_.stderr.endswith("error: line 13: argument 'C' is missing\n")
