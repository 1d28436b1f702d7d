// A tile that tcgen05 multiplies and that is stored too is loaded twice: the second load, to registers, lies between the
// operands of the dot, which must still share a channel.
// RUN: headrace-compile %s --target=sm_100a --emit=pipe -o - 2>/dev/null | FileCheck %s
// CHECK: pipe.create_channel "arg0+arg1"
// CHECK: pipe.load %arg0
tile.kernel @dot_and_store(%A: memref<?x?xbf16, strided<[?, 1]>> {tile.align = 16 : i64},
                           %B: memref<?x?xbf16, strided<[?, 1]>> {tile.align = 16 : i64},
                           %C: memref<?x?xf32, strided<[?, 1]>> {tile.align = 16 : i64},
                           %D: memref<?x?xbf16, strided<[?, 1]>> {tile.align = 16 : i64}) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %a = tile.load %A[%c0, %c0] : memref<?x?xbf16, strided<[?, 1]>> -> tensor<128x64xbf16>
  %b = tile.load %B[%c0, %c0] : memref<?x?xbf16, strided<[?, 1]>> -> tensor<128x64xbf16>
  %s = tile.dot %a, %b transpose_b, %zero : tensor<128x64xbf16>, tensor<128x64xbf16> -> tensor<128x128xf32>
  tile.store %a, %D[%c0, %c0] : tensor<128x64xbf16>, memref<?x?xbf16, strided<[?, 1]>>
  tile.store %s, %C[%c0, %c0] : tensor<128x128xf32>, memref<?x?xf32, strided<[?, 1]>>
  tile.return
}
