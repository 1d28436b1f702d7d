// RUN: headrace-opt %s --convert-pipe-to-nvvm | FileCheck %s

// Copies by the threads of a role: cp.async, and ld.global with st.shared.

#s128 = #tile.shared<major = 1, swizzle = 128>
!rows = memref<?x?xbf16, strided<[?, 1]>>
!tile = !pipe.buffer<128x64xbf16, #s128>
!ring = !pipe.channel<2, [!tile]>
!small = !pipe.buffer<32x64xbf16, #s128>
!smallRing = !pipe.channel<1, [!small]>
!odd = !pipe.buffer<40x24xf32, #tile.shared<major = 1, swizzle = 32>>
!oddRing = !pipe.channel<1, [!odd]>
!line = !pipe.buffer<250xf32, #tile.shared<major = 0, swizzle = 0>>
!lineRing = !pipe.channel<1, [!line]>
!flat = !pipe.buffer<64x8xf32, #tile.shared<major = 1, swizzle = 0>>
!flatRing = !pipe.channel<1, [!flat]>
!large = !pipe.buffer<128x128xf32, #s128>
!largeRing = !pipe.channel<1, [!large]>

module attributes {tile.target = "sm_80"} {

// 256 threads take 32 rows at a time. Each of the four chunks is an immediate in the slot, costs one comparison for its
// row, and has its row's pointer, of which the base takes the place outside of the array. The size of the source is what
// is left of the row, or nothing.
// CHECK-LABEL: llvm.func @cp_async
// CHECK-SAME: %[[P:[a-z0-9]*]]: i1
// CHECK: %[[BASE:.*]] = llvm.ptrtoint %arg0 : !llvm.ptr<1> to i64
// CHECK-COUNT-4: arith.cmpi ult
// CHECK: arith.cmpi ult
// CHECK: arith.minsi
// CHECK: %[[BYTES:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : i32
// CHECK: %[[SIZE:.*]] = arith.select %{{.*}}, %[[BYTES]], %{{.*}} : i32
// CHECK: "@$3 cp.async.cg.shared.global.L2::128B [$0], [$1], 16, $2;", "r,l,r,b,~{memory}" %[[SLOT:[^,]*]], %{{[^,]*}}, %[[SIZE]], %[[P]] :
// CHECK: "@$3 cp.async.cg.shared.global.L2::128B [$0+4096], [$1], 16, $2;", "r,l,r,b,~{memory}" %[[SLOT]],
// CHECK: "@$3 cp.async.cg.shared.global.L2::128B [$0+8192], [$1], 16, $2;", "r,l,r,b,~{memory}" %[[SLOT]],
// CHECK: "@$3 cp.async.cg.shared.global.L2::128B [$0+12288], [$1], 16, $2;", "r,l,r,b,~{memory}" %[[SLOT]],
// CHECK-NOT: cp.async
// CHECK: llvm.return
func.func @cp_async(%A: !rows, %m: index, %k: index, %i: i32, %p: i1)
    attributes {pipe.kernel, pipe.warps = 8 : i64, pipe.shared_bytes = 32768 : i64} {
  %ch = pipe.create_channel "a" <group> {offset = 0 : i64} : !ring
  %a = pipe.producer_acquire %ch[%i, %i] : !ring -> !tile
  pipe.copy <cp_async> %A[%m, %k] to %a in %ch[%i] if %p {vector = 16 : i64} : !rows, !tile, !ring
  return
}

// An array whose rows are whole vectors has no partial chunks.
// CHECK-LABEL: llvm.func @no_partial_chunks
// CHECK-NOT: arith.minsi
// CHECK: cp.async.cg
// CHECK: llvm.return
func.func @no_partial_chunks(%A: memref<?x512xbf16, strided<[512, 1]>>, %m: index, %k: index)
    attributes {pipe.kernel, pipe.warps = 8 : i64, pipe.shared_bytes = 32768 : i64} {
  %ch = pipe.create_channel "a" <group> {offset = 0 : i64} : !smallRing
  %a = pipe.producer_acquire %ch : !smallRing -> !small
  pipe.copy <cp_async> %A[%m, %k] to %a in %ch {vector = 16 : i64} : memref<?x512xbf16, strided<[512, 1]>>, !small, !smallRing
  return
}

// 32 threads take 4 rows at a time, so the pattern changes between chunks: two addresses, one XOR apart.
// CHECK-LABEL: llvm.func @two_variants_of_the_swizzle
// CHECK: "cp.async.cg.shared.global.L2::128B [$0], [$1], 16, $2;", "r,l,r,~{memory}" %[[EVEN:[^,]*]],
// CHECK: %[[ODD:.*]] = arith.xori %[[EVEN]], %c64{{.*}} : i32
// CHECK: "cp.async.cg.shared.global.L2::128B [$0+512], [$1], 16, $2;", "r,l,r,~{memory}" %[[ODD]],
// CHECK: "cp.async.cg.shared.global.L2::128B [$0+1024], [$1], 16, $2;", "r,l,r,~{memory}" %[[EVEN]],
// CHECK-NOT: arith.xori
// CHECK: llvm.return
func.func @two_variants_of_the_swizzle(%A: !rows, %m: index, %k: index)
    attributes {pipe.kernel, pipe.warps = 1 : i64, pipe.shared_bytes = 32768 : i64} {
  %ch = pipe.create_channel "a" <group> {offset = 0 : i64} : !smallRing
  %a = pipe.producer_acquire %ch : !smallRing -> !small
  pipe.copy <cp_async> %A[%m, %k] to %a in %ch {vector = 16 : i64} : !rows, !small, !smallRing
  return
}

// 6 chunks a row and 40 rows on 128 threads: 2 chunks side by side in 64 rows, of which 24 are not there.
// CHECK-LABEL: llvm.func @uneven
// CHECK: %[[LIVE:.*]] = arith.cmpi ult, %{{.*}}, %c40{{.*}} : i32
// CHECK-COUNT-3: "@$3 cp.async.cg{{.*}}, %[[LIVE]] :
// CHECK-NOT: cp.async
// CHECK: llvm.return
func.func @uneven(%A: memref<?x?xf32, strided<[?, 1]>>, %m: index, %k: index)
    attributes {pipe.kernel, pipe.warps = 4 : i64, pipe.shared_bytes = 32768 : i64} {
  %ch = pipe.create_channel "a" <group> {offset = 0 : i64} : !oddRing
  %a = pipe.producer_acquire %ch : !oddRing -> !odd
  pipe.copy <cp_async> %A[%m, %k] to %a in %ch {vector = 16 : i64} : memref<?x?xf32, strided<[?, 1]>>, !odd, !oddRing
  return
}

// Narrow copies go through L1; a policy keeps or drops the line in L2.
// CHECK-LABEL: llvm.func @narrow_and_evicted_first
// CHECK: "createpolicy.fractional.L2::evict_first.b64 $0, 0f3F800000;", "=l,~{memory}"
// CHECK: "@$4 cp.async.ca.shared.global.L2::cache_hint [$0], [$1], 4, $2, $3;", "r,l,r,l,b,~{memory}"
// CHECK: llvm.return
func.func @narrow_and_evicted_first(%A: memref<?xf32, strided<[1]>>, %m: index)
    attributes {pipe.kernel, pipe.warps = 8 : i64, pipe.shared_bytes = 32768 : i64} {
  %ch = pipe.create_channel "a" <group> {offset = 0 : i64} : !lineRing
  %a = pipe.producer_acquire %ch : !lineRing -> !line
  pipe.copy <cp_async> %A[%m] to %a in %ch {vector = 4 : i64, cache = #tile.cache<evict_first>} : memref<?xf32, strided<[1]>>, !line, !lineRing
  return
}

// Plain copies: zeros stay where the predicated load does not happen. Vectors only if the array's rows are whole vectors,
// which is the same for all threads.
// CHECK-LABEL: llvm.func @plain
// CHECK: %[[REST:.*]] = arith.andi %{{.*}}, %c7{{.*}} : i32
// CHECK: %[[WHOLE:.*]] = arith.cmpi eq, %[[REST]], %c0{{.*}} : i32
// CHECK: scf.if %[[WHOLE]] {
// CHECK: "@$9 ld.global.cg.v4.b32 {$0, $1, $2, $3}, [$8];", "=r,=r,=r,=r,0,1,2,3,l,b,~{memory}"
// CHECK: "st.shared.v4.b32 [$0], {$1, $2, $3, $4};", "r,r,r,r,r,~{memory}"
// CHECK: } else {
// CHECK-COUNT-8: "@$3 ld.global.cg.b16 $0, [$2];", "=h,0,l,b,~{memory}"
// CHECK-COUNT-8: st.shared.b16
// CHECK-NOT: ld.global
// CHECK: llvm.return
func.func @plain(%A: !rows, %m: index, %k: index)
    attributes {pipe.kernel, pipe.warps = 8 : i64, pipe.shared_bytes = 32768 : i64} {
  %ch = pipe.create_channel "a" <barrier> {offset = 0 : i64} : !smallRing
  %a = pipe.producer_acquire %ch : !smallRing -> !small
  pipe.copy <plain> %A[%m, %k] to %a in %ch {vector = 16 : i64, cache = #tile.cache<cg>} : !rows, !small, !smallRing
  return
}

// Array and slot are contiguous in different dimensions: threads follow the array, element by element.
// CHECK-LABEL: llvm.func @transposing
// CHECK-NOT: v4
// CHECK: ld.global.b32
// CHECK: st.shared.b32
// CHECK: llvm.return
func.func @transposing(%A: memref<?x?xf32, strided<[1, ?]>>, %m: index, %k: index)
    attributes {pipe.kernel, pipe.warps = 4 : i64, pipe.shared_bytes = 32768 : i64} {
  %ch = pipe.create_channel "a" <barrier> {offset = 0 : i64} : !flatRing
  %a = pipe.producer_acquire %ch : !flatRing -> !flat
  pipe.copy <plain> %A[%m, %k] to %a in %ch {vector = 16 : i64} : memref<?x?xf32, strided<[1, ?]>>, !flat, !flatRing
  return
}

// Many chunks for few threads: a loop of 16 at a time.
// CHECK-LABEL: llvm.func @loop
// CHECK: scf.for
// CHECK-COUNT-16: cp.async.ca
// CHECK-NOT: cp.async
// CHECK: llvm.return
func.func @loop(%A: memref<?x?xf32, strided<[?, 1]>>, %m: index, %k: index)
    attributes {pipe.kernel, pipe.warps = 1 : i64, pipe.shared_bytes = 65536 : i64} {
  %ch = pipe.create_channel "a" <group> {offset = 0 : i64} : !largeRing
  %a = pipe.producer_acquire %ch : !largeRing -> !large
  pipe.copy <cp_async> %A[%m, %k] to %a in %ch {vector = 4 : i64} : memref<?x?xf32, strided<[?, 1]>>, !large, !largeRing
  return
}
}
