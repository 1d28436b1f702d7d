// RUN: headrace-opt %s --convert-tile-to-pipe --split-input-file --verify-diagnostics | FileCheck %s

// What the launcher computes: the grid's sizes and the facts that it checks.

#thread = #tile.layout<atom = [128], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]], groups = [], repeat = [1]>
!array = memref<?x?xf32, strided<[?, 1]>>

// CHECK-LABEL: func.func @expression
// CHECK-SAME: pipe.grid = [
// CHECK-SAME:   ["mul", ["ceildiv", ["dim", 0, 0], 128], ["ceildiv", ["dim", 0, 1], 64]],
// CHECK-SAME:   ["max", ["sub", ["scalar", 1], 3], ["mod", ["scalar", 2], 7]],
// CHECK-SAME:   ["floordiv", ["add", ["scalar", 2], 1], ["min", 4, ["dim", 0, 0]]]
// CHECK-SAME: pipe.persistent
tile.kernel @expression(%A: !array, %n: i32, %m: index) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : i32
  %c4 = arith.constant 4 : index
  %c7 = arith.constant 7 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %M = memref.dim %A, %c0 : !array
  %N = memref.dim %A, %c1 : !array
  %rows = arith.ceildivsi %M, %c128 : index
  %columns = arith.ceildivui %N, %c64 : index
  %x = arith.muli %rows, %columns : index
  %less = arith.subi %n, %c3 : i32
  %lessIndex = arith.index_cast %less : i32 to index
  %rest = arith.remsi %m, %c7 : index
  %y = arith.maxsi %lessIndex, %rest : index
  %more = arith.addi %m, %c1 : index
  %least = arith.minui %c4, %M : index
  %z = arith.floordivsi %more, %least : index
  // CHECK-NOT: tile.grid
  tile.grid %x, %y, %z persistent
  tile.return
}

// Sizes left out are 1.
// CHECK-LABEL: func.func @one_size
// CHECK-SAME: pipe.grid = {{\[\[}}"scalar", 0], 1, 1]
// CHECK-NOT: pipe.persistent
tile.kernel @one_size(%n: index) attributes {warps = 4 : i64} {
  tile.grid %n
  tile.return
}

// A static extent is a number.
// CHECK-LABEL: func.func @constants
// CHECK-SAME: pipe.grid = [12, 1, 1]
tile.kernel @constants() attributes {warps = 4 : i64} {
  %c12 = arith.constant 12 : index
  tile.grid %c12
  tile.return
}

// CHECK-LABEL: func.func @facts
// CHECK-SAME: pipe.contract = [
// CHECK-SAME:   {arg = 0 : i64, because = "tile.assume", dim = 1 : i64, of = 16 : i64, what = "dim_multiple"},
// CHECK-SAME:   {arg = 1 : i64, because = "tile.assume", of = 4 : i64, what = "scalar_multiple"}]
tile.kernel @facts(%A: !array, %n: index, %v: memref<?xf32>) attributes {warps = 4 : i64} {
  %c1 = arith.constant 1 : index
  %N = memref.dim %A, %c1 : !array
  %N16 = tile.assume %N multiple_of 16
  %n4 = tile.assume %n multiple_of 4
  // The writer's promise about something computed is not the launcher's.
  %sum = arith.addi %N16, %n4 : index
  %sum4 = tile.assume %sum multiple_of 4
  // The value goes on without the op.
  // CHECK: %[[N:.*]] = memref.dim
  // CHECK: %[[SUM:.*]] = arith.addi %[[N]], %{{.*}} : index
  // CHECK: pipe.store %{{.*}}[%[[SUM]]]
  %one = arith.constant dense<1.0> : tensor<128xf32, #thread>
  tile.store %one, %v[%sum4] {mechanism = #tile.mechanism<plain>} : tensor<128xf32, #thread>, memref<?xf32>
  tile.return
}

// -----

tile.kernel @loaded_size(%table: memref<?xi32>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  // expected-note@+1 {{this is none of them}}
  %n = memref.load %table[%c0] : memref<?xi32>
  %c2 = arith.constant 2 : i32
  %product = arith.muli %c2, %n : i32
  %m = arith.index_cast %product : i32 to index
  // expected-error@+1 {{expected grid sizes that the launcher can compute from constants, array extents and scalar arguments}}
  tile.grid %m
  tile.return
}

// -----

tile.kernel @loop_index(%n: index) attributes {warps = 4 : i64} {
  // expected-note@+1 {{this is none of them}}
  scf.for %i = %n to %n step %n {
    // expected-error@+1 {{expected grid sizes that the launcher can compute from constants, array extents and scalar arguments}}
    tile.grid %i
  }
  tile.return
}

// -----

tile.kernel @program(%n: index) attributes {warps = 4 : i64} {
  // expected-note@+1 {{this is none of them}}
  %i = tile.program_id 0
  // expected-error@+1 {{expected grid sizes that the launcher can compute from constants, array extents and scalar arguments}}
  tile.grid %i
  tile.return
}
