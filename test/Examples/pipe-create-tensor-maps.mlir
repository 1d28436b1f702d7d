// RUN: headrace-opt %s --pipe-create-tensor-maps | FileCheck %s

// pipe-create-tensor-maps numbers the tensor maps that TMA needs and describes them on the kernel: the argument, its
// dimensions from the contiguous one outwards, the box in elements, the swizzle in bytes. The launcher encodes them. Two
// copies of one array with one box share a map. A row of 128 bf16 is two boxes of 64: no swizzle is wider than 128 bytes.

!tile = !pipe.buffer<64x128xbf16, #tile.shared<major = 1, swizzle = 128>>
!staging = !pipe.buffer<32x64xf32, #tile.shared<major = 1, swizzle = 128>>
!ring = !pipe.channel<2, [!tile, !tile]>
!stores = !pipe.channel<1, [!staging]>
!array = memref<?x?xbf16, strided<[?, 1]>>
!result = memref<?x?xf32, strided<[?, 1]>>

// CHECK-LABEL: func.func @maps
// CHECK-SAME:  pipe.tensor_maps = [
// CHECK-SAME:    {arg = 0 : i64, box = array<i64: 64, 64>, dims = array<i64: 1, 0>, dtype = "bf16", swizzle = 128 : i64}
// CHECK-SAME:    {arg = 1 : i64, box = array<i64: 32, 32>, dims = array<i64: 1, 0>, dtype = "f32", swizzle = 128 : i64}]
func.func @maps(%A: !array, %C: !result, %i: index) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %ch = pipe.create_channel "A+A" <mbarrier> : !ring
  %out = pipe.create_channel "C" <bulk_store> : !stores
  %c0 = arith.constant 0 : index
  %a:2 = pipe.producer_acquire %ch : !ring -> !tile, !tile
  // CHECK: pipe.copy <tma> {{.*}}map = 0 : i64
  // CHECK: pipe.copy <tma> {{.*}}map = 0 : i64
  pipe.copy <tma> %A[%c0, %i] to %a#0 in %ch : !array, !tile, !ring
  pipe.copy <tma> %A[%i, %c0] to %a#1 in %ch : !array, !tile, !ring
  pipe.producer_commit %ch : !ring
  %s = pipe.consumer_wait %out : !stores -> !staging
  // CHECK: pipe.async_store {{.*}}map = 1 : i64
  pipe.async_store %s, %C[%c0, %c0] : !staging, !result
  return
}
