// RUN: headrace-opt %s --pipe-insert-fences | FileCheck %s

// pipe-insert-fences adds what mbarriers do not give. A thread that waited for its own cp.async copies knows nothing of
// the others': a barrier of the role follows the wait. The same barrier says that all have read the slot of the trip
// before, so the acquire behind it needs none. The staging tile of a TMA store is written by all threads and read by the
// store engine: a barrier after the acquire, a proxy fence and a barrier before the commit, and at the very end a wait
// for the engine, for shared memory must outlive it.

#row = #tile.layout<atom = [4, 32], register = [], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[1, 0], [2, 0]], groups = [], repeat = [16, 2]>
!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!ring = !pipe.channel<2, [!tile]>
!array = memref<?x?xbf16, strided<[?, 1]>>

// CHECK-LABEL: func.func @loop_and_store
func.func @loop_and_store(%A: !array, %C: !array, %n: index, %i: i32, %x: tensor<64x64xbf16, #row>)
    attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %ch = pipe.create_channel "A" <group> : !ring
  %out = pipe.create_channel "C.staging" <bulk_store> : !ring
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: scf.for
  scf.for %k = %c0 to %n step %c1 {
    // CHECK-NEXT: pipe.consumer_wait
    // CHECK-NEXT: pipe.role_barrier
    // CHECK-NEXT: pipe.producer_acquire
    // CHECK-NEXT: pipe.copy
    // CHECK-NEXT: pipe.producer_commit
    // CHECK-NEXT: pipe.read
    // CHECK-NEXT: pipe.consumer_release
    // CHECK-NEXT: }
    %b = pipe.consumer_wait %ch[%i, %i] {pending = 0 : i64} : !ring -> !tile
    %a = pipe.producer_acquire %ch[%i, %i] : !ring -> !tile
    pipe.copy <cp_async> %A[%k, %c0] to %a in %ch[%i] : !array, !tile, !ring
    pipe.producer_commit %ch[%i, %i] : !ring
    %y = pipe.read %b : !tile -> tensor<64x64xbf16, #row>
    pipe.consumer_release %ch[%i, %i] : !ring
  }
  // CHECK-NEXT: pipe.producer_acquire
  // CHECK-NEXT: pipe.role_barrier
  // CHECK-NEXT: pipe.write
  // CHECK-NEXT: pipe.fence_async
  // CHECK-NEXT: pipe.role_barrier
  // CHECK-NEXT: pipe.producer_commit
  // CHECK-NEXT: pipe.consumer_wait
  // CHECK-NEXT: pipe.async_store
  // CHECK-NEXT: pipe.consumer_release
  // CHECK-NEXT: pipe.drain_stores
  // CHECK-NEXT: return
  %s = pipe.producer_acquire %out[%i, %i] : !ring -> !tile
  pipe.write %x, %s : tensor<64x64xbf16, #row>, !tile
  pipe.producer_commit %out[%i, %i] : !ring
  %t = pipe.consumer_wait %out[%i, %i] : !ring -> !tile
  pipe.async_store %t, %C[%c0, %c0] {map = 0 : i64} : !tile, !array
  pipe.consumer_release %out[%i, %i] : !ring
  return
}

// An arrival does not wait for the loads before it. Where TMA writes the slot next and ordinary loads read it, a proxy
// fence stands before the release; wgmma's reads are complete with its wait.

// CHECK-LABEL: func.func @generic_reads_of_tma_slots
func.func @generic_reads_of_tma_slots(%i: i32) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %ch = pipe.create_channel "A" <mbarrier> {full_arrivals = 1 : i64, empty_arrivals = 4 : i64, tx_bytes = 8192 : i64} : !ring
  // CHECK: pipe.consumer_wait
  // CHECK-NEXT: pipe.read
  // CHECK-NEXT: pipe.fence_async
  // CHECK-NEXT: pipe.consumer_release
  %b = pipe.consumer_wait %ch[%i, %i] : !ring -> !tile
  %y = pipe.read %b : !tile -> tensor<64x64xbf16, #row>
  pipe.consumer_release %ch[%i, %i] : !ring
  return
}
