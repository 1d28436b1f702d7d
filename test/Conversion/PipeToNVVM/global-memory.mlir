// RUN: headrace-opt %s --convert-pipe-to-nvvm | FileCheck %s

#quads = #tile.layout<atom = [8, 16], register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warp = [], groups = [1 : 0], repeat = [2, 1]>
#twice = #tile.layout<atom = [8, 8], register = [[0, 1], [0, 2]], lane = [[0, 4], [1, 0], [2, 0], [4, 0], [0, 0]], warp = [], groups = [1 : 0], repeat = [1, 1]>
#line = #tile.layout<atom = [32], register = [], lane = [[1], [2], [4], [8], [16]], warp = [], groups = [1 : 0], repeat = [1]>

module attributes {tile.target = "sm_80"} {

// Static extents that are multiples: a vector is all in or all out, and its registers start as the fill. With a static
// pitch of 64 elements the second row of the thread, 8 rows down, is an immediate.
// CHECK-LABEL: llvm.func @loads_whole_vectors
// CHECK-SAME: %[[BASE:.*]]: !llvm.ptr<1>
// CHECK: %[[PTR:.*]] = llvm.getelementptr %[[BASE]][%{{.*}}]
// CHECK: %[[ROW:.*]] = arith.cmpi ult, %{{.*}}, %{{.*}} : i32
// CHECK: %[[COL:.*]] = arith.cmpi ult, %{{.*}}, %{{.*}} : i32
// CHECK: %[[IN:.*]] = arith.andi %[[ROW]], %[[COL]] : i1
// CHECK: %[[FILL:.*]] = arith.constant 1065353216 : i32
// CHECK: "@$5 ld.global.cg.v4.b32 {$0, $1, $2, $3}, [$4];", "=r,=r,=r,=r,l,b,0,1,2,3,~{memory}" %[[PTR]], %[[IN]], %[[FILL]],
// CHECK: %[[ROW8:.*]] = arith.cmpi ult
// CHECK: %[[IN8:.*]] = arith.andi %[[ROW8]], %[[COL]] : i1
// CHECK: "@$5 ld.global.cg.v4.b32 {$0, $1, $2, $3}, [$4+2048];"{{.*}} %[[PTR]], %[[IN8]],
// CHECK-NOT: scf.if
func.func @loads_whole_vectors(%A: memref<32x64xf32, strided<[64, 1]>>, %r: index, %c: index) attributes {pipe.kernel, pipe.warps = 1 : i64} {
  %t = pipe.load %A[%r, %c] {vector = 16 : i64, fill = 1.0 : f32, cache = #tile.cache<cg>} : memref<32x64xf32, strided<[64, 1]>> -> tensor<16x16xf32, #quads>
  return
}

// A dynamic extent: vectors inside move as such; where the extent is no multiple, the elements of the others do.
// CHECK-LABEL: llvm.func @loads_the_tail_by_element
// CHECK: arith.maxsi
// CHECK: %[[FIRST:.*]] = llvm.inline_asm {{.*}} "@$5 ld.global.v4.b32
// CHECK: "@$5 ld.global.v4.b32
// CHECK: %[[REST:.*]] = arith.andi %{{.*}}, %{{.*}} : i32
// CHECK: %[[TAIL:.*]] = arith.cmpi ne, %[[REST]],
// CHECK: scf.if %[[TAIL]]
// CHECK-COUNT-8: "@$2 ld.global.b32 $0, [$1{{(\+[0-9]+)?}}];", "=r,l,b,0,~{memory}"
// CHECK: scf.yield
func.func @loads_the_tail_by_element(%A: memref<?x?xf32, strided<[?, 1]>>, %r: index, %c: index) attributes {pipe.kernel, pipe.warps = 1 : i64} {
  %t = pipe.load %A[%r, %c] {vector = 16 : i64} : memref<?x?xf32, strided<[?, 1]>> -> tensor<16x16xf32, #quads>
  return
}

// The distance of 8 rows is one multiplication of the pitch.
// CHECK-LABEL: llvm.func @stores_vectors_and_tail
// CHECK: "@$1 st.global.L1::evict_first.v2.b32 [$0], {$2, $3};", "l,b,r,r,~{memory}" %[[PTR:[0-9]+]], %
// CHECK: %[[DOWN:.*]] = arith.muli %{{.*}}, %{{.*}} : i64
// CHECK: %[[PTR8:.*]] = llvm.getelementptr %[[PTR]][%[[DOWN]]]
// CHECK: "@$1 st.global.L1::evict_first.v2.b32 [$0], {$2, $3};"{{.*}} %[[PTR8]], %
// CHECK: scf.if
// CHECK-COUNT-8: "@$1 st.global.L1::evict_first.b16 [$0{{(\+[0-9]+)?}}], $2;", "l,b,h,~{memory}"
func.func @stores_vectors_and_tail(%A: memref<?x?xf16, strided<[?, 1]>>, %r: index, %c: index, %h: f16) attributes {pipe.kernel, pipe.warps = 1 : i64} {
  %t = tensor.splat %h : tensor<16x16xf16, #quads>
  pipe.store %t, %A[%r, %c] {vector = 8 : i64, cache = #tile.cache<evict_first>} : tensor<16x16xf16, #quads>, memref<?x?xf16, strided<[?, 1]>>
  return
}

// Of a padded tile only what is valid is stored: the rows, and columns, end where the array does, or where the padding starts.
// CHECK-LABEL: llvm.func @stores_no_padding
// CHECK: %[[LAST:.*]] = arith.subi %{{.*}}, %c12_i32
// CHECK: %[[START:.*]] = arith.minsi %[[LAST]], %[[OFFSET:.*]] : i32
// CHECK: %[[END:.*]] = arith.addi %[[START]], %c12_i32
// CHECK: %[[SIZE:.*]] = arith.maxsi %[[END]], %c0_i32
// CHECK: arith.cmpi ult, %{{.*}}, %[[SIZE]] : i32
// CHECK: "@$1 st.global.v4.b32
func.func @stores_no_padding(%A: memref<32x64xf32, strided<[64, 1]>>, %r: index, %c: index, %x: f32) attributes {pipe.kernel, pipe.warps = 1 : i64} {
  %t = tensor.splat %x : tensor<16x16xf32, #quads>
  pipe.store %t, %A[%r, %c] {vector = 16 : i64, valid = array<i64: 12, 16>} : tensor<16x16xf32, #quads>, memref<32x64xf32, strided<[64, 1]>>
  return
}

// CHECK-LABEL: llvm.func @stores_once
// CHECK: %[[WRITER:.*]] = arith.cmpi eq
// CHECK: %[[ROW:.*]] = arith.andi %[[WRITER]], %{{.*}} : i1
// CHECK: %[[IN:.*]] = arith.andi %[[ROW]], %{{.*}} : i1
// CHECK: "@$1 st.global.v4.b32 {{.*}} %{{.*}}, %[[IN]],
func.func @stores_once(%A: memref<8x8xf32, strided<[8, 1]>>, %r: index, %c: index, %f: f32) attributes {pipe.kernel, pipe.warps = 1 : i64} {
  %t = tensor.splat %f : tensor<8x8xf32, #twice>
  pipe.store %t, %A[%r, %c] {vector = 16 : i64} : tensor<8x8xf32, #twice>, memref<8x8xf32, strided<[8, 1]>>
  return
}

// CHECK-LABEL: llvm.func @loads_bytes_of_rank_1
// CHECK: "@$2 ld.global.b8 $0, [$1];", "=h,l,b,0,~{memory}"
func.func @loads_bytes_of_rank_1(%A: memref<?xi8, strided<[?]>>, %i: index) attributes {pipe.kernel, pipe.warps = 1 : i64} {
  %t = pipe.load %A[%i] : memref<?xi8, strided<[?]>> -> tensor<32xi8, #line>
  return
}

}
