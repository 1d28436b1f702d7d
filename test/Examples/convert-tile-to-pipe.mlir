// RUN: headrace-opt %s --convert-tile-to-pipe | FileCheck %s

// convert-tile-to-pipe makes a channel for every tile that crosses from a producer to a consumer. The two loads of one
// dot share a channel, whose slots hold a tile of each: acquired, filled, committed by the producer; waited for, read,
// released by the consumer. No cursors yet, and depth 0: not chosen yet.

#acc = #tile.layout<atom = [16, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [], groups = [2 : 0, 2 : 1], repeat = [2, 4]>
#shared = #tile.shared<major = 1, swizzle = 128>

// CHECK-LABEL: func.func @product
// CHECK-SAME:  attributes {pipe.kernel, pipe.warps = 4 : i64}
tile.kernel @product(%A: memref<?x?xf16, strided<[?, 1]>> {tile.name = "A", tile.align = 16 : i64},
                     %B: memref<?x?xf16, strided<[?, 1]>> {tile.name = "B", tile.align = 16 : i64},
                     %C: memref<?x?xf32, strided<[?, 1]>>, %K: index) attributes {warps = 4 : i64, tile.specialize = false} {
  // CHECK: %[[CH:.*]] = pipe.create_channel "A+B" <group> : <0, [<64x64xf16, {{.*}}>, <64x64xf16, {{.*}}>]>
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>

  // CHECK: %[[SUM:.*]] = scf.for %[[K:.*]] = {{.*}} iter_args(%[[ACC:.*]] = %{{.*}})
  %sum = tile.for %k = %c0 to %K step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32, #acc>) pipeline(stages = 3) {
    // CHECK-NEXT: %[[IN:.*]]:2 = pipe.producer_acquire %[[CH]] :
    // CHECK-NEXT: pipe.copy <cp_async> %{{.*}}[%{{.*}}, %[[K]]] to %[[IN]]#0 in %[[CH]] {vector = 16 : i64}
    // CHECK-NEXT: pipe.copy <cp_async> %{{.*}}[%{{.*}}, %[[K]]] to %[[IN]]#1 in %[[CH]] {vector = 16 : i64}
    // CHECK-NEXT: pipe.producer_commit %[[CH]] :
    // CHECK-NEXT: %[[OUT:.*]]:2 = pipe.consumer_wait %[[CH]] :
    // CHECK-NEXT: %[[S:.*]] = pipe.mma <mma_sync 16 x 8 x 16, groups = 2 x 2> %[[OUT]]#0, %[[OUT]]#1 transpose_b, %[[ACC]]
    // CHECK-NEXT: pipe.consumer_release %[[CH]] :
    // CHECK-NEXT: scf.yield %[[S]]
    %a = tile.load %A[%c0, %k] {mechanism = #tile.mechanism<cp_async>} : memref<?x?xf16, strided<[?, 1]>> -> tensor<64x64xf16, #shared>
    %b = tile.load %B[%c0, %k] {mechanism = #tile.mechanism<cp_async>} : memref<?x?xf16, strided<[?, 1]>> -> tensor<64x64xf16, #shared>
    %s = tile.dot %a, %b transpose_b, %acc {atom = #tile.atom<mma_sync 16 x 8 x 16, groups = 2 x 2>}
        : tensor<64x64xf16, #shared>, tensor<64x64xf16, #shared> -> tensor<64x64xf32, #acc>
    tile.yield %s : tensor<64x64xf32, #acc>
  }
  // What the user asked of the loop stays on it.
  // CHECK-NEXT: } {pipe.pipeline = #tile.pipeline<(stages = 3

  // CHECK-NEXT: pipe.store %[[SUM]],
  tile.store %sum, %C[%c0, %c0] {mechanism = #tile.mechanism<plain>} : tensor<64x64xf32, #acc>, memref<?x?xf32, strided<[?, 1]>>
  // CHECK-NEXT: return
  tile.return
}
