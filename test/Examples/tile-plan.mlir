// RUN: headrace-opt %s --tile-plan 2>/dev/null | FileCheck %s

// tile-plan decides, and writes what it decided beside the ops: `atom` on dots, `mechanism` on loads and stores, `warps`
// and `tile.specialize` on the kernel. What could be faster says why it is not, as a remark and in the attribute
// `tile.why_not_faster`. Here A keeps the promise that TMA needs and B does not; so copies get no warps of their own.
// Copies that run ahead fill with zeros alone: another fill is put in where the tile is read. An array that the kernel
// writes is neither prefetched nor left to other warps: its reads stay in order with the writes.

module attributes {tile.target = "sm_90a"} {

// CHECK-LABEL: tile.kernel @product
// CHECK-SAME:  tile.specialize = false, warps = 8
tile.kernel @product(%A: memref<?x?xbf16, strided<[?, 1]>> {tile.align = 16 : i64}, %B: memref<?x?xbf16, strided<[?, 1]>>,
                     %C: memref<?x?xf32, strided<[?, 1]>>, %K: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %sum = tile.for %k = %c0 to %K step %c64 iter_args(%acc = %zero) -> (tensor<128x64xf32>) pipeline(stages = 3) {
    // CHECK: tile.load {{.*}}mechanism = #tile.mechanism<tma>}
    %a = tile.load %A[%c0, %k] : memref<?x?xbf16, strided<[?, 1]>> -> tensor<128x64xbf16>

    // CHECK:      tile.load {{.*}}mechanism = #tile.mechanism<plain>, tile.why_not_faster =
    // CHECK-SAME:   "tma: the array's address and strides are only known to be multiples of 2 bytes, TMA needs 16
    // CHECK-SAME:   cp.async: accesses are only known to be aligned to 2 bytes, it needs 4"
    %b = tile.load %B[%c0, %k] : memref<?x?xbf16, strided<[?, 1]>> -> tensor<64x64xbf16>

    // Two groups of four warps split the 128 rows.
    // CHECK: tile.dot {{.*}}atom = #tile.atom<wgmma 64 x 64 x 16, groups = 2 x 1>}
    %s = tile.dot %a, %b transpose_b, %acc : tensor<128x64xbf16>, tensor<64x64xbf16> -> tensor<128x64xf32>
    tile.yield %s : tensor<128x64xf32>
  }
  // CHECK: tile.store {{.*}}mechanism = #tile.mechanism<plain>, tile.why_not_faster =
  tile.store %sum, %C[%c0, %c0] : tensor<128x64xf32>, memref<?x?xf32, strided<[?, 1]>>
  tile.return
}

// CHECK-LABEL: tile.kernel @filled_and_in_place
tile.kernel @filled_and_in_place(%v: memref<?xf32> {tile.align = 16 : i64}, %w: memref<?xf32> {tile.align = 16 : i64}, %n: index) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  tile.for %i = %c0 to %n step %c128 pipeline(stages = 3) {
    // CHECK: %[[COPY:.*]] = tile.load {{.*}} {mechanism = #tile.mechanism<tma>}
    // CHECK: %[[X:.*]] = scf.if {{.*}} -> (tensor<128xf32>) {
    // CHECK:   arith.select %{{.*}}, %[[COPY]], %{{.*}} : tensor<128xi1>, tensor<128xf32>
    %x = tile.load %v[%i] {fill = 1.0 : f32} : memref<?xf32> -> tensor<128xf32>

    // CHECK: %[[Y:.*]] = tile.load {{[^{]*}} -> tensor<128xf32>
    %y = tile.load %w[%i] : memref<?xf32> -> tensor<128xf32>

    // CHECK: arith.addf %[[X]], %[[Y]]
    %z = arith.addf %x, %y : tensor<128xf32>
    tile.store %z, %w[%i] : tensor<128xf32>, memref<?xf32>
  }
  tile.return
}

}
