// RUN: headrace-opt %s --convert-tile-to-pipe --split-input-file --verify-diagnostics

// What the passes before should have seen to: one rule for each chunk. Programs written by hand may break them.

// expected-error@+1 {{expected tile-plan to have chosen the warps}}
tile.kernel @warps() {
  tile.return
}

// -----

tile.kernel @no_layout(%v: memref<?xf32>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{expected a tile with a layout, which tile-infer-layouts chooses, got 'tensor<128xf32>'}}
  %x = tile.load %v[%c0] : memref<?xf32> -> tensor<128xf32>
  tile.return
}

// -----

#one = #tile.layout<atom = [32], register = [], lane = [[1], [2], [4], [8], [16]], warp = [], groups = [], repeat = [4]>
tile.kernel @layout_warps(%v: memref<?xf32>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{expected a layout over the kernel's 4 warps, got one over 1}}
  %x = tile.load %v[%c0] : memref<?xf32> -> tensor<128xf32, #one>
  tile.return
}

// -----

#short = #tile.layout<atom = [32], register = [], lane = [[1], [2], [4], [8], [16]], warp = [], groups = [], repeat = [1]>
tile.kernel @layout_extents(%v: memref<?xf32>) attributes {warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{expected a layout of the tile's extents, got [32] = {[32] register lane [1] [2] [4] [8] [16] warp} x repeat [1] x groups [] for 'tensor<128xf32, #tile.layout<atom = [32], register = [], lane = [[1], [2], [4], [8], [16]], warp = [], groups = [], repeat = [1]>>'}}
  %x = tile.load %v[%c0] : memref<?xf32> -> tensor<128xf32, #short>
  tile.return
}

// -----

#shared = #tile.shared<major = 1, swizzle = 128>
tile.kernel @no_mechanism(%A: memref<?x?xbf16, strided<[?, 1]>>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{expected tile-plan to have chosen a mechanism}}
  %x = tile.load %A[%c0, %c0] : memref<?x?xbf16, strided<[?, 1]>> -> tensor<64x64xbf16, #shared>
  tile.return
}

// -----

#shared = #tile.shared<major = 1, swizzle = 128>
tile.kernel @tma_strides(%A: memref<?x?xbf16, strided<[?, ?]>>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{TMA cannot move this tile: expected dimension 1 of the array to have the constant stride 1}}
  %x = tile.load %A[%c0, %c0] {mechanism = #tile.mechanism<tma>} : memref<?x?xbf16, strided<[?, ?]>> -> tensor<64x64xbf16, #shared>
  tile.return
}

// -----

#shared = #tile.shared<major = 1, swizzle = 128>
tile.kernel @unread(%n: index) attributes {warps = 4 : i64} {
  // expected-error@+1 {{expected tiles in shared memory to be loaded or converted there}}
  %x = arith.constant dense<0.0> : tensor<64x64xbf16, #shared>
  tile.return
}

// -----

#shared = #tile.shared<major = 1, swizzle = 128>
#acc = #tile.layout<atom = [16, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [], groups = [2 : 0, 2 : 1], repeat = [2, 4]>
tile.kernel @no_atom(%A: memref<?x?xf16, strided<[?, 1]>>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %x = tile.load %A[%c0, %c0] {mechanism = #tile.mechanism<cp_async>} : memref<?x?xf16, strided<[?, 1]>> -> tensor<64x64xf16, #shared>
  // expected-error@+1 {{expected tile-plan to have chosen an atom}}
  %s = tile.dot %x, %x transpose_b, %zero : tensor<64x64xf16, #shared>, tensor<64x64xf16, #shared> -> tensor<64x64xf32, #acc>
  tile.return
}

// -----

tile.kernel @tmem(%n: index) attributes {warps = 4 : i64} {
  // expected-error@+1 {{expected tiles in tensor memory to be accumulators that start from zero}}
  %x = arith.constant dense<1.0> : tensor<128x64xf32, #tile.tmem>
  tile.return
}

// -----

tile.kernel @control(%n: index) attributes {warps = 4 : i64} {
  // expected-error@+1 {{expected no control flow but tile.for, scf.for, scf.if and scf.while, got scf.execute_region}}
  scf.execute_region {
    scf.yield
  }
  tile.return
}

// -----

#shared = #tile.shared<major = 1, swizzle = 128>
tile.kernel @shared_to_shared(%A: memref<?x?xf16, strided<[?, 1]>>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %x = tile.load %A[%c0, %c0] {mechanism = #tile.mechanism<cp_async>} : memref<?x?xf16, strided<[?, 1]>> -> tensor<64x64xf16, #shared>
  // expected-error@+1 {{expected a conversion from or to registers, and none to tensor memory, got 'tensor<64x64xf16, #tile.shared<major = 1, swizzle = 128>>' to 'tensor<64x64xf16, #tile.shared<major = 1, swizzle = 64>>'}}
  %y = tile.convert_layout %x : tensor<64x64xf16, #shared> -> tensor<64x64xf16, #tile.shared<major = 1, swizzle = 64>>
  %z = tile.convert_layout %y : tensor<64x64xf16, #tile.shared<major = 1, swizzle = 64>> -> tensor<64x64xf16, #shared>
  tile.return
}

// -----

tile.kernel @vector() attributes {warps = 4 : i64} {
  // expected-error@+1 {{expected a tile of static extents, got 'vector<4xf32>'}}
  %x = arith.constant dense<0.0> : vector<4xf32>
  tile.return
}

// -----

#shared = #tile.shared<major = 1, swizzle = 128>
tile.kernel @tensor_map_of_no_argument() attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %m = memref.alloc() : memref<64x64xbf16>
  // expected-error@+1 {{expected an array that is an argument of the kernel, for a tensor map}}
  %x = tile.load %m[%c0, %c0] {mechanism = #tile.mechanism<tma>} : memref<64x64xbf16> -> tensor<64x64xbf16, #shared>
  tile.return
}
