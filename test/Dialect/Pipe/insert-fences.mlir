// RUN: headrace-opt %s --pipe-insert-fences | FileCheck %s

#row = #tile.layout<atom = [4, 32], register = [], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[1, 0], [2, 0]], groups = [], repeat = [16, 2]>
#acc = #tile.layout<atom = [64, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], groups = [], repeat = [1, 8]>
!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!ring = !pipe.channel<2, [!tile]>
!fragment = tensor<64x64xbf16, #row>
!sum = tensor<64x64xf32, #acc>

// mbarriers order both sides: nothing is added.
// CHECK-LABEL: func.func @mbarriers
// CHECK-NOT: pipe.role_barrier
// CHECK-NOT: pipe.fence_async
func.func @mbarriers(%z: i32, %x: !fragment) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %ch = pipe.create_channel "A" <mbarrier> : !ring
  %a = pipe.producer_acquire %ch[%z, %z] : !ring -> !tile
  pipe.producer_commit %ch[%z, %z] : !ring
  %b = pipe.consumer_wait %ch[%z, %z] : !ring -> !tile
  pipe.consumer_release %ch[%z, %z] : !ring
  return
}

// What threads wrote and wgmma reads is fenced by those who wrote, before the barrier (case W03).
// CHECK-LABEL: func.func @wgmma_reads_writes
// CHECK: pipe.role_barrier
// CHECK-NEXT: pipe.producer_acquire
// CHECK-NEXT: pipe.write
// CHECK-NEXT: pipe.producer_commit
// CHECK-NEXT: pipe.consumer_wait
// CHECK-NEXT: pipe.fence_async
// CHECK-NEXT: pipe.role_barrier
// CHECK-NEXT: pipe.mma_async
func.func @wgmma_reads_writes(%z: i32, %x: !fragment, %s: !sum) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %ch = pipe.create_channel "A" <barrier> : !ring
  %a = pipe.producer_acquire %ch[%z, %z] : !ring -> !tile
  pipe.write %x, %a : !fragment, !tile
  pipe.producer_commit %ch[%z, %z] : !ring
  %b = pipe.consumer_wait %ch[%z, %z] : !ring -> !tile
  %f = pipe.mma_async <wgmma 64 x 64 x 16, groups = 1 x 1> %b, %b transpose_b, %s : !tile, !tile, !sum -> !pipe.inflight<!sum>
  %r = pipe.mma_wait %f pending 0 : !pipe.inflight<!sum> -> !sum
  pipe.consumer_release %ch[%z, %z] : !ring
  return
}

// Waits side by side share a barrier.
// CHECK-LABEL: func.func @adjacent_waits
// CHECK: pipe.consumer_wait
// CHECK-NEXT: pipe.consumer_wait
// CHECK-NEXT: pipe.role_barrier
// CHECK-NOT: pipe.role_barrier
func.func @adjacent_waits(%z: i32) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %x = pipe.create_channel "A" <group> : !ring
  %y = pipe.create_channel "B" <group> : !ring
  %a = pipe.consumer_wait %x[%z, %z] : !ring -> !tile
  %b = pipe.consumer_wait %y[%z, %z] : !ring -> !tile
  pipe.consumer_release %x[%z, %z] : !ring
  pipe.consumer_release %y[%z, %z] : !ring
  return
}

// A slot that was released since the last barrier may still be read by others; one that was not needs no second barrier.
// CHECK-LABEL: func.func @acquire_after_release
// CHECK: pipe.consumer_release
// CHECK-NEXT: pipe.role_barrier
// CHECK-NEXT: pipe.producer_acquire
// CHECK-NEXT: pipe.producer_commit
// CHECK-NEXT: pipe.producer_acquire
func.func @acquire_after_release(%z: i32) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %x = pipe.create_channel "A" <barrier> : !ring
  %a = pipe.consumer_wait %x[%z, %z] : !ring -> !tile
  pipe.consumer_release %x[%z, %z] : !ring
  %b = pipe.producer_acquire %x[%z, %z] : !ring -> !tile
  pipe.producer_commit %x[%z, %z] : !ring
  %c = pipe.producer_acquire %x[%z, %z] : !ring -> !tile
  return
}

// Also if the release lies in a loop before it.
// CHECK-LABEL: func.func @acquire_after_loop
// CHECK: scf.for
// CHECK: }
// CHECK-NEXT: pipe.role_barrier
// CHECK-NEXT: pipe.producer_acquire
func.func @acquire_after_loop(%z: i32, %n: index) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %x = pipe.create_channel "A" <barrier> : !ring
  %a = pipe.consumer_wait %x[%z, %z] : !ring -> !tile
  scf.for %i = %n to %n step %n {
    pipe.consumer_release %x[%z, %z] : !ring
  }
  %b = pipe.producer_acquire %x[%z, %z] : !ring -> !tile
  return
}

// The role that stores waits at its own end.
// CHECK-LABEL: func.func @stores_of_a_role
// CHECK: pipe.roles
// CHECK: pipe.async_store
// CHECK-NEXT: pipe.drain_stores
// CHECK-NEXT: }
// CHECK-NOT: pipe.drain_stores
func.func @stores_of_a_role(%C: memref<?x?xbf16, strided<[?, 1]>>, %n: index) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %x = pipe.create_channel "C.staging" <bulk_store> : !ring
  pipe.roles {
    role "compute" warps 4 active 4 registers 0 {
      %a = pipe.consumer_wait %x : !ring -> !tile
      pipe.async_store %a, %C[%n, %n] {map = 0 : i64} : !tile, memref<?x?xbf16, strided<[?, 1]>>
    }
  }
  return
}

// Groups that stage their own rows wait for their own threads only.
// CHECK-LABEL: func.func @groups
// CHECK: pipe.producer_acquire
// CHECK-NEXT: pipe.role_barrier {groups = 2 : i64}
// CHECK-NEXT: pipe.fence_async
// CHECK-NEXT: pipe.role_barrier {groups = 2 : i64}
// CHECK-NEXT: pipe.producer_commit
// CHECK: pipe.async_store
// CHECK: pipe.drain_stores {groups = 2 : i64}
func.func @groups(%C: memref<?x?xbf16, strided<[?, 1]>>, %n: index, %z: i32) attributes {pipe.kernel, pipe.warps = 8 : i64} {
  %x = pipe.create_channel "C.staging" <bulk_store> {groups = 2 : i64} : !ring
  %a = pipe.producer_acquire %x[%z, %z] : !ring -> !tile
  pipe.producer_commit %x[%z, %z] : !ring
  %b = pipe.consumer_wait %x[%z, %z] : !ring -> !tile
  pipe.async_store %b, %C[%n, %n] {map = 0 : i64, groups = 2 : i64} : !tile, memref<?x?xbf16, strided<[?, 1]>>
  pipe.consumer_release %x[%z, %z] : !ring
  return
}

// CHECK-LABEL: func.func @no_kernel
// CHECK-NOT: pipe.role_barrier
func.func @no_kernel(%z: i32) {
  %x = pipe.create_channel "A" <barrier> : !ring
  %b = pipe.producer_acquire %x[%z, %z] : !ring -> !tile
  return
}
