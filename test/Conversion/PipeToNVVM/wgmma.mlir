// RUN: headrace-opt %s --convert-pipe-to-nvvm | FileCheck %s

// wgmma: descriptors; fence, k-steps, commit and a wait that follows in one piece of PTX, tied to the registers.

#acc2 = #tile.layout<atom = [64, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], groups = [2 : 0, 1 : 1], repeat = [1, 1]>
#acc1 = #tile.layout<atom = [64, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], groups = [1 : 0, 1 : 1], repeat = [1, 2]>
#accn = #tile.layout<atom = [64, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], groups = [1 : 0, 2 : 1], repeat = [2, 4]>
#a16 = #tile.layout<atom = [64, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], groups = [1 : 0, 1 : 1], repeat = [1, 2]>
#a32 = #tile.layout<atom = [64, 8], register = [[8, 0], [0, 4]], lane = [[0, 1], [0, 2], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], groups = [1 : 0, 1 : 1], repeat = [1, 1]>
#s128 = #tile.shared<major = 1, swizzle = 128>
#s64 = #tile.shared<major = 1, swizzle = 64>
#s32 = #tile.shared<major = 1, swizzle = 32>
#s16 = #tile.shared<major = 1, swizzle = 16>
!acc2 = tensor<128x8xf32, #acc2>
!acc1 = tensor<64x16xf32, #acc1>
!int1 = tensor<64x16xi32, #acc1>
!accn = tensor<128x64xf32, #accn>

