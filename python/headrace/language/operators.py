"""Python's operators on scalars and tiles, with Python's meaning: `//` and `%` round down, `/` is for floats."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from headrace.language.affine import Affine
from headrace.language.dtypes import DType, i1, index
from headrace.language.emitter import Emitter
from headrace.language.operands import convert, refuse_operand, unify
from headrace.language.pending import emit_product, written
from headrace.language.products import make_product
from headrace.language.values import Product, Scalar, Tile, describe, is_number

SYMBOLS: dict[type, str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>", ast.MatMult: "@",
    ast.USub: "-", ast.UAdd: "+", ast.Invert: "~", ast.Not: "not",
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip

_FLOAT_OPS = {"+": "addf", "-": "subf", "*": "mulf", "/": "divf"}
_INT_OPS = {"+": "addi", "-": "subi", "*": "muli", "&": "andi", "|": "ori", "^": "xori", "<<": "shli", ">>": "shrsi"}
_FLOAT_PREDICATES = {"<": "olt", "<=": "ole", ">": "ogt", ">=": "oge", "==": "oeq", "!=": "une"}
_INT_PREDICATES = {"<": "slt", "<=": "sle", ">": "sgt", ">=": "sge", "==": "eq", "!=": "ne"}

#: Whole exponents up to this are written out as products.
_MAX_POWER = 16


def apply(
    em: Emitter, op: str, *operands: Scalar | Tile, dtype: DType | None = None, hint: str = "", natural: bool = False
) -> Scalar | Tile:
    """The arith or math operation `op` on operands of one type. `dtype` is the result's, if it is another.

    `natural`: no element of the result is negative.
    """
    first = operands[0]
    dtype = dtype or first.dtype
    hint = hint or op.partition(".")[2].split()[0].rstrip("fi,")
    text = f"{op} {', '.join(operand.name for operand in operands)} : {first.mlir}"
    if isinstance(first, Tile):
        return em.tile(text, first.shape, dtype, hint, natural=natural)
    return em.scalar(text, dtype, hint, natural=natural)


def binary(em: Emitter, symbol: str, left: Any, right: Any) -> Any:
    """``left symbol right``, where not both are compile-time constants."""
    if symbol == "@":
        return make_product(em, left, right, None)
    if symbol == "+":
        for product, other in ((left, right), (right, left)):
            if isinstance(product, Product) and isinstance(other, Tile) and _accumulates(product, other):
                return emit_product(em, product, written(em, other))
    if symbol == "**":
        return _power(em, left, right)
    left, right = unify(em, left, right, f"'{symbol}'")
    if left.dtype is i1:
        return _boolean(em, symbol, left, right)
    if left.dtype.is_float:
        return _float(em, symbol, left, right)
    if left.dtype is index and isinstance(left, Scalar):
        return _index(em, symbol, left, right)
    return _integer(em, symbol, left, right)


def _accumulates(product: Product, other: Tile) -> bool:
    return not isinstance(other, Product) and other.shape == product.shape and other.dtype is product.dtype


def _boolean(em: Emitter, symbol: str, left, right):
    if symbol not in "&|^":
        em.fail(f"expected numbers in '{symbol}', got i1: cast with .to(hr.i32) to count, or write & and | for logic")
    return apply(em, f"arith.{_INT_OPS[symbol]}", left, right)


def _float(em: Emitter, symbol: str, left, right):
    if symbol in ("//", "%"):
        advice = "hr.floor(x / y)" if symbol == "//" else "x - hr.floor(x / y) * y"
        em.fail(f"expected integers in '{symbol}', got {left.dtype}: write {advice}")
    if symbol not in _FLOAT_OPS:
        em.fail(f"expected integers in '{symbol}', got {left.dtype}: cast with .to(hr.i32), or see hr.bitcast")
    if left.dtype.bits == 8:
        em.fail(f"expected operands of 16 bits or more in '{symbol}', got {left.dtype}: 8-bit floats have only casts, "
                "write .to(hr.f32)")  # fmt: skip
    return apply(em, f"arith.{_FLOAT_OPS[symbol]}", left, right)


def _integer(em: Emitter, symbol: str, left, right):
    if symbol == "/":
        em.fail(
            f"expected floats in '/', got {left.dtype}: write // for the quotient rounded down, or cast with "
            ".to(hr.f32)"
        )
    natural = left.natural and right.natural
    if symbol == "//":
        return apply(em, "arith.divsi" if natural else "arith.floordivsi", left, right, natural=natural)
    if symbol == "%":
        return apply(em, "arith.remsi", left, right, natural=True) if natural else _floor_mod(em, left, right)
    # What overflows 32 bits is out of a kernel's reach, as for indices; narrower numbers may well wrap.
    natural = natural and (symbol in "&|>>" or (symbol in "+*<<" and left.dtype.bits >= 32))
    return apply(em, f"arith.{_INT_OPS[symbol]}", left, right, natural=natural)


def _floor_mod(em: Emitter, left, right):
    """Python's remainder, which has the divisor's sign."""
    rest = apply(em, "arith.remsi", left, right)
    zero = _zero_like(em, rest)
    differs = apply(em, "arith.cmpi slt,", apply(em, "arith.xori", rest, right), zero, dtype=i1)
    nonzero = apply(em, "arith.cmpi ne,", rest, zero, dtype=i1)
    wrong = apply(em, "arith.andi", differs, nonzero)
    return select(em, wrong, apply(em, "arith.addi", rest, right), rest)


def _zero_like(em: Emitter, value: Scalar | Tile) -> Scalar | Tile:
    if isinstance(value, Tile):
        return em.splat_constant(0, value.shape, value.dtype)
    return em.constant(0.0 if value.dtype.is_float else 0, value.dtype)


def select(em: Emitter, condition, yes, no):
    """``yes if condition else no``, element by element; all of one shape, or all scalars, or a scalar condition."""
    kind = f"{condition.mlir}, {yes.mlir}" if isinstance(condition, Tile) else yes.mlir
    text = f"arith.select {condition.name}, {yes.name}, {no.name} : {kind}"
    if isinstance(yes, Tile):
        return em.tile(text, yes.shape, yes.dtype, "select", natural=yes.natural and no.natural)
    return em.scalar(text, yes.dtype, "select", natural=yes.natural and no.natural)


def _index(em: Emitter, symbol: str, left: Scalar, right: Scalar) -> Scalar:
    """Arithmetic on run-time ints, which remembers what is known of the result."""
    natural = left.natural and right.natural
    a, b = left.affine, right.affine
    if symbol == "/":
        em.fail("expected floats in '/', got run-time ints: write // for the quotient rounded down, or hr.cdiv for up")
    if symbol in ("//", "%") and b.is_constant and b.constant == 0:
        em.fail(f"expected a divisor other than 0 in '{symbol}'")
    if symbol == "//":
        op = "divsi" if natural else "floordivsi"
        return em.scalar(f"arith.{op} {left.name}, {right.name} : index", index, natural=natural)
    if symbol == "%":
        if natural:
            return em.scalar(f"arith.remsi {left.name}, {right.name} : index", index, natural=True)
        return _floor_mod(em, left, right)
    affine = {"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b}.get(symbol, lambda: None)()
    natural = natural and symbol in "+*&|>><<"
    return em.scalar(
        f"arith.{_INT_OPS[symbol]} {left.name}, {right.name} : index", index, affine=affine, natural=natural
    )


def _power(em: Emitter, base: Any, exponent: Any):
    if not isinstance(base, (Scalar, Tile)) or not is_number(exponent):
        em.fail("expected a constant exponent in '**': for a run-time one write hr.exp2(y * hr.log2(x))")
    if exponent == 0.5 and base.dtype.is_float:
        return apply(em, "math.sqrt", written(em, base) if isinstance(base, Tile) else base)
    if not isinstance(exponent, int) or not 1 <= exponent <= _MAX_POWER:
        em.fail(f"expected an exponent of 0.5, or whole from 1 to {_MAX_POWER}, got {exponent}: "
                "write hr.exp2(y * hr.log2(x))")  # fmt: skip
    if isinstance(base, Tile):
        base = written(em, base)
    result, square = None, base
    while exponent:
        if exponent & 1:
            result = square if result is None else binary(em, "*", result, square)
        exponent >>= 1
        if exponent:
            square = binary(em, "*", square, square)
    return result


def compare(em: Emitter, symbol: str, left: Any, right: Any) -> Scalar | Tile:
    """``left symbol right``: i1, of the operands' shape. Comparisons with NaN are false, ``!=`` true, as in Python."""
    left, right = unify(em, left, right, f"'{symbol}'")
    if left.dtype is i1 and symbol not in ("==", "!="):
        em.fail(f"expected numbers in '{symbol}', got i1")
    if left.dtype.is_float:
        return apply(em, f"arith.cmpf {_FLOAT_PREDICATES[symbol]},", left, right, dtype=i1, hint="cmp")
    return apply(em, f"arith.cmpi {_INT_PREDICATES[symbol]},", left, right, dtype=i1, hint="cmp")


