// RUN: headrace-opt %s --tile-plan --split-input-file --verify-diagnostics | FileCheck %s

// Loads under conditions of a pipelined loop: made in every trip, and outside of the array where the condition fails.

!half = memref<?x?xf16, strided<[?, 1]>>
!vector = memref<?xf32, strided<[1]>>
!table = memref<?xi32, strided<[1]>>
!tile = tensor<64x64xf16>
!sums = tensor<64x64xf32>

module attributes {tile.target = "sm_80"} {

// Both operands are loaded ahead, and what their places are computed from.
// CHECK-LABEL: tile.kernel @operands
// CHECK: tile.for
// CHECK-DAG: %[[IS:.*]] = arith.cmpi
// CHECK-DAG: %[[OUT:.*]] = arith.constant -4096 : index
// CHECK-DAG: %[[AT:.*]] = arith.select %[[IS]], %{{.*}}, %[[OUT]] : index
// CHECK: %[[A:.*]] = tile.load %{{.*}}[%[[AT]], %{{.*}}] {mechanism = #tile.mechanism<cp_async>}
// CHECK: %[[B:.*]] = tile.load %{{.*}} {mechanism = #tile.mechanism<cp_async>}
// CHECK: scf.if %[[IS]]
// CHECK-NEXT: tile.dot %[[A]], %[[B]] transpose_b
tile.kernel @operands(%A: !half {tile.align = 16 : i64}, %B: !half {tile.align = 16 : i64}, %C: memref<?x?xf32, strided<[?, 1]>>, %n: index, %limit: index) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : !sums
  %r = tile.for %k = %c0 to %n step %c64 iter_args(%acc = %zero) -> (!sums) pipeline(stages = 3) {
    %is = arith.cmpi slt, %k, %limit : index
    %next = scf.if %is -> (!sums) {
      %twice = arith.muli %k, %c2 : index
      %a = tile.load %A[%c0, %twice] : !half -> !tile
      %b = tile.load %B[%c0, %k] : !half -> !tile
      %s = tile.dot %a, %b transpose_b, %acc : !tile, !tile -> !sums
      scf.yield %s : !sums
    } else {
      scf.yield %acc : !sums
    }
    tile.yield %next : !sums
  }
  tile.store %r, %C[%c0, %c0] : !sums, memref<?x?xf32, strided<[?, 1]>>
  tile.return
}

// Of nested conditions all must hold, on the side of the load; a table names the place.
// CHECK-LABEL: tile.kernel @nested
// CHECK: tile.for
// CHECK: %[[P:.*]] = arith.cmpi
// CHECK: %[[AT:.*]] = tile.load_scalar
// CHECK: %[[LINE:.*]] = arith.muli %[[AT]],
// CHECK: %[[PLACE:.*]] = arith.index_cast %[[LINE]]
// CHECK: %[[Q:.*]] = arith.cmpi sge, %[[AT]],
// CHECK: %[[TRUE:.*]] = arith.constant true
// CHECK: %[[NOT:.*]] = arith.xori %[[P]], %[[TRUE]]
// CHECK: %[[BOTH:.*]] = arith.andi %[[NOT]], %[[Q]]
// CHECK: %[[ROW:.*]] = arith.select %[[BOTH]], %[[PLACE]],
// CHECK: tile.load %{{.*}}[%[[ROW]]] {mechanism = #tile.mechanism<cp_async>}
// CHECK: scf.if %[[P]]
tile.kernel @nested(%v: !vector {tile.align = 16 : i64}, %t: !table, %w: !vector, %n: index, %limit: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %none = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  tile.for %i = %c0 to %n step %c1 pipeline(stages = 3) {
    %p = arith.cmpi slt, %i, %limit : index
    scf.if %p {
    } else {
      %at = tile.load_scalar %t[%i] : !table -> i32
      %q = arith.cmpi sge, %at, %none : i32
      scf.if %q {
        %line = arith.muli %at, %c64 : i32
        %place = arith.index_cast %line : i32 to index
        %x = tile.load %v[%place] : !vector -> tensor<64xf32>
        tile.store %x, %w[%i] : tensor<64xf32>, !vector
      }
    }
  }
  tile.return
}

