// RUN: headrace-opt %s --tile-place-tiles | FileCheck %s

// tile-place-tiles says of every tile whether it lives in registers (no encoding yet), in shared memory (#tile.shared)
// or in tensor memory (#tile.tmem). It follows the plan: what moves by TMA or feeds a matmul is shared, the accumulator
// of tcgen05 is in tensor memory. Where a tile changes its place, a tile.convert_layout marks the crossing.

module attributes {tile.target = "sm_100a"} {

// CHECK-LABEL: tile.kernel @product
tile.kernel @product(%A: memref<?x?xbf16, strided<[?, 1]>> {tile.align = 16 : i64},
                     %B: memref<?x?xbf16, strided<[?, 1]>> {tile.align = 16 : i64},
                     %C: memref<512x512xf32, strided<[512, 1]>> {tile.align = 16 : i64}, %K: index)
    attributes {warps = 4 : i64, tile.specialize = true} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  // CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<128x64xf32, #tile.tmem>
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  // CHECK: %[[SUM:.*]] = tile.for {{.*}} iter_args(%[[ACC:.*]] = %[[ZERO]]) -> (tensor<128x64xf32, #tile.tmem>)
  %sum = tile.for %k = %c0 to %K step %c64 iter_args(%acc = %zero) -> (tensor<128x64xf32>) pipeline(stages = 3) {
    // CHECK: %[[A:.*]] = tile.load {{.*}} -> tensor<128x64xbf16, #{{.*}}shared{{.*}}>
    // CHECK: %[[B:.*]] = tile.load {{.*}} -> tensor<64x64xbf16, #{{.*}}shared{{.*}}>
    // CHECK: tile.dot %[[A]], %[[B]] transpose_b, %[[ACC]] {{.*}} -> tensor<128x64xf32, #tile.tmem>
    %a = tile.load %A[%c0, %k] {mechanism = #tile.mechanism<tma>} : memref<?x?xbf16, strided<[?, 1]>> -> tensor<128x64xbf16>
    %b = tile.load %B[%c0, %k] {mechanism = #tile.mechanism<tma>} : memref<?x?xbf16, strided<[?, 1]>> -> tensor<64x64xbf16>
    %s = tile.dot %a, %b transpose_b, %acc {atom = #tile.atom<tcgen05 128 x 64 x 16, groups = 1 x 1>}
        : tensor<128x64xbf16>, tensor<64x64xbf16> -> tensor<128x64xf32>
    tile.yield %s : tensor<128x64xf32>
  }
  // A loop of no trips never wrote tensor memory: its sum is zero.
  // CHECK: %[[REGISTERS:.*]] = tile.convert_layout %[[SUM]] : tensor<128x64xf32, #tile.tmem> -> tensor<128x64xf32>
  // CHECK: %[[RAN:.*]] = arith.cmpi slt
  // CHECK: %[[RESULT:.*]] = arith.select %[[RAN]], %[[REGISTERS]], %{{.*}} : tensor<128x64xf32>
  // CHECK: %[[STAGED:.*]] = tile.convert_layout %[[RESULT]] : tensor<128x64xf32> -> tensor<128x64xf32, #{{.*}}shared{{.*}}>
  // CHECK: tile.store %[[STAGED]],
  tile.store %sum, %C[%c0, %c0] {mechanism = #tile.mechanism<tma>} : tensor<128x64xf32>, memref<512x512xf32, strided<[512, 1]>>
  tile.return
}

}
