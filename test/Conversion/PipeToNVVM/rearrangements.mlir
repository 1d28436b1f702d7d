// RUN: headrace-opt %s --convert-pipe-to-nvvm --split-input-file --verify-diagnostics | FileCheck %s

// Coordinates, and ops that only say otherwise which register holds what.

#grid = #tile.layout<atom = [2, 32], register = [[1, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [], groups = [], repeat = [1, 2]>
#turned = #tile.layout<atom = [32, 2], register = [[0, 1]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [], groups = [], repeat = [2, 1]>
#pairs = #tile.layout<atom = [2, 32, 2], register = [[0, 0, 1], [1, 0, 0]], lane = [[0, 1, 0], [0, 2, 0], [0, 4, 0], [0, 8, 0], [0, 16, 0]], warp = [], groups = [], repeat = [1, 1, 1]>
#half = #tile.layout<atom = [2, 32], register = [[1, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [], groups = [], repeat = [1, 1]>
#lanes = #tile.layout<atom = [2, 16, 2], register = [[1, 0, 0]], lane = [[0, 0, 1], [0, 1, 0], [0, 2, 0], [0, 4, 0], [0, 8, 0]], warp = [], groups = [], repeat = [1, 1, 1]>
#both = #tile.layout<atom = [2, 16], register = [[1, 0]], lane = [[0, 0], [0, 1], [0, 2], [0, 4], [0, 8]], warp = [], groups = [], repeat = [1, 1]>
#four = #tile.layout<atom = [1, 2, 1, 32], register = [[0, 1, 0, 0]], lane = [[0, 0, 0, 1], [0, 0, 0, 2], [0, 0, 0, 4], [0, 0, 0, 8], [0, 0, 0, 16]], warp = [], groups = [], repeat = [1, 1, 1, 2]>
#dense = #tile.shared<major = 1, swizzle = 0>
#row = #tile.shared<major = 0, swizzle = 0>
#line = #tile.layout<atom = [64], register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [], groups = [], repeat = [1]>

