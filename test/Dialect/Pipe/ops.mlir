// RUN: headrace-opt %s | headrace-opt | FileCheck %s
// RUN: headrace-opt %s --mlir-print-op-generic | headrace-opt | FileCheck %s

// Every op of the pipe dialect, printed and parsed again.

#row = #tile.layout<atom = [4, 32], register = [], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[1, 0], [2, 0]], groups = [], repeat = [16, 2]>
!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!sum = !pipe.buffer<128x64xf32, #tile.tmem>
!ring = !pipe.channel<3, [!tile, !tile]>
!one = !pipe.channel<1, [!tile]>
!sums = !pipe.channel<2, [!sum]>
!array = memref<?x?xbf16, strided<[?, 1]>>
!fragment = tensor<64x64xbf16, #row>
!acc = tensor<64x64xf32, #row>

// CHECK-LABEL: func.func @channels
func.func @channels(%i: i32, %phase: i32, %p: i1) {
  // CHECK: %[[RING:.*]] = pipe.create_channel "A+B" <mbarrier> {async_release, barrier_offset = 49152 : i64, empty_arrivals = 8 : i64, full_arrivals = 1 : i64, offset = 0 : i64, tx_bytes = 16384 : i64} : <3, [
  // CHECK: %[[ONE:.*]] = pipe.create_channel "C" <group> : <1, [<64x64xbf16, #{{.*}}>]>
  // CHECK: pipe.create_channel "D" <barrier> : <1, [
  // CHECK: pipe.create_channel "E" <bulk_store> : <1, [
  // CHECK: pipe.create_channel "sums" <mbarrier> {async_commit} : <2, [<128x64xf32, #tile.tmem>]>
  %ring = pipe.create_channel "A+B" <mbarrier> {async_release, full_arrivals = 1 : i64, empty_arrivals = 8 : i64, tx_bytes = 16384 : i64, offset = 0 : i64, barrier_offset = 49152 : i64} : !ring
  %one = pipe.create_channel "C" <group> : !one
  %two = pipe.create_channel "D" <barrier> : !one
  %three = pipe.create_channel "E" <bulk_store> : !one
  %sums = pipe.create_channel "sums" <mbarrier> {async_commit} : !sums
  // CHECK: %{{.*}}:2 = pipe.producer_acquire %[[RING]][%[[I:.*]], %[[PHASE:.*]]] if %[[P:.*]] : <3, {{.*}} -> !pipe.buffer<64x64xbf16, {{.*}}>, !pipe.buffer<64x64xbf16, {{.*}}>
  // CHECK: pipe.producer_commit %[[RING]][%[[I]], %[[PHASE]]] if %[[P]] :
  // CHECK: %{{.*}}:2 = pipe.consumer_wait %[[RING]][%[[I]], %[[PHASE]]] :
  // CHECK: pipe.consumer_release %[[RING]][%[[I]], %[[PHASE]]] :
  // CHECK: pipe.advance[%[[I]], %[[PHASE]]] depth 3 if %[[P]]
  %a:2 = pipe.producer_acquire %ring[%i, %phase] if %p : !ring -> !tile, !tile
  pipe.producer_commit %ring[%i, %phase] if %p : !ring
  %b:2 = pipe.consumer_wait %ring[%i, %phase] : !ring -> !tile, !tile
  pipe.consumer_release %ring[%i, %phase] : !ring
  %ni, %np = pipe.advance [%i, %phase] depth 3 if %p
  // Without cursors and predicates.
  // CHECK: pipe.producer_acquire %[[ONE]] :
  // CHECK: pipe.producer_commit %[[ONE]] :
  // CHECK: pipe.consumer_wait %[[ONE]] {pending = 2 : i64} :
  // CHECK: pipe.consumer_release %[[ONE]] :
  // CHECK: pipe.advance[%[[I]], %[[PHASE]]] depth 1{{$}}
  %c = pipe.producer_acquire %one : !one -> !tile
  pipe.producer_commit %one : !one
  %d = pipe.consumer_wait %one {pending = 2 : i64} : !one -> !tile
  pipe.consumer_release %one : !one
  %mi, %mp = pipe.advance [%i, %phase] depth 1
  return
}

