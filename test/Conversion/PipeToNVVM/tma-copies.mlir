// RUN: headrace-opt %s --convert-pipe-to-nvvm | FileCheck %s

// TMA copies: boxes, their places in the slot, coordinates, cache hints.

!tile = !pipe.buffer<128x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!ring = !pipe.channel<2, [!tile]>
!wide = !pipe.buffer<64x128xbf16, #tile.shared<major = 1, swizzle = 128>>
!wideRing = !pipe.channel<2, [!wide]>
!tall = !pipe.buffer<512x16xf32, #tile.shared<major = 1, swizzle = 64>>
!tallRing = !pipe.channel<1, [!tall]>
!column = !pipe.buffer<64x128xbf16, #tile.shared<major = 0, swizzle = 128>>
!columnRing = !pipe.channel<1, [!column]>
!odd = !pipe.buffer<592x16xbf16, #tile.shared<major = 1, swizzle = 32>>
!oddRing = !pipe.channel<1, [!odd]>
!line = !pipe.buffer<512xf32, #tile.shared<major = 0, swizzle = 0>>
!lineRing = !pipe.channel<1, [!line]>
!rows = memref<?x?xbf16, strided<[?, 1]>>

module attributes {tile.target = "sm_90a"} {

// One box; only the leader issues it, and only where the op's predicate holds.
// CHECK-LABEL: llvm.func @one_box
// CHECK-SAME: %[[P:[a-z0-9]*]]: i1
// CHECK: %[[ISSUE:.*]] = arith.andi %{{.*}}, %[[P]] : i1
// CHECK: scf.if %[[ISSUE]] {
// CHECK: llvm.inline_asm has_side_effects {{.*}}"cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [$0], [$1, {$2, $3}], [$4];", "r,l,r,r,r,~{memory}"
// CHECK-SAME: (i32, !llvm.ptr, i32, i32, i32)
// CHECK-NOT: cp.async.bulk
// CHECK: llvm.return
func.func @one_box(%A: !rows, %m: index, %k: index, %i: i32, %phase: i32, %p: i1)
    attributes {pipe.kernel, pipe.warps = 4 : i64, pipe.shared_bytes = 32800 : i64,
                pipe.tensor_maps = [{arg = 0 : i64, box = array<i64: 64, 128>, dims = array<i64: 1, 0>, dtype = "bf16", swizzle = 128 : i64}]} {
  %ch = pipe.create_channel "a" <mbarrier> {offset = 0 : i64, barrier_offset = 32768 : i64, full_arrivals = 1 : i64, empty_arrivals = 1 : i64, tx_bytes = 16384 : i64} : !ring
  %a = pipe.producer_acquire %ch[%i, %phase] : !ring -> !tile
  pipe.copy <tma> %A[%m, %k] to %a in %ch[%i] if %p {map = 0 : i64} : !rows, !tile, !ring
  return
}

// A box for each panel of 64 elements: 64 rows of 128 bytes further in the slot, 64 elements further in the array.
// CHECK-LABEL: llvm.func @panels
// CHECK: scf.if
// CHECK: %[[K:.*]] = arith.index_cast %{{.*}} : index to i32
// CHECK: %[[M:.*]] = arith.index_cast %{{.*}} : index to i32
// CHECK: "cp.async.bulk.tensor.2d{{.*}} %[[SLOT:[^,]*]], %[[MAP:[^,]*]], %[[K]], %[[M]], %[[BARRIER:.*]] : (
// CHECK: %[[SECOND:.*]] = arith.addi %[[SLOT]], %c8192{{.*}} : i32
// CHECK: %[[K2:.*]] = arith.addi %{{.*}}, %c64{{.*}} : i32
// CHECK: "cp.async.bulk.tensor.2d{{.*}} %[[SECOND]], %[[MAP]], %[[K2]], %{{[^,]*}}, %[[BARRIER]] : (
// CHECK-NOT: cp.async.bulk
// CHECK: llvm.return
func.func @panels(%A: !rows, %m: index, %k: index, %i: i32, %phase: i32)
    attributes {pipe.kernel, pipe.warps = 4 : i64, pipe.shared_bytes = 32800 : i64,
                pipe.tensor_maps = [{arg = 0 : i64, box = array<i64: 64, 64>, dims = array<i64: 1, 0>, dtype = "bf16", swizzle = 128 : i64}]} {
  %ch = pipe.create_channel "a" <mbarrier> {offset = 0 : i64, barrier_offset = 32768 : i64, full_arrivals = 1 : i64, empty_arrivals = 1 : i64, tx_bytes = 16384 : i64} : !wideRing
  %a = pipe.producer_acquire %ch[%i, %phase] : !wideRing -> !wide
  pipe.copy <tma> %A[%m, %k] to %a in %ch[%i] {map = 0 : i64} : !rows, !wide, !wideRing
  return
}

// A box has at most 256 rows.
// CHECK-LABEL: llvm.func @more_than_256_rows
// CHECK: "cp.async.bulk.tensor.2d
// CHECK: arith.addi %{{.*}}, %c16384{{.*}} : i32
// CHECK: arith.addi %{{.*}}, %c256{{.*}} : i32
// CHECK: "cp.async.bulk.tensor.2d
// CHECK-NOT: cp.async.bulk
// CHECK: llvm.return
func.func @more_than_256_rows(%A: memref<?x?xf32, strided<[?, 1]>>, %m: index, %k: index, %i: i32, %phase: i32)
    attributes {pipe.kernel, pipe.warps = 4 : i64, pipe.shared_bytes = 32800 : i64,
                pipe.tensor_maps = [{arg = 0 : i64, box = array<i64: 16, 256>, dims = array<i64: 1, 0>, dtype = "tf32", swizzle = 64 : i64}]} {
  %ch = pipe.create_channel "a" <mbarrier> {offset = 0 : i64, barrier_offset = 32768 : i64, full_arrivals = 1 : i64, empty_arrivals = 1 : i64, tx_bytes = 32768 : i64} : !tallRing
  %a = pipe.producer_acquire %ch[%i, %phase] : !tallRing -> !tall
  pipe.copy <tma> %A[%m, %k] to %a in %ch[%i] {map = 0 : i64} : memref<?x?xf32, strided<[?, 1]>>, !tall, !tallRing
  return
}

// The first coordinate is that of the array's contiguous dimension.
// CHECK-LABEL: llvm.func @first_dimension_contiguous
// CHECK-SAME: i64, %[[M32:[a-z0-9]*]]: i32, %[[K32:[a-z0-9]*]]: i32,
// CHECK-DAG: %[[M:.*]] = arith.index_cast %[[M32]] : i32 to index
// CHECK-DAG: %[[K:.*]] = arith.index_cast %[[K32]] : i32 to index
// CHECK: %[[C0:.*]] = arith.index_cast %[[M]] : index to i32
// CHECK: %[[C1:.*]] = arith.index_cast %[[K]] : index to i32
// CHECK: "cp.async.bulk.tensor.2d{{.*}}, %[[C0]], %[[C1]], %{{[^,]*}} : (
// CHECK-NOT: cp.async.bulk
// CHECK: llvm.return
func.func @first_dimension_contiguous(%A: memref<?x?xbf16, strided<[1, ?]>>, %m: index, %k: index, %i: i32, %phase: i32)
    attributes {pipe.kernel, pipe.warps = 4 : i64, pipe.shared_bytes = 16400 : i64,
                pipe.tensor_maps = [{arg = 0 : i64, box = array<i64: 64, 128>, dims = array<i64: 0, 1>, dtype = "bf16", swizzle = 128 : i64}]} {
  %ch = pipe.create_channel "a" <mbarrier> {offset = 0 : i64, barrier_offset = 16384 : i64, full_arrivals = 1 : i64, empty_arrivals = 1 : i64, tx_bytes = 16384 : i64} : !columnRing
  %a = pipe.producer_acquire %ch[%i, %phase] : !columnRing -> !column
  pipe.copy <tma> %A[%m, %k] to %a in %ch[%i] {map = 0 : i64} : memref<?x?xbf16, strided<[1, ?]>>, !column, !columnRing
  return
}

// Rank 1, more than 256 elements; the policy of evict_first.
// CHECK-LABEL: llvm.func @rank_1_evict_first
// CHECK: %[[POLICY:.*]] = arith.constant 1364590687093260288 : i64
// CHECK: "cp.async.bulk.tensor.1d.shared::cta.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint [$0], [$1, {$2}], [$3], $4;", "r,l,r,r,l,~{memory}"{{.*}}%[[POLICY]] :
// CHECK: arith.addi %{{.*}}, %c1024{{.*}} : i32
// CHECK: "cp.async.bulk.tensor.1d
// CHECK-NOT: cp.async.bulk
// CHECK: llvm.return
func.func @rank_1_evict_first(%A: memref<?xf32, strided<[1]>>, %m: index, %i: i32, %phase: i32)
    attributes {pipe.kernel, pipe.warps = 4 : i64, pipe.shared_bytes = 16400 : i64,
                pipe.tensor_maps = [{arg = 0 : i64, box = array<i64: 256>, dims = array<i64: 0>, dtype = "f32", swizzle = 0 : i64}]} {
  %ch = pipe.create_channel "a" <mbarrier> {offset = 0 : i64, barrier_offset = 16384 : i64, full_arrivals = 1 : i64, empty_arrivals = 1 : i64, tx_bytes = 2048 : i64} : !lineRing
  %a = pipe.producer_acquire %ch[%i, %phase] : !lineRing -> !line
  pipe.copy <tma> %A[%m] to %a in %ch[%i] {map = 0 : i64, cache = #tile.cache<evict_first>} : memref<?xf32, strided<[1]>>, !line, !lineRing
  return
}

// Stores go box by box in one bulk group, which pipe.consumer_release commits.
// CHECK-LABEL: llvm.func @store
// CHECK: scf.if
// CHECK: "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [$0, {$2, $3}], [$1];", "l,r,r,r,~{memory}"
// CHECK: "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [$0, {$2, $3}], [$1];"
// CHECK-NOT: bulk.tensor
// CHECK: llvm.return
func.func @store(%C: !rows, %m: index, %n: index)
    attributes {pipe.kernel, pipe.warps = 4 : i64, pipe.shared_bytes = 32768 : i64,
                pipe.tensor_maps = [{arg = 0 : i64, box = array<i64: 64, 64>, dims = array<i64: 1, 0>, dtype = "bf16", swizzle = 128 : i64}]} {
  %ch = pipe.create_channel "c" <bulk_store> {offset = 0 : i64} : !wideRing
  %c0 = arith.constant 0 : i32
  %slot = pipe.consumer_wait %ch[%c0, %c0] : !wideRing -> !wide
  pipe.async_store %slot, %C[%m, %n] {map = 0 : i64} : !wide, !rows
  pipe.consumer_release %ch[%c0, %c0] : !wideRing
  return
}

// Boxes of 148 rows: the second starts amid the swizzle's pattern of 8 rows, at the row's own first byte all the same.
// CHECK-LABEL: llvm.func @store_amid_pattern
// CHECK: "cp.async.bulk.tensor.2d.global.shared{{.*}} %{{[^,]*}}, %[[SLOT:[^,]*]], %{{[^,]*}}, %{{[^,]*}} : (
// CHECK: arith.addi %[[SLOT]], %c4736{{.*}} : i32
// CHECK: "cp.async.bulk.tensor.2d.global.shared
func.func @store_amid_pattern(%C: !rows, %m: index, %n: index)
    attributes {pipe.kernel, pipe.warps = 4 : i64, pipe.shared_bytes = 18944 : i64,
                pipe.tensor_maps = [{arg = 0 : i64, box = array<i64: 16, 148>, dims = array<i64: 1, 0>, dtype = "bf16", swizzle = 32 : i64}]} {
  %ch = pipe.create_channel "c" <bulk_store> {offset = 0 : i64} : !oddRing
  %c0 = arith.constant 0 : i32
  %slot = pipe.consumer_wait %ch[%c0, %c0] : !oddRing -> !odd
  pipe.async_store %slot, %C[%m, %n] {map = 0 : i64} : !odd, !rows
  pipe.consumer_release %ch[%c0, %c0] : !oddRing
  return
}
}
