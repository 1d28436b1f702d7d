// RUN: headrace-opt %s --convert-pipe-to-nvvm --split-input-file --verify-diagnostics | FileCheck %s

// Reductions: a tree in the registers of a thread, then butterflies over the lanes that share the axis.

#grid = #tile.layout<atom = [2, 32], register = [[1, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [], groups = [], repeat = [1, 1]>
#pair = #tile.layout<atom = [2], register = [[1]], lane = [[0], [0], [0], [0], [0]], warp = [], groups = [], repeat = [1]>
#line = #tile.layout<atom = [32], register = [], lane = [[1], [2], [4], [8], [16]], warp = [], groups = [], repeat = [1]>
#acc = #tile.layout<atom = [16, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [], groups = [], repeat = [1, 1]>
#rows = #tile.layout<atom = [16], register = [[8]], lane = [[0], [0], [1], [2], [4]], warp = [], groups = [], repeat = [1]>
#columns = #tile.layout<atom = [8], register = [[1]], lane = [[2], [4], [0], [0], [0]], warp = [], groups = [], repeat = [1]>
#four = #tile.layout<atom = [32], register = [], lane = [[1], [2], [4], [8], [16]], warp = [], groups = [], repeat = [4]>

module attributes {tile.target = "sm_80"} {

// All five bits of the lane's number go along the columns: each row is exchanged five times, all rows before they are
// combined.
// CHECK-LABEL: llvm.func @over_all_lanes
// CHECK-SAME: %[[X:.*]]: f32
// CHECK: %[[ONE:.*]] = arith.constant 1 : i32
// CHECK: %[[A:.*]] = llvm.inline_asm {{.*}}"shfl.sync.bfly.b32 $0, $1, $2, 31, -1;", "=r,r,r,~{memory}" %{{.*}}, %[[ONE]] :
// CHECK: %[[B:.*]] = llvm.inline_asm {{.*}}"shfl.sync.bfly.b32 {{.*}} %{{.*}}, %[[ONE]] :
// CHECK: %[[FA:.*]] = llvm.bitcast %[[A]] : i32 to f32
// CHECK: %[[FB:.*]] = llvm.bitcast %[[B]] : i32 to f32
// CHECK: arith.addf %[[X]], %[[FA]] : f32
// CHECK: arith.addf %[[X]], %[[FB]] : f32
// CHECK: %[[TWO:.*]] = arith.constant 2 : i32
// CHECK-COUNT-2: shfl.sync.bfly.b32 {{.*}}, %[[TWO]] :
// CHECK: %[[FOUR:.*]] = arith.constant 4 : i32
// CHECK-COUNT-2: shfl.sync.bfly.b32 {{.*}}, %[[FOUR]] :
// CHECK: %[[EIGHT:.*]] = arith.constant 8 : i32
// CHECK-COUNT-2: shfl.sync.bfly.b32 {{.*}}, %[[EIGHT]] :
// CHECK: %[[SIXTEEN:.*]] = arith.constant 16 : i32
// CHECK-COUNT-2: shfl.sync.bfly.b32 {{.*}}, %[[SIXTEEN]] :
// CHECK-NOT: shfl
// CHECK: llvm.return
func.func @over_all_lanes(%x: f32) attributes {pipe.kernel, pipe.warps = 1 : i64} {
  %t = tensor.splat %x : tensor<2x32xf32, #grid>
  %r = tile.reduce %t axis 1 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  } : (tensor<2x32xf32, #grid>) -> tensor<2xf32, #pair>
  return
}

// Rows of an accumulator lie in four lanes: two registers of each, then bits 0 and 1 of the lane.
// CHECK-LABEL: llvm.func @rows_of_an_accumulator
// CHECK-COUNT-2: arith.maximumf
// CHECK-COUNT-2: shfl.sync.bfly.b32 {{.*}}, %c1_i32
// CHECK-COUNT-2: arith.maximumf
// CHECK-COUNT-2: shfl.sync.bfly.b32 {{.*}}, %c2_i32
// CHECK-COUNT-2: arith.maximumf
// CHECK-NOT: shfl
// CHECK: llvm.return
func.func @rows_of_an_accumulator(%x: f32) attributes {pipe.kernel, pipe.warps = 1 : i64} {
  %t = tensor.splat %x : tensor<16x8xf32, #acc>
  %r = tile.reduce %t axis 1 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.maximumf %a, %b : f32
    tile.yield %c : f32
  } : (tensor<16x8xf32, #acc>) -> tensor<16xf32, #rows>
  return
}

// Columns lie in the other eight: bits 2, 3 and 4.
// CHECK-LABEL: llvm.func @columns_of_an_accumulator
// CHECK: shfl.sync.bfly.b32 {{.*}}, %c4_i32
// CHECK: shfl.sync.bfly.b32 {{.*}}, %c8_i32
// CHECK: shfl.sync.bfly.b32 {{.*}}, %c16_i32
// CHECK: llvm.return
func.func @columns_of_an_accumulator(%x: f32) attributes {pipe.kernel, pipe.warps = 1 : i64} {
  %t = tensor.splat %x : tensor<16x8xf32, #acc>
  %r = tile.reduce %t axis 0 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  } : (tensor<16x8xf32, #acc>) -> tensor<8xf32, #columns>
  return
}

// Four registers are added as a tree: two sums, then one.
// CHECK-LABEL: llvm.func @tree_of_registers
// CHECK-SAME: %[[X:.*]]: f32
// CHECK: %[[L:.*]] = arith.addf %[[X]], %[[X]] : f32
// CHECK: %[[R:.*]] = arith.addf %[[X]], %[[X]] : f32
// CHECK: arith.addf %[[L]], %[[R]] : f32
// CHECK-COUNT-5: shfl.sync.bfly.b32
// CHECK: llvm.return
func.func @tree_of_registers(%x: f32) attributes {pipe.kernel, pipe.warps = 1 : i64} {
  %t = tensor.splat %x : tensor<128xf32, #four>
  %r = tile.reduce %t axis 0 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  } : (tensor<128xf32, #four>) -> f32
  return
}

// 64 bits travel as two words, two 16-bit elements as one, single bits as bytes.
// CHECK-LABEL: llvm.func @other_widths
// CHECK-COUNT-10: shfl.sync.bfly.b32
// CHECK-NOT: shfl.sync.bfly.b64
// CHECK: arith.addf {{.*}} : f64
// CHECK-COUNT-5: shfl.sync.bfly.b32
// CHECK: arith.maxsi {{.*}} : i16
// CHECK: arith.extui {{.*}} : i1 to i8
// CHECK: shfl.sync.bfly.b32
// CHECK: arith.trunci {{.*}} : i8 to i1
// CHECK: arith.ori {{.*}} : i1
// CHECK: llvm.return
func.func @other_widths(%x: f64, %y: i16, %z: i1) attributes {pipe.kernel, pipe.warps = 1 : i64} {
  %t = tensor.splat %x : tensor<32xf64, #line>
  %0 = tile.reduce %t axis 0 {
  ^bb0(%a: f64, %b: f64):
    %c = arith.addf %a, %b : f64
    tile.yield %c : f64
  } : (tensor<32xf64, #line>) -> f64
  %u = tensor.splat %y : tensor<2x32xi16, #grid>
  %1 = tile.reduce %u axis 1 {
  ^bb0(%a: i16, %b: i16):
    %c = arith.maxsi %a, %b : i16
    tile.yield %c : i16
  } : (tensor<2x32xi16, #grid>) -> tensor<2xi16, #pair>
  %v = tensor.splat %z : tensor<32xi1, #line>
  %2 = tile.reduce %v axis 0 {
  ^bb0(%a: i1, %b: i1):
    %c = arith.ori %a, %b : i1
    tile.yield %c : i1
  } : (tensor<32xi1, #line>) -> i1
  return
}

// Value and place of the largest: one shuffle for each in every step.
// CHECK-LABEL: llvm.func @two_sources
// CHECK-COUNT-2: shfl.sync.bfly.b32 {{.*}}, %c1_i32
// CHECK: %[[P:.*]] = arith.cmpf oge
// CHECK: arith.select %[[P]], {{.*}} : f32
// CHECK: arith.select %[[P]], {{.*}} : i32
// CHECK-COUNT-2: shfl.sync.bfly.b32 {{.*}}, %c2_i32
// CHECK: llvm.return
func.func @two_sources(%x: f32, %i: i32) attributes {pipe.kernel, pipe.warps = 1 : i64} {
  %t = tensor.splat %x : tensor<32xf32, #line>
  %u = tensor.splat %i : tensor<32xi32, #line>
  %r:2 = tile.reduce %t, %u axis 0 {
  ^bb0(%a: f32, %p: i32, %b: f32, %q: i32):
    %first = arith.cmpf oge, %a, %b : f32
    %c = arith.select %first, %a, %b : f32
    %s = arith.select %first, %p, %q : i32
    tile.yield %c, %s : f32, i32
  } : (tensor<32xf32, #line>, tensor<32xi32, #line>) -> (f32, i32)
  return
}

}

// -----

#warps = #tile.layout<atom = [64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32]], groups = [], repeat = [1]>
#parts = #tile.layout<atom = [2], register = [], lane = [[0], [0], [0], [0], [0]], warp = [[1]], groups = [], repeat = [1]>

module attributes {tile.target = "sm_80"} {

// Each warp for itself.
// CHECK-LABEL: llvm.func @parts
// CHECK-COUNT-5: shfl.sync.bfly.b32
// CHECK-NOT: bar
// CHECK: llvm.return
func.func @parts(%x: f32) attributes {pipe.kernel, pipe.warps = 2 : i64} {
  %t = tensor.splat %x : tensor<64xf32, #warps>
  %r = tile.reduce %t axis 0 attributes {parts = 2 : i64} {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  } : (tensor<64xf32, #warps>) -> tensor<2xf32, #parts>
  return
}

}

// -----

#warps = #tile.layout<atom = [64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32]], groups = [], repeat = [1]>

module attributes {tile.target = "sm_80"} {

func.func @across_warps(%x: f32) attributes {pipe.kernel, pipe.warps = 2 : i64} {
  %t = tensor.splat %x : tensor<64xf32, #warps>
  // expected-error@+1 {{'tile.reduce' op expected an axis within warps, or as many parts as warps share it, got [64] =}}
  %r = tile.reduce %t axis 0 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  } : (tensor<64xf32, #warps>) -> f32
  return
}

}
