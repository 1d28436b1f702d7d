// RUN: headrace-opt %s --convert-pipe-to-nvvm --split-input-file --verify-diagnostics

// Copies and matmuls that have no instruction.

!buf = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!ch = !pipe.channel<1, [!buf]>
!rows = memref<?x?xbf16, strided<[?, 1]>>
module attributes {tile.target = "sm_80"} {
func.func @two_bytes(%A: !rows, %m: index) attributes {pipe.kernel, pipe.warps = 4 : i64, pipe.shared_bytes = 32768 : i64} {
  %ch = pipe.create_channel "a" <group> {offset = 0 : i64} : !ch
  %a = pipe.producer_acquire %ch : !ch -> !buf
  // expected-error @+1 {{expected vector to be 4, 8 or 16 bytes, which cp.async moves, got 2}}
  pipe.copy <cp_async> %A[%m, %m] to %a in %ch {vector = 2 : i64} : !rows, !buf, !ch
  return
}
}

// -----

!buf = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!ch = !pipe.channel<1, [!buf]>
!columns = memref<?x?xbf16, strided<[1, ?]>>
module attributes {tile.target = "sm_80"} {
func.func @other_dimension(%A: !columns, %m: index) attributes {pipe.kernel, pipe.warps = 4 : i64, pipe.shared_bytes = 32768 : i64} {
  %ch = pipe.create_channel "a" <group> {offset = 0 : i64} : !ch
  %a = pipe.producer_acquire %ch : !ch -> !buf
  // expected-error @+1 {{expected array and slot to be contiguous in the same dimension}}
  pipe.copy <cp_async> %A[%m, %m] to %a in %ch {vector = 16 : i64} : !columns, !buf, !ch
  return
}
}

// -----

!buf = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!ch = !pipe.channel<1, [!buf]>
!rows = memref<?x?xbf16, strided<[?, 1]>>
module attributes {tile.target = "sm_75"} {
func.func @target(%A: !rows, %m: index) attributes {pipe.kernel, pipe.warps = 4 : i64, pipe.shared_bytes = 32768 : i64} {
  %ch = pipe.create_channel "a" <barrier> {offset = 0 : i64} : !ch
  %a = pipe.producer_acquire %ch : !ch -> !buf
  // expected-error @+1 {{cp.async needs}}
  pipe.copy <cp_async> %A[%m, %m] to %a in %ch {vector = 16 : i64} : !rows, !buf, !ch
  return
}
}

// -----

!buf = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!ch = !pipe.channel<1, [!buf]>
!rows = memref<?x?xbf16, strided<[?, 1]>>
module attributes {tile.target = "sm_90a"} {
func.func @other_box(%A: !rows, %m: index, %i: i32) attributes {pipe.kernel, pipe.warps = 4 : i64, pipe.shared_bytes = 32768 : i64,
    pipe.tensor_maps = [{arg = 0 : i64, box = array<i64: 64, 128>, dims = array<i64: 1, 0>, dtype = "bf16", swizzle = 128 : i64}]} {
  %ch = pipe.create_channel "a" <mbarrier> {offset = 0 : i64, barrier_offset = 16384 : i64, full_arrivals = 1 : i64, empty_arrivals = 1 : i64, tx_bytes = 8192 : i64} : !ch
  %a = pipe.producer_acquire %ch[%i, %i] : !ch -> !buf
  // expected-error @+1 {{expected tensor map 0 to be {arg = 0 : i64, box = array<i64: 64, 64>, dims = array<i64: 1, 0>, dtype = "bf16", swizzle = 128 : i64}, got {arg = 0 : i64, box = array<i64: 64, 128>, dims = array<i64: 1, 0>, dtype = "bf16", swizzle = 128 : i64}}}
  pipe.copy <tma> %A[%m, %m] to %a in %ch[%i] {map = 0 : i64} : !rows, !buf, !ch
  return
}
}

// -----

!buf = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!ch = !pipe.channel<1, [!buf]>
!rows = memref<?x?xbf16, strided<[511, 1]>>
module attributes {tile.target = "sm_90a"} {
func.func @stride(%A: !rows, %m: index, %i: i32) attributes {pipe.kernel, pipe.warps = 4 : i64, pipe.shared_bytes = 32768 : i64,
    pipe.tensor_maps = [{arg = 0 : i64, box = array<i64: 64, 64>, dims = array<i64: 1, 0>, dtype = "bf16", swizzle = 128 : i64}]} {
  %ch = pipe.create_channel "a" <mbarrier> {offset = 0 : i64, barrier_offset = 16384 : i64, full_arrivals = 1 : i64, empty_arrivals = 1 : i64, tx_bytes = 8192 : i64} : !ch
  %a = pipe.producer_acquire %ch[%i, %i] : !ch -> !buf
  // expected-error @+1 {{TMA cannot move this tile: expected the stride of dimension 0 of the array to be a positive multiple of 16 bytes below 2^40, got 1022 bytes}}
  pipe.copy <tma> %A[%m, %m] to %a in %ch[%i] {map = 0 : i64} : !rows, !buf, !ch
  return
}
}

// -----

#acc = #tile.layout<atom = [64, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], groups = [1 : 0, 1 : 1], repeat = [1, 2]>
!acc = tensor<64x16xi32, #acc>
!a = !pipe.buffer<64x64xi8, #tile.shared<major = 1, swizzle = 64>>
!b = !pipe.buffer<64x16xi8, #tile.shared<major = 1, swizzle = 16>>
!ch = !pipe.channel<1, [!a, !b]>
module attributes {tile.target = "sm_90a"} {
func.func @n_contiguous_bytes() attributes {pipe.kernel, pipe.warps = 4 : i64, pipe.shared_bytes = 65536 : i64} {
  %acc = arith.constant dense<0> : !acc
  %ch = pipe.create_channel "ab" <barrier> {offset = 0 : i64} : !ch
  %a, %b = pipe.consumer_wait %ch : !ch -> !a, !b
  // expected-error @+1 {{wgmma reads operands of 8 bits only where K is contiguous, but N is contiguous in B}}
  %d = pipe.mma_async <wgmma 64 x 16 x 32, groups = 1 x 1> %a, %b, %acc : !a, !b, !acc -> !pipe.inflight<!acc>
  %r = pipe.mma_wait %d pending 0 : !pipe.inflight<!acc> -> !acc
  return
}
}

// -----

// Three blocks of 32 columns from a panel of 64: the second group's start in the middle of one.
#acc = #tile.layout<atom = [64, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], groups = [1 : 0, 2 : 1], repeat = [1, 12]>
!acc = tensor<64x192xf32, #acc>
!a = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!b = !pipe.buffer<64x192xbf16, #tile.shared<major = 1, swizzle = 128>>
!ch = !pipe.channel<1, [!a, !b]>
module attributes {tile.target = "sm_90a"} {
func.func @middle_of_a_panel() attributes {pipe.kernel, pipe.warps = 8 : i64, pipe.shared_bytes = 65536 : i64} {
  %acc = arith.constant dense<0.0> : !acc
  %ch = pipe.create_channel "ab" <barrier> {offset = 0 : i64} : !ch
  %a, %b = pipe.consumer_wait %ch : !ch -> !a, !b
  // expected-error @+1 {{no wgmma descriptor for 32 of 192 rows of B from row 0 in panels of 64}}
  %d = pipe.mma_async <wgmma 64 x 32 x 16, groups = 1 x 2> %a, %b, %acc : !a, !b, !acc -> !pipe.inflight<!acc>
  %r = pipe.mma_wait %d pending 0 : !pipe.inflight<!acc> -> !acc
  return
}
}
