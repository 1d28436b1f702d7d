// RUN: headrace-opt %s --convert-pipe-to-nvvm --split-input-file --verify-diagnostics | FileCheck %s

// Gathers, scatters and single elements: each access is predicated by its bounds.

#grid = #tile.layout<atom = [2, 32], register = [[1, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [], groups = [], repeat = [1, 1]>
#pair = #tile.layout<atom = [2], register = [[1]], lane = [[0], [0], [0], [0], [0]], warp = [], groups = [], repeat = [1]>
#line = #tile.layout<atom = [32], register = [], lane = [[1], [2], [4], [8], [16]], warp = [], groups = [], repeat = [1]>
#quads = #tile.layout<atom = [8, 16], register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warp = [], groups = [], repeat = [1, 1]>
#rows = #tile.layout<atom = [8], register = [], lane = [[0], [0], [1], [2], [4]], warp = [], groups = [], repeat = [1]>
#twice = #tile.layout<atom = [16], register = [], lane = [[1], [2], [4], [8], [0]], warp = [[0]], groups = [], repeat = [1]>
!matrix = memref<?x?xf32, strided<[?, 1]>>

module attributes {tile.target = "sm_80"} {

// Rows by place, columns from an index on. A place is compared without sign, so one below zero is outside as well; the
// fill is what the register holds before a load that does not happen.
// CHECK-LABEL: llvm.func @gathers_rows
// CHECK-SAME: %[[BASE:[a-z0-9]*]]: !llvm.ptr<1>, %{{[a-z0-9]*}}: i32, %{{[a-z0-9]*}}: i32, %[[PITCH:[a-z0-9]*]]: i64, %[[P:[a-z0-9]*]]: i32,
// CHECK: %[[COLUMN:.*]] = arith.addi %{{.*}}, %{{.*}} : i32
// CHECK: %[[FILL:.*]] = arith.constant 1.000000e+00 : f32
// CHECK: %[[ROW:.*]] = arith.cmpi ult, %[[P]], %{{.*}} : i32
// CHECK: %[[WIDE:.*]] = arith.extsi %[[P]] : i32 to i64
// CHECK: %[[BYTES:.*]] = arith.muli %[[PITCH]], %c4{{.*}} : i64
// CHECK: %[[DOWN:.*]] = arith.muli %[[WIDE]], %[[BYTES]] : i64
// CHECK: %[[IN:.*]] = arith.cmpi ult, %[[COLUMN]], %{{.*}} : i32
// CHECK: %[[BOTH:.*]] = arith.andi %[[ROW]], %[[IN]] : i1
// CHECK: %[[AT:.*]] = llvm.getelementptr %[[BASE]][%{{.*}}]
// CHECK: %[[BITS:.*]] = llvm.bitcast %[[FILL]] : f32 to i32
// CHECK: "@$2 ld.global.b32 $0, [$1];", "=r,l,b,0,~{memory}" %[[AT]], %[[BOTH]], %[[BITS]] :
// CHECK: "@$2 ld.global.b32
// CHECK-NOT: ld.global
// CHECK: llvm.return
func.func @gathers_rows(%A: !matrix, %p: i32, %i: index) attributes {pipe.kernel, pipe.warps = 1 : i64} {
  %q = tensor.splat %p : tensor<2xi32, #pair>
  %g = tile.gather %A[%q, %i] {fill = 1.0 : f32} : !matrix, (tensor<2xi32, #pair>, index) -> tensor<2x32xf32, #grid>
  return
}

// Of a padded tile only what is valid is written: a lane's column, and a register's row, against what is left of each.
// CHECK-LABEL: llvm.func @scatters_no_padding
// CHECK: %[[LANE:.*]] = arith.cmpi slt, %{{.*}}, %c30_i32
// CHECK: "@$1 st.global.b32 [$0], $2;"
// CHECK: arith.andi %{{.*}}, %[[LANE]] : i1
// CHECK: "@$1 st.global.b32 [$0], $2;"
func.func @scatters_no_padding(%A: !matrix, %p: i32, %i: index, %x: f32) attributes {pipe.kernel, pipe.warps = 1 : i64} {
  %q = tensor.splat %p : tensor<2xi32, #pair>
  %t = tensor.splat %x : tensor<2x32xf32, #grid>
  tile.scatter %t, %A[%q, %i] {valid = array<i64: 2, 30>} : tensor<2x32xf32, #grid>, !matrix, (tensor<2xi32, #pair>, index)
  return
}

// Places of 64 bits are compared as such.
// CHECK-LABEL: llvm.func @gathers_by_wide_places
// CHECK: %[[SIZE:.*]] = arith.extui %{{.*}} : i32 to i64
// CHECK: arith.cmpi ult, %{{.*}}, %[[SIZE]] : i64
// CHECK: ld.global.b8
// CHECK: llvm.return
func.func @gathers_by_wide_places(%A: memref<?xi8>, %p: i64) attributes {pipe.kernel, pipe.warps = 1 : i64} {
  %q = tensor.splat %p : tensor<32xi64, #line>
  %g = tile.gather %A[%q] : memref<?xi8>, (tensor<32xi64, #line>) -> tensor<32xi8, #line>
  return
}

// A place for each element; the leading index of an array of more dimensions has bounds too.
// CHECK-LABEL: llvm.func @gathers_elements_of_a_slice
// CHECK-SAME: %[[I:[a-z0-9]*]]: i32) attributes
// CHECK-COUNT-3: arith.cmpi ult
// CHECK: ld.global.b32
// CHECK: llvm.return
func.func @gathers_elements_of_a_slice(%A: memref<?x?x?xf32, strided<[?, ?, 1]>>, %p: i32, %i: index) attributes {pipe.kernel, pipe.warps = 1 : i64} {
  %q = tensor.splat %p : tensor<2x32xi32, #grid>
  %g = tile.gather %A[%i, %i, %q] : memref<?x?x?xf32, strided<[?, ?, 1]>>, (index, index, tensor<2x32xi32, #grid>) -> tensor<2x32xf32, #grid>
  return
}

// Four elements of a row at once, where they are known to be aligned.
// CHECK-LABEL: llvm.func @gathers_vectors
// CHECK: "@$5 ld.global.v4.b32 {$0, $1, $2, $3}, [$4];", "=r,=r,=r,=r,l,b,0,1,2,3,~{memory}"
// CHECK-NOT: ld.global
// CHECK: llvm.return
func.func @gathers_vectors(%A: memref<?x64xf32, strided<[64, 1]>>, %p: i32, %i: index) attributes {pipe.kernel, pipe.warps = 1 : i64} {
  %q = tensor.splat %p : tensor<8xi32, #rows>
  %g = tile.gather %A[%q, %i] {vector = 16 : i64} : memref<?x64xf32, strided<[64, 1]>>, (tensor<8xi32, #rows>, index) -> tensor<8x16xf32, #quads>
  return
}

// CHECK-LABEL: llvm.func @scatters_rows
// CHECK: %[[IN:.*]] = arith.andi %{{.*}}, %{{.*}} : i1
// CHECK: "@$1 st.global.b32 [$0], $2;", "l,b,r,~{memory}" %{{.*}}, %[[IN]], %{{.*}} :
// CHECK: "@$1 st.global.b32 [$0], $2;"
// CHECK-NOT: st.global
// CHECK: llvm.return
func.func @scatters_rows(%A: !matrix, %p: i32, %x: f32, %i: index) attributes {pipe.kernel, pipe.warps = 1 : i64} {
  %q = tensor.splat %p : tensor<2xi32, #pair>
  %t = tensor.splat %x : tensor<2x32xf32, #grid>
  tile.scatter %t, %A[%q, %i] : tensor<2x32xf32, #grid>, !matrix, (tensor<2xi32, #pair>, index)
  return
}

// Of the lanes and warps that hold an element, one writes it.
// CHECK-LABEL: llvm.func @scatters_once
// CHECK: %[[LANE:.*]] = arith.cmpi eq, %{{.*}}, %{{.*}} : i32
// CHECK: %[[WARP:.*]] = arith.cmpi eq, %{{.*}}, %{{.*}} : i32
// CHECK: %[[WRITER:.*]] = arith.andi %[[LANE]], %[[WARP]] : i1
// CHECK: %[[IN:.*]] = arith.andi %{{.*}}, %[[WRITER]] : i1
// CHECK: "@$1 st.global.b16 [$0], $2;", "l,b,h,~{memory}" %{{.*}}, %[[IN]],
// CHECK-NOT: st.global
// CHECK: llvm.return
func.func @scatters_once(%A: memref<?xf16>, %p: i32, %x: f16) attributes {pipe.kernel, pipe.warps = 2 : i64} {
  %q = tensor.splat %p : tensor<16xi32, #twice>
  %t = tensor.splat %x : tensor<16xf16, #twice>
  tile.scatter %t, %A[%q] : tensor<16xf16, #twice>, memref<?xf16>, (tensor<16xi32, #twice>)
  return
}

// All threads read a single element, the first writes it.
// CHECK-LABEL: llvm.func @single_elements
// CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[IN:.*]] = arith.andi %{{.*}}, %{{.*}} : i1
// CHECK: %[[BITS:.*]] = llvm.bitcast %[[ZERO]] : f32 to i32
// CHECK: "@$2 ld.global.b32 $0, [$1];", "=r,l,b,0,~{memory}" %{{.*}}, %[[IN]], %[[BITS]] :
// CHECK: %[[THERE:.*]] = arith.andi %{{.*}}, %{{.*}} : i1
// CHECK: %[[LEADER:.*]] = arith.cmpi eq, %{{.*}}, %c0{{.*}} : i32
// CHECK: %[[ONE:.*]] = arith.andi %[[THERE]], %[[LEADER]] : i1
// CHECK: "@$1 st.global.b32 [$0], $2;", "l,b,r,~{memory}" %{{.*}}, %[[ONE]], %{{.*}} :
// CHECK: llvm.return
func.func @single_elements(%A: !matrix, %i: index) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %s = tile.load_scalar %A[%i, %i] : !matrix -> f32
  tile.store_scalar %s, %A[%i, %i] : f32, !matrix
  return
}

}

// -----

#grid = #tile.layout<atom = [2, 32], register = [[1, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [], groups = [], repeat = [1, 1]>
#spread = #tile.layout<atom = [2], register = [], lane = [[1], [0], [0], [0], [0]], warp = [], groups = [], repeat = [1]>

module attributes {tile.target = "sm_80"} {

func.func @places_elsewhere(%A: memref<?x?xf32, strided<[?, 1]>>, %p: i32, %i: index) attributes {pipe.kernel, pipe.warps = 1 : i64} {
  %q = tensor.splat %p : tensor<2xi32, #spread>
  // expected-error@+1 {{'tile.gather' op expected each thread to hold the places of its elements, got [2] =}}
  %g = tile.gather %A[%q, %i] : memref<?x?xf32, strided<[?, 1]>>, (tensor<2xi32, #spread>, index) -> tensor<2x32xf32, #grid>
  return
}

}
