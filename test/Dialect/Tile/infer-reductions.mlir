// RUN: headrace-opt %s --tile-infer-layouts --tile-split-reductions -o %t
// RUN: FileCheck %s < %t
// RUN: FileCheck %s --check-prefix=LAYOUT < %t

// Where a reduction's result lies, and what warps exchange.

!vector = memref<?xf32>
!matrix = memref<?x?xf32, strided<[?, 1]>>

// One row for each of four warps; then what they reduced of 64 rows: one row for each part.
// LAYOUT-DAG: #[[$TILE:[^>]*]] = #tile.layout<atom = [4, 32], register = [], lane = {{\[\[}}0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = {{\[\[}}1, 0], [2, 0]], groups = [], repeat = [16, 2]>
// LAYOUT-DAG: #[[$PARTS:[^>]*]] = #tile.layout<atom = [4, 32], register = [], lane = {{\[\[}}0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = {{\[\[}}1, 0], [2, 0]], groups = [], repeat = [1, 2]>
// All four parts in each thread, the warps replicas of each other.
// LAYOUT-DAG: #[[$ALL:[^>]*]] = #tile.layout<atom = [1, 32], register = [], lane = {{\[\[}}0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = {{\[\[}}0, 0], [0, 0]], groups = [], repeat = [4, 2]>
// LAYOUT-DAG: #[[$ROW:[^>]*]] = #tile.layout<atom = [32], register = [], lane = {{\[\[}}1], [2], [4], [8], [16]], warp = {{\[\[}}0], [0]], groups = [], repeat = [2]>
// LAYOUT:      tile.kernel @across_warps
// LAYOUT:      parts = 4
// LAYOUT:      (tensor<64x64xf32, #[[$TILE]]>) -> tensor<4x64xf32, #[[$PARTS]]>
// LAYOUT:      tile.convert_layout {{.*}} : tensor<4x64xf32, #[[$PARTS]]> -> tensor<4x64xf32, #[[$ALL]]>
// LAYOUT:      (tensor<4x64xf32, #[[$ALL]]>) -> tensor<64xf32, #[[$ROW]]>

// Warps share the rows: each reduces its own, then every thread gets all parts of its columns and reduces them.
// CHECK-LABEL: tile.kernel @across_warps
// CHECK: %[[X:.*]] = tile.load
// CHECK: %[[OWN:.*]] = tile.reduce %[[X]] axis 0 attributes {parts = 4 : i64} {
// CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32):
// CHECK-NEXT: %[[C:.*]] = arith.addf %[[A]], %[[B]]
// CHECK-NEXT: tile.yield %[[C]]
// CHECK: %[[ALL:.*]] = tile.convert_layout %[[OWN]]
// CHECK: %[[R:.*]] = tile.reduce %[[ALL]] axis 0 {
// CHECK: arith.addf
// CHECK: tile.store %[[R]],
tile.kernel @across_warps(%A: !matrix, %v: !vector) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %x = tile.load %A[%c0, %c0] : !matrix -> tensor<64x64xf32>
  %r = tile.reduce %x axis 0 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  } : (tensor<64x64xf32>) -> tensor<64xf32>
  tile.store %r, %v[%c0] : tensor<64xf32>, !vector
  tile.return
}

// Each warp has whole rows: nothing to exchange.
// CHECK-LABEL: tile.kernel @within_warps
// CHECK-NOT: parts
// CHECK-NOT: tile.convert_layout
// CHECK: tile.return
tile.kernel @within_warps(%A: !matrix, %v: !vector) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %x = tile.load %A[%c0, %c0] : !matrix -> tensor<64x64xf32>
  %r = tile.reduce %x axis 1 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  } : (tensor<64x64xf32>) -> tensor<64xf32>
  tile.store %r, %v[%c0] : tensor<64xf32>, !vector
  tile.return
}

// One warp alone never exchanges anything.
// CHECK-LABEL: tile.kernel @one_warp
// CHECK-NOT: parts
// CHECK: tile.return
tile.kernel @one_warp(%A: !matrix, %v: !vector) attributes {warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  %x = tile.load %A[%c0, %c0] : !matrix -> tensor<24x40xf32>
  %r = tile.reduce %x axis 0 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  } : (tensor<24x40xf32>) -> tensor<40xf32>
  tile.store %r, %v[%c0] : tensor<40xf32>, !vector
  tile.return
}

// A scalar is the same in all threads.
// CHECK-LABEL: tile.kernel @to_a_scalar
// CHECK: tile.reduce {{.*}} axis 0 attributes {parts = 4 : i64} {
// CHECK: -> tensor<4xf32
// CHECK: tile.convert_layout
// CHECK: %[[S:.*]] = tile.reduce
// CHECK: (tensor<4xf32, {{.*}}>) -> f32
// CHECK: tile.store_scalar %[[S]],
tile.kernel @to_a_scalar(%v: !vector) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %x = tile.load %v[%c0] : !vector -> tensor<512xf32>
  %r = tile.reduce %x axis 0 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  } : (tensor<512xf32>) -> f32
  tile.store_scalar %r, %v[%c0] : f32, !vector
  tile.return
}

