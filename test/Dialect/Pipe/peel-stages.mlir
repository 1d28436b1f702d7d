// RUN: headrace-opt %s --pipe-peel-stages --canonicalize --split-input-file | FileCheck %s

// Three stages: two trips are peeled on either side, and a loop of fewer runs as it was written. The induction variable is
// that of the trip that an op works for.
// CHECK-LABEL: func.func @three_stages
// CHECK-SAME: %[[LO:[a-z0-9]*]]: index, %[[HI:[a-z0-9]*]]: index, %[[STEP:[a-z0-9]*]]: index, %[[M:[a-z0-9]*]]: memref
func.func @three_stages(%lo: index, %hi: index, %step: index, %M: memref<?xindex>) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  // Two trips: lo + step < hi.
  // CHECK: %[[SECOND:.*]] = arith.addi %[[LO]], %[[STEP]]
  // CHECK: %[[ENOUGH:.*]] = arith.cmpi slt, %[[SECOND]], %[[HI]]
  // CHECK: scf.if %[[ENOUGH]] {
  // Trip 0 in stage 0; trip 1 in stage 0.
  // CHECK:   %[[A0:.*]] = arith.muli %[[LO]], %[[LO]]
  // CHECK:   %[[A1:.*]] = arith.muli
  // CHECK:   scf.for %[[I:.*]] = %[[LO]] to %{{.*}} step %[[STEP]] iter_args(%[[OLDER:.*]] = %[[A0]], %[[OLD:.*]] = %[[A1]]) -> (index, index) {
  // The oldest trip stores at its own place what it made two trips before.
  // CHECK:     %[[PLACE:.*]] = arith.addi %[[I]],
  // CHECK:     %[[NEW:.*]] = arith.muli %[[PLACE]], %[[PLACE]]
  // CHECK:     memref.store %[[OLDER]], %[[M]][%[[I]]]
  // CHECK:     scf.yield %[[OLD]], %[[NEW]]
  // CHECK:   memref.store
  // CHECK:   memref.store
  // CHECK-NOT: memref.store
  // CHECK: } else {
  // CHECK:   scf.for %[[J:.*]] = %[[LO]] to %[[HI]] step %[[STEP]] {
  // CHECK:     %[[A:.*]] = arith.muli %[[J]], %[[J]]
  // CHECK:     memref.store %[[A]], %[[M]][%[[J]]]
  scf.for %i = %lo to %hi step %step {
    %a = arith.muli %i, %i {pipe.stage = 0 : i64, pipe.order = 0 : i64} : index
    memref.store %a, %M[%i] {pipe.stage = 2 : i64, pipe.order = 1 : i64} : memref<?xindex>
  }
  return
}

// -----

// A result of an early stage is the last trip's, though the loop goes on for the later stage.
// CHECK-LABEL: func.func @result_of_an_early_stage
// CHECK-SAME: %[[N:[a-z0-9]*]]: index, %[[X:[a-z0-9]*]]: i32
func.func @result_of_an_early_stage(%n: index, %x: i32, %lo: index, %M: memref<?xi32>) -> i32 attributes {pipe.kernel, pipe.warps = 4 : i64} {
  // CHECK: scf.if
  // CHECK:   %[[FIRST:.*]] = arith.muli %[[X]], %[[X]]
  // CHECK:   %[[L:.*]] = scf.for %{{.*}} iter_args(%[[PRODUCT:.*]] = %[[FIRST]]) -> (i32) {
  // CHECK:     %[[NEXT:.*]] = arith.muli %[[PRODUCT]], %[[X]]
  // CHECK:     memref.store %[[PRODUCT]]
  // CHECK:     scf.yield %[[NEXT]]
  // CHECK:   memref.store %[[L]]
  // CHECK:   scf.yield %[[L]]
  // CHECK: } else {
  // CHECK:   scf.yield %[[X]]
  %r = scf.for %i = %lo to %n step %n iter_args(%product = %x) -> (i32) {
    %a = arith.muli %product, %x {pipe.stage = 0 : i64, pipe.order = 0 : i64} : i32
    memref.store %a, %M[%i] {pipe.stage = 1 : i64, pipe.order = 1 : i64} : memref<?xi32>
    scf.yield %a : i32
  }
  return %r : i32
}

// -----

// One stage: only the order changes.
// CHECK-LABEL: func.func @only_the_order
func.func @only_the_order(%n: index, %lo: index, %x: i32, %M: memref<?xi32>) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  // CHECK: scf.for
  // CHECK-NEXT: memref.store
  // CHECK-NEXT: arith.muli
  // CHECK-NEXT: memref.store
  // CHECK-NOT: scf.if
  // CHECK-NOT: pipe.stage
  scf.for %i = %lo to %n step %n {
    %b = arith.muli %i, %i {pipe.stage = 0 : i64, pipe.order = 1 : i64} : index
    memref.store %x, %M[%i] {pipe.stage = 0 : i64, pipe.order = 0 : i64} : memref<?xi32>
    memref.store %x, %M[%b] {pipe.stage = 0 : i64, pipe.order = 2 : i64} : memref<?xi32>
  }
  return
}

// -----

#acc = #tile.layout<atom = [64, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], groups = [1 : 0], repeat = [1, 8]>
!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!sums = tensor<64x64xf32, #acc>

// A wait leaves in flight what started after its own matmul: in the loop the second of the trip before, and nothing where
// the second is waited for.
// CHECK-LABEL: func.func @pending
func.func @pending(%n: index, %lo: index, %a: !tile, %b: !tile, %zero: !sums, %acc: !sums) -> !sums attributes {pipe.kernel, pipe.warps = 4 : i64} {
  // CHECK: pipe.mma_async
  // CHECK: pipe.mma_wait %{{.*}} pending 0
  // CHECK: scf.for
  // CHECK:   %[[S:.*]] = pipe.mma_async
  // CHECK:   %[[O:.*]] = pipe.mma_async
  // CHECK:   pipe.mma_wait %[[S]] pending 1
  // CHECK:   pipe.mma_wait %[[O]] pending 0
  %r = scf.for %i = %lo to %n step %n iter_args(%sum = %acc) -> (!sums) {
    %s = pipe.mma_async <wgmma 64 x 64 x 16, groups = 1 x 1> %a, %b, %zero {pipe.stage = 0 : i64, pipe.order = 0 : i64} : !tile, !tile, !sums -> !pipe.inflight<!sums>
    %sd = pipe.mma_wait %s pending 0 {pipe.stage = 0 : i64, pipe.order = 3 : i64} : !pipe.inflight<!sums> -> !sums
    %t = arith.addf %sum, %sd {pipe.stage = 1 : i64, pipe.order = 1 : i64} : !sums
    %o = pipe.mma_async <wgmma 64 x 64 x 16, groups = 1 x 1> %a, %b, %t {pipe.stage = 1 : i64, pipe.order = 2 : i64} : !tile, !tile, !sums -> !pipe.inflight<!sums>
    %od = pipe.mma_wait %o pending 0 {pipe.stage = 1 : i64, pipe.order = 4 : i64} : !pipe.inflight<!sums> -> !sums
    scf.yield %od : !sums
  }
  return %r : !sums
}
