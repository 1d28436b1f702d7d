// RUN: headrace-opt %s --tile-infer-layouts -o %t
// RUN: FileCheck %s < %t
// RUN: FileCheck %s --check-prefix=LAYOUT < %t

// tile-infer-layouts says for every tile in registers which thread holds which element. Matmuls and scans fix layouts.
// Element-wise ops, loops and branches tie their tiles together; ties are joined from the most valuable down (bytes, times
// the trips of the loops around), and one that would join two fixed layouts is cut: there the tile is converted, once, where
// it is made. expand_dims, broadcast, transpose and positions derive their source's layout from their result's, so that each
// thread loads just the elements it needs; a reduction's result is where its source leaves it, and what several warps share
// is reduced in parts first. Constants, splats and coordinates are made anew for each use. What remains is laid out for
// coalesced accesses.

// The accumulator of mma.sync: lane 4 r + c holds (r, 2 c), and its second pair of elements lies 8 rows down. Two groups
// of warps along each dimension.
// LAYOUT-DAG: #tile.layout<atom = [16, 8], register = {{\[\[}}0, 1], [8, 0]], lane = {{\[\[}}0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [], groups = [2 : 0, 2 : 1], repeat = [2, 4]>
// One row of it: lanes and groups that differ in the row only hold copies.
// LAYOUT-DAG: #tile.layout<atom = [8], register = {{\[\[}}1]], lane = {{\[\[}}2], [4], [0], [0], [0]], warp = [], groups = [2 : -1, 2 : 0], repeat = [4]>

#shared = #tile.shared<major = 1, swizzle = 128>

// CHECK-LABEL: tile.kernel @scaled
tile.kernel @scaled(%A: memref<?x?xf16, strided<[?, 1]>>, %scale: memref<?xf32, strided<[1]>>,
                    %C: memref<?x?xf32, strided<[?, 1]>>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = tile.load %A[%c0, %c0] {mechanism = #tile.mechanism<cp_async>} : memref<?x?xf16, strided<[?, 1]>> -> tensor<64x64xf16, #shared>

  // CHECK: arith.constant dense<0.000000e+00> : [[ACC:tensor<64x64xf32, #.*>]]
  // CHECK: tile.dot {{.*}} -> [[ACC]]
  %p = tile.dot %a, %a transpose_b, %zero {atom = #tile.atom<mma_sync 16 x 8 x 16, groups = 2 x 2>}
      : tensor<64x64xf16, #shared>, tensor<64x64xf16, #shared> -> tensor<64x64xf32>

  // CHECK: tile.load {{.*}} -> [[ROW:tensor<64xf32, #.*>]]
  // CHECK: tile.expand_dims {{.*}} : [[ROW]] -> [[ROWS:tensor<1x64xf32, #.*>]]
  // CHECK: tile.broadcast {{.*}} : [[ROWS]] -> [[ACC]]
  %row = tile.load %scale[%c0] : memref<?xf32, strided<[1]>> -> tensor<64xf32>
  %rows = tile.expand_dims %row axis 0 : tensor<64xf32> -> tensor<1x64xf32>
  %tile = tile.broadcast %rows : tensor<1x64xf32> -> tensor<64x64xf32>

  // CHECK: arith.mulf {{.*}} : [[ACC]]
  // CHECK: tile.store {{.*}} : [[ACC]], memref
  %scaled = arith.mulf %p, %tile : tensor<64x64xf32>
  tile.store %scaled, %C[%c0, %c0] {mechanism = #tile.mechanism<plain>} : tensor<64x64xf32>, memref<?x?xf32, strided<[?, 1]>>
  tile.return
}

// The sum of each column lies where the reduction leaves it: a layout without the rows.
// CHECK-LABEL: tile.kernel @column_sums
tile.kernel @column_sums(%C: memref<?x?xf32, strided<[?, 1]>>, %sums: memref<?xf32, strided<[1]>>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  // CHECK: tile.load {{.*}} -> [[TILE:tensor<64x64xf32, #.*>]]
  %x = tile.load %C[%c0, %c0] : memref<?x?xf32, strided<[?, 1]>> -> tensor<64x64xf32>

  // CHECK: tile.reduce {{.*}} axis 0 {
  // CHECK: } : ([[TILE]]) -> [[SUMS:tensor<64xf32, #.*>]]
  %r = tile.reduce %x axis 0 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  } : (tensor<64x64xf32>) -> tensor<64xf32>

  // CHECK: tile.store {{.*}} : [[SUMS]], memref
  tile.store %r, %sums[%c0] {mechanism = #tile.mechanism<plain>} : tensor<64xf32>, memref<?xf32, strided<[1]>>
  tile.return
}
