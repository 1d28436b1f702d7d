// RUN: headrace-opt %s --pipe-schedule-loops | FileCheck %s

// pipe-schedule-loops gives every op of a pipelined loop its stage and its place in the new body; it moves nothing yet.
// The ring has 3 slots, so the copies run 2 trips ahead: they are stage 0, all else is stage 2. In the new body the wait
// comes first, for the barrier behind it also frees the slot that the copies fill next.

!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!ring = !pipe.channel<3, [!tile]>
!array = memref<?x?xbf16, strided<[?, 1]>>

// CHECK-LABEL: func.func @copies_run_ahead
func.func @copies_run_ahead(%A: !array, %n: index) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %ch = pipe.create_channel "A" <group> : !ring
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  // CHECK: scf.for
  %r:4 = scf.for %i = %c0 to %n step %c1 iter_args(%pi = %zero, %pp = %one, %ci = %zero, %cp = %zero) -> (i32, i32, i32, i32) {
    // CHECK-NEXT: pipe.producer_acquire {{.*}} {pipe.order = 1 : i64, pipe.stage = 0 : i64}
    // CHECK-NEXT: pipe.copy {{.*}} {pipe.order = 2 : i64, pipe.stage = 0 : i64}
    // CHECK-NEXT: pipe.producer_commit {{.*}} {pipe.order = 3 : i64, pipe.stage = 0 : i64}
    // CHECK-NEXT: pipe.advance{{.*}} depth 3 {pipe.order = 4 : i64, pipe.stage = 0 : i64}
    %a = pipe.producer_acquire %ch[%pi, %pp] : !ring -> !tile
    pipe.copy <cp_async> %A[%i, %c0] to %a in %ch[%pi] : !array, !tile, !ring
    pipe.producer_commit %ch[%pi, %pp] : !ring
    %npi, %npp = pipe.advance [%pi, %pp] depth 3
    // CHECK-NEXT: pipe.consumer_wait {{.*}} {pipe.order = 0 : i64, pipe.stage = 2 : i64}
    // CHECK-NEXT: pipe.consumer_release {{.*}} {pipe.order = 5 : i64, pipe.stage = 2 : i64}
    // CHECK-NEXT: pipe.advance{{.*}} depth 3 {pipe.order = 6 : i64, pipe.stage = 2 : i64}
    %b = pipe.consumer_wait %ch[%ci, %cp] : !ring -> !tile
    pipe.consumer_release %ch[%ci, %cp] : !ring
    %nci, %ncp = pipe.advance [%ci, %cp] depth 3
    scf.yield %npi, %npp, %nci, %ncp : i32, i32, i32, i32
  } {pipe.pipeline = #tile.pipeline<(stages = 3)>}
  return
}
