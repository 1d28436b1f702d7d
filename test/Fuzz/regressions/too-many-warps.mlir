// RUN: not headrace-compile %s --target=sm_90a --emit=ptx -o - --set=SPECIALIZE=on 2>&1 | FileCheck %s --implicit-check-not=error:
// RUN: headrace-compile %s --target=sm_90a --emit=ptx -o - 2>/dev/null | FileCheck %s --check-prefix=AUTO

// A block has 32 warps: no role fits beside 32 that compute. Left to us, there are none.

// param SPECIALIZE = auto

// CHECK: too-many-warps.mlir:[[@LINE+3]]:{{.*}}error: expected roles of at most 32 warps, got {{3[3-6]}}: 32 that compute and
// CHECK-SAME: take fewer warps, or specialize = off
// AUTO: .reqntid 1024
tile.kernel @wide(%A: memref<?x?xbf16, strided<[?, 1]>> {tile.align = 16 : i64},
                  %B: memref<?x?xbf16, strided<[?, 1]>> {tile.align = 16 : i64},
                  %C: memref<?x?xf32, strided<[?, 1]>>, %K: index) attributes {warps = 32 : i64} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  tile.grid %K
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = tile.for %k = %c0 to %K step %c64 iter_args(%acc = %zero) -> (tensor<128x128xf32>)
      pipeline(stages = 2, specialize = ${SPECIALIZE}) {
    %a = tile.load %A[%c0, %k] : memref<?x?xbf16, strided<[?, 1]>> -> tensor<128x64xbf16>
    %b = tile.load %B[%c0, %k] : memref<?x?xbf16, strided<[?, 1]>> -> tensor<128x64xbf16>
    %s = tile.dot %a, %b transpose_b, %acc : tensor<128x64xbf16>, tensor<128x64xbf16> -> tensor<128x128xf32>
    tile.yield %s : tensor<128x128xf32>
  }
  tile.store %sum, %C[%c0, %c0] : tensor<128x128xf32>, memref<?x?xf32, strided<[?, 1]>>
  tile.return
}
