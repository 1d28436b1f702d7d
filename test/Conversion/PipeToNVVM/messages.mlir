// RUN: headrace-opt %s --convert-pipe-to-nvvm --split-input-file --verify-diagnostics | FileCheck %s

// Asserts and prints: calls of __assertfail and vprintf, and a trap in kernels with wgmma.

#pairs = #tile.layout<atom = [64], register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [], groups = [], repeat = [1]>

module attributes {tile.target = "sm_80"} {

// CHECK-DAG: llvm.mlir.global internal constant @[[MESSAGE:.*]]("small\00") {addr_space = 1 : i32, alignment = 1 : i64}
// CHECK-DAG: llvm.func @__assertfail(!llvm.ptr, !llvm.ptr, i32, !llvm.ptr, i64) attributes {passthrough = ["noreturn"]}

// A scalar is asked of all threads: one branch.
// CHECK-LABEL: llvm.func @assert_scalar
// CHECK-SAME: %[[C:.*]]: i1
// CHECK: %true = arith.constant true
// CHECK: %[[FAILS:.*]] = arith.xori %[[C]], %true
// CHECK: scf.if %[[FAILS]] {
// CHECK: %[[AT:.*]] = llvm.mlir.addressof @[[MESSAGE]] : !llvm.ptr<1>
// CHECK: %[[TEXT:.*]] = llvm.addrspacecast %[[AT]] : !llvm.ptr<1> to !llvm.ptr
// CHECK: %[[LINE:.*]] = arith.constant 7 : i32
// CHECK: llvm.call @__assertfail(%[[TEXT]], %{{.*}}, %[[LINE]], %{{.*}}, %{{.*}})
func.func @assert_scalar(%c: i1) attributes {pipe.kernel, pipe.warps = 1 : i64} {
  tile.assert %c, "small" : i1 loc("k.py":7:4)
  return
}

// Of a tile a thread ands its registers; padding holds.
// CHECK-LABEL: llvm.func @assert_tile
// CHECK: %[[FIRST:.*]] = arith.cmpf ogt
// CHECK: %[[SECOND:.*]] = arith.cmpf ogt
// CHECK: %[[IN0:.*]] = arith.cmpi ult, %{{.*}}, %c63_i32
// CHECK: %[[HOLDS0:.*]] = arith.select %[[IN0]], %[[FIRST]], %true
// CHECK: %[[IN1:.*]] = arith.cmpi ult, %{{.*}}, %c63_i32{{.*}}
// CHECK: %[[HOLDS1:.*]] = arith.select %[[IN1]], %[[SECOND]], %true
// CHECK: %[[ALL:.*]] = arith.andi %[[HOLDS0]], %[[HOLDS1]]
// CHECK: arith.xori %[[ALL]]
// CHECK-COUNT-1: scf.if
// CHECK-NOT: scf.if
func.func @assert_tile(%x: f32, %y: f32) attributes {pipe.kernel, pipe.warps = 1 : i64} {
  %s = tensor.splat %x : tensor<64xf32, #pairs>
  %t = tensor.splat %y : tensor<64xf32, #pairs>
  %holds = arith.cmpf ogt, %s, %t : tensor<64xf32, #pairs>
  tile.assert %holds, "x" {valid = array<i64: 63>} : tensor<64xi1, #pairs>
  return
}
}

// -----

#twice = #tile.layout<atom = [16], register = [], lane = [[1], [2], [4], [8], [0]], warp = [[0]], groups = [], repeat = [1]>

module attributes {tile.target = "sm_80"} {

// CHECK-DAG: llvm.mlir.global internal constant @[[FORMAT:.*]]("(%d, %d, %d) 100%%: %lld, %.5g\0A\00")
// CHECK-DAG: llvm.func @vprintf(!llvm.ptr, !llvm.ptr) -> i32

// The first thread prints a scalar; arguments lie at multiples of their size.
// CHECK-LABEL: llvm.func @print_scalars
// CHECK: %[[BUFFER:.*]] = llvm.alloca %{{.*}} x i8 {alignment = 8 : i64}
// CHECK: scf.if %{{.*}} {
// CHECK: llvm.getelementptr %[[BUFFER]][0]
// CHECK: llvm.getelementptr %[[BUFFER]][4]
// CHECK: llvm.getelementptr %[[BUFFER]][8]
// CHECK: llvm.getelementptr %[[BUFFER]][16]
// CHECK: %[[WIDE:.*]] = arith.extf %{{.*}} : f32 to f64
// CHECK: %[[PLACE:.*]] = llvm.getelementptr %[[BUFFER]][24]
// CHECK: llvm.store %[[WIDE]], %[[PLACE]] {alignment = 8 : i64}
// CHECK: %[[AT:.*]] = llvm.mlir.addressof @[[FORMAT]]
// CHECK: %[[TEXT:.*]] = llvm.addrspacecast %[[AT]]
// CHECK: llvm.call @vprintf(%[[TEXT]], %[[BUFFER]])
func.func @print_scalars(%n: i64, %x: f16) attributes {pipe.kernel, pipe.warps = 1 : i64} {
  tile.print "100%", %n, %x : i64, f16
  return
}

// One thread prints an element that several hold. Both prints have one buffer.
// CHECK-LABEL: llvm.func @print_tile
// CHECK-COUNT-1: llvm.alloca
// CHECK-NOT: llvm.alloca
// CHECK: scf.if
// CHECK: llvm.call @vprintf
// CHECK: scf.if
// CHECK: llvm.call @vprintf
// CHECK-NOT: llvm.call
func.func @print_tile(%x: f32) attributes {pipe.kernel, pipe.warps = 2 : i64} {
  %t = tensor.splat %x : tensor<16xf32, #twice>
  tile.print "here"
  tile.print "t", %t : tensor<16xf32, #twice>
  return
}
}

// -----

#pairs = #tile.layout<atom = [64], register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [], groups = [], repeat = [1]>
#other = #tile.layout<atom = [64], register = [[32]], lane = [[1], [2], [4], [8], [16]], warp = [], groups = [], repeat = [1]>
module attributes {tile.target = "sm_80"} {
func.func @print_of_two_layouts(%x: f32) attributes {pipe.kernel, pipe.warps = 1 : i64} {
  %s = tensor.splat %x : tensor<64xf32, #pairs>
  %t = tensor.splat %x : tensor<64xf32, #other>
  // expected-error-re@+1 {{'tile.print' op expected tiles of one layout, got {{.*}} and {{.*}}}}
  tile.print "t", %s, %t : tensor<64xf32, #pairs>, tensor<64xf32, #other>
  return
}
}
