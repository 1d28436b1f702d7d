// RUN: headrace-compile %s --target=sm_90a --emit=ptx -o - 2>/dev/null | FileCheck %s

// A comes from registers and two warp groups split N: each needs all of A, so its layout repeats over the groups.

// CHECK-LABEL: .entry wide
// CHECK: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16
tile.kernel @wide(%A: memref<?x?xbf16, strided<[?, 1]>> {tile.align = 16 : i64},
                  %B: memref<?x?xbf16, strided<[?, 1]>> {tile.align = 16 : i64},
                  %C: memref<?x?xf32, strided<[?, 1]>>, %count: index) attributes {warps = 8 : i64} {
  %c0 = arith.constant 0 : index
  tile.grid %count
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %a = tile.load %A[%c0, %c0] : memref<?x?xbf16, strided<[?, 1]>> -> tensor<64x64xbf16>
  %b = tile.load %B[%c0, %c0] : memref<?x?xbf16, strided<[?, 1]>> -> tensor<128x64xbf16>
  %d = arith.addf %a, %a : tensor<64x64xbf16>
  %s = tile.dot %d, %b transpose_b, %zero : tensor<64x64xbf16>, tensor<128x64xbf16> -> tensor<64x128xf32>
  tile.store %s, %C[%c0, %c0] : tensor<64x128xf32>, memref<?x?xf32, strided<[?, 1]>>
  tile.return
}
