// RUN: headrace-opt %s --convert-pipe-to-nvvm | FileCheck %s

#acc = #tile.layout<atom = [8, 8], register = [[0, 1]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [], groups = [1 : 0], repeat = [1, 1]>
#k128 = #tile.shared<major = 1, swizzle = 128>
#k64 = #tile.shared<major = 1, swizzle = 64>

module attributes {tile.target = "sm_75"} {

// 32 steps of K in trips of 8: a row of A and two columns of B are two vectors of four elements each.
// CHECK-LABEL: llvm.func @multiplies_f32
// CHECK: %[[TRIP:.*]] = arith.constant 8 : i32
// CHECK: %[[SUM:.*]]:2 = scf.for %[[K:.*]] = %{{.*}} to %{{.*}} step %[[TRIP]] iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) -> (f32, f32) : i32
// CHECK-COUNT-6: "ld.shared.v4.b32
// CHECK-COUNT-16: llvm.intr.fma({{.*}}) : (f32, f32, f32) -> f32
// CHECK: scf.yield
func.func @multiplies_f32(%f: f32) attributes {pipe.kernel, pipe.warps = 1 : i64, pipe.shared_bytes = 2048 : i64} {
  %ch = pipe.create_channel "ab" <barrier> {offset = 0 : i64} : !pipe.channel<1, [!pipe.buffer<8x32xf32, #k128>, !pipe.buffer<8x32xf32, #k128>]>
  %s:2 = pipe.consumer_wait %ch : !pipe.channel<1, [!pipe.buffer<8x32xf32, #k128>, !pipe.buffer<8x32xf32, #k128>]> -> !pipe.buffer<8x32xf32, #k128>, !pipe.buffer<8x32xf32, #k128>
  %acc = tensor.splat %f : tensor<8x8xf32, #acc>
  %d = pipe.mma <fma 1 x 1 x 1, groups = 1 x 1> %s#0, %s#1 transpose_b, %acc : !pipe.buffer<8x32xf32, #k128>, !pipe.buffer<8x32xf32, #k128> -> tensor<8x8xf32, #acc>
  return
}

// CHECK-LABEL: llvm.func @extends_bf16
// CHECK: "ld.shared.v4.b32
// CHECK: arith.extf %{{.*}} : bf16 to f32
// CHECK: llvm.intr.fma({{.*}}) : (f32, f32, f32) -> f32
func.func @extends_bf16(%f: f32) attributes {pipe.kernel, pipe.warps = 1 : i64, pipe.shared_bytes = 2048 : i64} {
  %ch = pipe.create_channel "ab" <barrier> {offset = 0 : i64} : !pipe.channel<1, [!pipe.buffer<8x32xbf16, #k64>, !pipe.buffer<8x32xbf16, #k64>]>
  %s:2 = pipe.consumer_wait %ch : !pipe.channel<1, [!pipe.buffer<8x32xbf16, #k64>, !pipe.buffer<8x32xbf16, #k64>]> -> !pipe.buffer<8x32xbf16, #k64>, !pipe.buffer<8x32xbf16, #k64>
  %acc = tensor.splat %f : tensor<8x8xf32, #acc>
  %d = pipe.mma <fma 1 x 1 x 1, groups = 1 x 1> %s#0, %s#1 transpose_b, %acc : !pipe.buffer<8x32xbf16, #k64>, !pipe.buffer<8x32xbf16, #k64> -> tensor<8x8xf32, #acc>
  return
}

// Eight steps fit one trip: no loop. The sum stays in f32 until the end.
// CHECK-LABEL: llvm.func @keeps_sums_of_f16_in_f32
// CHECK-NOT: scf.for
// CHECK: arith.extf %{{.*}} : f16 to f32
// CHECK-COUNT-16: llvm.intr.fma
// CHECK-COUNT-2: arith.truncf %{{.*}} : f32 to f16
func.func @keeps_sums_of_f16_in_f32(%h: f16) attributes {pipe.kernel, pipe.warps = 1 : i64, pipe.shared_bytes = 2048 : i64} {
  %ch = pipe.create_channel "ab" <barrier> {offset = 0 : i64} : !pipe.channel<1, [!pipe.buffer<8x8xf16, #tile.shared<major = 1, swizzle = 16>>, !pipe.buffer<8x8xf16, #tile.shared<major = 1, swizzle = 16>>]>
  %s:2 = pipe.consumer_wait %ch : !pipe.channel<1, [!pipe.buffer<8x8xf16, #tile.shared<major = 1, swizzle = 16>>, !pipe.buffer<8x8xf16, #tile.shared<major = 1, swizzle = 16>>]> -> !pipe.buffer<8x8xf16, #tile.shared<major = 1, swizzle = 16>>, !pipe.buffer<8x8xf16, #tile.shared<major = 1, swizzle = 16>>
  %acc = tensor.splat %h : tensor<8x8xf16, #acc>
  %d = pipe.mma <fma 1 x 1 x 1, groups = 1 x 1> %s#0, %s#1 transpose_b, %acc : !pipe.buffer<8x8xf16, #tile.shared<major = 1, swizzle = 16>>, !pipe.buffer<8x8xf16, #tile.shared<major = 1, swizzle = 16>> -> tensor<8x8xf16, #acc>
  return
}

// CHECK-LABEL: llvm.func @multiplies_bytes
// CHECK: arith.extsi %{{.*}} : i8 to i32
// CHECK: %[[P:.*]] = arith.muli %{{.*}}, %{{.*}} : i32
// CHECK: arith.addi %[[P]], %{{.*}} : i32
func.func @multiplies_bytes(%i: i32) attributes {pipe.kernel, pipe.warps = 1 : i64, pipe.shared_bytes = 2048 : i64} {
  %ch = pipe.create_channel "ab" <barrier> {offset = 0 : i64} : !pipe.channel<1, [!pipe.buffer<8x64xi8, #k64>, !pipe.buffer<8x64xi8, #k64>]>
  %s:2 = pipe.consumer_wait %ch : !pipe.channel<1, [!pipe.buffer<8x64xi8, #k64>, !pipe.buffer<8x64xi8, #k64>]> -> !pipe.buffer<8x64xi8, #k64>, !pipe.buffer<8x64xi8, #k64>
  %acc = tensor.splat %i : tensor<8x8xi32, #acc>
  %d = pipe.mma <fma 1 x 1 x 1, groups = 1 x 1> %s#0, %s#1 transpose_b, %acc : !pipe.buffer<8x64xi8, #k64>, !pipe.buffer<8x64xi8, #k64> -> tensor<8x8xi32, #acc>
  return
}

}
