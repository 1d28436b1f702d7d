// RUN: headrace-opt %s --convert-pipe-to-nvvm --split-input-file | FileCheck %s

#mma = #tile.layout<atom = [16, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [], groups = [1 : 0], repeat = [1, 2]>
#rows = #tile.layout<atom = [32, 8], register = [[0, 1], [0, 2], [0, 4]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [], groups = [1 : 0], repeat = [1, 2]>
#twice = #tile.layout<atom = [16, 8], register = [[0, 1], [0, 2], [0, 4]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 0]], warp = [], groups = [1 : 0], repeat = [1, 2]>
#copies = #tile.layout<atom = [16, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [], groups = [2 : -1], repeat = [1, 2]>
#turned = #tile.layout<atom = [16, 8], register = [[8, 0], [0, 1]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [], groups = [1 : 0], repeat = [1, 2]>
#s32 = #tile.shared<major = 1, swizzle = 32>

module attributes {tile.target = "sm_90a"} {

// CHECK-LABEL: llvm.func @moves_fragments_by_matrix
// CHECK: "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {$0, $1, $2, $3}, [$4];"
// CHECK: "stmatrix.sync.aligned.m8n8.x4.shared.b16 [$0], {$1, $2, $3, $4};", "r,r,r,r,r,~{memory}"
func.func @moves_fragments_by_matrix() attributes {pipe.kernel, pipe.warps = 1 : i64, pipe.shared_bytes = 2048 : i64} {
  %ch = pipe.create_channel "x" <barrier> {offset = 0 : i64} : !pipe.channel<1, [!pipe.buffer<16x16xbf16, #s32>]>
  %s = pipe.consumer_wait %ch : !pipe.channel<1, [!pipe.buffer<16x16xbf16, #s32>]> -> !pipe.buffer<16x16xbf16, #s32>
  %t = pipe.read %s : !pipe.buffer<16x16xbf16, #s32> -> tensor<16x16xbf16, #mma>
  pipe.write %t, %s : tensor<16x16xbf16, #mma>, !pipe.buffer<16x16xbf16, #s32>
  return
}

// A row of 16 elements is two vectors; the second differs in the swizzled bit.
// CHECK-LABEL: llvm.func @moves_rows_by_vector
// CHECK: "ld.shared.v4.b32 {$0, $1, $2, $3}, [$4];"{{.*}} %[[FIRST:[0-9]+]] :
// CHECK: %[[SECOND:.*]] = arith.xori %[[FIRST]],
// CHECK: "ld.shared.v4.b32 {$0, $1, $2, $3}, [$4];"{{.*}} %[[SECOND]] :
// CHECK: "st.shared.v4.b32 [$0], {$1, $2, $3, $4};", "r,r,r,r,r,~{memory}"
// CHECK: "st.shared.v4.b32 [$0], {$1, $2, $3, $4};"
func.func @moves_rows_by_vector() attributes {pipe.kernel, pipe.warps = 1 : i64, pipe.shared_bytes = 2048 : i64} {
  %ch = pipe.create_channel "x" <barrier> {offset = 0 : i64} : !pipe.channel<1, [!pipe.buffer<32x16xbf16, #s32>]>
  %s = pipe.consumer_wait %ch : !pipe.channel<1, [!pipe.buffer<32x16xbf16, #s32>]> -> !pipe.buffer<32x16xbf16, #s32>
  %t = pipe.read %s : !pipe.buffer<32x16xbf16, #s32> -> tensor<32x16xbf16, #rows>
  pipe.write %t, %s : tensor<32x16xbf16, #rows>, !pipe.buffer<32x16xbf16, #s32>
  return
}

// Of the two lanes that hold a row, the lower one writes.
// CHECK-LABEL: llvm.func @writes_once
// CHECK: %[[MASK:.*]] = arith.constant 16 : i32
// CHECK: %[[BIT:.*]] = arith.andi %{{.*}}, %[[MASK]] : i32
// CHECK: %[[WRITER:.*]] = arith.cmpi eq, %[[BIT]],
// CHECK-COUNT-2: "@$5 st.shared.v4.b32 [$0], {$1, $2, $3, $4};", "r,r,r,r,r,b,~{memory}"{{.*}} %[[WRITER]] :
func.func @writes_once(%h: bf16) attributes {pipe.kernel, pipe.warps = 1 : i64, pipe.shared_bytes = 2048 : i64} {
  %ch = pipe.create_channel "x" <barrier> {offset = 0 : i64} : !pipe.channel<1, [!pipe.buffer<16x16xbf16, #s32>]>
  %s = pipe.consumer_wait %ch : !pipe.channel<1, [!pipe.buffer<16x16xbf16, #s32>]> -> !pipe.buffer<16x16xbf16, #s32>
  %t = tensor.splat %h : tensor<16x16xbf16, #twice>
  pipe.write %t, %s : tensor<16x16xbf16, #twice>, !pipe.buffer<16x16xbf16, #s32>
  return
}

// Whole warps that are replicas branch around the collective instruction.
// CHECK-LABEL: llvm.func @writes_from_one_warp
// CHECK: %[[WRITER:.*]] = arith.cmpi ult, %{{.*}}, %{{.*}} : i32
// CHECK: scf.if %[[WRITER]] {
// CHECK: "stmatrix.sync.aligned.m8n8.x4.shared.b16
func.func @writes_from_one_warp(%h: bf16) attributes {pipe.kernel, pipe.warps = 2 : i64, pipe.shared_bytes = 2048 : i64} {
  %ch = pipe.create_channel "x" <barrier> {offset = 0 : i64} : !pipe.channel<1, [!pipe.buffer<16x16xbf16, #s32>]>
  %s = pipe.consumer_wait %ch : !pipe.channel<1, [!pipe.buffer<16x16xbf16, #s32>]> -> !pipe.buffer<16x16xbf16, #s32>
  %t = tensor.splat %h : tensor<16x16xbf16, #copies>
  pipe.write %t, %s : tensor<16x16xbf16, #copies>, !pipe.buffer<16x16xbf16, #s32>
  return
}

// Registers 1 and 2 of each block change names.
// CHECK-LABEL: llvm.func @renames_registers
// CHECK: %[[W:.*]] = llvm.inline_asm {{.*}} "ldmatrix
// CHECK: %[[W0:.*]] = llvm.extractvalue %[[W]][0]
// CHECK: %[[W1:.*]] = llvm.extractvalue %[[W]][1]
// CHECK: %[[V0:.*]] = llvm.bitcast %[[W0]] : i32 to vector<2xbf16>
// CHECK: %[[E0:.*]]:2 = vector.to_elements %[[V0]]
// CHECK: %[[V1:.*]] = llvm.bitcast %[[W1]] : i32 to vector<2xbf16>
// CHECK: %[[E1:.*]]:2 = vector.to_elements %[[V1]]
// CHECK: arith.addf %[[E0]]#0, %[[E0]]#0 : bf16
// CHECK: arith.addf %[[E1]]#0, %[[E1]]#0 : bf16
// CHECK: arith.addf %[[E0]]#1, %[[E0]]#1 : bf16
func.func @renames_registers() attributes {pipe.kernel, pipe.warps = 1 : i64, pipe.shared_bytes = 2048 : i64} {
  %ch = pipe.create_channel "x" <barrier> {offset = 0 : i64} : !pipe.channel<1, [!pipe.buffer<16x16xbf16, #s32>]>
  %s = pipe.consumer_wait %ch : !pipe.channel<1, [!pipe.buffer<16x16xbf16, #s32>]> -> !pipe.buffer<16x16xbf16, #s32>
  %t = pipe.read %s : !pipe.buffer<16x16xbf16, #s32> -> tensor<16x16xbf16, #mma>
  %u = pipe.convert_layout %t : tensor<16x16xbf16, #mma> -> tensor<16x16xbf16, #turned>
  %v = arith.addf %u, %u : tensor<16x16xbf16, #turned>
  return
}

}

// -----

#mma = #tile.layout<atom = [16, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [], groups = [1 : 0], repeat = [1, 2]>
#s32 = #tile.shared<major = 1, swizzle = 32>

module attributes {tile.target = "sm_80"} {

// Without stmatrix, a pair of elements is a store.
// CHECK-LABEL: llvm.func @stores_pairs_on_sm_80
// CHECK-COUNT-4: "st.shared.b32 [$0{{(\+256)?}}], $1;", "r,r,~{memory}"
// CHECK-NOT: stmatrix
func.func @stores_pairs_on_sm_80(%h: bf16) attributes {pipe.kernel, pipe.warps = 1 : i64, pipe.shared_bytes = 2048 : i64} {
  %ch = pipe.create_channel "x" <barrier> {offset = 0 : i64} : !pipe.channel<1, [!pipe.buffer<16x16xbf16, #s32>]>
  %s = pipe.consumer_wait %ch : !pipe.channel<1, [!pipe.buffer<16x16xbf16, #s32>]> -> !pipe.buffer<16x16xbf16, #s32>
  %t = tensor.splat %h : tensor<16x16xbf16, #mma>
  pipe.write %t, %s : tensor<16x16xbf16, #mma>, !pipe.buffer<16x16xbf16, #s32>
  return
}

}
