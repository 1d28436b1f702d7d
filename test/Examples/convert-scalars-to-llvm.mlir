// RUN: headrace-opt %s --convert-scalars-to-llvm --reconcile-unrealized-casts | FileCheck %s

// convert-scalars-to-llvm turns what upstream dialects are left after scf into LLVM: an index has 32 bits, branches carry
// converted values.

// CHECK-LABEL: llvm.func @sum(%arg0: i32, %arg1: f32) -> f32
llvm.func @sum(%n: i32, %x: f32) -> f32 {
  // CHECK: %[[ZERO:.*]] = llvm.mlir.constant(0 : index) : i32
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %start = arith.constant 0.0 : f32
  %end = arith.index_cast %n : i32 to index
  // CHECK: llvm.br ^[[HEAD:.*]](%[[ZERO]], %{{.*}} : i32, f32)
  cf.br ^head(%zero, %start : index, f32)
^head(%i: index, %sum: f32):
  // CHECK: ^[[HEAD]](%[[I:.*]]: i32, %[[SUM:.*]]: f32):
  // CHECK: %[[MORE:.*]] = llvm.icmp "slt" %[[I]], %arg0 : i32
  // CHECK: llvm.cond_br %[[MORE]]
  %more = arith.cmpi slt, %i, %end : index
  cf.cond_br %more, ^body, ^done
^body:
  // CHECK: %[[POWER:.*]] = llvm.intr.exp2(%arg1) : (f32) -> f32
  // CHECK: llvm.fadd %[[SUM]], %[[POWER]] : f32
  %power = math.exp2 %x : f32
  %next = arith.addf %sum, %power : f32
  %i1 = arith.addi %i, %one : index
  cf.br ^head(%i1, %next : index, f32)
^done:
  // CHECK: llvm.return %[[SUM]] : f32
  llvm.return %sum : f32
}