// Three groups of warps on the rows are three parts.
// CHECK-LABEL: tile.kernel @groups_are_parts
// CHECK: tile.reduce {{.*}} axis 0 attributes {parts = 3 : i64} {
// CHECK: -> tensor<3x64xf32
// CHECK: tile.convert_layout
tile.kernel @groups_are_parts(%A: !matrix, %v: !vector) attributes {warps = 3 : i64} {
  %c0 = arith.constant 0 : index
  %x = tile.load %A[%c0, %c0] : !matrix -> tensor<96x64xf32>
  %r = tile.reduce %x axis 0 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  } : (tensor<96x64xf32>) -> tensor<64xf32>
  tile.store %r, %v[%c0] : tensor<64xf32>, !vector
  tile.return
}

// Sources that are reduced together move together, their parts too.
// CHECK-LABEL: tile.kernel @sources_together
// CHECK: %[[P:.*]]:2 = tile.reduce %{{.*}}, %{{.*}} axis 0 attributes {parts = 4 : i64} {
// CHECK: (tensor<64x64xf32, #[[$T:[^>]*]]>, tensor<64x64xi32, #[[$T]]>) -> (tensor<4x64xf32, #[[$P:[^>]*]]>, tensor<4x64xi32, #[[$P]]>)
// CHECK-DAG: %[[F:.*]] = tile.convert_layout %[[P]]#0
// CHECK-DAG: %[[I:.*]] = tile.convert_layout %[[P]]#1
// CHECK: tile.reduce %[[F]], %[[I]] axis 0 {
tile.kernel @sources_together(%A: !matrix, %v: memref<?xi32>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %x = tile.load %A[%c0, %c0] : !matrix -> tensor<64x64xf32>
  %i = tile.iota axis 0 : tensor<64x64xi32>
  %r:2 = tile.reduce %x, %i axis 0 {
  ^bb0(%x1: f32, %i1: i32, %x2: f32, %i2: i32):
    %p = arith.cmpf oge, %x1, %x2 : f32
    %xm = arith.select %p, %x1, %x2 : f32
    %im = arith.select %p, %i1, %i2 : i32
    tile.yield %xm, %im : f32, i32
  } : (tensor<64x64xf32>, tensor<64x64xi32>) -> (tensor<64xf32>, tensor<64xi32>)
  tile.store %r#1, %v[%c0] : tensor<64xi32>, memref<?xi32>
  tile.return
}

// The rows' sums of an accumulator stay in its threads, and go back to its rows: nothing is converted.
// CHECK-LABEL: tile.kernel @back_to_its_rows
// CHECK: tile.dot {{.*}} -> tensor<64x64xf32, #[[$ACC:[^>]*]]>
// CHECK: tile.reduce
// CHECK: (tensor<64x64xf32, #[[$ACC]]>) -> tensor<64xf32, #[[$SUM:[^>]*]]>
// CHECK: tile.expand_dims {{.*}} : tensor<64xf32, #[[$SUM]]>
// CHECK: tile.broadcast {{.*}} -> tensor<64x64xf32, #[[$ACC]]>
// CHECK-NOT: tile.convert_layout
// CHECK: tile.return
tile.kernel @back_to_its_rows(%A: memref<?x?xf16, strided<[?, 1]>>, %C: !matrix) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = tile.load %A[%c0, %c0] {mechanism = #tile.mechanism<cp_async>} : memref<?x?xf16, strided<[?, 1]>> -> tensor<64x64xf16, #tile.shared<major = 1, swizzle = 128>>
  %p = tile.dot %a, %a transpose_b, %zero {atom = #tile.atom<mma_sync 16 x 8 x 16, groups = 4 x 1>}
      : tensor<64x64xf16, #tile.shared<major = 1, swizzle = 128>>, tensor<64x64xf16, #tile.shared<major = 1, swizzle = 128>> -> tensor<64x64xf32>
  %m = tile.reduce %p axis 1 {
  ^bb0(%a1: f32, %b1: f32):
    %c = arith.maximumf %a1, %b1 : f32
    tile.yield %c : f32
  } : (tensor<64x64xf32>) -> tensor<64xf32>
  %e = tile.expand_dims %m axis 1 : tensor<64xf32> -> tensor<64x1xf32>
  %b = tile.broadcast %e : tensor<64x1xf32> -> tensor<64x64xf32>
  %s = arith.subf %p, %b : tensor<64x64xf32>
  tile.store %s, %C[%c0, %c0] : tensor<64x64xf32>, !matrix
  tile.return
}

// A result whose place another op decides about is converted to it, after the reduction.
// CHECK-LABEL: tile.kernel @wanted_elsewhere
// CHECK: %[[R:.*]] = tile.reduce
// CHECK: -> tensor<64xf32, #[[$OWN:[^>]*]]>
// CHECK: %[[M:.*]] = tile.convert_layout %[[R]] : tensor<64xf32, #[[$OWN]]> -> tensor<64xf32, #[[$SCAN:[^>]*]]>
// CHECK: tile.scan %[[M]] axis 0 {
// CHECK: (tensor<64xf32, #[[$SCAN]]>) -> tensor<64xf32, #[[$SCAN]]>
tile.kernel @wanted_elsewhere(%A: !matrix, %v: !vector) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %x = tile.load %A[%c0, %c0] : !matrix -> tensor<64x64xf32>
  %r = tile.reduce %x axis 1 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  } : (tensor<64x64xf32>) -> tensor<64xf32>
  %s = tile.scan %r axis 0 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  } : (tensor<64xf32>) -> tensor<64xf32>
  tile.store %s, %v[%c0] : tensor<64xf32>, !vector
  tile.return
}
