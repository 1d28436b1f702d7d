// RUN: headrace-opt %s --pipe-expand-loops | FileCheck %s

// pipe-expand-loops carries out a schedule, here one written by hand: copies in stage 0, the rest in stage 1. Each stage
// before the last has its copies in front of the loop, under a predicate for loops with fewer trips. In the loop the
// copies of the next trip follow the wait of this one, under a predicate that is false in the last trip. Commits of
// cp.async groups are never switched off: `pending` counts on one group for each trip.

!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!ring = !pipe.channel<2, [!tile]>
!array = memref<?x?xbf16, strided<[?, 1]>>

// CHECK-LABEL: func.func @copies_run_ahead
func.func @copies_run_ahead(%A: !array, %n: index) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %ch = pipe.create_channel "A" <group> : !ring
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  // CHECK: %[[ANY:.*]] = arith.cmpi slt
  // CHECK: %[[FIRST:.*]] = pipe.producer_acquire %[[CH:.*]][%{{.*}}] if %[[ANY]]
  // CHECK: pipe.copy <cp_async> {{.*}} to %[[FIRST]] in %[[CH]][%{{.*}}] if %[[ANY]]
  // CHECK: pipe.producer_commit %[[CH]][%{{.*}}, %{{[^]]*}}] :
  // CHECK: %[[INDEX:.*]], %[[PHASE:.*]] = pipe.advance{{.*}} depth 2 if %[[ANY]]
  // CHECK: scf.for %[[I:.*]] = {{.*}} iter_args(%[[PI:.*]] = %[[INDEX]], %[[PP:.*]] = %[[PHASE]], %[[CI:.*]] = %{{.*}}, %[[CP:.*]] = %{{.*}})
  %r:4 = scf.for %i = %c0 to %n step %c1 iter_args(%pi = %zero, %pp = %one, %ci = %zero, %cp = %zero) -> (i32, i32, i32, i32) {
    // CHECK: %[[MORE:.*]] = arith.cmpi slt, %[[I]],
    // CHECK: pipe.consumer_wait %[[CH]][%[[CI]], %[[CP]]] {pending = 0 : i64}
    // CHECK: %[[NEXT:.*]] = pipe.producer_acquire %[[CH]][%[[PI]], %[[PP]]] if %[[MORE]]
    // CHECK: pipe.copy <cp_async> {{.*}} to %[[NEXT]] in %[[CH]][%[[PI]]] if %[[MORE]]
    // CHECK: pipe.producer_commit %[[CH]][%[[PI]], %[[PP]]] :
    // CHECK: pipe.advance[%[[PI]], %[[PP]]] depth 2 if %[[MORE]]
    // CHECK: pipe.consumer_release %[[CH]][%[[CI]], %[[CP]]]
    // CHECK: pipe.advance[%[[CI]], %[[CP]]] depth 2{{$}}
    %a = pipe.producer_acquire %ch[%pi, %pp] {pipe.stage = 0 : i64, pipe.order = 1 : i64} : !ring -> !tile
    pipe.copy <cp_async> %A[%i, %c0] to %a in %ch[%pi] {pipe.stage = 0 : i64, pipe.order = 2 : i64} : !array, !tile, !ring
    pipe.producer_commit %ch[%pi, %pp] {pipe.stage = 0 : i64, pipe.order = 3 : i64} : !ring
    %npi, %npp = pipe.advance [%pi, %pp] depth 2 {pipe.stage = 0 : i64, pipe.order = 4 : i64}
    %b = pipe.consumer_wait %ch[%ci, %cp] {pipe.stage = 1 : i64, pipe.order = 0 : i64} : !ring -> !tile
    pipe.consumer_release %ch[%ci, %cp] {pipe.stage = 1 : i64, pipe.order = 5 : i64} : !ring
    %nci, %ncp = pipe.advance [%ci, %cp] depth 2 {pipe.stage = 1 : i64, pipe.order = 6 : i64}
    scf.yield %npi, %npp, %nci, %ncp : i32, i32, i32, i32
  }
  return
}