// A condition that comes out of tiles cannot be known ahead.
// CHECK-LABEL: tile.kernel @condition_of_a_tile
// CHECK: scf.if
// CHECK: tile.load {{.*}} -> tensor<32xf32>
tile.kernel @condition_of_a_tile(%v: !vector {tile.align = 16 : i64}, %w: !vector, %n: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %none = arith.constant 0.0 : f32
  tile.for %i = %c0 to %n step %c64 pipeline(stages = 3) {
    %x = tile.load %v[%i] : !vector -> tensor<64xf32>
    %m = tile.reduce %x axis 0 {
    ^bb0(%a: f32, %b: f32):
      %c = arith.maximumf %a, %b : f32
      tile.yield %c : f32
    } : (tensor<64xf32>) -> f32
    %is = arith.cmpf ogt, %m, %none : f32
    scf.if %is {
      // expected-remark@+1 {{this load is not pipelined: its condition, or its place, cannot be computed trips ahead}}
      %y = tile.load %v[%i] : !vector -> tensor<32xf32>
      tile.store %y, %w[%i] : tensor<32xf32>, !vector
    }
  }
  tile.return
}

// Nor one that the loop carries; and a quotient is not computed where it was not asked for.
// CHECK-LABEL: tile.kernel @not_ahead
// CHECK: scf.if
// CHECK: tile.load
// CHECK: scf.if
// CHECK: tile.load
tile.kernel @not_ahead(%v: !vector {tile.align = 16 : i64}, %w: !vector, %n: index, %by: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %last = tile.for %i = %c0 to %n step %c64 iter_args(%j = %c0) -> (index) pipeline(stages = 3) {
    %is = arith.cmpi slt, %j, %by : index
    scf.if %is {
      // expected-remark@+1 {{this load is not pipelined: its condition, or its place, cannot be computed trips ahead}}
      %x = tile.load %v[%i] : !vector -> tensor<64xf32>
      tile.store %x, %w[%i] : tensor<64xf32>, !vector
    }
    %some = arith.cmpi sgt, %by, %c0 : index
    scf.if %some {
      %part = arith.divsi %i, %by : index
      %at = arith.muli %part, %c64 : index
      // expected-remark@+1 {{this load is not pipelined: its condition, or its place, cannot be computed trips ahead}}
      %x = tile.load %v[%at] : !vector -> tensor<64xf32>
      tile.store %x, %w[%i] : tensor<64xf32>, !vector
    }
    %next = arith.addi %j, %c64 : index
    tile.yield %next : index
  }
  tile.return
}

// Without a pipeline, and in a loop inside of the condition, loads stay.
// CHECK-LABEL: tile.kernel @others_stay
// CHECK: tile.for
// CHECK: scf.if
// CHECK-NEXT: tile.load
// CHECK: tile.for
// CHECK: scf.if
// CHECK: scf.for
// CHECK-NEXT: tile.load
tile.kernel @others_stay(%v: !vector {tile.align = 16 : i64}, %w: !vector, %n: index, %is: i1) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  tile.for %i = %c0 to %n step %c64 {
    scf.if %is {
      %x = tile.load %v[%i] : !vector -> tensor<64xf32>
      tile.store %x, %w[%i] : tensor<64xf32>, !vector
    }
  }
  tile.for %i = %c0 to %n step %c64 pipeline(stages = 3) {
    scf.if %is {
      scf.for %j = %c0 to %n step %c64 {
        %x = tile.load %v[%j] : !vector -> tensor<64xf32>
        tile.store %x, %w[%j] : tensor<64xf32>, !vector
      }
    }
  }
  tile.return
}

}
