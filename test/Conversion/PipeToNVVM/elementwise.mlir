// RUN: headrace-opt %s --convert-pipe-to-nvvm | FileCheck %s

#pair = #tile.layout<atom = [32, 2], register = [[0, 1]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [], groups = [1 : 0], repeat = [1, 1]>
#one = #tile.layout<atom = [32], register = [], lane = [[1], [2], [4], [8], [16]], warp = [], groups = [1 : 0], repeat = [1]>
#column = #tile.layout<atom = [32, 1], register = [], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [], groups = [1 : 0], repeat = [1, 1]>

module attributes {tile.target = "sm_90a"} {

// CHECK-LABEL: llvm.func @works_on_each_register
// CHECK-SAME: %[[X:.*]]: f32
// CHECK: %[[HALF:.*]] = arith.constant 5.000000e-01 : f32
// CHECK-COUNT-2: arith.addf %[[X]], %[[HALF]] fastmath<contract> : f32
// CHECK-NOT: arith.addf
func.func @works_on_each_register(%x: f32) attributes {pipe.kernel, pipe.warps = 1 : i64} {
  %t = tensor.splat %x : tensor<32x2xf32, #pair>
  %half = arith.constant dense<0.5> : tensor<32x2xf32, #pair>
  %s = arith.addf %t, %half fastmath<contract> : tensor<32x2xf32, #pair>
  return
}

// CHECK-LABEL: llvm.func @selects_by_scalar_and_by_element
// CHECK-SAME: %[[X:.*]]: f32, %[[C:.*]]: i1
// CHECK: %[[P:.*]] = arith.cmpf ogt, %[[X]], %[[ZERO:.*]] : f32
// CHECK: %[[Q:.*]] = arith.cmpf ogt
// CHECK: %[[S:.*]] = arith.select %[[P]], %[[X]], %[[ZERO]] : f32
// CHECK: %[[T:.*]] = arith.select %[[Q]], %[[X]], %[[ZERO]] : f32
// CHECK: arith.select %[[C]], %[[S]], %[[X]] : f32
// CHECK: arith.select %[[C]], %[[T]], %[[X]] : f32
func.func @selects_by_scalar_and_by_element(%x: f32, %c: i1) attributes {pipe.kernel, pipe.warps = 1 : i64} {
  %t = tensor.splat %x : tensor<32x2xf32, #pair>
  %zero = arith.constant dense<0.0> : tensor<32x2xf32, #pair>
  %p = arith.cmpf ogt, %t, %zero : tensor<32x2xf32, #pair>
  %s = arith.select %p, %t, %zero : tensor<32x2xi1, #pair>, tensor<32x2xf32, #pair>
  %u = arith.select %c, %s, %t : tensor<32x2xf32, #pair>
  return
}

// CHECK-LABEL: llvm.func @truncates_pairs
// CHECK: %[[PAIR:.*]] = vector.from_elements %{{.*}}, %{{.*}} : vector<2xf32>
// CHECK: arith.truncf %[[PAIR]] : vector<2xf32> to vector<2xbf16>
func.func @truncates_pairs(%x: f32) attributes {pipe.kernel, pipe.warps = 1 : i64} {
  %t = tensor.splat %x : tensor<32x2xf32, #pair>
  %h = arith.truncf %t : tensor<32x2xf32, #pair> to tensor<32x2xbf16, #pair>
  return
}

// CHECK-LABEL: llvm.func @converts_8_bit_floats
// CHECK: "cvt.rn.satfinite.e4m3x2.f32 $0, $2, $1;", "=h,f,f,~{memory}"
// CHECK: "cvt.rn.f16x2.e4m3x2 $0, $1;", "=r,h,~{memory}"
// CHECK-COUNT-2: arith.extf %{{.*}} : f16 to f32
func.func @converts_8_bit_floats(%x: f32) attributes {pipe.kernel, pipe.warps = 1 : i64} {
  %t = tensor.splat %x : tensor<32x2xf32, #pair>
  %n = arith.truncf %t : tensor<32x2xf32, #pair> to tensor<32x2xf8E4M3FN, #pair>
  %w = arith.extf %n : tensor<32x2xf8E4M3FN, #pair> to tensor<32x2xf32, #pair>
  return
}

// CHECK-LABEL: llvm.func @expands_math
// CHECK: %[[LOG2E:.*]] = arith.constant 1.44269502 : f32
// CHECK: %[[SCALED:.*]] = arith.mulf %{{.*}}, %[[LOG2E]] : f32
// CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"(%[[SCALED]]) : (f32) -> f32
// CHECK: "lg2.approx.f32 $0, $1;", "=f,f,~{memory}"
// CHECK: arith.constant 0.693147182 : f32
// CHECK: "rsqrt.approx.f32 $0, $1;"
// CHECK: math.sqrt %{{.*}} : f32
// CHECK: "llvm.nvvm.ex2.approx.ftz.f32"
// CHECK: arith.divf %{{.*}}, %{{.*}} fastmath<afn> : f32
func.func @expands_math(%x: f32) attributes {pipe.kernel, pipe.warps = 1 : i64} {
  %t = tensor.splat %x : tensor<32xf32, #one>
  %0 = math.exp %t : tensor<32xf32, #one>
  %1 = math.log %t : tensor<32xf32, #one>
  %2 = math.rsqrt %t : tensor<32xf32, #one>
  %3 = math.sqrt %t : tensor<32xf32, #one>
  %4 = math.tanh %t : tensor<32xf32, #one>
  return
}

// One register of the column serves both of the row.
// CHECK-LABEL: llvm.func @broadcasts_a_column
// CHECK: %[[E:.*]] = math.absf
// CHECK-COUNT-2: arith.negf %[[E]] : f32
func.func @broadcasts_a_column(%x: f32) attributes {pipe.kernel, pipe.warps = 1 : i64} {
  %t = tensor.splat %x : tensor<32xf32, #one>
  %a = math.absf %t : tensor<32xf32, #one>
  %c = tile.expand_dims %a axis 1 : tensor<32xf32, #one> -> tensor<32x1xf32, #column>
  %b = tile.broadcast %c : tensor<32x1xf32, #column> -> tensor<32x2xf32, #pair>
  %n = arith.negf %b : tensor<32x2xf32, #pair>
  return
}

}
