// RUN: headrace-opt %s --pipe-thread-cursors | FileCheck %s

// pipe-thread-cursors carries the place of each side of a channel, (index of the slot, phase), through all control flow.
// It never starts again: the inner loop goes on where the outer trip before left the ring, after however many trips. A
// producer starts at (0, 1), as if everything had just been emptied, a consumer at (0, 0).

!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!ring = !pipe.channel<3, [!tile]>
!array = memref<?x?xbf16, strided<[?, 1]>>

// CHECK-LABEL: func.func @nested_loops
func.func @nested_loops(%A: !array, %n: index, %m: index) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i32
  // CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : i32
  %ch = pipe.create_channel "A" <mbarrier> : !ring
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: scf.for {{.*}} iter_args(%[[PI0:.*]] = %[[ZERO]], %[[PP0:.*]] = %[[ONE]], %[[CI0:.*]] = %[[ZERO]], %[[CP0:.*]] = %[[ZERO]])
  scf.for %i = %c0 to %n step %c1 {
    // CHECK: %[[INNER:.*]]:4 = scf.for {{.*}} iter_args(%[[PI:.*]] = %[[PI0]], %[[PP:.*]] = %[[PP0]], %[[CI:.*]] = %[[CI0]], %[[CP:.*]] = %[[CP0]])
    scf.for %j = %c0 to %m step %c1 {
      // CHECK: pipe.producer_acquire %{{.*}}[%[[PI]], %[[PP]]]
      // CHECK: pipe.copy {{.*}} in %{{.*}}[%[[PI]]]
      // CHECK: pipe.producer_commit %{{.*}}[%[[PI]], %[[PP]]]
      // CHECK: %[[NPI:.*]], %[[NPP:.*]] = pipe.advance[%[[PI]], %[[PP]]] depth 3
      %a = pipe.producer_acquire %ch : !ring -> !tile
      pipe.copy <tma> %A[%i, %j] to %a in %ch : !array, !tile, !ring
      pipe.producer_commit %ch : !ring
      // CHECK: pipe.consumer_wait %{{.*}}[%[[CI]], %[[CP]]]
      // CHECK: pipe.consumer_release %{{.*}}[%[[CI]], %[[CP]]]
      // CHECK: %[[NCI:.*]], %[[NCP:.*]] = pipe.advance[%[[CI]], %[[CP]]] depth 3
      %b = pipe.consumer_wait %ch : !ring -> !tile
      pipe.consumer_release %ch : !ring
      // CHECK: scf.yield %[[NPI]], %[[NPP]], %[[NCI]], %[[NCP]]
    }
    // CHECK: scf.yield %[[INNER]]#0, %[[INNER]]#1, %[[INNER]]#2, %[[INNER]]#3
  }
  return
}
