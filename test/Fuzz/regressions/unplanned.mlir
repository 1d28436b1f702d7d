// RUN: headrace-opt %s --headrace-to-pipe --split-input-file --verify-diagnostics

// Kernels that skipped the passes of the tile dialect, or were written by hand as if they had not.

module attributes {tile.target = "sm_90a"} {
// expected-error @+1 {{expected tile-plan to have chosen the warps}}
tile.kernel @no_warps() {
  tile.return
}
}

// -----

module attributes {tile.target = "sm_90a"} {
tile.kernel @no_layout(%A: memref<?xf32>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{expected a tile with a layout, which tile-infer-layouts chooses, got 'tensor<128xf32>'}}
  %a = tile.load %A[%c0] : memref<?xf32> -> tensor<128xf32>
  tile.return
}
}

// -----

#line = #tile.layout<atom = [32], register = [], lane = [[1], [2], [4], [8], [16]], warp = [], groups = [4 : 0], repeat = [1]>
module attributes {tile.target = "sm_90a"} {
tile.kernel @other_extents(%A: memref<?xf32>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{expected a layout of the tile's extents, got}}
  %a = tile.load %A[%c0] : memref<?xf32> -> tensor<64xf32, #line>
  tile.return
}
}

// -----

#line = #tile.layout<atom = [32], register = [], lane = [[1], [2], [4], [8], [16]], warp = [], groups = [4 : 0], repeat = [1]>
module attributes {tile.target = "sm_90a"} {
tile.kernel @other_warps(%A: memref<?xf32>) attributes {warps = 8 : i64} {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{expected a layout over the kernel's 8 warps, got one over 4}}
  %a = tile.load %A[%c0] : memref<?xf32> -> tensor<128xf32, #line>
  tile.return
}
}

// -----

#shared = #tile.shared<major = 1, swizzle = 128>
module attributes {tile.target = "sm_90a"} {
tile.kernel @no_mechanism(%A: memref<?x?xf32, strided<[?, 1]>>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{expected tile-plan to have chosen a mechanism}}
  %a = tile.load %A[%c0, %c0] : memref<?x?xf32, strided<[?, 1]>> -> tensor<64x64xf32, #shared>
  tile.return
}
}

// -----

#shared = #tile.shared<major = 1, swizzle = 128>
module attributes {tile.target = "sm_90a"} {
tile.kernel @ragged_rows(%A: memref<?x?xf32, strided<[?, 1]>>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{expected rows of a multiple of 128 bytes, got 12}}
  %a = tile.load %A[%c0, %c0] {mechanism = #tile.mechanism<plain>} : memref<?x?xf32, strided<[?, 1]>> -> tensor<64x3xf32, #shared>
  tile.return
}
}

// -----

#shared = #tile.shared<major = 1, swizzle = 128>
module attributes {tile.target = "sm_90a"} {
tile.kernel @negates_in_shared_memory(%A: memref<?x?xf32, strided<[?, 1]>>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %a = tile.load %A[%c0, %c0] {mechanism = #tile.mechanism<plain>} : memref<?x?xf32, strided<[?, 1]>> -> tensor<64x64xf32, #shared>
  // expected-error @+1 {{expected a tile in registers as operand 0}}
  %b = arith.negf %a : tensor<64x64xf32, #shared>
  tile.return
}
}

// -----

module attributes {tile.target = "sm_100a"} {
tile.kernel @loads_tensor_memory(%A: memref<?x?xf32, strided<[?, 1]>>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{expected tiles in tensor memory to be accumulators that start from zero}}
  %a = tile.load %A[%c0, %c0] : memref<?x?xf32, strided<[?, 1]>> -> tensor<128x64xf32, #tile.tmem>
  tile.return
}
}
