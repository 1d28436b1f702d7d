// RUN: headrace-opt %s --tile-split-reductions | FileCheck %s

// tile-split-reductions makes two of a reduction whose axis several warps share: each warp reduces its part, the parts come
// together in every thread, and are reduced there. Here four warps have 32 columns each.

#row = #tile.layout<atom = [1, 128], register = [], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[0, 32], [0, 64]], groups = [], repeat = [1, 1]>
#sum = #tile.layout<atom = [1], register = [], lane = [[0], [0], [0], [0], [0]], warp = [[0], [0]], groups = [], repeat = [1]>

// CHECK-LABEL: tile.kernel @row_sum
tile.kernel @row_sum(%A: memref<?x?xf32, strided<[?, 1]>>, %C: memref<?xf32>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  // CHECK: %[[X:.*]] = tile.load
  %x = tile.load %A[%c0, %c0] : memref<?x?xf32, strided<[?, 1]>> -> tensor<1x128xf32, #row>
  // CHECK: %[[PARTS:.*]] = tile.reduce %[[X]] axis 1 attributes {parts = 4 : i64}
  // CHECK: (tensor<1x128xf32, #{{.*}}>) -> tensor<1x4xf32, #[[APART:.*]]>
  // CHECK: %[[ALL:.*]] = tile.convert_layout %[[PARTS]] : tensor<1x4xf32, #[[APART]]> -> tensor<1x4xf32, #{{.*}}>
  // CHECK: tile.reduce %[[ALL]] axis 1
  // CHECK: (tensor<1x4xf32, #{{.*}}>) -> tensor<1xf32, #{{.*}}>
  %s = tile.reduce %x axis 1 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  } : (tensor<1x128xf32, #row>) -> tensor<1xf32, #sum>
  tile.store %s, %C[%c0] : tensor<1xf32, #sum>, memref<?xf32>
  tile.return
}
