// RUN: headrace-opt %s --convert-pipe-to-nvvm --canonicalize --cse | FileCheck %s

!a = !pipe.buffer<128x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!b = !pipe.buffer<256x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!an = !pipe.buffer<64x128xf16, #tile.shared<major = 1, swizzle = 128>>
!bn = !pipe.buffer<64x512xf16, #tile.shared<major = 1, swizzle = 128>>
!acc = !pipe.buffer<128x256xf32, #tile.tmem>
!wide = !pipe.buffer<128x512xf32, #tile.tmem>
!small = !pipe.buffer<128x24xf32, #tile.tmem>
!load = !pipe.channel<2, [!a, !b]>
!result = !pipe.channel<2, [!acc]>
#rows = #tile.layout<atom = [128, 4], register = [[0, 1], [0, 2]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]],
                     warp = [[32, 0], [64, 0]], groups = [2 : 1], repeat = [1, 3]>
module attributes {tile.target = "sm_100a"} {

// CHECK-LABEL: llvm.func @allocate
func.func @allocate() attributes {pipe.kernel, pipe.warps = 4 : i64, pipe.shared_bytes = 1024 : i64} {
  // CHECK:      scf.if
  // CHECK:        "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [$0], 256;"
  // CHECK-NEXT:   "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;"
  // CHECK:      {{^ *[}]$}}
  // CHECK-NEXT: "tcgen05.fence::before_thread_sync;"
  // CHECK-NEXT: "bar.sync 0;"
  // CHECK-NEXT: "tcgen05.fence::after_thread_sync;"
  // CHECK:      "ld.shared.b32 $0, [$1];"
  pipe.tmem_alloc 256 address_at 512
  // CHECK:      "bar.sync 0;"
  // CHECK:      scf.if
  // CHECK:        "ld.shared.b32 $0, [$1];"
  // CHECK:        "tcgen05.dealloc.cta_group::1.sync.aligned.b32 $0, 256;"
  pipe.tmem_dealloc 256 address_at 512
  return
}

// The golden instruction descriptor of bf16 to f32, 128 x 256. A step of 16 along K is 32 bytes: 2 in a descriptor.
// CHECK-LABEL: llvm.func @mma_k_major
// CHECK-SAME:  %[[ACCUMULATE:[^:, ]*]]: i1
func.func @mma_k_major(%i: i32, %p: i32, %accumulate: i1) attributes {pipe.kernel, pipe.warps = 4 : i64, pipe.shared_bytes = 100352 : i64} {
  %load = pipe.create_channel "AB" <mbarrier> {async_release, full_arrivals = 1 : i64, empty_arrivals = 1 : i64, tx_bytes = 49152 : i64, offset = 0 : i64, barrier_offset = 98304 : i64} : !load
  %result = pipe.create_channel "C" <mbarrier> {async_commit, full_arrivals = 1 : i64, empty_arrivals = 4 : i64, offset = 0 : i64, barrier_offset = 98400 : i64} : !result
  // CHECK:      %[[BASE:.*]] = llvm.inline_asm {{.*}} "ld.shared.b32 $0, [$1];"
  pipe.tmem_alloc 512 address_at 100000
  // CHECK:      try_wait
  // CHECK-NEXT: "tcgen05.fence::after_thread_sync;"
  // CHECK:      %[[COLUMN:.*]] = arith.shli %{{.*}}, %{{.*}}
  // CHECK:      %[[D:.*]] = arith.addi %[[BASE]], %[[COLUMN]]
  %d = pipe.producer_acquire %result[%i, %p] : !result -> !acc
  // Only the leader waits: its commit alone frees the slot, so another warp might sleep through a phase.
  // CHECK:      @!$2 bra D;\0AW: mbarrier.try_wait{{.*}} %{{[^ ]*}}, %{{[^ ]*}}, %[[LEADER:[^ ]*]] :
  // CHECK-NEXT: "tcgen05.fence::after_thread_sync;"
  %a, %b = pipe.consumer_wait %load[%i, %p] : !load -> !a, !b
  // CHECK:      mov.b32 i, 0x08400490;\0A
  // CHECK-SAME: add.s32 d, $0, 0;\0A
  // CHECK-SAME: add.s64 a, $1, 0;\0Aadd.s64 b, $2, 0;\0A@$4 tcgen05.mma.cta_group::1.kind::f16 [d], a, b, i, $3;\0A
  // CHECK-SAME: add.s64 a, $1, 2;\0Aadd.s64 b, $2, 2;\0A@$4 tcgen05.mma.cta_group::1.kind::f16 [d], a, b, i, 1;\0A
  // CHECK-SAME: add.s64 a, $1, 4;\0Aadd.s64 b, $2, 4;\0A@$4 tcgen05.mma.cta_group::1.kind::f16 [d], a, b, i, 1;\0A
  // CHECK-SAME: add.s64 a, $1, 6;\0Aadd.s64 b, $2, 6;\0A@$4 tcgen05.mma.cta_group::1.kind::f16 [d], a, b, i, 1;\0A}
  // CHECK-SAME: %[[D]], %{{[^ ]*}}, %{{[^ ]*}}, %[[ACCUMULATE]], %[[LEADER]] :
  pipe.mma_tmem <tcgen05 128 x 256 x 16, groups = 1 x 1> %a, %b transpose_b into %d accumulate %accumulate : !a, !b, !acc
  // CHECK:      "@$1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [$0];"{{.*}} %{{[^ ]*}}, %[[LEADER]] :
  pipe.consumer_release %load[%i, %p] : !load
  // CHECK:      "@$1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [$0];"{{.*}} %{{[^ ]*}}, %[[LEADER]] :
  pipe.producer_commit %result[%i, %p] : !result
  return
}

// Both operands are contiguous along M and N (bits 15 and 16); 512 columns take two instructions for each step. A step of
// 16 along K is 16 rows of 128 bytes: 128 in a descriptor. The second block of columns is four panels of 8192 bytes on.
// CHECK-LABEL: llvm.func @mma_mn_major_two_blocks
func.func @mma_mn_major_two_blocks(%accumulate: i1) attributes {pipe.kernel, pipe.warps = 4 : i64, pipe.shared_bytes = 100352 : i64} {
  %load = pipe.create_channel "AB" <barrier> {offset = 0 : i64} : !pipe.channel<1, [!an, !bn]>
  %result = pipe.create_channel "C" <barrier> {offset = 0 : i64} : !pipe.channel<1, [!wide]>
  pipe.tmem_alloc 512 address_at 100000
  %a, %b = pipe.consumer_wait %load : !pipe.channel<1, [!an, !bn]> -> !an, !bn
  %d = pipe.producer_acquire %result : !pipe.channel<1, [!wide]> -> !wide
  // CHECK:      mov.b32 i, 0x08418010;\0A
  // CHECK-SAME: add.s32 d, $0, 0;\0Aadd.s64 a, $1, 0;\0Aadd.s64 b, $2, 0;\0A@$4 tcgen05.mma.cta_group::1.kind::f16 [d], a, b, i, $3;\0A
  // CHECK-SAME: add.s64 a, $1, 128;\0Aadd.s64 b, $2, 128;\0A@$4 tcgen05.mma.cta_group::1.kind::f16 [d], a, b, i, 1;\0A
  // CHECK-SAME: add.s32 d, $0, 256;\0Aadd.s64 a, $1, 0;\0Aadd.s64 b, $2, 2048;\0A@$4 tcgen05.mma.cta_group::1.kind::f16 [d], a, b, i, $3;\0A
  pipe.mma_tmem <tcgen05 128 x 256 x 16, groups = 1 x 1> %a transpose_a, %b into %d accumulate %accumulate : !an, !bn, !wide
  return
}

// Two groups of four warps read 12 columns each: eight and four.
// CHECK-LABEL: llvm.func @read
func.func @read(%i: i32, %p: i32) attributes {pipe.kernel, pipe.warps = 8 : i64, pipe.shared_bytes = 1024 : i64} {
  %result = pipe.create_channel "C" <mbarrier> {async_commit, full_arrivals = 1 : i64, empty_arrivals = 8 : i64, offset = 0 : i64, barrier_offset = 0 : i64} : !pipe.channel<1, [!small]>
  // CHECK-DAG:  %[[C3:.*]] = arith.constant 3 : i32
  // CHECK-DAG:  %[[C12:.*]] = arith.constant 12 : i32
  // CHECK-DAG:  %[[C21:.*]] = arith.constant 21 : i32
  // CHECK:      %[[WARP:.*]] = nvvm.shfl.sync
  // CHECK:      %[[BASE:.*]] = llvm.inline_asm {{.*}} "ld.shared.b32 $0, [$1];"
  pipe.tmem_alloc 32 address_at 512
  %d = pipe.consumer_wait %result[%i, %p] : !pipe.channel<1, [!small]> -> !small
  // CHECK:      %[[QUARTER:.*]] = arith.andi %[[WARP]], %[[C3]]
  // CHECK:      %[[LANE:.*]] = arith.shli %[[QUARTER]], %[[C21]]
  // CHECK:      %[[ROW:.*]] = arith.addi %[[BASE]], %[[LANE]]
  // CHECK:      %[[GROUP:.*]] = arith.shrui %[[WARP]], %{{.*}}
  // CHECK:      %[[FIRST:.*]] = arith.muli %[[GROUP]], %[[C12]]
  // CHECK:      %[[ADDRESS:.*]] = arith.addi %[[ROW]], %[[FIRST]]
  // CHECK:      "tcgen05.ld.sync.aligned.32x32b.x8.b32 {$0, $1, $2, $3, $4, $5, $6, $7}, [$8+0];"{{.*}} %[[ADDRESS]]
  // CHECK:      "tcgen05.ld.sync.aligned.32x32b.x4.b32 {$0, $1, $2, $3}, [$4+8];"{{.*}} %[[ADDRESS]]
  // CHECK:      "tcgen05.wait::ld.sync.aligned;", "{{(=f,)+}}0,1,2,3,4,5,6,7,8,9,10,11,~{memory}"
  %tile = pipe.read %d : !small -> tensor<128x24xf32, #rows>
  // CHECK:      "tcgen05.fence::before_thread_sync;"
  // CHECK-NEXT: "bar.warp.sync 0xffffffff;"
  // CHECK:      "@$1 mbarrier.arrive.shared::cta.b64 _, [$0];"
  pipe.consumer_release %result[%i, %p] : !pipe.channel<1, [!small]>
  return
}
}
