"""What a random program does in a block, control flow apart; and how large the program and its tiles are."""

from __future__ import annotations

import random

from accesses import Accesses
from builder import FLOAT8, FLOATS, LIMITS, Builder
from program_tree import Type

from products import Products

_M = (64, 64, 64, 128, 128, 16, 32, 48, 80, 96, 112, 24, 40, 8, 1)
_N = (64, 64, 32, 16, 128, 48, 80, 96, 112, 24, 40, 8, 1)
_K = (32, 64, 16, 16, 48, 80, 24, 40, 8, 1)
#: Extents that matmuls of all generations take; the newest takes 128 rows only.
_TENSOR_CORE = ((64, 64, 128, 128, 128, 128, 256), (8, 16, 16, 32, 32, 64, 128, 256), (16, 32, 32, 64))
_ODD = frozenset((24, 40, 48, 80, 96, 112, 1, 8))
#: Elements of the largest tile; and of all tiles of a program about so many elements times actions. Most programs are
#: small: many small ones find as much as a few large ones, and do so sooner.
_LARGEST_TILES = (1024, 2048, 2048, 4096, 8192)
_SIZES = (8192, 8192, 16384, 16384, 16384, 32768, 32768, 65536, 131072)
_FEWEST, _MOST = 4, 20


class Actions:
    """Every method _do_NAME is an action: `fill` does as many as it is told, by the weights of their names."""

    def __init__(self, seed: str, weights: dict[str, int]):
        self.rng = random.Random(seed)
        self.b = Builder(seed, self.rng)
        # Not all targets have 8-bit floats: most programs are for all.
        self.weights = weights = weights if self.b.chance(weights["f8-programs"]) else {**weights, "f8": 0}
        largest = self.rng.choice(_LARGEST_TILES)
        self.operations = min(max(self.rng.choice(_SIZES) // largest, _FEWEST), _MOST)
        self.sizes = self._draw_sizes(largest)
        m, n, k = self.sizes
        shapes = [(m, n), (m, n), (m, n), (m, k), (n,), (m,), (1, n), (m, 1)]
        self.accesses = Accesses(self.b, weights)
        self.ops = Products(self.b, self.accesses, weights, shapes)

    def _draw_sizes(self, largest: int) -> tuple[int, int, int]:
        if self.b.chance(self.weights["tensor-core"]):
            extents = _TENSOR_CORE
            largest = max(largest, 2048)
        else:
            odd = self.b.chance(self.weights["odd-extent"])
            extents = [[e for e in some if odd or e not in _ODD] for some in (_M, _N, _K)]
        while True:
            m, n, k = map(self.rng.choice, extents)
            if max(m * n, m * k, n * k) <= largest:
                return m, n, k

    # Blocks.

    def fill(self, operations: int) -> None:
        """That many actions in the current block."""
        names = [name for name in self.weights if hasattr(self, f"_do_{name.replace('-', '_')}")]
        weights = [self.weights[name] for name in names]
        for _ in range(operations):
            name = self.rng.choices(names, weights)[0]
            getattr(self, f"_do_{name.replace('-', '_')}")(operations)

    def store_some(self, at_least: int = 0) -> None:
        tiles = [v for v in self.b.values if v.shape is not None and v.element != "i1"]
        if not tiles:
            tiles = [self.ops.fresh(Type("f32", self.ops.shapes[0]))]
        count = max(at_least, self.rng.choice([0, 1, 1, 2]))
        for value in tiles[-1:] + self.rng.sample(tiles, min(count, len(tiles)) - 1 if count else 0):
            self.accesses.store(value)

    # Actions.

    def _do_load(self, operations: int) -> None:
        self.accesses.load(Type(self.rng.choice(self.ops.elements), self.rng.choice(self.ops.shapes)))

    def _do_load1d(self, operations: int) -> None:
        extent = self.rng.choice([self.sizes[0], self.sizes[1], 128])
        self.accesses.load(Type(self.rng.choice(self.ops.elements), (extent,)))

    def _do_elementwise(self, operations: int) -> None:
        self.ops.elementwise()

    def _do_dot(self, operations: int) -> None:
        self.ops.dot(self.sizes)

    def _do_chained_dot(self, operations: int) -> None:
        self.ops.chained_dot(self.sizes, self.sizes[2])

    def _do_select(self, operations: int) -> None:
        self.ops.select()

    def _do_cast(self, operations: int) -> None:
        self.ops.random_cast()

    def _do_f8(self, operations: int) -> None:
        self.ops.through_float8()

    def _do_approximate(self, operations: int) -> None:
        self.ops.approximate()

    def _do_broadcast(self, operations: int) -> None:
        self.ops.broadcast()

    def _do_iota(self, operations: int) -> None:
        self.ops.iota()

    def _do_transpose(self, operations: int) -> None:
        self.ops.transpose()

    def _do_reshape(self, operations: int) -> None:
        self.ops.reshape()

    def _do_reduce(self, operations: int) -> None:
        self.ops.reduce()

    def _do_scan(self, operations: int) -> None:
        self.ops.scan()

    def _do_constant(self, operations: int) -> None:
        type_ = Type(self.rng.choice(self.ops.elements), self.rng.choice(self.ops.shapes))
        self.b.constant(type_, self.rng.randint(-4, 4), keep=True)

    def _do_store(self, operations: int) -> None:
        value = self.ops.pick(lambda v: v.element != "i1", exact=False)
        if value:
            self.accesses.store(value)

    def _do_gather(self, operations: int) -> None:
        shape = self.rng.choice([s for s in self.ops.shapes if len(s) == 2])
        self.accesses.gather(shape, self.ops.places(self.rng.choice(shape)))

    def _do_scatter(self, operations: int) -> None:
        value = self.ops.pick(lambda v: v.element in ("f32", "i32"))
        if value:
            self.accesses.scatter(self.b.clamp(value, 1000), self.ops.places(value.shape[0]))

    def _do_reduce_store(self, operations: int) -> None:
        value = self.ops.pick(lambda v: v.element in ("f32", "i32"))
        if value:
            self.accesses.reduce_store(self.b.clamp(value, 1000))

    def _do_read_back(self, operations: int) -> None:
        value = self.ops.pick(lambda v: v.element != "i1")
        if value:
            self.accesses.read_back(value)

    def _do_assert(self, operations: int) -> None:
        """Every exact number is within the bound that is known of it."""
        bounded = lambda v: v.element != "i1" and v.element not in FLOAT8 and v.bound <= LIMITS[v.element]  # noqa: E731
        if value := self.ops.pick(bounded):
            bound = self.b.constant(value.type, value.bound)
            kind = "cmpf ole" if value.element in FLOATS else "cmpi sle"
            text = f"arith.{kind}, {value.name}, {bound.name} : {value.type}"
            holds = self.b.emit(text, Type("i1", value.shape), 1, keep=False)
            self.b.do(f'tile.assert {holds.name}, "at most {value.bound}" : {holds.type}')

    def _do_scalar(self, operations: int) -> None:
        index = self.accesses.load_scalar()
        if self.b.chance(30):
            self.accesses.store_scalar(index)
