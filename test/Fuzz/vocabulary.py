# ruff: noqa: E501, SIM905 (tables)
"""What the mutator puts into texts: numbers, types, attributes, ops."""

# Extents, counts and bytes, at and beyond every limit.
NUMBERS = """
0 1 -1 2 3 4 5 7 8 12 15 16 17 24 31 32 33 40 48 63 64 65 96 100 127 128 129 176 192 255 256 257 384 512 1000
1024 2048 4096 8192 65535 65536 1048576 16777216 16777217 2147483647 2147483648 4294967296 -2147483648
9223372036854775807 -9223372036854775808 9223372036854775808 18446744073709551616 99999999999999999999999 1.5
0x10
""".split()

# Those that often leave a program legal.
SMALL = """
0 1 2 3 4 6 8 12 16 24 32 48 64 80 96 128 192 256
""".split()

# Element types, the usual ones first.
ELEMENTS = """
f16 bf16 f32 f64 i1 i4 i8 i16 i32 i64 i128 i7 index f8E4M3FN f8E5M2 f8E4M3 f6E3M2FN f4E2M1FN f80 f128 tf32 ui8
si32 complex<f32> vector<4xf32> none !llvm.ptr tuple<> memref<4xf32>
""".split()

# Dimension lists; the first is empty.
SHAPES = """

1x
?x
0x
1x1x
32x
64x
64x64x
128x64x
?x?x
16x?x
4x4x4x
8x8x8x8x
3x5x
256x256x
4096x4096x
16777216x
65536x65536x
9223372036854775807x
*x
""".split("\n")[1:-1]

# Of tiles.
ENCODINGS = """
#tile.tmem
#tile.shared<major = 1, swizzle = 128>
#tile.shared<major = 0, swizzle = 0>
#tile.shared<major = 1, swizzle = 48>
1 : i32
"x"
#tile.cache<ca>
#tile.layout<atom = [32], register = [], lane = [[1], [2], [4], [8], [16]], warp = [], groups = [1 : 0], repeat = [1]>
#tile.layout<atom = [16, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [], groups = [2 : 0, 2 : 1], repeat = [2, 4]>
""".split("\n")[1:-1]

# Of arrays; the first is empty.
STRIDES = """

, strided<[?, 1]>
, strided<[1, ?]>
, strided<[?, ?]>
, strided<[0, 1]>
, strided<[64, 1]>
, strided<[1]>
, strided<[?], offset: ?>
, strided<[1, 1]>
, strided<[-1, 1]>
, strided<[7, 1]>
, affine_map<(d0, d1) -> (d1, d0)>
, 3
, strided<[?, 1], offset: 4>
, strided<[9223372036854775807, 1]>
""".split("\n")[1:-1]

# Of any op.
ATTRIBUTES = r"""
precision = #tile.precision<tf32>
precision = #tile.precision<ieee>
cache = #tile.cache<evict_first>
cache = #tile.cache<evict_last>
cache = #tile.cache<ca>
mechanism = #tile.mechanism<tma>
mechanism = #tile.mechanism<plain>
mechanism = #tile.mechanism<cp_async>
fill = 1.0 : f32
fill = 0.0 : bf16
fill = -1 : i8
fill = 2.0 : f16
vector = 3 : i64
vector = 0 : i64
map = 7 : i64
atom = #tile.atom<wgmma 64 x 8 x 16, groups = 1 x 1>
atom = #tile.atom<mma_sync 16 x 8 x 16, groups = 0 x 9>
offset = -5 : i64
pending = 99 : i64
tx_bytes = -1 : i64
pipe.kernel
pipe.warps = 0 : i64
tile.specialize = true
tile.why = 5 : i8
pipe.stage = 4 : i64
pipe.order = -2 : i64
pipe.specialize
pipe.shared_bytes = 99999999 : i64
tile.align = 3 : i64
tile.align = 16
tile.name = 4
tile.name = "\00\22"
tile.target = "sm_1"
pipe.pipeline = 1
pipe.grid = []
pipe.contract = 5
pipe.tensor_maps = [1]
valid = array<i64: 3, 5>
valid = array<i64: 64>
parts = 4 : i64
reverse
axis = 1 : i64
axis = 7 : i64
permutation = array<i64: 1, 1>
combine = #tile.combine<add>
""".split("\n")[1:-1]

