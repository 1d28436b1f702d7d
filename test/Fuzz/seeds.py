# ruff: noqa: E501 (programs)
"""Programs that the fuzzer starts from: the repository's own .mlir files, GEMMs of all types, kernels written here."""

from __future__ import annotations

import random
import re
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "test" / "EndToEnd"))
from gemm_source import GemmConfig, gemm_source  # noqa: E402

TARGETS = ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_103a", "sm_120a"]
ELEMENTS = ["f16", "bf16", "f32", "f64", "i8", "e4m3", "e5m2"]
_LARGEST_SEED = 60_000  # characters: longer files cost time and show nothing new


def _substitute(text: str, target: str) -> str:
    """A source with the values that its parameters have for `target`."""
    values = {}
    for name, alternatives in re.findall(r"^\s*//\s*param\s+(\w+)\s*=(.*)$", text, re.MULTILINE):
        default, *own = [part.strip() for part in alternatives.split(",")]
        values[name] = next((p.split(":")[1].strip() for p in own if p.split(":")[0].strip() == target), default)
    return re.sub(r"\$\{(\w+)\}", lambda match: values.get(match[1], match[0]), text)


def _files() -> dict[str, str]:
    seeds = {}
    for path in sorted((REPOSITORY / "examples").glob("*.mlir")):
        text = path.read_text()
        seeds[path.name] = text
        for target in ("sm_75", "sm_90a", "sm_100a"):
            seeds[f"{path.name}@{target}"] = _substitute(text, target)
    for path in sorted((REPOSITORY / "test").rglob("*.mlir")):
        text = path.read_text(errors="replace")
        if re.search(r"^// param ", text, re.MULTILINE):
            text = _substitute(text, "sm_90a")
        for number, chunk in enumerate(re.split(r"^// -----.*$", text, flags=re.MULTILINE)):
            # Expectations are comments to the tools, and mutating them is wasted.
            chunk = "\n".join(line for line in chunk.splitlines() if not line.lstrip().startswith("//"))
            if chunk.strip() and len(chunk) < _LARGEST_SEED:
                seeds[f"{path.relative_to(REPOSITORY)}#{number}"] = chunk + "\n"
    return seeds


def random_gemm(rng: random.Random) -> str:
    """A GEMM that is legal or nearly so; small tiles, as code generation takes time."""
    dtype = rng.choice(ELEMENTS)
    acc = {"i8": "i32", "f64": "f64"}.get(dtype, "f32")
    outs = {"i32": ["i32", "i8", "i32"], "f64": ["f64", "f32"]}.get(acc, ["f32", "f16", "bf16"])
    return gemm_source(
        GemmConfig(
            orientation=rng.choice(["TN", "TT", "NN", "NT"]),
            dtype=dtype,
            out=rng.choice(outs),
            precision=rng.choice([None, "tf32", "ieee"]) if dtype == "f32" else None,
            align=rng.choice([1, 2, 4, 8, 16, 16, 16, 32, 128]),
            bm=rng.choice([8, 16, 32, 48, 64, 64, 64, 96, 128, 128, 192]),
            bn=rng.choice([8, 16, 24, 32, 40, 48, 64, 64, 80, 96, 128, 176]),
            bk=rng.choice([4, 8, 16, 16, 32, 32, 48, 64, 64]),
            stages=rng.choice(["auto", "auto", "0", "1", "2", "3", "4", "5", "9"]),
            specialize=rng.choice(["auto", "auto", "on", "off"]),
            consumers=rng.choice(["auto", "auto", "auto", "1", "2", "3"]),
            warps=rng.choice([None, None, None, None, 1, 2, 3, 4, 5, 6, 8, 12, 16]),
            persistent=rng.random() < 0.7,
        )
    )


def _array(element: str, rank: int = 2) -> str:
    return f"memref<?x?x{element}, strided<[?, 1]>>" if rank == 2 else f"memref<?x{element}>"


def copy_kernel(element: str = "f32", m: int = 64, n: int = 64, stages: str = "3", step: int = 64) -> str:
    """Copies an array in a pipelined loop."""
    array, tile = _array(element), f"tensor<{m}x{n}x{element}>"
    return f"""\
tile.kernel @copy(%A: {array} {{tile.align = 16 : i64}}, %C: {array} {{tile.align = 16 : i64}}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bm = arith.constant {m} : index
  %bn = arith.constant {step} : index
  %M = memref.dim %A, %c0 : {array}
  %N = memref.dim %A, %c1 : {array}
  %rows = arith.ceildivsi %M, %bm : index
  tile.grid %rows
  %i = tile.program_id 0
  %m = arith.muli %i, %bm : index
  tile.for %n = %c0 to %N step %bn pipeline(stages = {stages}) {{
    %a = tile.load %A[%m, %n] : {array} -> {tile}
    tile.store %a, %C[%m, %n] : {tile}, {array}
    tile.yield
  }}
  tile.return
}}
"""


