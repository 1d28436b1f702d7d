// RUN: headrace-opt %s --convert-pipe-to-nvvm --split-input-file --verify-diagnostics | FileCheck %s

// Scans: in the registers of a thread, then over the lanes that share the axis, then repetition by repetition.

#line = #tile.layout<atom = [32], register = [], lane = [[1], [2], [4], [8], [16]], warp = [], groups = [], repeat = [1]>
#quads = #tile.layout<atom = [8, 8], register = [[1, 0]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = [], groups = [], repeat = [1, 1]>
#twice = #tile.layout<atom = [4, 8], register = [], lane = [[1, 0], [2, 0], [0, 1], [0, 2], [0, 4]], warp = [], groups = [], repeat = [2, 1]>
#alone = #tile.layout<atom = [2, 32], register = [[1, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [], groups = [], repeat = [1, 1]>

module attributes {tile.target = "sm_80"} {

// Distances 1, 2, 4, 8 and 16; a lane that has nobody so far before it keeps its own. Then what all lanes before hold,
// the earlier part first.
// CHECK-LABEL: llvm.func @over_lanes
// CHECK-SAME: %[[X:.*]]: f32
// CHECK: %[[LANE:.*]] = arith.andi %{{.*}}, %c31
// CHECK: %[[W:.*]] = llvm.inline_asm {{.*}}"shfl.sync.up.b32 $0, $1, $2, 0, -1;", "=r,r,r,~{memory}" %{{.*}}, %c1_i32 :
// CHECK: %[[BEFORE:.*]] = llvm.bitcast %[[W]] : i32 to f32
// CHECK: %[[HAS:.*]] = arith.cmpi uge, %{{.*}}, %c1_i32
// CHECK: %[[SUM:.*]] = arith.addf %[[BEFORE]], %[[X]] : f32
// CHECK: arith.select %[[HAS]], %[[SUM]], %[[X]] : f32
// CHECK: shfl.sync.up.b32 {{.*}} %c2_i32
// CHECK: arith.cmpi uge, %{{.*}}, %c2_i32
// CHECK: shfl.sync.up.b32 {{.*}} %c4_i32
// CHECK: shfl.sync.up.b32 {{.*}} %c8_i32
// CHECK: shfl.sync.up.b32 {{.*}} %c16_i32
// CHECK: %[[E:.*]] = llvm.inline_asm {{.*}}"shfl.sync.up.b32 {{.*}} %c1_i32
// CHECK: %[[ALL:.*]] = llvm.bitcast %[[E]] : i32 to f32
// CHECK: %[[FIRST:.*]] = arith.cmpi uge, %{{.*}}, %c1_i32
// CHECK: %[[OUT:.*]] = arith.addf %[[ALL]], %[[X]] : f32
// CHECK: arith.select %[[FIRST]], %[[OUT]], %[[X]] : f32
// CHECK-NOT: shfl
// CHECK: llvm.return
func.func @over_lanes(%x: f32) attributes {pipe.kernel, pipe.warps = 1 : i64} {
  %t = tensor.splat %x : tensor<32xf32, #line>
  %r = tile.scan %t axis 0 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  } : (tensor<32xf32, #line>) -> tensor<32xf32, #line>
  return
}

// From the end: lanes are counted from the last, and what comes from a higher lane is the later part.
// CHECK-LABEL: llvm.func @reverse
// CHECK-SAME: %[[X:.*]]: f32
// CHECK: %[[FAR:.*]] = arith.subi %c31{{[^,]*}}, %{{.*}} : i32
// CHECK: %[[W:.*]] = llvm.inline_asm {{.*}}"shfl.sync.down.b32 $0, $1, $2, 31, -1;", "=r,r,r,~{memory}" %{{.*}}, %c1_i32 :
// CHECK: %[[AFTER:.*]] = llvm.bitcast %[[W]] : i32 to f32
// CHECK: %[[HAS:.*]] = arith.cmpi uge, %[[FAR]], %c1_i32
// CHECK: %[[DIFFERENCE:.*]] = arith.subf %[[X]], %[[AFTER]] : f32
// CHECK: arith.select %[[HAS]], %[[DIFFERENCE]], %[[X]] : f32
// CHECK-NOT: shfl.sync.up
// CHECK: llvm.return
func.func @reverse(%x: f32) attributes {pipe.kernel, pipe.warps = 1 : i64} {
  %t = tensor.splat %x : tensor<32xf32, #line>
  %r = tile.scan %t axis 0 attributes {reverse} {
  ^bb0(%a: f32, %b: f32):
    %c = arith.subf %a, %b : f32
    tile.yield %c : f32
  } : (tensor<32xf32, #line>) -> tensor<32xf32, #line>
  return
}

// Two registers of a thread, then the four lanes that have the same column.
// CHECK-LABEL: llvm.func @registers_and_some_lanes
// CHECK-SAME: %[[X:.*]]: f32
// CHECK: arith.andi %{{.*}}, %c3_i32 : i32
// CHECK: %[[TOTAL:.*]] = arith.addf %[[X]], %[[X]] : f32
// CHECK: %[[T:.*]] = llvm.bitcast %[[TOTAL]] : f32 to i32
// CHECK: shfl.sync.up.b32 {{.*}} %[[T]], %c1_i32
// CHECK: shfl.sync.up.b32 {{.*}} %c2_i32
// CHECK: shfl.sync.up.b32 {{.*}} %c1_i32
// CHECK-NOT: shfl
// CHECK: llvm.return
func.func @registers_and_some_lanes(%x: f32) attributes {pipe.kernel, pipe.warps = 1 : i64} {
  %t = tensor.splat %x : tensor<8x8xf32, #quads>
  %r = tile.scan %t axis 0 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  } : (tensor<8x8xf32, #quads>) -> tensor<8x8xf32, #quads>
  return
}

// The next four rows go on from the total of the last of the four lanes: its number with the two low bits set.
// CHECK-LABEL: llvm.func @repetitions
// CHECK-COUNT-3: shfl.sync.up.b32
// CHECK: %[[GROUP:.*]] = arith.andi %{{.*}}, %c28_i32{{[^ ]*}} : i32
// CHECK: %[[LAST:.*]] = arith.ori %[[GROUP]], %c3_i32{{[^ ]*}} : i32
// CHECK: %[[W:.*]] = llvm.inline_asm {{.*}}"shfl.sync.idx.b32 $0, $1, $2, 31, -1;", "=r,r,r,~{memory}" %{{.*}}, %[[LAST]] :
// CHECK: %[[CARRY:.*]] = llvm.bitcast %[[W]] : i32 to f32
// CHECK-COUNT-3: shfl.sync.up.b32
// CHECK-NOT: shfl
// CHECK: arith.addf %[[CARRY]], %{{.*}} : f32
// CHECK: llvm.return
func.func @repetitions(%x: f32) attributes {pipe.kernel, pipe.warps = 1 : i64} {
  %t = tensor.splat %x : tensor<8x8xf32, #twice>
  %r = tile.scan %t axis 0 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  } : (tensor<8x8xf32, #twice>) -> tensor<8x8xf32, #twice>
  return
}

// All of the axis in each thread: nothing to exchange.
// CHECK-LABEL: llvm.func @registers_alone
// CHECK-SAME: %[[X:.*]]: f32
// CHECK: arith.addf %[[X]], %[[X]] : f32
// CHECK-NOT: shfl.sync.{{up|idx.b32}}
// CHECK-NOT: arith.addf
// CHECK: llvm.return
func.func @registers_alone(%x: f32) attributes {pipe.kernel, pipe.warps = 1 : i64} {
  %t = tensor.splat %x : tensor<2x32xf32, #alone>
  %r = tile.scan %t axis 0 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  } : (tensor<2x32xf32, #alone>) -> tensor<2x32xf32, #alone>
  return
}

}

// -----

#high = #tile.layout<atom = [4, 8], register = [], lane = [[1, 0], [2, 0], [0, 1], [0, 2], [0, 4]], warp = [], groups = [], repeat = [1, 1]>

module attributes {tile.target = "sm_80"} {

func.func @high_lanes(%x: f32) attributes {pipe.kernel, pipe.warps = 1 : i64} {
  %t = tensor.splat %x : tensor<4x8xf32, #high>
  // expected-error@+1 {{'tile.scan' op expected an axis that lies in registers, then the low lanes, got [4, 8] =}}
  %r = tile.scan %t axis 1 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  } : (tensor<4x8xf32, #high>) -> tensor<4x8xf32, #high>
  return
}

}

// -----

#warps = #tile.layout<atom = [64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32]], groups = [], repeat = [1]>

module attributes {tile.target = "sm_80"} {

func.func @across_warps(%x: f32) attributes {pipe.kernel, pipe.warps = 2 : i64} {
  %t = tensor.splat %x : tensor<64xf32, #warps>
  // expected-error@+1 {{'tile.scan' op expected an axis that lies in registers, then the low lanes, got [64] =}}
  %r = tile.scan %t axis 0 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  } : (tensor<64xf32, #warps>) -> tensor<64xf32, #warps>
  return
}

}