module attributes {tile.target = "sm_90a"} {

// Two warpgroups, 64 rows each: A starts 64 * 128 bytes further in the second. The descriptors are those of the 128-byte
// swizzle, K-major: high word 0x40000040, low word 0x10000 plus the start in units of 16 bytes; a k-step is 32 bytes.
// CHECK-LABEL: llvm.func @two_groups
// CHECK: %[[WARP:.*]] = nvvm.shfl.sync
// CHECK: %[[GROUP:.*]] = arith.shrui %[[WARP]], %{{.*}} : i32
// CHECK: %[[C13:.*]] = arith.constant 13 : i32
// CHECK: %[[ROWS:.*]] = arith.shli %[[GROUP]], %[[C13]] : i32
// CHECK: %[[A:.*]] = arith.addi %{{.*}}, %[[ROWS]] : i32
// CHECK: %[[START:.*]] = arith.shrui %[[A]], %c4{{.*}} : i32
// CHECK: %[[WORD:.*]] = arith.addi %[[START]], %c65536{{.*}} : i32
// CHECK: %[[WIDE:.*]] = arith.extui %[[WORD]] : i32 to i64
// CHECK: arith.ori %[[WIDE]], %c4611686293305294848{{.*}} : i64
// CHECK: arith.addi %{{.*}}, %c65538{{.*}} : i32
// CHECK: "{\0A.reg .pred p;\0Asetp.eq.u32 p, 0, 0;\0Awgmma.fence.sync.aligned;\0Awgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {$0, $1, $2, $3}, $8, $12, p, 1, 1, 0, 0;\0Awgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {$0, $1, $2, $3}, $9, $13, p, 1, 1, 0, 0;\0Awgmma
// CHECK-SAME: wgmma.commit_group.sync.aligned;\0Awgmma.wait_group.sync.aligned 0;\0A}", "=&f,=&f,=&f,=&f,0,1,2,3,l,l,l,l,l,l,l,l,~{memory}"
// CHECK-NOT: wgmma.
func.func @two_groups() attributes {pipe.kernel, pipe.warps = 8 : i64, pipe.shared_bytes = 65536 : i64} {
  %acc = arith.constant dense<0.0> : !acc2
  %ch = pipe.create_channel "ab" <barrier> {offset = 0 : i64} : !pipe.channel<1, [!pipe.buffer<128x64xbf16, #s128>, !pipe.buffer<8x64xbf16, #s128>]>
  %a, %b = pipe.consumer_wait %ch : !pipe.channel<1, [!pipe.buffer<128x64xbf16, #s128>, !pipe.buffer<8x64xbf16, #s128>]> -> !pipe.buffer<128x64xbf16, #s128>, !pipe.buffer<8x64xbf16, #s128>
  %d = pipe.mma_async <wgmma 64 x 8 x 16, groups = 2 x 1> %a, %b transpose_b, %acc : !pipe.buffer<128x64xbf16, #s128>, !pipe.buffer<8x64xbf16, #s128>, !acc2 -> !pipe.inflight<!acc2>
  %r = pipe.mma_wait %d pending 0 : !pipe.inflight<!acc2> -> !acc2
  return
}

// A is K x M and B is K x N, both contiguous along M and N: a k-step is 16 rows of the panel, and the transposing
// immediates are set.
// CHECK-LABEL: llvm.func @mn_major
// CHECK: "{{.*}}m64n16k16.f32.f16.f16 {$0, $1, $2, $3, $4, $5, $6, $7}, $16, $18, p, 1, 1, 1, 1;
func.func @mn_major() attributes {pipe.kernel, pipe.warps = 4 : i64, pipe.shared_bytes = 65536 : i64} {
  %acc = arith.constant dense<0.0> : !acc1
  %ch = pipe.create_channel "ab" <barrier> {offset = 0 : i64} : !pipe.channel<1, [!pipe.buffer<32x64xf16, #s128>, !pipe.buffer<32x16xf16, #s32>]>
  %a, %b = pipe.consumer_wait %ch : !pipe.channel<1, [!pipe.buffer<32x64xf16, #s128>, !pipe.buffer<32x16xf16, #s32>]> -> !pipe.buffer<32x64xf16, #s128>, !pipe.buffer<32x16xf16, #s32>
  %d = pipe.mma_async <wgmma 64 x 16 x 16, groups = 1 x 1> %a transpose_a, %b, %acc : !pipe.buffer<32x64xf16, #s128>, !pipe.buffer<32x16xf16, #s32>, !acc1 -> !pipe.inflight<!acc1>
  %r = pipe.mma_wait %d pending 0 : !pipe.inflight<!acc1> -> !acc1
  return
}

// A in registers: four words for each k-step. Chained in flight, with something between the last one and the wait.
// CHECK-LABEL: llvm.func @a_in_registers
// CHECK: "{{.*}}wgmma.fence{{.*}}m64n16k16.f32.bf16.bf16 {$0, $1, $2, $3, $4, $5, $6, $7}, {$16, $17, $18, $19}, $24, p, 1, 1, 0;\0A{{.*}} {$20, $21, $22, $23}, $25, p, 1, 1, 0;\0Awgmma.commit_group.sync.aligned;\0A}", "=&f,=&f,=&f,=&f,=&f,=&f,=&f,=&f,0,1,2,3,4,5,6,7,r,r,r,r,r,r,r,r,l,l,~{memory}"
// CHECK: "{{.*}}wgmma.fence{{.*}}wgmma.commit_group.sync.aligned;\0A}"
// CHECK: "fence.proxy.async.shared::cta;"
// CHECK: "wgmma.wait_group.sync.aligned 0;\0A", "=f,=f,=f,=f,=f,=f,=f,=f,0,1,2,3,4,5,6,7,~{memory}"
func.func @a_in_registers() attributes {pipe.kernel, pipe.warps = 4 : i64, pipe.shared_bytes = 65536 : i64} {
  %acc = arith.constant dense<0.0> : !acc1
  %a = arith.constant dense<1.0> : tensor<64x32xbf16, #a16>
  %ch = pipe.create_channel "b" <barrier> {offset = 0 : i64} : !pipe.channel<1, [!pipe.buffer<16x32xbf16, #s64>]>
  %b = pipe.consumer_wait %ch : !pipe.channel<1, [!pipe.buffer<16x32xbf16, #s64>]> -> !pipe.buffer<16x32xbf16, #s64>
  %d = pipe.mma_async <wgmma 64 x 16 x 16, groups = 1 x 1> %a, %b transpose_b, %acc : tensor<64x32xbf16, #a16>, !pipe.buffer<16x32xbf16, #s64>, !acc1 -> !pipe.inflight<!acc1>
  %e = pipe.mma_async <wgmma 64 x 16 x 16, groups = 1 x 1> %a, %b transpose_b, %d : tensor<64x32xbf16, #a16>, !pipe.buffer<16x32xbf16, #s64>, !pipe.inflight<!acc1> -> !pipe.inflight<!acc1>
  pipe.fence_async
  %r = pipe.mma_wait %e pending 0 : !pipe.inflight<!acc1> -> !acc1
  return
}

// tf32 from registers is rounded first: the instruction would truncate.
// CHECK-LABEL: llvm.func @tf32
// CHECK-COUNT-4: "cvt.rna.tf32.f32 $0, $1;"
// CHECK: "{{.*}}m64n16k8.f32.tf32.tf32 {{.*}}, $20, p, 1, 1;\0A
func.func @tf32() attributes {pipe.kernel, pipe.warps = 4 : i64, pipe.shared_bytes = 65536 : i64} {
  %acc = arith.constant dense<0.0> : !acc1
  %a = arith.constant dense<1.0> : tensor<64x8xf32, #a32>
  %ch = pipe.create_channel "b" <barrier> {offset = 0 : i64} : !pipe.channel<1, [!pipe.buffer<16x8xf32, #s32>]>
  %b = pipe.consumer_wait %ch : !pipe.channel<1, [!pipe.buffer<16x8xf32, #s32>]> -> !pipe.buffer<16x8xf32, #s32>
  %d = pipe.mma_async <wgmma 64 x 16 x 8, groups = 1 x 1> %a, %b transpose_b, %acc {precision = #tile.precision<tf32>} : tensor<64x8xf32, #a32>, !pipe.buffer<16x8xf32, #s32>, !acc1 -> !pipe.inflight<!acc1>
  %r = pipe.mma_wait %d pending 0 : !pipe.inflight<!acc1> -> !acc1
  return
}

// CHECK-LABEL: llvm.func @s8
// CHECK: "{{.*}}m64n16k32.s32.s8.s8 {$0, $1, $2, $3, $4, $5, $6, $7}, $16, $17, p;\0A{{.*}}}", "=&r,
// CHECK: "{{.*}}m64n16k32.f32.e4m3.e5m2 {$0, $1, $2, $3, $4, $5, $6, $7}, $16, $17, p, 1, 1;\0A{{.*}}}", "=&f,
func.func @s8_and_f8() attributes {pipe.kernel, pipe.warps = 4 : i64, pipe.shared_bytes = 65536 : i64} {
  %acc = arith.constant dense<0> : !int1
  %ch = pipe.create_channel "ab" <barrier> {offset = 0 : i64} : !pipe.channel<1, [!pipe.buffer<64x32xi8, #s32>, !pipe.buffer<16x32xi8, #s16>]>
  %a, %b = pipe.consumer_wait %ch : !pipe.channel<1, [!pipe.buffer<64x32xi8, #s32>, !pipe.buffer<16x32xi8, #s16>]> -> !pipe.buffer<64x32xi8, #s32>, !pipe.buffer<16x32xi8, #s16>
  %d = pipe.mma_async <wgmma 64 x 16 x 32, groups = 1 x 1> %a, %b transpose_b, %acc : !pipe.buffer<64x32xi8, #s32>, !pipe.buffer<16x32xi8, #s16>, !int1 -> !pipe.inflight<!int1>
  %r = pipe.mma_wait %d pending 0 : !pipe.inflight<!int1> -> !int1
  %facc = arith.constant dense<0.0> : !acc1
  %ch2 = pipe.create_channel "f8" <barrier> {offset = 4096 : i64} : !pipe.channel<1, [!pipe.buffer<64x32xf8E4M3FN, #s32>, !pipe.buffer<16x32xf8E5M2, #s16>]>
  %fa, %fb = pipe.consumer_wait %ch2 : !pipe.channel<1, [!pipe.buffer<64x32xf8E4M3FN, #s32>, !pipe.buffer<16x32xf8E5M2, #s16>]> -> !pipe.buffer<64x32xf8E4M3FN, #s32>, !pipe.buffer<16x32xf8E5M2, #s16>
  %fd = pipe.mma_async <wgmma 64 x 16 x 32, groups = 1 x 1> %fa, %fb transpose_b, %facc : !pipe.buffer<64x32xf8E4M3FN, #s32>, !pipe.buffer<16x32xf8E5M2, #s16>, !acc1 -> !pipe.inflight<!acc1>
  %fr = pipe.mma_wait %fd pending 0 : !pipe.inflight<!acc1> -> !acc1
  return
}

// Two groups along N, and for each two blocks of 64 rows by two of 16 columns: 16 registers of a row block, 8 of a block.
// CHECK-LABEL: llvm.func @blocks
// CHECK: %[[REST:.*]] = arith.shli %{{.*}}, %c12{{.*}} : i32
// CHECK: llvm.inline_asm {{.*}}"{\0A.reg .pred p;\0Asetp.eq.u32 p, 0, 0;\0Awgmma.fence.sync.aligned;\0Awgmma.mma_async.sync.aligned.m64n16k16{{.*}} {$0, {{.*}} {$8, {{.*}} {$16, {{.*}} {$24, {{.*}}wgmma.commit_group.sync.aligned;
// CHECK-NOT: mma_async
// CHECK: llvm.return
func.func @blocks() attributes {pipe.kernel, pipe.warps = 8 : i64, pipe.shared_bytes = 65536 : i64} {
  %acc = arith.constant dense<0.0> : !accn
  %ch = pipe.create_channel "ab" <barrier> {offset = 0 : i64} : !pipe.channel<1, [!pipe.buffer<128x64xbf16, #s128>, !pipe.buffer<64x64xbf16, #s128>]>
  %a, %b = pipe.consumer_wait %ch : !pipe.channel<1, [!pipe.buffer<128x64xbf16, #s128>, !pipe.buffer<64x64xbf16, #s128>]> -> !pipe.buffer<128x64xbf16, #s128>, !pipe.buffer<64x64xbf16, #s128>
  %d = pipe.mma_async <wgmma 64 x 16 x 16, groups = 1 x 2> %a, %b transpose_b, %acc : !pipe.buffer<128x64xbf16, #s128>, !pipe.buffer<64x64xbf16, #s128>, !accn -> !pipe.inflight<!accn>
  %r = pipe.mma_wait %d pending 0 : !pipe.inflight<!accn> -> !accn
  return
}
}