# Of a kernel.
KNOBS = """
warps = 1 : i64
warps = 3 : i64
warps = 4
warps = 0 : i64
warps = 33 : i64
warps = 32 : i64
warps = 16 : i64
warps = 5 : i64
occupancy = 1 : i64
occupancy = 2 : i64
occupancy = 32 : i64
occupancy = 1000000 : i64
warps = 8 : i64, occupancy = 4 : i64
""".split("\n")[1:-1]

# Of a loop.
PIPELINES = """
stages specialize consumers order
""".split()
PIPELINE_VALUES = """
auto on off 0 1 2 3 4 5 8 9 64 65 -1 cooperative pingpong 99999999999
""".split()

# Words that can stand for each other, a family a line.
SWAPS = [
    line.split()
    for line in """
arith.addf arith.subf arith.mulf arith.divf arith.maximumf arith.minimumf arith.maxnumf arith.remf
arith.addi arith.subi arith.muli arith.divsi arith.divui arith.remsi arith.remui arith.ceildivsi arith.floordivsi arith.ceildivui arith.minsi arith.maxui arith.andi arith.shli arith.shrsi arith.xori
arith.truncf arith.extf arith.trunci arith.extsi arith.extui arith.sitofp arith.fptosi arith.uitofp arith.bitcast arith.index_cast tile.convert_layout
math.exp math.exp2 math.log math.sqrt math.rsqrt math.tanh math.absf math.sin math.erf math.ceil math.tan math.cbrt math.trunc math.log1p arith.negf
tile.for scf.for scf.if scf.while scf.parallel
tile.yield scf.yield tile.return func.return cf.br
tile.kernel func.func gpu.func module llvm.func
tile.load tile.store pipe.load tile.broadcast memref.load
tile.gather tile.scatter tile.reduce_store tile.store
tile.load_scalar tile.store_scalar tile.load tile.print
tile.assert tile.print tile.assume
tile.reduce tile.scan
tile.transpose tile.reshape tile.expand_dims tile.broadcast
tile.split tile.join tile.reshape
tile.iota tensor.splat arith.constant
tile.program_id tile.num_programs tile.grid
pipe.producer_acquire pipe.consumer_wait
pipe.producer_commit pipe.consumer_release
plain cp_async tma
mma_sync wgmma tcgen05 fma
barrier group mbarrier bulk_store
""".strip().splitlines()
]

# Ops on one value.
FLOAT_OPS = """
arith.addf {0}, {0}
arith.mulf {0}, {0}
arith.subf {0}, {0}
arith.divf {0}, {0}
arith.maximumf {0}, {0}
arith.minnumf {0}, {0}
arith.negf {0}
math.exp {0}
math.exp2 {0}
math.log {0}
math.tanh {0}
math.sqrt {0}
math.rsqrt {0}
math.absf {0}
math.sin {0}
math.cos {0}
math.erf {0}
math.powf {0}, {0}
math.fma {0}, {0}, {0}
math.floor {0}
math.log2 {0}
math.roundeven {0}
math.copysign {0}, {0}
arith.remf {0}, {0}
math.atan2 {0}, {0}
math.expm1 {0}
math.tan {0}
math.cbrt {0}
""".split("\n")[1:-1]
INTEGER_OPS = """
arith.addi {0}, {0}
arith.muli {0}, {0}
arith.divsi {0}, {0}
arith.remui {0}, {0}
arith.ceildivsi {0}, {0}
arith.maxsi {0}, {0}
arith.minui {0}, {0}
arith.xori {0}, {0}
arith.shli {0}, {0}
math.ctpop {0}
math.absi {0}
math.ipowi {0}, {0}
arith.floordivsi {0}, {0}
math.ctlz {0}
""".split("\n")[1:-1]
