// RUN: headrace-opt %s --convert-tile-to-pipe | FileCheck %s

// Accumulators in tensor memory are no loop values but slots: acquired before the loop, committed after it.

#shared = #tile.shared<major = 1, swizzle = 128>
#lanes = #tile.layout<atom = [128, 1], register = [], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], groups = [], repeat = [1, 64]>
!array = memref<?x?xbf16, strided<[?, 1]>>
!result = memref<?x?xf32, strided<[?, 1]>>
!a = tensor<128x64xbf16, #shared>
!b = tensor<64x64xbf16, #shared>
!sum = tensor<128x64xf32, #tile.tmem>

// CHECK-LABEL: func.func @accumulator_of_a_loop
tile.kernel @accumulator_of_a_loop(%A: !array {tile.name = "A", tile.align = 16 : i64}, %B: !array {tile.name = "B", tile.align = 16 : i64},
                                   %C: !result, %K: index) attributes {warps = 4 : i64, tile.specialize = true} {
  // tcgen05.commit frees the operands and fills the accumulator.
  // CHECK-DAG: %[[AB:.*]] = pipe.create_channel "A+B" <mbarrier> {async_release} :
  // CHECK-DAG: %[[ACC:.*]] = pipe.create_channel "accumulator" <mbarrier> {async_commit} : <0, [<128x64xf32, #tile.tmem>]>
  // CHECK: %[[SUM:.*]] = pipe.producer_acquire %[[ACC]]
  // CHECK-NEXT: scf.for %[[K:.*]] = %[[LOWER:.*]] to %{{.*}} step %{{[^{]*}} {
  // CHECK-NEXT: %[[LATER:.*]] = arith.cmpi ne, %[[K]], %[[LOWER]]
  // CHECK: %[[OUT:.*]]:2 = pipe.consumer_wait %[[AB]]
  // The first product of the loop replaces what is there.
  // CHECK-NEXT: pipe.mma_tmem <tcgen05 128 x 64 x 16, groups = 1 x 1> %[[OUT]]#0, %[[OUT]]#1 transpose_b into %[[SUM]] accumulate %[[LATER]]
  // CHECK-NEXT: pipe.consumer_release %[[AB]]
  // CHECK: }
  // CHECK-NEXT: pipe.producer_commit %[[ACC]]
  // CHECK-NEXT: %[[DONE:.*]] = pipe.consumer_wait %[[ACC]]
  // CHECK-NEXT: %[[X:.*]] = pipe.read %[[DONE]]
  // CHECK-NEXT: pipe.consumer_release %[[ACC]]
  // CHECK-NEXT: pipe.store %[[X]],
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : !sum
  %r = tile.for %k = %c0 to %K step %c64 iter_args(%acc = %zero) -> (!sum) {
    %a = tile.load %A[%c0, %k] {mechanism = #tile.mechanism<tma>} : !array -> !a
    %b = tile.load %B[%c0, %k] {mechanism = #tile.mechanism<tma>} : !array -> !b
    %s = tile.dot %a, %b transpose_b, %acc {atom = #tile.atom<tcgen05 128 x 64 x 16, groups = 1 x 1>} : !a, !b -> !sum
    tile.yield %s : !sum
  }
  %x = tile.convert_layout %r : !sum -> tensor<128x64xf32, #lanes>
  tile.store %x, %C[%c0, %c0] {mechanism = #tile.mechanism<plain>} : tensor<128x64xf32, #lanes>, !result
  tile.return
}

// Only the first dot of a chain can be the first product.
// CHECK-LABEL: func.func @chained_dots
tile.kernel @chained_dots(%A: !array {tile.align = 16 : i64}, %B: !array {tile.align = 16 : i64}, %K: index)
    attributes {warps = 4 : i64, tile.specialize = true} {
  // CHECK: %[[ACC:.*]] = pipe.create_channel "accumulator"
  // CHECK: %[[SUM:.*]] = pipe.producer_acquire %[[ACC]]
  // CHECK: %[[LATER:.*]] = arith.cmpi ne
  // CHECK: pipe.mma_tmem {{.*}} into %[[SUM]] accumulate %[[LATER]]
  // CHECK: pipe.mma_tmem {{.*}} into %[[SUM]] accumulate %[[ALWAYS:[a-z0-9_]*]]
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : !sum
  %r = tile.for %k = %c0 to %K step %c64 iter_args(%acc = %zero) -> (!sum) {
    %a = tile.load %A[%c0, %k] {mechanism = #tile.mechanism<tma>} : !array -> !a
    %b = tile.load %B[%c0, %k] {mechanism = #tile.mechanism<tma>} : !array -> !b
    %s = tile.dot %a, %b transpose_b, %acc {atom = #tile.atom<tcgen05 128 x 64 x 16, groups = 1 x 1>} : !a, !b -> !sum
    %t = tile.dot %a, %b transpose_b, %s {atom = #tile.atom<tcgen05 128 x 64 x 16, groups = 1 x 1>} : !a, !b -> !sum
    tile.yield %t : !sum
  }
  tile.return
}

// A product that no loop carries has a slot of its own.
// CHECK-LABEL: func.func @fresh_product
tile.kernel @fresh_product(%A: !array {tile.align = 16 : i64}, %B: !array {tile.align = 16 : i64}, %C: !result)
    attributes {warps = 4 : i64, tile.specialize = true} {
  // CHECK: %[[ACC:.*]] = pipe.create_channel "product" <mbarrier> {async_commit}
  // CHECK: %[[SUM:.*]] = pipe.producer_acquire %[[ACC]]
  // CHECK: %[[NEVER:.*]] = arith.constant false
  // CHECK: pipe.mma_tmem {{.*}} into %[[SUM]] accumulate %[[NEVER]]
  // CHECK: pipe.producer_commit %[[ACC]]
  // CHECK: pipe.consumer_wait %[[ACC]]
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : !sum
  %a = tile.load %A[%c0, %c0] {mechanism = #tile.mechanism<tma>} : !array -> !a
  %b = tile.load %B[%c0, %c0] {mechanism = #tile.mechanism<tma>} : !array -> !b
  %s = tile.dot %a, %b transpose_b, %zero {atom = #tile.atom<tcgen05 128 x 64 x 16, groups = 1 x 1>} : !a, !b -> !sum
  %x = tile.convert_layout %s : !sum -> tensor<128x64xf32, #lanes>
  tile.store %x, %C[%c0, %c0] {mechanism = #tile.mechanism<plain>} : tensor<128x64xf32, #lanes>, !result
  tile.return
}
