// RUN: headrace-opt %s --convert-pipe-to-nvvm | FileCheck %s

#acc16x16 = #tile.layout<atom = [16, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [], groups = [1 : 0, 1 : 1], repeat = [1, 2]>
#acc32x16 = #tile.layout<atom = [16, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [], groups = [1 : 0, 1 : 1], repeat = [2, 2]>
#acc8x8 = #tile.layout<atom = [8, 8], register = [[0, 1]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [], groups = [1 : 0, 1 : 1], repeat = [1, 1]>
#a_bf16 = #tile.layout<atom = [16, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [], groups = [1 : 0, 1 : -1], repeat = [1, 1]>
#k16 = #tile.shared<major = 1, swizzle = 16>
#k32 = #tile.shared<major = 1, swizzle = 32>
#k64 = #tile.shared<major = 1, swizzle = 64>
#n32 = #tile.shared<major = 1, swizzle = 32>

module attributes {tile.target = "sm_90a"} {

// Two steps of K: fragments of the second are loaded before the products of the first. A's 16 x 16 and B's two blocks
// of 8 columns are one instruction each; the second step is one exclusive or away.
// CHECK-LABEL: llvm.func @loads_one_step_ahead
// CHECK: %[[A0:.*]] = llvm.inline_asm {{.*}} "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {$0, $1, $2, $3}, [$4];"{{.*}} %[[PA:[0-9]+]] :
// CHECK: llvm.inline_asm {{.*}} "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {$0, $1, $2, $3}, [$4];"{{.*}} %[[PB:[0-9]+]] :
// CHECK: %[[VA:.*]] = arith.xori %[[PA]], %{{.*}} : i32
// CHECK: llvm.inline_asm {{.*}} "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {$0, $1, $2, $3}, [$4];"{{.*}} %[[VA]] :
// CHECK: %[[VB:.*]] = arith.xori %[[PB]], %{{.*}} : i32
// CHECK: llvm.inline_asm {{.*}} "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {$0, $1, $2, $3}, [$4];"{{.*}} %[[VB]] :
// CHECK-COUNT-4: "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3,~{memory}"
// CHECK-NOT: ldmatrix
func.func @loads_one_step_ahead(%f: f32) attributes {pipe.kernel, pipe.warps = 1 : i64, pipe.shared_bytes = 2048 : i64} {
  %ch = pipe.create_channel "ab" <barrier> {offset = 0 : i64} : !pipe.channel<1, [!pipe.buffer<16x32xbf16, #k64>, !pipe.buffer<16x32xbf16, #k64>]>
  %s:2 = pipe.consumer_wait %ch : !pipe.channel<1, [!pipe.buffer<16x32xbf16, #k64>, !pipe.buffer<16x32xbf16, #k64>]> -> !pipe.buffer<16x32xbf16, #k64>, !pipe.buffer<16x32xbf16, #k64>
  %acc = tensor.splat %f : tensor<16x16xf32, #acc16x16>
  %d = pipe.mma <mma_sync 16 x 8 x 16, groups = 1 x 1> %s#0, %s#1 transpose_b, %acc : !pipe.buffer<16x32xbf16, #k64>, !pipe.buffer<16x32xbf16, #k64> -> tensor<16x16xf32, #acc16x16>
  return
}

// The blocks of the accumulator in the order (0, 0), (0, 1), (1, 1), (1, 0): the third product reuses B of the second.
// A's second block is an immediate away.
// CHECK-LABEL: llvm.func @goes_in_serpentines
// CHECK: %[[A0:.*]] = llvm.inline_asm {{.*}} "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {$0, $1, $2, $3}, [$4];"{{.*}} %[[PA:[0-9]+]] :
// CHECK: %[[A00:.*]] = llvm.extractvalue %[[A0]][0]
// CHECK: %[[A1:.*]] = llvm.inline_asm {{.*}} "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {$0, $1, $2, $3}, [$4+512];"{{.*}} %[[PA]] :
// CHECK: %[[A10:.*]] = llvm.extractvalue %[[A1]][0]
// CHECK: %[[B:.*]] = llvm.inline_asm {{.*}} "ldmatrix
// CHECK: %[[B0:.*]] = llvm.extractvalue %[[B]][0]
// CHECK: %[[B1:.*]] = llvm.extractvalue %[[B]][2]
// CHECK: "mma.sync{{.*}} %[[A00]], %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %[[B0]],
// CHECK: "mma.sync{{.*}} %[[A00]], %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %[[B1]],
// CHECK: "mma.sync{{.*}} %[[A10]], %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %[[B1]],
// CHECK: "mma.sync{{.*}} %[[A10]], %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %[[B0]],
func.func @goes_in_serpentines(%f: f32) attributes {pipe.kernel, pipe.warps = 1 : i64, pipe.shared_bytes = 2048 : i64} {
  %ch = pipe.create_channel "ab" <barrier> {offset = 0 : i64} : !pipe.channel<1, [!pipe.buffer<32x16xbf16, #k32>, !pipe.buffer<16x16xbf16, #k32>]>
  %s:2 = pipe.consumer_wait %ch : !pipe.channel<1, [!pipe.buffer<32x16xbf16, #k32>, !pipe.buffer<16x16xbf16, #k32>]> -> !pipe.buffer<32x16xbf16, #k32>, !pipe.buffer<16x16xbf16, #k32>
  %acc = tensor.splat %f : tensor<32x16xf32, #acc32x16>
  %d = pipe.mma <mma_sync 16 x 8 x 16, groups = 1 x 1> %s#0, %s#1 transpose_b, %acc : !pipe.buffer<32x16xbf16, #k32>, !pipe.buffer<16x16xbf16, #k32> -> tensor<32x16xf32, #acc32x16>
  return
}

// CHECK-LABEL: llvm.func @turns_n_contiguous_b
// CHECK: "ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK: "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// CHECK-COUNT-2: "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
func.func @turns_n_contiguous_b(%f: f32) attributes {pipe.kernel, pipe.warps = 1 : i64, pipe.shared_bytes = 2048 : i64} {
  %ch = pipe.create_channel "ab" <barrier> {offset = 0 : i64} : !pipe.channel<1, [!pipe.buffer<16x16xf16, #k32>, !pipe.buffer<16x16xf16, #n32>]>
  %s:2 = pipe.consumer_wait %ch : !pipe.channel<1, [!pipe.buffer<16x16xf16, #k32>, !pipe.buffer<16x16xf16, #n32>]> -> !pipe.buffer<16x16xf16, #k32>, !pipe.buffer<16x16xf16, #n32>
  %acc = tensor.splat %f : tensor<16x16xf32, #acc16x16>
  %d = pipe.mma <mma_sync 16 x 8 x 16, groups = 1 x 1> %s#0, %s#1, %acc : !pipe.buffer<16x16xf16, #k32>, !pipe.buffer<16x16xf16, #n32> -> tensor<16x16xf32, #acc16x16>
  return
}

// ldmatrix cannot turn bytes: four of them are loaded and packed for each register of B.
// CHECK-LABEL: llvm.func @packs_n_contiguous_bytes
// CHECK: "ldmatrix.sync.aligned.m8n8.x1.shared.b16
// CHECK-COUNT-4: "ld.shared.b8 $0,
// CHECK: "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {$0, $1}, {$2}, {$3}, {$0, $1};", "=r,=r,r,r,0,1,~{memory}"
func.func @packs_n_contiguous_bytes(%i: i32) attributes {pipe.kernel, pipe.warps = 1 : i64, pipe.shared_bytes = 2048 : i64} {
  %ch = pipe.create_channel "ab" <barrier> {offset = 0 : i64} : !pipe.channel<1, [!pipe.buffer<8x16xi8, #k16>, !pipe.buffer<16x8xi8, #tile.shared<major = 1, swizzle = 0>>]>
  %s:2 = pipe.consumer_wait %ch : !pipe.channel<1, [!pipe.buffer<8x16xi8, #k16>, !pipe.buffer<16x8xi8, #tile.shared<major = 1, swizzle = 0>>]> -> !pipe.buffer<8x16xi8, #k16>, !pipe.buffer<16x8xi8, #tile.shared<major = 1, swizzle = 0>>
  %acc = tensor.splat %i : tensor<8x8xi32, #acc8x8>
  %d = pipe.mma <mma_sync 8 x 8 x 16, groups = 1 x 1> %s#0, %s#1, %acc : !pipe.buffer<8x16xi8, #k16>, !pipe.buffer<16x8xi8, #tile.shared<major = 1, swizzle = 0>> -> tensor<8x8xi32, #acc8x8>
  return
}

// CHECK-LABEL: llvm.func @rounds_f32_to_tf32
// CHECK-COUNT-2: "ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK-COUNT-8: "cvt.rna.tf32.f32 $0, $1;", "=r,r,~{memory}"
// CHECK-COUNT-2: "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
func.func @rounds_f32_to_tf32(%f: f32) attributes {pipe.kernel, pipe.warps = 1 : i64, pipe.shared_bytes = 2048 : i64} {
  %ch = pipe.create_channel "ab" <barrier> {offset = 0 : i64} : !pipe.channel<1, [!pipe.buffer<16x8xf32, #k32>, !pipe.buffer<16x8xf32, #k32>]>
  %s:2 = pipe.consumer_wait %ch : !pipe.channel<1, [!pipe.buffer<16x8xf32, #k32>, !pipe.buffer<16x8xf32, #k32>]> -> !pipe.buffer<16x8xf32, #k32>, !pipe.buffer<16x8xf32, #k32>
  %acc = tensor.splat %f : tensor<16x16xf32, #acc16x16>
  %d = pipe.mma <mma_sync 16 x 8 x 8, groups = 1 x 1> %s#0, %s#1 transpose_b, %acc {precision = #tile.precision<tf32>} : !pipe.buffer<16x8xf32, #k32>, !pipe.buffer<16x8xf32, #k32> -> tensor<16x16xf32, #acc16x16>
  return
}

// Accumulators of f16 go in pairs.
// CHECK-LABEL: llvm.func @packs_f16_accumulators
// CHECK-COUNT-2: "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {$0, $1}, {$2, $3, $4, $5}, {$6, $7}, {$0, $1};", "=r,=r,r,r,r,r,r,r,0,1,~{memory}"
func.func @packs_f16_accumulators(%h: f16) attributes {pipe.kernel, pipe.warps = 1 : i64, pipe.shared_bytes = 2048 : i64} {
  %ch = pipe.create_channel "ab" <barrier> {offset = 0 : i64} : !pipe.channel<1, [!pipe.buffer<16x16xf16, #k32>, !pipe.buffer<16x16xf16, #k32>]>
  %s:2 = pipe.consumer_wait %ch : !pipe.channel<1, [!pipe.buffer<16x16xf16, #k32>, !pipe.buffer<16x16xf16, #k32>]> -> !pipe.buffer<16x16xf16, #k32>, !pipe.buffer<16x16xf16, #k32>
  %acc = tensor.splat %h : tensor<16x16xf16, #acc16x16>
  %d = pipe.mma <mma_sync 16 x 8 x 16, groups = 1 x 1> %s#0, %s#1 transpose_b, %acc : !pipe.buffer<16x16xf16, #k32>, !pipe.buffer<16x16xf16, #k32> -> tensor<16x16xf16, #acc16x16>
  return
}

// CHECK-LABEL: llvm.func @takes_a_from_registers
// CHECK: "ldmatrix{{.*}}x4.shared.b16
// CHECK-NOT: ldmatrix
// CHECK-COUNT-2: "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
func.func @takes_a_from_registers(%f: f32, %h: bf16) attributes {pipe.kernel, pipe.warps = 1 : i64, pipe.shared_bytes = 2048 : i64} {
  %ch = pipe.create_channel "b" <barrier> {offset = 0 : i64} : !pipe.channel<1, [!pipe.buffer<16x16xbf16, #k32>]>
  %b = pipe.consumer_wait %ch : !pipe.channel<1, [!pipe.buffer<16x16xbf16, #k32>]> -> !pipe.buffer<16x16xbf16, #k32>
  %a = tensor.splat %h : tensor<16x16xbf16, #a_bf16>
  %acc = tensor.splat %f : tensor<16x16xf32, #acc16x16>
  %d = pipe.mma <mma_sync 16 x 8 x 16, groups = 1 x 1> %a, %b transpose_b, %acc : tensor<16x16xbf16, #a_bf16>, !pipe.buffer<16x16xbf16, #k32> -> tensor<16x16xf32, #acc16x16>
  return
}

}
