// RUN: headrace-opt %s --tile-infer-layouts -o %t
// RUN: FileCheck %s < %t
// RUN: FileCheck %s --check-prefix=LAYOUT < %t

// Ties between fixed layouts: which are cut, and what is converted then.

!matrix = memref<?x?xf32, strided<[?, 1]>>
!half = memref<?x?xf16, strided<[?, 1]>>
#shared = #tile.shared<major = 1, swizzle = 128>
#rows = #tile.atom<mma_sync 16 x 8 x 16, groups = 4 x 1>
#square = #tile.atom<mma_sync 16 x 8 x 16, groups = 2 x 2>
#wgmma = #tile.atom<wgmma 64 x 64 x 16, groups = 1 x 1>
!a = tensor<64x64xf16, #shared>
!acc = tensor<64x64xf32>

// The accumulator of wgmma and its operand A hold the same elements in the same threads: lanes and warps agree, only the
// columns that a thread has are numbered otherwise.
// LAYOUT-DAG: #[[$ACC:[^>]*]] = #tile.layout<atom = [64, 8], register = {{\[\[}}0, 1], [8, 0]], lane = {{\[\[}}0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = {{\[\[}}16, 0], [32, 0]], groups = [1 : 0, 1 : 1], repeat = [1, 8]>
// LAYOUT-DAG: #[[$A:[^>]*]] = #tile.layout<atom = [64, 16], register = {{\[\[}}0, 1], [8, 0], [0, 8]], lane = {{\[\[}}0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = {{\[\[}}16, 0], [32, 0]], groups = [1 : 0, 1 : -1], repeat = [1, 4]>
// LAYOUT: tile.kernel @accumulator_to_operand_a
// LAYOUT: tile.convert_layout {{.*}} : tensor<64x64xf16, #[[$ACC]]> -> tensor<64x64xf16, #[[$A]]>

