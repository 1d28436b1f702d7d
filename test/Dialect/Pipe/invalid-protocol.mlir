// RUN: headrace-opt %s --pipe-verify-protocol --split-input-file --verify-diagnostics

// What pipe-verify-protocol refuses: one rule for each chunk. Its twin that is accepted: test/Examples.

!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!ring = !pipe.channel<3, [!tile]>
// Law 1, reading side.
func.func @never_released(%i: i32) {
  %ch = pipe.create_channel "A" <barrier> : !ring
  pipe.producer_commit %ch[%i, %i] : !ring
  // expected-error@+1 {{channel 'A' is waited for and never released}}
  %a = pipe.consumer_wait %ch[%i, %i] : !ring -> !tile
  scf.execute_region {
    pipe.consumer_release %ch[%i, %i] : !ring
    scf.yield
  }
  return
}

// -----

#row = #tile.layout<atom = [4, 32], register = [], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[1, 0], [2, 0]], groups = [], repeat = [16, 2]>
!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!ring = !pipe.channel<3, [!tile]>
// Law 1, reading side: also in a region behind the release.
func.func @read_in_a_branch(%i: i32, %p: i1) {
  %ch = pipe.create_channel "A" <barrier> : !ring
  pipe.producer_commit %ch[%i, %i] : !ring
  %a = pipe.consumer_wait %ch[%i, %i] : !ring -> !tile
  // expected-note@+1 {{released here}}
  pipe.consumer_release %ch[%i, %i] : !ring
  scf.if %p {
    // expected-error@+1 {{reads a slot of channel 'A' after its release}}
    %x = pipe.read %a : !tile -> tensor<64x64xbf16, #row>
  }
  return
}

// -----

#acc = #tile.layout<atom = [16, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [], groups = [4 : 0], repeat = [1, 8]>
!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!ring = !pipe.channel<3, [!tile]>
// Law 1, reading side: wgmma reads until it is waited for.
func.func @read_in_flight(%i: i32, %acc: tensor<64x64xf32, #acc>) -> tensor<64x64xf32, #acc> {
  %ch = pipe.create_channel "A" <barrier> : !ring
  pipe.producer_commit %ch[%i, %i] : !ring
  %a = pipe.consumer_wait %ch[%i, %i] : !ring -> !tile
  // expected-error@+1 {{still reads a slot of channel 'A' when it is released}}
  %f = pipe.mma_async <wgmma 64 x 64 x 16, groups = 1 x 1> %a, %a transpose_b, %acc : !tile, !tile, tensor<64x64xf32, #acc> -> !pipe.inflight<tensor<64x64xf32, #acc>>
  // expected-note@+1 {{released here, before pipe.mma_wait}}
  pipe.consumer_release %ch[%i, %i] : !ring
  %r = pipe.mma_wait %f pending 0 : !pipe.inflight<tensor<64x64xf32, #acc>> -> tensor<64x64xf32, #acc>
  return %r : tensor<64x64xf32, #acc>
}

// -----

!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!ring = !pipe.channel<3, [!tile]>
// Law 1, writing side.
func.func @never_committed(%i: i32) {
  %ch = pipe.create_channel "A" <barrier> : !ring
  // expected-error@+1 {{channel 'A' is acquired and never committed}}
  %a = pipe.producer_acquire %ch[%i, %i] : !ring -> !tile
  return
}

// -----

#row = #tile.layout<atom = [4, 32], register = [], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[1, 0], [2, 0]], groups = [], repeat = [16, 2]>
!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!ring = !pipe.channel<3, [!tile]>
// Law 1, writing side.
func.func @written_late(%i: i32, %x: tensor<64x64xbf16, #row>) {
  %ch = pipe.create_channel "A" <barrier> : !ring
  %a = pipe.producer_acquire %ch[%i, %i] : !ring -> !tile
  // expected-note@+1 {{committed here}}
  pipe.producer_commit %ch[%i, %i] : !ring
  // expected-error@+1 {{writes a slot of channel 'A' after its commit}}
  pipe.write %x, %a : tensor<64x64xbf16, #row>, !tile
  pipe.consumer_release %ch[%i, %i] : !ring
  return
}

// -----

!ring = !pipe.channel<3, [!pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>]>
func.func @never_consumed(%i: i32) {
  // expected-error@+1 {{channel 'A' is produced and never consumed}}
  %ch = pipe.create_channel "A" <barrier> : !ring
  pipe.producer_commit %ch[%i, %i] : !ring
  return
}

// -----

