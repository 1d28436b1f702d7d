// RUN: headrace-opt %s --pipe-peel-stages | FileCheck %s

// pipe-peel-stages carries out a schedule, here one written by hand. With two stages, trip K of the new loop does stage 1
// for trip K - 1 of the old one, and stage 0 for trip K: in front of it stage 0 is done once, behind it stage 1. All that is
// under one question, whether there is a trip at all. The value of the trip before is carried, the sum is as it was.

// CHECK-LABEL: func.func @two_stages
// CHECK-SAME: %[[N:[a-z0-9]*]]: index, %[[X:[a-z0-9]*]]: i32
func.func @two_stages(%n: index, %x: i32) -> i32 attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  // CHECK: %[[ANY:.*]] = arith.cmpi slt, %[[C0:.*]], %[[N]]
  // CHECK: %[[R:.*]] = scf.if %[[ANY]] -> (i32) {
  // CHECK:   %[[FIRST:.*]] = arith.muli %[[X]], %[[X]] : i32
  // CHECK:   %[[END:.*]] = arith.subi %[[N]], %[[STEP:.*]] : index
  // CHECK:   %[[L:.*]]:2 = scf.for %[[K:.*]] = %[[C0]] to %[[END]] step %[[STEP]] iter_args(%[[SUM:.*]] = %[[X]], %[[A:.*]] = %[[FIRST]]) -> (i32, i32) {
  // CHECK:     %[[NEXT:.*]] = arith.muli %[[X]], %[[X]] : i32
  // CHECK:     %[[NEWSUM:.*]] = arith.addi %[[SUM]], %[[A]] : i32
  // CHECK:     scf.yield %[[NEWSUM]], %[[NEXT]]
  // CHECK:   }
  // CHECK:   %[[LAST:.*]] = arith.addi %[[L]]#0, %[[L]]#1 : i32
  // CHECK:   scf.yield %[[LAST]] : i32
  // CHECK: } else {
  // CHECK:   scf.yield %[[X]] : i32
  // CHECK: }
  // CHECK: return %[[R]]
  %r = scf.for %i = %c0 to %n step %c4 iter_args(%sum = %x) -> (i32) {
    %a = arith.muli %x, %x {pipe.stage = 0 : i64, pipe.order = 0 : i64} : i32
    %b = arith.addi %sum, %a {pipe.stage = 1 : i64, pipe.order = 1 : i64} : i32
    scf.yield %b : i32
  }
  return %r : i32
}
