// RUN: headrace-opt %s --pipe-expand-loops | FileCheck %s

// A pipelined loop in a pipelined loop: the outer one is expanded first, with the inner one as a single op of its last
// stage; the inner one then still has its own schedule.

!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!ring = !pipe.channel<2, [!tile]>
!array = memref<?x?xbf16, strided<[?, 1]>>

// CHECK-LABEL: func.func @nested
// CHECK-SAME: %[[A:[a-z0-9]*]]: memref<?x?xbf16, strided<[?, 1]>>, %[[B:[a-z0-9]*]]: memref
// CHECK: %[[X:.*]] = pipe.create_channel "A"
// CHECK: %[[Y:.*]] = pipe.create_channel "B"
// The outer loop's first copy.
// CHECK: pipe.copy <cp_async> %[[A]]{{.*}} in %[[X]]
// CHECK: pipe.producer_commit %[[X]]
// CHECK: scf.for
// CHECK: pipe.consumer_wait %[[X]]
// The inner loop's first copy, in each trip of the outer one.
// CHECK: pipe.copy <cp_async> %[[B]]{{.*}} in %[[Y]]
// CHECK: pipe.producer_commit %[[Y]]
// CHECK: scf.for
// CHECK: pipe.consumer_wait %[[Y]]
// CHECK: pipe.copy <cp_async> %[[B]]{{.*}} in %[[Y]]
// CHECK: pipe.producer_commit %[[Y]]
// CHECK: pipe.consumer_release %[[Y]]
// CHECK-NOT: pipe.stage
func.func @nested(%A: !array, %B: !array, %n: index, %z: i32) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %x = pipe.create_channel "A" <group> : !ring
  %y = pipe.create_channel "B" <group> : !ring
  scf.for %i = %n to %n step %n {
    %a = pipe.producer_acquire %x[%z, %z] {pipe.stage = 0 : i64, pipe.order = 1 : i64} : !ring -> !tile
    pipe.copy <cp_async> %A[%i, %n] to %a in %x[%z] {pipe.stage = 0 : i64, pipe.order = 2 : i64} : !array, !tile, !ring
    pipe.producer_commit %x[%z, %z] {pipe.stage = 0 : i64, pipe.order = 3 : i64} : !ring
    %c = pipe.consumer_wait %x[%z, %z] {pipe.stage = 1 : i64, pipe.order = 0 : i64} : !ring -> !tile
    scf.for %j = %n to %n step %n {
      %b = pipe.producer_acquire %y[%z, %z] {pipe.stage = 0 : i64, pipe.order = 1 : i64} : !ring -> !tile
      pipe.copy <cp_async> %B[%i, %j] to %b in %y[%z] {pipe.stage = 0 : i64, pipe.order = 2 : i64} : !array, !tile, !ring
      pipe.producer_commit %y[%z, %z] {pipe.stage = 0 : i64, pipe.order = 3 : i64} : !ring
      %d = pipe.consumer_wait %y[%z, %z] {pipe.stage = 1 : i64, pipe.order = 0 : i64} : !ring -> !tile
      pipe.consumer_release %y[%z, %z] {pipe.stage = 1 : i64, pipe.order = 4 : i64} : !ring
    } {pipe.stage = 1 : i64, pipe.order = 4 : i64}
    pipe.consumer_release %x[%z, %z] {pipe.stage = 1 : i64, pipe.order = 5 : i64} : !ring
  }
  return
}