// CHECK-LABEL: tile.kernel @accumulator_to_operand_a
// CHECK: %[[P:.*]] = tile.dot
// CHECK: %[[H:.*]] = arith.truncf %[[P]]
// CHECK-NEXT: %[[A:.*]] = tile.convert_layout %[[H]]
// CHECK-NEXT: tile.dot %[[A]],
tile.kernel @accumulator_to_operand_a(%A: !half, %C: !matrix) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : !acc
  %a = tile.load %A[%c0, %c0] {mechanism = #tile.mechanism<cp_async>} : !half -> !a
  %p = tile.dot %a, %a transpose_b, %zero {atom = #wgmma} : !a, !a -> !acc
  %h = arith.truncf %p : !acc to tensor<64x64xf16>
  %q = tile.dot %h, %a transpose_b, %zero {atom = #wgmma} : tensor<64x64xf16>, !a -> !acc
  tile.store %q, %C[%c0, %c0] : !acc, !matrix
  tile.return
}

// Two accumulators that lie otherwise meet twice. The second is converted once, where it is made, for both sums.
// CHECK-LABEL: tile.kernel @cut_at_the_definition
// CHECK: %[[P:.*]] = tile.dot {{.*}}groups = 4 x 1>} {{.*}} -> tensor<64x64xf32, #[[$ROWS:[^>]*]]>
// CHECK: %[[Q:.*]] = tile.dot {{.*}}groups = 2 x 2>} {{.*}} -> tensor<64x64xf32, #[[$SQUARE:[^>]*]]>
// CHECK-NEXT: %[[M:.*]] = tile.convert_layout %[[Q]] : tensor<64x64xf32, #[[$SQUARE]]> -> tensor<64x64xf32, #[[$ROWS]]>
// CHECK: scf.if
// CHECK: arith.addf %[[P]], %[[M]] : tensor<64x64xf32, #[[$ROWS]]>
// CHECK: arith.subf %[[P]], %[[M]] : tensor<64x64xf32, #[[$ROWS]]>
// CHECK-NOT: tile.convert_layout
// CHECK: tile.return
tile.kernel @cut_at_the_definition(%A: !half, %C: !matrix, %which: i1) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : !acc
  %a = tile.load %A[%c0, %c0] {mechanism = #tile.mechanism<cp_async>} : !half -> !a
  %p = tile.dot %a, %a transpose_b, %zero {atom = #rows} : !a, !a -> !acc
  %q = tile.dot %a, %a transpose_b, %zero {atom = #square} : !a, !a -> !acc
  %r = scf.if %which -> (!acc) {
    %s = arith.addf %p, %q : !acc
    scf.yield %s : !acc
  } else {
    %d = arith.subf %p, %q : !acc
    scf.yield %d : !acc
  }
  tile.store %r, %C[%c0, %c0] : !acc, !matrix
  tile.return
}

// A tie within a loop is worth more than one outside, though that comes first: the tile is read in the layout of the
// loop's product, and converted for the sum before the loop.
// CHECK-LABEL: tile.kernel @loops_weigh_more
// CHECK: %[[P:.*]] = tile.dot {{.*}}groups = 4 x 1>} {{.*}} -> tensor<64x64xf32, #[[$ROWS:[^>]*]]>
// CHECK: %[[X:.*]] = tile.load {{.*}} -> tensor<64x64xf32, #[[$SQUARE:[^>]*]]>
// CHECK-NEXT: %[[M:.*]] = tile.convert_layout %[[X]] : tensor<64x64xf32, #[[$SQUARE]]> -> tensor<64x64xf32, #[[$ROWS]]>
// CHECK: arith.addf %[[P]], %[[M]] : tensor<64x64xf32, #[[$ROWS]]>
// CHECK: tile.for
// CHECK-NOT: tile.convert_layout
// CHECK: %[[Q:.*]] = tile.dot {{.*}}groups = 2 x 2>} {{.*}} -> tensor<64x64xf32, #[[$SQUARE]]>
// CHECK-NEXT: arith.mulf %[[Q]], %[[X]] : tensor<64x64xf32, #[[$SQUARE]]>
tile.kernel @loops_weigh_more(%A: !half, %B: !matrix, %C: !matrix, %n: index) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : !acc
  %a = tile.load %A[%c0, %c0] {mechanism = #tile.mechanism<cp_async>} : !half -> !a
  %p = tile.dot %a, %a transpose_b, %zero {atom = #rows} : !a, !a -> !acc
  %x = tile.load %B[%c0, %c0] : !matrix -> !acc
  %s = arith.addf %p, %x : !acc
  tile.store %s, %C[%c0, %c0] : !acc, !matrix
  tile.for %i = %c0 to %n step %n {
    %q = tile.dot %a, %a transpose_b, %zero {atom = #square} : !a, !a -> !acc
    %u = arith.mulf %q, %x : !acc
    tile.store %u, %C[%c0, %i] : !acc, !matrix
  }
  tile.return
}

// Scans along both dimensions of one tile: each has the one layout that it can have.
// CHECK-LABEL: tile.kernel @scans_both_ways
// CHECK: tile.load {{.*}} -> tensor<64x64xf32, #[[$ALONG:[^>]*]]>
// CHECK: %[[S:.*]] = tile.scan {{.*}} axis 1 {
// CHECK: (tensor<64x64xf32, #[[$ALONG]]>) -> tensor<64x64xf32, #[[$ALONG]]>
// CHECK: %[[T:.*]] = tile.convert_layout %[[S]] : tensor<64x64xf32, #[[$ALONG]]> -> tensor<64x64xf32, #[[$DOWN:[^>]*]]>
// CHECK: tile.scan %[[T]] axis 0 {
// CHECK: (tensor<64x64xf32, #[[$DOWN]]>) -> tensor<64x64xf32, #[[$DOWN]]>
tile.kernel @scans_both_ways(%B: !matrix, %C: !matrix) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %x = tile.load %B[%c0, %c0] : !matrix -> !acc
  %s = tile.scan %x axis 1 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  } : (!acc) -> !acc
  %t = tile.scan %s axis 0 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  } : (!acc) -> !acc
  tile.store %t, %C[%c0, %c0] : !acc, !matrix
  tile.return
}

// What a loop starts from is used once: it is converted before the loop, not the product of every trip.
// CHECK-LABEL: tile.kernel @initial_values_weigh_less
// CHECK: %[[Q:.*]] = tile.dot {{.*}}groups = 2 x 2>} {{.*}} -> tensor<64x64xf32, #[[$SQUARE:[^>]*]]>
// CHECK-NEXT: %[[INIT:.*]] = tile.convert_layout %[[Q]] : tensor<64x64xf32, #[[$SQUARE]]> -> tensor<64x64xf32, #[[$ROWS:[^>]*]]>
// CHECK: tile.for {{.*}} iter_args(%{{.*}} = %[[INIT]]) -> (tensor<64x64xf32, #[[$ROWS]]>)
// CHECK-NOT: tile.convert_layout
// CHECK: tile.return
tile.kernel @initial_values_weigh_less(%A: !half, %C: !matrix, %n: index) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : !acc
  %a = tile.load %A[%c0, %c0] {mechanism = #tile.mechanism<cp_async>} : !half -> !a
  %q = tile.dot %a, %a transpose_b, %zero {atom = #square} : !a, !a -> !acc
  %r = tile.for %i = %c0 to %n step %n iter_args(%x = %q) -> (!acc) {
    %p = tile.dot %a, %a transpose_b, %zero {atom = #rows} : !a, !a -> !acc
    %s = arith.addf %x, %p : !acc
    tile.yield %s : !acc
  }
  tile.store %r, %C[%c0, %c0] : !acc, !matrix
  tile.return
}
