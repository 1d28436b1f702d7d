// RUN: headrace-opt %s --pipe-create-tensor-maps | FileCheck %s

!tile = !pipe.buffer<64x64xf32, #tile.shared<major = 1, swizzle = 128>>
!vector = !pipe.buffer<128xf32, #tile.shared<major = 0, swizzle = 0>>
!columns = !pipe.buffer<64x64xf16, #tile.shared<major = 0, swizzle = 128>>
!ring = !pipe.channel<2, [!tile]>
!array = memref<?x?xf32, strided<[?, 1]>>

// Copies that are not by TMA need no map.
// CHECK-LABEL: func.func @no_tma
// CHECK-NOT: pipe.tensor_maps
// CHECK: pipe.copy <cp_async> {{[^{]*}} :
func.func @no_tma(%A: !array, %n: index) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %ch = pipe.create_channel "A" <group> : !ring
  %a = pipe.producer_acquire %ch : !ring -> !tile
  pipe.copy <cp_async> %A[%n, %n] to %a in %ch : !array, !tile, !ring
  return
}

// Maps numbered by hand stay.
// CHECK-LABEL: func.func @by_hand
// CHECK-NOT: pipe.tensor_maps
// CHECK: pipe.copy <tma> {{.*}}map = 5 : i64
func.func @by_hand(%A: !array, %n: index) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %ch = pipe.create_channel "A" <mbarrier> : !ring
  %a = pipe.producer_acquire %ch : !ring -> !tile
  pipe.copy <tma> %A[%n, %n] to %a in %ch {map = 5 : i64} : !array, !tile, !ring
  return
}

// A vector has no swizzle, and dimensions count from the contiguous one outwards.
// CHECK-LABEL: func.func @shapes
// CHECK-SAME: {arg = 0 : i64, box = array<i64: 128>, dims = array<i64: 0>, dtype = "f32", swizzle = 0 : i64}
// CHECK-SAME: {arg = 1 : i64, box = array<i64: 64, 64>, dims = array<i64: 0, 1>, dtype = "f16", swizzle = 128 : i64}
func.func @shapes(%v: memref<?xf32>, %B: memref<?x?xf16, strided<[1, ?]>>, %n: index) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %x = pipe.create_channel "v" <mbarrier> : !pipe.channel<1, [!vector]>
  %y = pipe.create_channel "B" <mbarrier> : !pipe.channel<1, [!columns]>
  %a = pipe.producer_acquire %x : !pipe.channel<1, [!vector]> -> !vector
  pipe.copy <tma> %v[%n] to %a in %x : memref<?xf32>, !vector, !pipe.channel<1, [!vector]>
  %b = pipe.producer_acquire %y : !pipe.channel<1, [!columns]> -> !columns
  pipe.copy <tma> %B[%n, %n] to %b in %y : memref<?x?xf16, strided<[1, ?]>>, !columns, !pipe.channel<1, [!columns]>
  return
}

// float32 that only tf32 matmuls read is rounded on the way in; what anything else reads is not (case Q03).
// CHECK-LABEL: func.func @tf32
// CHECK-SAME: dtype = "tf32"
// CHECK-LABEL: func.func @f32
// CHECK-SAME: dtype = "f32"
func.func @tf32(%A: !array, %n: index, %acc: tensor<64x64xf32>) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %ch = pipe.create_channel "A" <mbarrier> : !ring
  %a = pipe.producer_acquire %ch : !ring -> !tile
  pipe.copy <tma> %A[%n, %n] to %a in %ch : !array, !tile, !ring
  %b = pipe.consumer_wait %ch : !ring -> !tile
  %m = pipe.mma <mma_sync 16 x 8 x 8, groups = 2 x 2> %b, %b transpose_b, %acc {precision = #tile.precision<tf32>} : !tile, !tile -> tensor<64x64xf32>
  return
}
func.func @f32(%A: !array, %n: index, %acc: tensor<64x64xf32>) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %ch = pipe.create_channel "A" <mbarrier> : !ring
  %a = pipe.producer_acquire %ch : !ring -> !tile
  pipe.copy <tma> %A[%n, %n] to %a in %ch : !array, !tile, !ring
  %b = pipe.consumer_wait %ch : !ring -> !tile
  %m = pipe.mma <mma_sync 16 x 8 x 8, groups = 2 x 2> %b, %b transpose_b, %acc {precision = #tile.precision<tf32>} : !tile, !tile -> tensor<64x64xf32>
  %x = pipe.read %b : !tile -> tensor<64x64xf32>
  return
}