!ring = !pipe.channel<3, [!pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>]>
func.func @never_produced(%i: i32) {
  // expected-error@+1 {{channel 'A' is consumed and never produced}}
  %ch = pipe.create_channel "A" <barrier> : !ring
  pipe.consumer_release %ch[%i, %i] : !ring
  return
}

// -----

!ring = !pipe.channel<3, [!pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>]>
func.func @no_counts(%i: i32) {
  // expected-error@+1 {{channel 'A' has no arrive counts: run pipe-derive-arrivals}}
  %ch = pipe.create_channel "A" <mbarrier> {full_arrivals = 1 : i64} : !ring
  pipe.producer_commit %ch[%i, %i] : !ring
  pipe.consumer_release %ch[%i, %i] : !ring
  return
}

// -----

!ring = !pipe.channel<3, [!pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>]>
// PTX ISA 9.7.13.15.2.
func.func @too_many_bytes(%i: i32) {
  // expected-error@+1 {{channel 'A' expects 1048576 bytes a slot, an mbarrier counts below 1048576}}
  %ch = pipe.create_channel "A" <mbarrier> {full_arrivals = 1 : i64, empty_arrivals = 1 : i64, tx_bytes = 1048576 : i64} : !ring
  pipe.producer_commit %ch[%i, %i] : !ring
  pipe.consumer_release %ch[%i, %i] : !ring
  return
}

// -----

#acc = #tile.layout<atom = [16, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [], groups = [4 : 0], repeat = [1, 8]>
!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
// Law 4.
func.func @never_waited_for(%a: !tile, %acc: tensor<64x64xf32, #acc>) {
  // expected-error@+1 {{accumulator in flight is never waited for}}
  %f = pipe.mma_async <wgmma 64 x 64 x 16, groups = 1 x 1> %a, %a transpose_b, %acc : !tile, !tile, tensor<64x64xf32, #acc> -> !pipe.inflight<tensor<64x64xf32, #acc>>
  return
}

// -----

#row = #tile.layout<atom = [4, 32], register = [], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[1, 0], [2, 0]], groups = [], repeat = [16, 2]>
!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!ring = !pipe.channel<1, [!tile]>
// Law 3: the fence comes too early.
func.func @store_without_fence(%C: memref<?x?xbf16, strided<[?, 1]>>, %n: index, %i: i32, %x: tensor<64x64xbf16, #row>) {
  %ch = pipe.create_channel "C.staging" <bulk_store> : !ring
  %a = pipe.producer_acquire %ch[%i, %i] : !ring -> !tile
  pipe.fence_async
  pipe.write %x, %a : tensor<64x64xbf16, #row>, !tile
  // expected-error@+1 {{channel 'C.staging' is read by TMA stores: expected pipe.fence_async between the writes and this}}
  pipe.producer_commit %ch[%i, %i] : !ring
  %b = pipe.consumer_wait %ch[%i, %i] : !ring -> !tile
  pipe.async_store %b, %C[%n, %n] {map = 0 : i64} : !tile, memref<?x?xbf16, strided<[?, 1]>>
  pipe.consumer_release %ch[%i, %i] : !ring
  return
}

// -----

#acc = #tile.layout<atom = [64, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], groups = [], repeat = [1, 8]>
!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!ring = !pipe.channel<1, [!tile]>
!sum = tensor<64x64xf32, #acc>
// Law 3: cp.async writes through the generic proxy too.
func.func @matmul_without_fence(%A: memref<?x?xbf16, strided<[?, 1]>>, %n: index, %i: i32, %s: !sum) -> !sum {
  %ch = pipe.create_channel "A" <group> : !ring
  %a = pipe.producer_acquire %ch[%i, %i] : !ring -> !tile
  pipe.copy <cp_async> %A[%n, %n] to %a in %ch[%i] : memref<?x?xbf16, strided<[?, 1]>>, !tile, !ring
  pipe.producer_commit %ch[%i, %i] : !ring
  // expected-note@+1 {{waited for here}}
  %b = pipe.consumer_wait %ch[%i, %i] {pending = 0 : i64} : !ring -> !tile
  pipe.role_barrier
  // expected-error@+1 {{reads a slot of channel 'A' asynchronously, which threads wrote: expected pipe.fence_async before it}}
  %f = pipe.mma_async <wgmma 64 x 64 x 16, groups = 1 x 1> %b, %b transpose_b, %s : !tile, !tile, !sum -> !pipe.inflight<!sum>
  %r = pipe.mma_wait %f pending 0 : !pipe.inflight<!sum> -> !sum
  pipe.consumer_release %ch[%i, %i] : !ring
  return %r : !sum
}