def elementwise_kernel(element: str = "f32", n: int = 1024) -> str:
    """y = f(x, s) on vectors, without a loop."""
    array, tile = _array(element, 1), f"tensor<{n}x{element}>"
    is_float = not element.startswith("i")
    add, multiply = ("arith.addf", "arith.mulf") if is_float else ("arith.addi", "arith.muli")
    exp = f"  %e = math.exp %p : {tile}\n" if is_float else f"  %e = arith.maxsi %p, %x : {tile}\n"
    return f"""\
tile.kernel @elementwise(%X: {array}, %Y: {array}, %n: index) attributes {{warps = 4 : i64}} {{
  %c0 = arith.constant 0 : index
  %b = arith.constant {n} : index
  %N = memref.dim %X, %c0 : {array}
  %blocks = arith.ceildivsi %N, %b : index
  tile.grid %blocks
  %i = tile.program_id 0
  %o = arith.muli %i, %b : index
  %x = tile.load %X[%o] : {array} -> {tile}
  %y = tile.load %Y[%o] {{cache = #tile.cache<cg>}} : {array} -> {tile}
  %p = {multiply} %x, %y : {tile}
{exp}  %s = {add} %e, %x : {tile}
  tile.store %s, %Y[%o] : {tile}, {array}
  tile.return
}}
"""


def bias_kernel(element: str = "bf16", m: int = 64, n: int = 64, k: int = 32) -> str:
    """GEMM with a bias that is expanded and broadcast, and a ReLU."""
    array, bias = _array(element), _array("f32", 1)
    return f"""\
tile.kernel @bias(%A: {array} {{tile.align = 16 : i64}}, %B: {array} {{tile.align = 16 : i64}}, %b: {bias}, %C: {array} {{tile.align = 16 : i64}}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bm = arith.constant {m} : index
  %bn = arith.constant {n} : index
  %bk = arith.constant {k} : index
  %M = memref.dim %C, %c0 : {array}
  %N = memref.dim %C, %c1 : {array}
  %K = memref.dim %A, %c1 : {array}
  %rows = arith.ceildivsi %M, %bm : index
  %columns = arith.ceildivsi %N, %bn : index
  tile.grid %rows, %columns
  %i = tile.program_id 0
  %j = tile.program_id 1
  %m = arith.muli %i, %bm : index
  %n = arith.muli %j, %bn : index
  %zero = arith.constant dense<0.0> : tensor<{m}x{n}xf32>
  %sum = tile.for %k = %c0 to %K step %bk iter_args(%acc = %zero) -> (tensor<{m}x{n}xf32>) pipeline(stages = 3) {{
    %a = tile.load %A[%m, %k] : {array} -> tensor<{m}x{k}x{element}>
    %w = tile.load %B[%n, %k] : {array} -> tensor<{n}x{k}x{element}>
    %s = tile.dot %a, %w transpose_b, %acc : tensor<{m}x{k}x{element}>, tensor<{n}x{k}x{element}> -> tensor<{m}x{n}xf32>
    tile.yield %s : tensor<{m}x{n}xf32>
  }}
  %v = tile.load %b[%n] : {bias} -> tensor<{n}xf32>
  %row = tile.expand_dims %v axis 0 : tensor<{n}xf32> -> tensor<1x{n}xf32>
  %all = tile.broadcast %row : tensor<1x{n}xf32> -> tensor<{m}x{n}xf32>
  %biased = arith.addf %sum, %all : tensor<{m}x{n}xf32>
  %relu = arith.maximumf %biased, %zero : tensor<{m}x{n}xf32>
  %c = arith.truncf %relu : tensor<{m}x{n}xf32> to tensor<{m}x{n}x{element}>
  tile.store %c, %C[%m, %n] : tensor<{m}x{n}x{element}>, {array}
  tile.return
}}
"""


def _dot_kernel(body: str, element: str, arguments: str = "") -> str:
    array, out = _array(element), _array("f32")
    return f"""\
tile.kernel @dots(%A: {array} {{tile.align = 16 : i64}}, %B: {array} {{tile.align = 16 : i64}}, %C: {out} {{tile.align = 16 : i64}}, %flag: i1, %count: index{arguments}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %K = memref.dim %A, %c1 : {array}
  %i = tile.program_id 0
  %m = arith.muli %i, %c64 : index
  tile.grid %count
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
{body}  tile.return
}}
"""


def _loads(element: str, indent: str = "  ", k: str = "%c0") -> str:
    array, tile = _array(element), f"tensor<64x64x{element}>"
    return f"""\
{indent}%a = tile.load %A[%m, {k}] : {array} -> {tile}
{indent}%b = tile.load %B[%c0, {k}] : {array} -> {tile}
"""


def _dot(a: str, b: str, acc: str, result: str, element: str, flags: str = " transpose_b", indent: str = "  ") -> str:
    tile = f"tensor<64x64x{element}>"
    return f"{indent}{result} = tile.dot {a}, {b}{flags}, {acc} : {tile}, {tile} -> tensor<64x64xf32>\n"


def _store(value: str, indent: str = "  ") -> str:
    return f"{indent}tile.store {value}, %C[%m, %c0] : tensor<64x64xf32>, {_array('f32')}\n"


