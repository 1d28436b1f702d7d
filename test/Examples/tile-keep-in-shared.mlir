// RUN: headrace-opt %s --tile-keep-in-shared 2>/dev/null | FileCheck %s
// RUN: headrace-opt %s --tile-keep-in-shared 2>&1 | FileCheck %s --check-prefix=SAID

// tile-keep-in-shared takes tiles out of registers that a loop reads and does not change. Here a thread holds 64 words of
// the weights and 64 of a row; four programs on a processor leave it 104. The weights go to a slot, and the loop reads it
// right before the product.

#row = #tile.layout<atom = [1, 512], register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [0, 64]], warp = [[0, 128], [0, 256]], groups = [], repeat = [1, 16]>
#flat = #tile.layout<atom = [512], register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = [[128], [256]], groups = [], repeat = [16]>
!vector = memref<?xf32, strided<[1]>>
!matrix = memref<?x?xf32, strided<[?, 1]>>
!weights = tensor<8192xf32, #flat>
!rows = tensor<1x8192xf32, #row>

module attributes {tile.target = "sm_90a"} {

// SAID: remark: this loop wants 128 registers of each thread for tiles, 104 are there: this tile stays in shared memory

// CHECK-LABEL: tile.kernel @scale
tile.kernel @scale(%W: !vector {tile.align = 16 : i64}, %X: !matrix {tile.align = 16 : i64}, %Y: !matrix {tile.align = 16 : i64})
    attributes {warps = 4 : i64, occupancy = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %M = memref.dim %X, %c0 : !matrix
  // CHECK: %[[SLOT:.*]] = tile.load %{{.*}}[%{{.*}}] {mechanism = #tile.mechanism<tma>} : {{.*}} -> tensor<8192xf32, #shared>
  // CHECK-NOT: tile.expand_dims
  %w = tile.load %W[%c0] : !vector -> !weights
  %up = tile.expand_dims %w axis 0 : !weights -> !rows
  // CHECK: tile.for
  tile.for %i = %c0 to %M step %c1 {
    // CHECK: %[[X:.*]] = tile.load
    // CHECK: tile.reduce
    // CHECK: %[[W:.*]] = tile.convert_layout %[[SLOT]]
    // CHECK: %[[UP:.*]] = tile.expand_dims %[[W]] axis 0
    // CHECK: arith.mulf %[[X]], %[[UP]]
    %x = tile.load %X[%i, %c0] : !matrix -> !rows
    %sum = tile.reduce %x axis 1 {
    ^bb0(%p: f32, %q: f32):
      %s = arith.addf %p, %q : f32
      tile.yield %s : f32
    } : (!rows) -> tensor<1xf32, #tile.layout<atom = [1], register = [], lane = [[0], [0], [0], [0], [0]], warp = [[0], [0]], groups = [], repeat = [1]>>
    %y = arith.mulf %x, %up : !rows
    tile.store %y, %Y[%i, %c0] : !rows, !matrix
  }
  tile.return
}

// Slots are filled with zeros alone: a tile with another fill keeps its registers.
// CHECK-LABEL: tile.kernel @filled
// CHECK: tile.load {{.*}} -> tensor<8192xf32, #layout
tile.kernel @filled(%W: !vector {tile.align = 16 : i64}, %X: !matrix {tile.align = 16 : i64}, %Y: !matrix {tile.align = 16 : i64})
    attributes {warps = 4 : i64, occupancy = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %M = memref.dim %X, %c0 : !matrix
  %w = tile.load %W[%c0] {fill = 1.0 : f32} : !vector -> !weights
  %up = tile.expand_dims %w axis 0 : !weights -> !rows
  tile.for %i = %c0 to %M step %c1 {
    %x = tile.load %X[%i, %c0] : !matrix -> !rows
    %sum = tile.reduce %x axis 1 {
    ^bb0(%p: f32, %q: f32):
      %s = arith.addf %p, %q : f32
      tile.yield %s : f32
    } : (!rows) -> tensor<1xf32, #tile.layout<atom = [1], register = [], lane = [[0], [0], [0], [0], [0]], warp = [[0], [0]], groups = [], repeat = [1]>>
    %y = arith.mulf %x, %up : !rows
    tile.store %y, %Y[%i, %c0] : !rows, !matrix
  }
  tile.return
}

// The same loop of half as many words a thread stays as it is.
// CHECK-LABEL: tile.kernel @fits
// CHECK: tile.load {{.*}} -> tensor<8192xf32, #layout
tile.kernel @fits(%W: !vector {tile.align = 16 : i64}, %X: !matrix {tile.align = 16 : i64}, %Y: !matrix {tile.align = 16 : i64})
    attributes {warps = 4 : i64, occupancy = 2 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %M = memref.dim %X, %c0 : !matrix
  %w = tile.load %W[%c0] : !vector -> !weights
  %up = tile.expand_dims %w axis 0 : !weights -> !rows
  tile.for %i = %c0 to %M step %c1 {
    %x = tile.load %X[%i, %c0] : !matrix -> !rows
    %y = arith.mulf %x, %up : !rows
    tile.store %y, %Y[%i, %c0] : !rows, !matrix
  }
  tile.return
}

// Eight programs on a processor have less shared memory each than the tile takes: it stays, and the user hears why.
// SAID: remark: this loop wants 128 registers of each thread for tiles, 40 are there; shared memory has no room for this tile
// CHECK-LABEL: tile.kernel @no_room
// CHECK: tile.load {{.*}} -> tensor<8192xf32, #layout
tile.kernel @no_room(%W: !vector {tile.align = 16 : i64}, %X: !matrix {tile.align = 16 : i64}, %Y: !matrix {tile.align = 16 : i64})
    attributes {warps = 4 : i64, occupancy = 8 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %M = memref.dim %X, %c0 : !matrix
  %w = tile.load %W[%c0] : !vector -> !weights
  %up = tile.expand_dims %w axis 0 : !weights -> !rows
  tile.for %i = %c0 to %M step %c1 {
    %x = tile.load %X[%i, %c0] : !matrix -> !rows
    %y = arith.mulf %x, %up : !rows
    tile.store %y, %Y[%i, %c0] : !rows, !matrix
  }
  tile.return
}

}
