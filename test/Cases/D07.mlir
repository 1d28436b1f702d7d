// Case D07: malformed programs, each an error with a place. test_cases_kernels.py gives them to the tools one by one.

// -----
// instruction of two numbers
tile.kernel @k(%A: memref<?x?xf16, strided<[?, 1]>>, %i: index) {
  %z = arith.constant dense<0.0> : tensor<16x16xf32>
  %a = tile.load %A[%i, %i] : memref<?x?xf16, strided<[?, 1]>> -> tensor<16x16xf16>
  %d = tile.dot %a, %a, %z {atom = #tile.atom<mma_sync 16x8, groups = 1x1>} : tensor<16x16xf16>, tensor<16x16xf16> -> tensor<16x16xf32>
  tile.return
}

// -----
// instruction of an unknown family
tile.kernel @k(%A: memref<?x?xf16, strided<[?, 1]>>, %i: index) {
  %z = arith.constant dense<0.0> : tensor<16x16xf32>
  %a = tile.load %A[%i, %i] : memref<?x?xf16, strided<[?, 1]>> -> tensor<16x16xf16>
  %d = tile.dot %a, %a, %z {atom = #tile.atom<hmma 16x8x16, groups = 1x1>} : tensor<16x16xf16>, tensor<16x16xf16> -> tensor<16x16xf32>
  tile.return
}

// -----
// instruction with extents of zero
tile.kernel @k(%A: memref<?x?xf16, strided<[?, 1]>>, %i: index) {
  %z = arith.constant dense<0.0> : tensor<16x16xf32>
  %a = tile.load %A[%i, %i] : memref<?x?xf16, strided<[?, 1]>> -> tensor<16x16xf16>
  %d = tile.dot %a, %a, %z {atom = #tile.atom<mma_sync 0x0x0, groups = 0x0>} : tensor<16x16xf16>, tensor<16x16xf16> -> tensor<16x16xf32>
  tile.return
}

// -----
// operands of one dimension
tile.kernel @k(%A: memref<?x?xf16, strided<[?, 1]>>, %i: index) {
  %a = arith.constant dense<0.0> : tensor<16xf16>
  %z = arith.constant dense<0.0> : tensor<16xf32>
  %d = tile.dot %a, %a, %z : tensor<16xf16>, tensor<16xf16> -> tensor<16xf32>
  tile.return
}

// -----
// operands of no dimension
tile.kernel @k(%A: memref<?x?xf16, strided<[?, 1]>>, %i: index) {
  %a = arith.constant dense<0.0> : tensor<f16>
  %z = arith.constant dense<0.0> : tensor<f32>
  %d = "tile.dot"(%a, %a, %z) : (tensor<f16>, tensor<f16>, tensor<f32>) -> tensor<f32>
  tile.return
}

// -----
// extents of a product that do not agree
tile.kernel @k(%A: memref<?x?xf16, strided<[?, 1]>>, %i: index) {
  %a = arith.constant dense<0.0> : tensor<16x8xf16>
  %z = arith.constant dense<0.0> : tensor<16x16xf32>
  %d = tile.dot %a, %a, %z : tensor<16x8xf16>, tensor<16x8xf16> -> tensor<16x16xf32>
  tile.return
}

// -----
// types that no product has
tile.kernel @k(%A: memref<?x?xf16, strided<[?, 1]>>, %i: index) {
  %a = arith.constant dense<0> : tensor<16x16xi32>
  %z = arith.constant dense<0.0> : tensor<16x16xf32>
  %d = tile.dot %a, %a, %z : tensor<16x16xi32>, tensor<16x16xi32> -> tensor<16x16xf32>
  tile.return
}

// -----
// a product of four operands
tile.kernel @k(%A: memref<?x?xf16, strided<[?, 1]>>, %i: index) {
  %a = arith.constant dense<0.0> : tensor<16x16xf16>
  %z = arith.constant dense<0.0> : tensor<16x16xf32>
  %d = "tile.dot"(%a, %a, %z, %z) : (tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  tile.return
}

// -----
// an attribute of another kind
tile.kernel @k(%A: memref<?x?xf16, strided<[?, 1]>>, %i: index) {
  %a = arith.constant dense<0.0> : tensor<16x16xf16>
  %z = arith.constant dense<0.0> : tensor<16x16xf32>
  %d = "tile.dot"(%a, %a, %z) {precision = 3 : i64, atom = "wgmma"} : (tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf32>) -> tensor<16x16xf32>
  tile.return
}

// -----
// a tile of dynamic extent
tile.kernel @k(%A: memref<?x?xf16, strided<[?, 1]>>, %i: index) {
  %a = tile.load %A[%i, %i] : memref<?x?xf16, strided<[?, 1]>> -> tensor<?x16xf16>
  tile.return
}

// -----
// a tile of extent zero
tile.kernel @k(%A: memref<?x?xf16, strided<[?, 1]>>, %i: index) {
  %a = tile.load %A[%i, %i] : memref<?x?xf16, strided<[?, 1]>> -> tensor<0x16xf16>
  tile.store %a, %A[%i, %i] : tensor<0x16xf16>, memref<?x?xf16, strided<[?, 1]>>
  tile.return
}

// -----
// a tile of more elements than 2^62
tile.kernel @k(%A: memref<?x?xf16, strided<[?, 1]>>, %i: index) {
  %a = tile.load %A[%i, %i] : memref<?x?xf16, strided<[?, 1]>> -> tensor<4294967296x4294967296xf16>
  tile.store %a, %A[%i, %i] : tensor<4294967296x4294967296xf16>, memref<?x?xf16, strided<[?, 1]>>
  tile.return
}

// -----
// a tile of more dimensions than the array
tile.kernel @k(%A: memref<?x?xf16, strided<[?, 1]>>, %i: index) {
  %a = tile.load %A[%i, %i] : memref<?x?xf16, strided<[?, 1]>> -> tensor<2x16x16xf16>
  tile.return
}

// -----
// offsets too few
tile.kernel @k(%A: memref<?x?xf16, strided<[?, 1]>>, %i: index) {
  %a = tile.load %A[%i] : memref<?x?xf16, strided<[?, 1]>> -> tensor<16x16xf16>
  tile.return
}

// -----
// a load without offsets
tile.kernel @k(%A: memref<?x?xf16, strided<[?, 1]>>, %i: index) {
  %a = "tile.load"(%A) : (memref<?x?xf16, strided<[?, 1]>>) -> tensor<16x16xf16>
  tile.return
}

// -----
// a fill of another type
tile.kernel @k(%A: memref<?x?xf16, strided<[?, 1]>>, %i: index) {
  %a = tile.load %A[%i, %i] {fill = 1 : i32} : memref<?x?xf16, strided<[?, 1]>> -> tensor<16x16xf16>
  tile.return
}

// -----
// a mechanism that is none
tile.kernel @k(%A: memref<?x?xf16, strided<[?, 1]>>, %i: index) {
  %a = tile.load %A[%i, %i] {mechanism = #tile.mechanism<magic>} : memref<?x?xf16, strided<[?, 1]>> -> tensor<16x16xf16>
  tile.return
}

// -----
// a permutation that is none
tile.kernel @k(%A: memref<?x?xf16, strided<[?, 1]>>, %i: index) {
  %a = arith.constant dense<0.0> : tensor<16x16xf16>
  %t = tile.transpose %a [0, 7] : tensor<16x16xf16> -> tensor<16x16xf16>
  tile.return
}

// -----
// a permutation too short
tile.kernel @k(%A: memref<?x?xf16, strided<[?, 1]>>, %i: index) {
  %a = arith.constant dense<0.0> : tensor<16x16xf16>
  %t = tile.transpose %a [0] : tensor<16x16xf16> -> tensor<16x16xf16>
  tile.return
}

// -----
// an axis behind the last
tile.kernel @k(%A: memref<?x?xf16, strided<[?, 1]>>, %i: index) {
  %a = tile.iota axis 2 : tensor<16x16xi32>
  tile.return
}

// -----
// a negative axis
tile.kernel @k(%A: memref<?x?xf16, strided<[?, 1]>>, %i: index) {
  %a = "tile.iota"() {axis = -1 : i64} : () -> tensor<16x16xi32>
  tile.return
}

// -----
// a reshape that loses elements
tile.kernel @k(%A: memref<?x?xf16, strided<[?, 1]>>, %i: index) {
  %a = arith.constant dense<0.0> : tensor<16x16xf16>
  %t = tile.reshape %a : tensor<16x16xf16> -> tensor<255xf16>
  tile.return
}

// -----
// a reduction without sources
tile.kernel @k(%A: memref<?x?xf16, strided<[?, 1]>>, %i: index) {
  "tile.reduce"() <{axis = 0 : i64}> ({
    "tile.yield"() : () -> ()
  }) : () -> ()
  tile.return
}

// -----
// a reduction without a region
tile.kernel @k(%A: memref<?x?xf16, strided<[?, 1]>>, %i: index) {
  %a = arith.constant dense<0.0> : tensor<16x16xf16>
  %r = "tile.reduce"(%a) <{axis = 0 : i64}> ({
  }) : (tensor<16x16xf16>) -> tensor<16xf16>
  tile.return
}

// -----
// a reduction whose region yields too much
tile.kernel @k(%A: memref<?x?xf16, strided<[?, 1]>>, %i: index) {
  %a = arith.constant dense<0.0> : tensor<16x16xf16>
  %r = tile.reduce %a axis 0 {
  ^bb0(%x: f16, %y: f16):
    tile.yield %x, %y : f16, f16
  } : (tensor<16x16xf16>) -> tensor<16xf16>
  tile.return
}

// -----
// a gather without positions
tile.kernel @k(%A: memref<?x?xf16, strided<[?, 1]>>, %i: index) {
  %a = "tile.gather"(%A) : (memref<?x?xf16, strided<[?, 1]>>) -> tensor<16x16xf16>
  tile.return
}

// -----
// a gather with positions of floats
tile.kernel @k(%A: memref<?x?xf16, strided<[?, 1]>>, %i: index) {
  %p = arith.constant dense<0.0> : tensor<16xf16>
  %a = tile.gather %A[%p, %i] : memref<?x?xf16, strided<[?, 1]>>, (tensor<16xf16>, index) -> tensor<16x16xf16>
  tile.return
}

// -----
// a loop without a region
tile.kernel @k(%A: memref<?x?xf16, strided<[?, 1]>>, %i: index) {
  "tile.for"(%i, %i, %i) ({
  }) : (index, index, index) -> ()
  tile.return
}

// -----
// a loop whose values change their type
tile.kernel @k(%A: memref<?x?xf16, strided<[?, 1]>>, %i: index) {
  %a = arith.constant dense<0.0> : tensor<16x16xf16>
  %r = "tile.for"(%i, %i, %i, %a) ({
  ^bb0(%j: index, %x: tensor<16x16xf16>):
    tile.yield %j : index
  }) : (index, index, index, tensor<16x16xf16>) -> tensor<16x16xf16>
  tile.return
}

// -----
// a loop with a step of zero
tile.kernel @k(%A: memref<?x?xf16, strided<[?, 1]>>, %i: index) {
  %c0 = arith.constant 0 : index
  tile.for %j = %i to %i step %c0 {
    tile.yield
  }
  tile.return
}

// -----
// a pipeline of a negative number of stages
tile.kernel @k(%A: memref<?x?xf16, strided<[?, 1]>>, %i: index) {
  %c1 = arith.constant 1 : index
  tile.for %j = %i to %i step %c1 pipeline(stages = -7) {
    tile.yield
  }
  tile.return
}

// -----
// a grid of four dimensions
tile.kernel @k(%A: memref<?x?xf16, strided<[?, 1]>>, %i: index) {
  tile.grid %i, %i, %i, %i
  tile.return
}

// -----
// an axis of the grid that is none
tile.kernel @k(%A: memref<?x?xf16, strided<[?, 1]>>, %i: index) {
  %p = tile.program_id 3
  tile.return
}

// -----
// a multiple of zero
tile.kernel @k(%A: memref<?x?xf16, strided<[?, 1]>>, %i: index) {
  %p = tile.assume %i multiple_of 0
  tile.return
}

// -----
// a group of zero rows
tile.kernel @k(%A: memref<?x?xf16, strided<[?, 1]>>, %i: index) {
  %r, %c = tile.grouped_index %i of %i x %i group 0
  tile.return
}

// -----
// an argument that is a tile
tile.kernel @k(%a: tensor<16x16xf16>) {
  tile.return
}

// -----
// an array of no dimension
tile.kernel @k(%A: memref<f16>) {
  tile.return
}

// -----
// a kernel without a body
"tile.kernel"() <{sym_name = "k", function_type = () -> ()}> ({
}) : () -> ()

// -----
// a kernel without a name
"tile.kernel"() <{function_type = () -> ()}> ({
  tile.return
}) : () -> ()

// -----
// a kernel within a kernel
tile.kernel @k(%A: memref<?x?xf16, strided<[?, 1]>>, %i: index) {
  tile.kernel @inner() {
    tile.return
  }
  tile.return
}

// -----
// warps below one
tile.kernel @k() attributes {warps = 0 : i64} {
  tile.return
}

// -----
// a shared layout of an odd swizzle
tile.kernel @k(%A: memref<?x?xf16, strided<[?, 1]>>, %i: index) {
  %a = tile.load %A[%i, %i] : memref<?x?xf16, strided<[?, 1]>> -> tensor<16x16xf16, #tile.shared<major = 1, swizzle = 48>>
  tile.return
}

// -----
// a layout without bases
tile.kernel @k(%A: memref<?x?xf16, strided<[?, 1]>>, %i: index) {
  %a = tile.load %A[%i, %i] : memref<?x?xf16, strided<[?, 1]>> -> tensor<16x16xf16, #tile.layout<atom = [], register = [], lane = [], warp = [], groups = [], repeat = []>>
  tile.return
}