def _loop(element: str, indent: str, header: str, inner: str = "") -> str:
    body = _loads(element, indent + "  ", "%k") + inner + _dot("%a", "%b", "%acc", "%s", element, indent=indent + "  ")
    return (
        f"{indent}%sum = tile.for %k = %c0 to %K step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) {header} {{\n"
        f"{body}{indent}  tile.yield %s : tensor<64x64xf32>\n{indent}}}\n"
    )


def dot_kernels(element: str = "f16") -> dict[str, str]:
    """Dots in every place: outside loops, chained, on computed operands, in nested loops and conditionals."""
    tile, array = f"tensor<64x64x{element}>", _array(element)
    kernels = {
        "outside": _loads(element) + _dot("%a", "%b", "%zero", "%s", element) + _store("%s"),
        "registers": _loads(element)
        + f"  %d = arith.addf %a, %a : {tile}\n  %e = arith.mulf %b, %b : {tile}\n"
        + _dot("%d", "%e", "%zero", "%s", element)
        + _store("%s"),
        "register-a": _loop(element, "  ", "pipeline(stages = 2)", f"    %d = arith.addf %a, %a : {tile}\n").replace(
            "tile.dot %a", "tile.dot %d"
        )
        + _store("%sum"),
        "chained": _loads(element)
        + _dot("%a", "%b", "%zero", "%s", element)
        + f"  %p = arith.truncf %s : tensor<64x64xf32> to {tile}\n"
        + _dot("%p", "%b", "%zero", "%t", element, "")
        + _store("%t"),
        "two-dots": _loop(
            element,
            "  ",
            "pipeline(stages = 2)",
            f"    %x = tile.dot %b, %a transpose_b, %acc : {tile}, {tile} -> tensor<64x64xf32>\n",
        ).replace(
            "transpose_b, %acc : " + f"{tile}, {tile} -> tensor<64x64xf32>\n    tile.yield",
            "transpose_b, %x : " + f"{tile}, {tile} -> tensor<64x64xf32>\n    tile.yield",
        )
        + _store("%sum"),
        "nested": "  scf.for %j = %c0 to %count step %c1 {\n"
        + _loop(element, "    ", "pipeline(stages = 3)")
        + _store("%sum", "    ")
        + "  }\n",
        "nested-tile-for": "  %all = tile.for %j = %c0 to %count step %c1 iter_args(%o = %zero) -> (tensor<64x64xf32>) {\n"
        + _loop(element, "    ", "pipeline(stages = 3, specialize = on)").replace("%acc = %zero", "%acc = %o")
        + "    tile.yield %sum : tensor<64x64xf32>\n  }\n"
        + _store("%all"),
        "if-around": "  scf.if %flag {\n"
        + _loop(element, "    ", "pipeline(stages = 2)")
        + _store("%sum", "    ")
        + "  }\n",
        "if-result": "  %r = scf.if %flag -> (tensor<64x64xf32>) {\n"
        + _loop(element, "    ", "pipeline(stages = 2)")
        + "    scf.yield %sum : tensor<64x64xf32>\n  } else {\n    scf.yield %zero : tensor<64x64xf32>\n  }\n"
        + _store("%r"),
        "if-inside": _loop(
            element,
            "  ",
            "pipeline(stages = 2)",
            "    scf.if %flag {\n" + _store("%acc", "      ") + "    }\n",
        )
        + _store("%sum"),
        "store-operand": _loads(element)
        + _dot("%a", "%b", "%zero", "%s", element)
        + f"  tile.store %a, %B[%m, %c0] : {tile}, {array}\n"
        + _store("%s"),
        "dot-of-itself": _loads(element) + _dot("%a", "%a", "%zero", "%s", element) + _store("%s"),
        "while": "  %w = scf.while (%n = %c0) : (index) -> index {\n    %more = arith.cmpi slt, %n, %count : index\n"
        "    scf.condition(%more) %n : index\n  } do {\n  ^bb0(%n: index):\n"
        + _loop(element, "    ", "pipeline(stages = 2)")
        + _store("%sum", "    ")
        + "    %next = arith.addi %n, %c1 : index\n    scf.yield %next : index\n  }\n",
    }
    return {name: _dot_kernel(body, element) for name, body in kernels.items()}


def all_seeds() -> dict[str, str]:
    """Every seed by name."""
    seeds = _files()
    for dtype in ELEMENTS:
        acc = {"i8": "i32", "f64": "f64"}.get(dtype, "f32")
        for orientation in ("TN", "NT", "NN", "TT"):
            out = dtype if dtype in ("f16", "bf16") else acc
            config = GemmConfig(orientation, dtype, out, bm=64, bn=64, bk=32, stages="3")
            seeds[f"gemm-{dtype}-{orientation}"] = gemm_source(config)
    for element in ("f32", "bf16", "i8"):
        seeds[f"copy-{element}"] = copy_kernel(element)
        seeds[f"elementwise-{element}"] = elementwise_kernel(element)
    for element in ("bf16", "f16"):
        seeds[f"bias-{element}"] = bias_kernel(element)
    for element in ("bf16", "f32", "f8E4M3FN"):
        seeds.update({f"dot-{name}-{element}": text for name, text in dot_kernels(element).items()})
    return seeds