// CHECK-LABEL: func.func @data
func.func @data(%A: !array, %n: index, %i: i32, %p: i1, %x: !fragment, %acc: !acc, %on: i1) {
  %one = pipe.create_channel "A" <mbarrier> : !one
  %sums = pipe.create_channel "sums" <mbarrier> {async_commit} : !sums
  %t = pipe.producer_acquire %one : !one -> !tile
  %s = pipe.producer_acquire %sums : !sums -> !sum
  // CHECK: pipe.copy <tma> %{{.*}}[%{{.*}}, %{{.*}}] to %[[T:.*]] in %[[ONE:.*]] {map = 2 : i64} :
  // CHECK: pipe.copy <cp_async> %{{.*}}[%{{.*}}, %{{.*}}] to %[[T]] in %[[ONE]][%{{.*}}] if %{{.*}} {cache = #tile.cache<evict_last>, vector = 16 : i64} :
  // CHECK: pipe.async_store %[[T]], %{{.*}}[%{{.*}}, %{{.*}}] {map = 1 : i64} :
  pipe.copy <tma> %A[%n, %n] to %t in %one {map = 2 : i64} : !array, !tile, !one
  pipe.copy <cp_async> %A[%n, %n] to %t in %one[%i] if %p {cache = #tile.cache<evict_last>, vector = 16 : i64} : !array, !tile, !one
  pipe.async_store %t, %A[%n, %n] {map = 1 : i64} : !tile, !array
  // CHECK: pipe.load %{{.*}}[%{{.*}}, %{{.*}}] {fill = 1.000000e+00 : bf16, vector = 8 : i64} :
  // CHECK: pipe.store %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] {vector = 4 : i64} :
  // CHECK: pipe.read %[[T]] :
  // CHECK: pipe.write %{{.*}}, %[[T]] :
  // CHECK: pipe.convert_layout
  %l = pipe.load %A[%n, %n] {fill = 1.0 : bf16, vector = 8 : i64} : !array -> !fragment
  pipe.store %l, %A[%n, %n] {vector = 4 : i64} : !fragment, !array
  %r = pipe.read %t : !tile -> !fragment
  pipe.write %r, %t : !fragment, !tile
  %v = pipe.convert_layout %r : !fragment -> !fragment
  // CHECK: pipe.mma <mma_sync 16 x 8 x 16, groups = 4 x 1> %{{.*}} transpose_a, %[[T]] transpose_b, %{{.*}} :
  // CHECK: %[[F:.*]] = pipe.mma_async <wgmma 64 x 64 x 16, groups = 1 x 1> %{{.*}}, %[[T]] transpose_b, %{{.*}} : tensor<64x64xbf16, {{.*}} -> <tensor<64x64xf32, {{.*}}>>
  // CHECK: %[[G:.*]] = pipe.mma_async <wgmma 64 x 64 x 16, groups = 1 x 1> %[[T]], %[[T]], %[[F]] : {{.*}}, !pipe.inflight
  // CHECK: pipe.mma_wait %[[G]] pending 0
  // CHECK: pipe.mma_tmem <tcgen05 128 x 64 x 16, groups = 1 x 1> %[[T]] transpose_a, %[[T]] into %{{.*}} accumulate %{{.*}} {precision = #tile.precision<tf32>} :
  %m = pipe.mma <mma_sync 16 x 8 x 16, groups = 4 x 1> %v transpose_a, %t transpose_b, %acc : !fragment, !tile -> !acc
  %f = pipe.mma_async <wgmma 64 x 64 x 16, groups = 1 x 1> %v, %t transpose_b, %m : !fragment, !tile, !acc -> !pipe.inflight<!acc>
  %g = pipe.mma_async <wgmma 64 x 64 x 16, groups = 1 x 1> %t, %t, %f : !tile, !tile, !pipe.inflight<!acc> -> !pipe.inflight<!acc>
  %w = pipe.mma_wait %g pending 0 : !pipe.inflight<!acc> -> !acc
  pipe.mma_tmem <tcgen05 128 x 64 x 16, groups = 1 x 1> %t transpose_a, %t into %s accumulate %on {precision = #tile.precision<tf32>} : !tile, !tile, !sum
  return
}

// CHECK-LABEL: func.func @kernel_wide
func.func @kernel_wide() {
  // CHECK: pipe.tmem_alloc 128 address_at 1024
  // CHECK-NEXT: pipe.init_channels
  // CHECK-NEXT: pipe.roles attributes {note = "kept"} {
  // CHECK-NEXT:   role "compute" warps 8 active 8 registers 232 {
  // CHECK-NEXT:     pipe.fence_async
  // CHECK-NEXT:     pipe.role_barrier
  // CHECK-NEXT:     pipe.drain_stores
  // CHECK-NEXT:   }
  // CHECK-NEXT:   role "load" warps 4 active 1 registers 40 {
  // CHECK-NEXT:   }
  // CHECK-NEXT: }
  // CHECK-NEXT: pipe.tmem_dealloc 128 address_at 1024
  pipe.tmem_alloc 128 address_at 1024
  pipe.init_channels
  pipe.roles attributes {note = "kept"} {
    role "compute" warps 8 active 8 registers 232 {
      pipe.fence_async
      pipe.role_barrier
      pipe.drain_stores
    }
    role "load" warps 4 active 1 registers 40 {
    }
  }
  pipe.tmem_dealloc 128 address_at 1024
  return
}

// CHECK-LABEL: func.func private @types
// CHECK-SAME: !pipe.buffer<40xf32, #{{.*}}>, !pipe.channel<0, [<64x64xbf16, #{{.*}}>, <64x64xbf16, #{{.*}}>]>, !pipe.inflight<tensor<64x64xf32>>
func.func private @types(!pipe.buffer<40xf32, #tile.shared<major = 0, swizzle = 0>>, !pipe.channel<0, [!tile, !tile]>, !pipe.inflight<tensor<64x64xf32>>)