module attributes {tile.target = "sm_80"} {

// What the thread adds once, and a constant for each register; the same constant serves several.
// CHECK-LABEL: llvm.func @coordinates
// CHECK: %[[LANE:.*]] = arith.andi %{{.*}}, %c31
// CHECK: arith.addi %{{.*}}, %c0_i32
// CHECK: arith.addi %{{.*}}, %c32_i32
// CHECK-NOT: arith.addi
// CHECK: %[[W:.*]] = arith.addi %{{.*}}, %c0_i32{{.*}} : i32
// CHECK: arith.trunci %[[W]] : i32 to i8
// CHECK: %[[V:.*]] = arith.addi %{{.*}}, %c0_i32{{.*}} : i32
// CHECK: arith.extui %[[V]] : i32 to i64
// CHECK: llvm.return
func.func @coordinates() attributes {pipe.kernel, pipe.warps = 1 : i64} {
  %0 = tile.iota axis 1 : tensor<2x64xi32, #grid>
  %1 = tile.iota axis 1 : tensor<2x64xi8, #grid>
  %2 = tile.iota axis 1 : tensor<2x64xi64, #grid>
  return
}

// No instruction at all.
// CHECK-LABEL: llvm.func @transposes_and_reshapes
// CHECK-SAME: %[[X:.*]]: f32
// CHECK-NEXT: arith.negf %[[X]]
// CHECK-NEXT: arith.negf %[[X]]
// CHECK-NEXT: arith.negf %[[X]]
// CHECK-NEXT: arith.negf %[[X]]
// CHECK-NEXT: llvm.return
func.func @transposes_and_reshapes(%x: f32) attributes {pipe.kernel, pipe.warps = 1 : i64} {
  %t = tensor.splat %x : tensor<2x64xf32, #grid>
  %u = tile.transpose %t [1, 0] : tensor<2x64xf32, #grid> -> tensor<64x2xf32, #turned>
  %v = tile.transpose %u [1, 0] : tensor<64x2xf32, #turned> -> tensor<2x64xf32, #grid>
  %w = tile.reshape %v : tensor<2x64xf32, #grid> -> tensor<1x2x1x64xf32, #four>
  %y = arith.negf %w : tensor<1x2x1x64xf32, #four>
  return
}

// Registers follow their coordinates: columns of the first row, then of the second, become rows of two.
// CHECK-LABEL: llvm.func @registers_of_a_transpose
// CHECK: %[[I0:.*]] = arith.addi %[[L:.*]], %c0_i32{{.*}} : i32
// CHECK: %[[I32:.*]] = arith.addi %[[L]], %c32_i32{{.*}} : i32
// CHECK: arith.muli %[[I0]], %[[I0]]
// CHECK: arith.muli %[[I0]], %[[I0]]
// CHECK: arith.muli %[[I32]], %[[I32]]
// CHECK: arith.muli %[[I32]], %[[I32]]
// CHECK: llvm.return
func.func @registers_of_a_transpose() attributes {pipe.kernel, pipe.warps = 1 : i64} {
  %t = tile.iota axis 1 : tensor<2x64xi32, #grid>
  %u = tile.transpose %t [1, 0] : tensor<2x64xi32, #grid> -> tensor<64x2xi32, #turned>
  %v = arith.muli %u, %u : tensor<64x2xi32, #turned>
  return
}

// Halves of pairs are every other register; joined the other way round, all registers of a row change places.
// CHECK-LABEL: llvm.func @splits_and_joins
// CHECK-SAME: %[[X:[a-z0-9]*]]: f32, %[[Y:[a-z0-9]*]]: f32
// CHECK-NEXT: arith.negf %[[Y]]
// CHECK-NEXT: arith.negf %[[X]]
// CHECK-NEXT: arith.negf %[[Y]]
// CHECK-NEXT: arith.negf %[[X]]
// CHECK-NEXT: llvm.return
func.func @splits_and_joins(%x: f32, %y: f32) attributes {pipe.kernel, pipe.warps = 1 : i64} {
  %s = tensor.splat %x : tensor<2x32xf32, #half>
  %t = tensor.splat %y : tensor<2x32xf32, #half>
  %p = tile.join %s, %t : tensor<2x32xf32, #half> -> tensor<2x32x2xf32, #pairs>
  %a, %b = tile.split %p : tensor<2x32x2xf32, #pairs> -> tensor<2x32xf32, #half>
  %q = tile.join %b, %a : tensor<2x32xf32, #half> -> tensor<2x32x2xf32, #pairs>
  %n = arith.negf %q : tensor<2x32x2xf32, #pairs>
  return
}

// Where neighbouring lanes hold the two, each takes the one that is its own.
// CHECK-LABEL: llvm.func @joins_over_lanes
// CHECK-SAME: %[[X:[a-z0-9]*]]: f32, %[[Y:[a-z0-9]*]]: f32
// CHECK: %[[SECOND:.*]] = arith.cmpi ne, %{{.*}}, %c0_i32
// CHECK-NEXT: arith.select %[[SECOND]], %[[Y]], %[[X]] : f32
// CHECK-NEXT: arith.select %[[SECOND]], %[[Y]], %[[X]] : f32
// CHECK-NEXT: llvm.return
func.func @joins_over_lanes(%x: f32, %y: f32) attributes {pipe.kernel, pipe.warps = 1 : i64} {
  %s = tensor.splat %x : tensor<2x16xf32, #both>
  %t = tensor.splat %y : tensor<2x16xf32, #both>
  %p = tile.join %s, %t : tensor<2x16xf32, #both> -> tensor<2x16x2xf32, #lanes>
  return
}

// A view of a slot is its address.
// CHECK-LABEL: llvm.func @views
// CHECK: "ld.shared.v2.b32 {$0, $1}, [$2];", "=r,=r,r,~{memory}"
// CHECK: llvm.return
func.func @views() attributes {pipe.kernel, pipe.warps = 1 : i64, pipe.shared_bytes = 256 : i64} {
  %ch = pipe.create_channel "x" <barrier> {offset = 0 : i64} : !pipe.channel<1, [!pipe.buffer<2x32xf32, #dense>]>
  %s = pipe.consumer_wait %ch : !pipe.channel<1, [!pipe.buffer<2x32xf32, #dense>]> -> !pipe.buffer<2x32xf32, #dense>
  %v = pipe.view %s : !pipe.buffer<2x32xf32, #dense> -> !pipe.buffer<64xf32, #row>
  %t = pipe.read %v : !pipe.buffer<64xf32, #row> -> tensor<64xf32, #line>
  return
}

}

// -----

#grid = #tile.layout<atom = [2, 32], register = [[1, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [], groups = [], repeat = [1, 1]>
#other = #tile.layout<atom = [32, 2], register = [[1, 0]], lane = [[2, 0], [4, 0], [8, 0], [16, 0], [0, 1]], warp = [], groups = [], repeat = [1, 1]>

module attributes {tile.target = "sm_80"} {

func.func @transpose_between_threads(%x: f32) attributes {pipe.kernel, pipe.warps = 1 : i64} {
  %t = tensor.splat %x : tensor<2x32xf32, #grid>
  // expected-error@+1 {{'tile.transpose' op expected each thread to hold the source of its elements, got [2, 32] =}}
  %u = tile.transpose %t [1, 0] : tensor<2x32xf32, #grid> -> tensor<32x2xf32, #other>
  return
}

}

// -----

#lanes = #tile.layout<atom = [2, 16, 2], register = [[1, 0, 0]], lane = [[0, 0, 1], [0, 1, 0], [0, 2, 0], [0, 4, 0], [0, 8, 0]], warp = [], groups = [], repeat = [1, 1, 1]>
#both = #tile.layout<atom = [2, 16], register = [[1, 0]], lane = [[0, 0], [0, 1], [0, 2], [0, 4], [0, 8]], warp = [], groups = [], repeat = [1, 1]>

module attributes {tile.target = "sm_80"} {

func.func @split_between_threads(%x: f32) attributes {pipe.kernel, pipe.warps = 1 : i64} {
  %t = tensor.splat %x : tensor<2x16x2xf32, #lanes>
  // expected-error@+1 {{'tile.split' op expected each thread to hold both halves of its elements, got [2, 16, 2] =}}
  %a, %b = tile.split %t : tensor<2x16x2xf32, #lanes> -> tensor<2x16xf32, #both>
  return
}

}

// -----

#pairs = #tile.layout<atom = [2, 32, 2], register = [[0, 0, 1], [1, 0, 0]], lane = [[0, 1, 0], [0, 2, 0], [0, 4, 0], [0, 8, 0], [0, 16, 0]], warp = [], groups = [], repeat = [1, 1, 1]>
#turned = #tile.layout<atom = [2, 32], register = [[1, 0]], lane = [[0, 2], [0, 1], [0, 4], [0, 8], [0, 16]], warp = [], groups = [], repeat = [1, 1]>

module attributes {tile.target = "sm_80"} {

func.func @join_between_threads(%x: f32) attributes {pipe.kernel, pipe.warps = 1 : i64} {
  %t = tensor.splat %x : tensor<2x32xf32, #turned>
  // expected-error@+1 {{'tile.join' op expected each thread to hold the elements that it joins, got [2, 32] =}}
  %a = tile.join %t, %t : tensor<2x32xf32, #turned> -> tensor<2x32x2xf32, #pairs>
  return
}

}

// -----

#grid = #tile.layout<atom = [2, 32], register = [[1, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [], groups = [], repeat = [1, 1]>
#vectors = #tile.layout<atom = [64], register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [], groups = [], repeat = [1]>

module attributes {tile.target = "sm_80"} {

func.func @reshape_between_threads(%x: f32) attributes {pipe.kernel, pipe.warps = 1 : i64} {
  %t = tensor.splat %x : tensor<2x32xf32, #grid>
  // expected-error@+1 {{'tile.reshape' op expected each thread to keep its elements, got [2, 32] =}}
  %u = tile.reshape %t : tensor<2x32xf32, #grid> -> tensor<64xf32, #vectors>
  return
}

}
