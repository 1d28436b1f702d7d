// RUN: headrace-opt %s --convert-tile-to-pipe | FileCheck %s

// Programs, loops and the numbering of tiles.

#row = #tile.layout<atom = [4, 32], register = [], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[1, 0], [2, 0]], groups = [], repeat = [16, 2]>
!tile = tensor<64x64xf32, #row>
!array = memref<?x?xf32, strided<[?, 1]>>

// CHECK-LABEL: func.func @programs
tile.kernel @programs(%C: !array) attributes {warps = 4 : i64} {
  // CHECK: %[[X:.*]] = gpu.block_id x
  // CHECK: %[[Z:.*]] = gpu.grid_dim z
  // CHECK: pipe.store %{{.*}}[%[[X]], %[[Z]]]
  %one = arith.constant dense<1.0> : !tile
  %x = tile.program_id 0
  %z = tile.num_programs 2
  tile.store %one, %C[%x, %z] {mechanism = #tile.mechanism<plain>} : !tile, !array
  tile.return
}

// The last group of rows may be shorter (case R07): the rows that are left are counted before the column is.
// CHECK-LABEL: func.func @grouped_index
// CHECK-SAME: %[[I:[a-z0-9]*]]: index, %[[ROWS:[a-z0-9]*]]: index, %[[COLUMNS:[a-z0-9]*]]: index)
tile.kernel @grouped_index(%C: !array, %i: index, %rows: index, %columns: index) attributes {warps = 4 : i64} {
  // CHECK: %[[G:.*]] = arith.constant 8 : index
  // CHECK: %[[IN_GROUP:.*]] = arith.muli %[[G]], %[[COLUMNS]]
  // CHECK: %[[GROUP:.*]] = arith.divui %[[I]], %[[IN_GROUP]]
  // CHECK: %[[FIRST:.*]] = arith.muli %[[GROUP]], %[[G]]
  // CHECK: %[[LEFT:.*]] = arith.subi %[[ROWS]], %[[FIRST]]
  // CHECK: %[[HERE:.*]] = arith.minui %[[LEFT]], %[[G]]
  // CHECK: %[[PLACE:.*]] = arith.remui %[[I]], %[[IN_GROUP]]
  // CHECK: %[[DOWN:.*]] = arith.remui %[[PLACE]], %[[HERE]]
  // CHECK: %[[ROW:.*]] = arith.addi %[[FIRST]], %[[DOWN]]
  // CHECK: %[[COLUMN:.*]] = arith.divui %[[PLACE]], %[[HERE]]
  // CHECK: pipe.store %{{.*}}[%[[ROW]], %[[COLUMN]]]
  %one = arith.constant dense<1.0> : !tile
  %row, %column = tile.grouped_index %i of %rows x %columns group 8
  tile.store %one, %C[%row, %column] {mechanism = #tile.mechanism<plain>} : !tile, !array
  tile.return
}

// CHECK-LABEL: func.func @loop_of_tiles
tile.kernel @loop_of_tiles(%C: !array, %n: index) attributes {warps = 4 : i64} {
  // CHECK: %[[R:.*]]:2 = scf.for %[[I:.*]] = {{.*}} iter_args(%[[X:.*]] = %{{.*}}, %[[K:.*]] = %{{.*}}) -> (tensor<64x64xf32, {{.*}}>, index) {
  // CHECK-NEXT: %[[Y:.*]] = arith.addf %[[X]], %[[X]]
  // CHECK-NEXT: scf.yield %[[Y]], %[[I]]
  // CHECK-NEXT: }{{$}}
  // CHECK: pipe.store %[[R]]#0, %{{.*}}[%[[R]]#1, %[[R]]#1]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : !tile
  %r:2 = tile.for %i = %c0 to %n step %c1 iter_args(%x = %zero, %k = %c0) -> (!tile, index) {
    %y = arith.addf %x, %x : !tile
    tile.yield %y, %i : !tile, index
  }
  tile.store %r#0, %C[%r#1, %r#1] {mechanism = #tile.mechanism<plain>} : !tile, !array
  tile.return
}

// What a kernel asks for stays with its function.
// CHECK-LABEL: func.func @knobs
// CHECK-SAME: %{{.*}}: memref<?xf32> {tile.align = 16 : i64, tile.name = "A"}
// CHECK-SAME: attributes {pipe.kernel, pipe.occupancy = 2 : i64, pipe.specialize, pipe.warps = 8 : i64}
tile.kernel @knobs(%A: memref<?xf32> {tile.align = 16 : i64, tile.name = "A"})
    attributes {warps = 8 : i64, occupancy = 2 : i64, tile.specialize = true} {
  tile.return
}

// Register renaming goes on living at the pipe level.
// CHECK-LABEL: func.func @broadcast
// CHECK: tile.expand_dims
// CHECK: tile.broadcast
tile.kernel @broadcast(%v: memref<?xf32>, %C: !array) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %x = tile.load %v[%c0] : memref<?xf32> -> tensor<64xf32, #tile.layout<atom = [32], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[0], [0]], groups = [], repeat = [2]>>
  %y = tile.expand_dims %x axis 0 : tensor<64xf32, #tile.layout<atom = [32], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[0], [0]], groups = [], repeat = [2]>>
      -> tensor<1x64xf32, #tile.layout<atom = [1, 32], register = [], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[0, 0], [0, 0]], groups = [], repeat = [1, 2]>>
  %z = tile.broadcast %y : tensor<1x64xf32, #tile.layout<atom = [1, 32], register = [], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[0, 0], [0, 0]], groups = [], repeat = [1, 2]>> -> !tile
  tile.store %z, %C[%c0, %c0] {mechanism = #tile.mechanism<plain>} : !tile, !array
  tile.return
}
