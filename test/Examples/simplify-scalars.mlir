// RUN: headrace-opt %s --simplify-scalars | FileCheck %s

// simplify-scalars folds and merges what a lowering left behind; loops keep what they carry, equal values included.

// CHECK-LABEL: llvm.func @address(%arg0: i32, %arg1: i32, %arg2: i1) -> i32
llvm.func @address(%x: i32, %n: i32, %inside: i1) -> i32 {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %four = arith.constant 4 : i32
  %true = arith.constant true
  // CHECK-DAG: %[[C0:.*]] = arith.constant 0 : i32
  // CHECK-DAG: %[[C8:.*]] = arith.constant 8 : i32
  // CHECK-NOT: arith.muli
  // CHECK: %[[SUM:.*]] = arith.addi %arg0, %[[C8]] : i32
  %scaled = arith.muli %x, %one : i32
  %near = arith.addi %scaled, %four : i32
  %far = arith.addi %near, %four : i32
  // CHECK-NOT: arith.andi
  %both = arith.andi %inside, %true : i1
  // CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[C0]], %{{.*}} = %[[C0]]) -> (i32, i32)
  %sums:2 = scf.for %i = %zero to %n step %one iter_args(%a = %zero, %b = %zero) -> (i32, i32) : i32 {
    %next = arith.addi %a, %far : i32
    scf.yield %next, %next : i32, i32
  }
  // CHECK: arith.select %arg2
  %result = arith.select %both, %sums#0, %sums#1 : i32
  llvm.return %result : i32
}