def unary(em: Emitter, symbol: str, value: Any) -> Any:
    """``symbol value``, where value is no compile-time constant."""
    if not isinstance(value, (Scalar, Tile)):
        refuse_operand(em, value, f"'{symbol}'")
    if isinstance(value, Tile):
        value = written(em, value)
    if symbol == "+":
        return value
    if symbol == "not":
        return apply(em, "arith.xori", truth(em, value, "'not'"), em.constant(True, i1))
    if symbol == "-":
        if value.dtype.is_float:
            return apply(em, "arith.negf", value)
        if value.dtype is i1:
            em.fail("expected a number in '-', got i1: write ~x for the opposite")
        return binary(em, "-", _zero_like(em, value), value)
    if value.dtype.is_float:
        em.fail(f"expected integers or i1 in '~', got {value.dtype}")
    ones = em.splat_constant(-1, value.shape, value.dtype) if isinstance(value, Tile) else None
    if value.dtype is i1:
        ones = em.splat_constant(True, value.shape, i1) if isinstance(value, Tile) else em.constant(True, i1)
    return apply(em, "arith.xori", value, ones or em.constant(-1, value.dtype))


def truth(em: Emitter, value: Any, what: str) -> Scalar:
    """`value` as a condition: a scalar is true if it is not 0. `what` names where it is used."""
    if isinstance(value, Tile):
        em.fail(f"expected a scalar in {what}, got {describe(value)}: a tile has no single truth, write hr.where(c, "
                "x, y), combine with & | ~, or reduce it with hr.any or hr.all")  # fmt: skip
    if not isinstance(value, Scalar):
        em.fail(f"expected a scalar in {what}, got {describe(value)}")
    return convert(em, value, i1)


