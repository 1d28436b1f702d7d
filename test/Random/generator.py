"""Draws random programs of the tile dialect. Every program is legal, ends, and leaves numbers known exactly."""

from __future__ import annotations

from actions import Actions
from builder import FLOATS, LIMITS, Index, Value
from program_tree import Block, Op, Program, Type

_DEPTH = 3
#: What a loop-carried tile may grow by in one trip.
_ROOM = {"f32": 2**14, "f64": 2**14, "i32": 2**14, "i64": 2**14, "bf16": 8, "f16": 64, "i16": 100, "i8": 3}


def generate(seed: str, weights: dict[str, int], operations: int = 0) -> Program:
    """A program of about that many actions, or of as many as the seed chooses.

    Equal seeds, weights and numbers of actions give equal programs.
    """
    generator = _Generator(seed, weights)
    return generator.program(operations or generator.operations)


class _Generator(Actions):
    """The kernel around the actions, and those that have blocks of their own."""

    def program(self, operations: int) -> Program:
        b = self.b
        if b.chance(self.weights["warps"]):
            b.program.attributes["warps"] = self.rng.choice([1, 2, 4, 4, 8])
        loop = self._enter_grid()
        self.fill(operations)
        self.store_some(at_least=1)
        if loop:
            b.leave(loop)
        return b.program

    def _enter_grid(self):
        """Declares the grid; returns the state to leave, of a persistent kernel's loop."""
        b = self.b
        count = self.rng.choice([1, 1, 1, 2, 3])
        total = b.scalar_argument((count,)) if b.chance(30) else b.constant_index(count)
        persistent = b.chance(self.weights["persistent"])
        if count > 1 or persistent or b.chance(30):
            b.do(f"tile.grid {total.name}{' persistent' if persistent else ''}")
        program = b.index("tile.program_id 0", 0, count - 1)
        if not persistent:
            self.accesses.set_program(program)
            return None
        programs = b.index("tile.num_programs 0", 1, count)
        body = Block([(b.name("p"), Type("index"))])
        b.block.operations.append(Op("scf.for", [], "for", [body], [program.name], total.name, programs.name))
        state = b.enter(body)
        self.accesses.set_program(Index(body.arguments[0][0], 0, count - 1))
        return state

    # Control flow.

    def _condition(self) -> str:
        """An i1 of an index, of a number that the caller chooses, or of the program's place."""
        b = self.b
        known = [i for i in b.indices if i.high > i.low]
        value = self.rng.choice(known) if known and b.chance(70) else b.scalar_argument((0, 1, 2))
        limit = b.constant_index(self.rng.randint(value.low, value.high))
        kind = self.rng.choice(["slt", "sge", "eq", "ne"])
        return b.emit(f"arith.cmpi {kind}, {value.name}, {limit.name} : index", Type("i1"), 1, keep=False).name

    def _do_if(self, operations: int) -> None:
        b = self.b
        if b.depth >= _DEPTH:
            return
        condition = self._condition()
        types = [v.type for v in self._carried_values(self.rng.choice([0, 1, 1, 2]))]
        has_else = bool(types) or b.chance(50)
        blocks = [Block() for _ in range(1 + has_else)]
        bounds, errors = [0] * len(types), [0.0] * len(types)
        name = b.name("r")
        op = Op(f"scf.if {condition}", _results(name, types), "if", blocks)
        b.block.operations.append(op)
        for block in blocks:
            state = b.enter(block)
            self.fill(max(operations // 4, 1))
            for i, type_ in enumerate(types):
                value = self.ops.pick(lambda v, t=type_: v.type == t, exact=False) or self.ops.shaped(type_)
                block.yields.append(value.name)
                bounds[i], errors[i] = max(bounds[i], value.bound), max(errors[i], value.error)
            if not types or b.chance(20):
                self.store_some()
            b.leave(state)
        self._results_into_scope(op, bounds, errors)

    def _do_for(self, operations: int) -> None:
        b = self.b
        if b.depth >= _DEPTH:
            return
        lower, upper, step, trips = self._range()
        carried = self._carried_values(self.rng.choice([0, 1, 1, 2, 3]))
        body = Block([(b.name("t" if lower.name == "%c0" and step.name == "%c1" else "k"), Type("index"))])
        results = [(f"{b.name('a')}", v.type) for v in carried]
        body.arguments += results
        text = "scf.for" if b.chance(self.weights["scf-for"]) else "tile.for"
        annotation = self._pipeline() if text == "tile.for" and b.chance(85) else ""
        op = Op(text, _results(b.name("r"), [v.type for v in carried]), "for", [body],
                [lower.name, *(v.name for v in carried)], upper.name, step.name, annotation)  # fmt: skip
        b.block.operations.append(op)
        state = b.enter(body, trips)
        induction = Index(body.arguments[0][0], lower.low, max(upper.high - 1, lower.high))
        b.indices.append(induction)
        if not induction.name.startswith("%t"):
            distance = b.index(f"arith.subi {induction.name}, {lower.name} : index", 0, induction.high)
            trip = b.index(f"arith.divsi {distance.name}, {step.name} : index", 0, trips)
            renamed = Index(trip.name.replace("%i", "%t"), 0, max(trips - 1, 0))
            b.block.operations[-1].results[0] = (renamed.name, Type("index"))
            b.indices.append(renamed)
        bounds = self._body(body, carried, results, trips, operations)
        b.leave(state)
        self._results_into_scope(op, bounds, [0.0] * len(bounds))

    def _do_while(self, operations: int) -> None:
        """Counts up to a number that the caller chooses, and carries tiles along."""
        b = self.b
        if b.depth >= _DEPTH:
            return
        count = b.scalar_argument((0, 1, 2, 3))
        carried = self._carried_values(self.rng.choice([1, 1, 2]))
        types = [Type("index"), *(v.type for v in carried)]
        before = Block([(b.name("b"), t) for t in types])
        counter, *tiles = [(b.name("t" if i == 0 else "a"), t) for i, t in enumerate(types)]
        after = Block([counter, *tiles])
        zero, one = b.constant_index(0), b.constant_index(1)
        op = Op("scf.while", _results(b.name("r"), types), "while", [before, after],
                [zero.name, *(v.name for v in carried)])  # fmt: skip
        b.block.operations.append(op)
        state = b.enter(before)
        name = before.arguments[0][0]
        condition = b.emit(f"arith.cmpi slt, {name}, {count.name} : index", Type("i1"), 1, keep=False)
        before.yields = [condition.name, *(argument for argument, _ in before.arguments)]
        b.leave(state)
        state = b.enter(after, 3)
        b.indices.append(Index(counter[0], 0, 2))
        bounds = self._body(after, carried, tiles, 3, operations)
        following = b.index(f"arith.addi {counter[0]}, {one.name} : index", 1, 3)
        after.yields.insert(0, following.name)
        b.leave(state)
        self._results_into_scope(op, [3, *bounds], [0.0] * len(types))

    def _body(self, body: Block, carried: list[Value], arguments, trips: int, operations: int) -> list[int]:
        """Fills a loop's body. Returns bounds of the results, which hold in the body too."""
        b = self.b
        often = max(b.trips // 4, 1)
        room = [_ROOM[v.element] // (1 if v.element in ("bf16", "f16", "i8") else often) for v in carried]
        order = self._order(carried)
        bounds = [
            min(max(v.bound, carried[i].bound) + max(trips, 1) * r, LIMITS[v.element] + (v.element not in FLOATS))
            for v, r, i in zip(carried, room, order, strict=True)
        ]
        inside = [Value(name, type_, bound) for (name, type_), bound in zip(arguments, bounds, strict=True)]
        b.values += inside
        if b.chance(self.weights["guarded-load"]):
            self._guarded_load()
        self.fill(max(operations // 3, 2))
        following = [self._next(*each).name for each in zip(inside, carried, room, strict=True)]
        body.yields += [following[i] for i in order]
        if not carried or b.chance(30):
            self.store_some()
        return bounds

    def _guarded_load(self) -> None:
        """A tile that some trips load, in the others another one."""
        b = self.b
        type_ = Type(self.rng.choice(self.ops.elements), self.rng.choice(self.ops.shapes))
        condition, other, block = self._condition(), self.ops.of_type(type_), Block()
        op = Op(f"scf.if {condition}", [(b.name("r"), type_)], "if", [block, Block(yields=[other.name])])
        b.block.operations.append(op)
        state = b.enter(block)
        loaded = self.accesses.load(type_)
        block.yields.append(loaded.name)
        b.leave(state)
        self._results_into_scope(op, [max(loaded.bound, other.bound)], [0.0])

    def _order(self, carried: list[Value]) -> list[int]:
        """Which value each carried one is next: mostly itself, sometimes two of a type change places."""
        order = list(range(len(carried)))
        pairs = [(i, j) for j in order for i in range(j) if carried[i].type == carried[j].type]
        if pairs and self.b.chance(self.weights["swap"]):
            i, j = self.rng.choice(pairs)
            order[i], order[j] = j, i
        return order

    def _next(self, value: Value, start: Value, room: int) -> Value:
        """What a loop-carried tile becomes: a sum, a product added, another value, or the larger of two."""
        b = self.b
        m, n, _ = self.sizes
        if value.shape == (m, n) and value.element in ("f32", "i32", "f64") and self.weights["dot"] and b.chance(70):
            twice = b.chance(25)
            first = self.ops.dot(self.sizes, value, room // 2)
            return self.ops.dot(self.sizes, first, room // 2) if twice else first
        kind = self.rng.choice(["add", "add", "last", "larger"])
        if kind == "last":
            return self.ops.of_type(value.type, max(start.bound, room))
        other = self.ops.of_type(value.type, room)
        is_float = value.element in FLOATS
        name = {"add": ("addi", "addf"), "larger": ("maxsi", "maximumf")}[kind][is_float]
        return b.emit(f"arith.{name} {value.name}, {other.name} : {value.type}", value.type, value.bound, keep=False)

    def _carried_values(self, count: int) -> list[Value]:
        """Exact tiles that a loop may start with; accumulators of products most of all."""
        b = self.b
        m, n, _ = self.sizes
        carried = []
        for _ in range(count):
            if b.chance(60):
                element = "f64" if b.chance(self.weights["f64-dot"]) else self.rng.choice(["f32", "f32", "f32", "i32"])
                type_ = Type(element, (m, n))
                value = b.constant(type_, 0) if b.chance(60) else b.clamp(self.ops.of_type(type_), 2**16)
            else:
                twin = carried[0].type if carried and b.chance(40) else None
                value = self.ops.pick(lambda v, t=twin: v.element in _ROOM and t in (None, v.type)) or self.ops.fresh()
            if value.element not in FLOATS or value.bound <= LIMITS[value.element] // 2:
                carried.append(value)
        return carried

    def _range(self) -> tuple[Index, Index, Index, int]:
        """Lower and upper bound, step, and the most trips. Steps are of elements or of tiles."""
        b, rng = self.b, self.rng
        by_elements = b.chance(50)
        unit = self.sizes[2] if by_elements and self.sizes[2] > 1 else 1
        most = 4 if b.depth == 0 else 2
        trips = 0 if b.chance(self.weights["empty-loop"]) else rng.choice([1, 2, 3, most, most + 2 * (b.trips == 1)])
        step = unit if b.chance(75) else unit + rng.choice([1, 8])
        lower = rng.choice([0, 0, 0, 1, 3, unit])
        upper = max(lower + trips * step - (rng.randrange(step) if trips else rng.choice([0, 1])), 0)
        if b.chance(50):
            choices = sorted({upper, lower, min(lower + 1, upper), min(lower + step + 1, upper)} - {-1})
            high = b.scalar_argument(tuple(reversed(choices)))
        else:
            high = b.constant_index(upper)
        low = b.scalar_argument((lower,)) if b.chance(15) else b.constant_index(lower)
        by = b.scalar_argument((step,)) if b.chance(15) else b.constant_index(step)
        return low, high, by, trips

    def _pipeline(self) -> str:
        rng = self.rng
        parts = [f"stages = {rng.choice(['auto', 'auto', 0, 1, 2, 2, 3, 4, 5])}"]
        if self.b.chance(self.weights["specialize"]):
            parts.append(f"specialize = {rng.choice(['auto', 'on', 'on', 'off'])}")
        if self.b.chance(10):
            parts.append(f"consumers = {rng.choice([1, 2])}")
        return f" pipeline({', '.join(parts)})"

    def _results_into_scope(self, op: Op, bounds: list[int], errors: list[float]) -> None:
        for (name, type_), bound, error in zip(op.results, bounds, errors, strict=True):
            if type_.shape is not None:
                self.b.values.append(Value(name, type_, bound, error))


def _results(name: str, types: list[Type]) -> list[tuple[str, Type]]:
    return [(f"{name}#{i}" if len(types) > 1 else name, type_) for i, type_ in enumerate(types)]