def fold(em: Emitter, what: str, compute: Callable[[], Any]) -> Any:
    """Python's own result of constants; what Python raises is refused with its message."""
    try:
        result = compute()
    except (ArithmeticError, TypeError, ValueError, IndexError, KeyError, AttributeError) as error:
        message = str(error)
        em.fail(f"{what}: {message[:1].lower()}{message[1:]}")
    if isinstance(result, int) and not isinstance(result, bool) and result.bit_length() > 4096:
        em.fail(f"{what}: expected a number of at most 4096 bits")
    return result


def minimum(em: Emitter, left: Any, right: Any, largest: bool) -> Scalar | Tile:
    """The smaller (or larger) of both, element by element; NaN wins, as in numpy."""
    name = "hr.maximum" if largest else "hr.minimum"
    left, right = unify(em, left, right, name)
    word = "max" if largest else "min"
    if left.dtype.is_float:
        return apply(em, f"arith.{word}imumf", left, right)
    if left.dtype is i1:
        return apply(em, "arith.ori" if largest else "arith.andi", left, right)
    result = apply(em, f"arith.{word}si", left, right)
    if isinstance(result, Scalar) and result.dtype is index:
        natural = left.natural or right.natural if largest else left.natural and right.natural
        return Scalar(result.name, index, Affine.of(result.name), natural)
    return result
