// Case B01: accumulators in tensor memory share 512 columns. What fits is packed, over that it is refused with the users.

// RUN: split-file %s %t
// RUN: headrace-compile %t/fits.mlir --target=sm_100a --emit=ptx -o - | FileCheck %s --check-prefix=FITS
// FITS: tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 {{.*}}, 512;

// RUN: not headrace-compile %t/over.mlir --target=sm_100a --emit=ptx -o %t/over.ptx 2>&1 | FileCheck %s --check-prefix=OVER
// OVER:     over.mlir:1:1: error: accumulators need 768 columns of tensor memory, sm_100a has 512
// OVER:     note: 'accumulator' takes 1 x 256 columns
// OVER:     note: 'accumulator' takes 1 x 256 columns
// OVER:     note: 'accumulator' takes 1 x 256 columns
// OVER-NOT: error
// RUN: not ls %t/over.ptx %t/over.json

//--- fits.mlir
tile.kernel @three_accumulators(%A: memref<?x?xbf16, strided<[?, 1]>> {tile.align = 16 : i64}, %B: memref<?x?xbf16, strided<[?, 1]>> {tile.align = 16 : i64},
                                %C: memref<512x512xf32, strided<[512, 1]>> {tile.align = 16 : i64}, %K: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %r:3 = tile.for %k = %c0 to %K step %c64 iter_args(%x = %zero, %y = %zero, %z = %zero) -> (tensor<128x128xf32>, tensor<128x128xf32>, tensor<128x128xf32>) pipeline(stages = 2) {
    %a = tile.load %A[%c0, %k] : memref<?x?xbf16, strided<[?, 1]>> -> tensor<128x64xbf16>
    %b = tile.load %B[%c0, %k] : memref<?x?xbf16, strided<[?, 1]>> -> tensor<128x64xbf16>
    %p = tile.dot %a, %b transpose_b, %x : tensor<128x64xbf16>, tensor<128x64xbf16> -> tensor<128x128xf32>
    %q = tile.dot %b, %a transpose_b, %y : tensor<128x64xbf16>, tensor<128x64xbf16> -> tensor<128x128xf32>
    %s = tile.dot %a, %a transpose_b, %z : tensor<128x64xbf16>, tensor<128x64xbf16> -> tensor<128x128xf32>
    tile.yield %p, %q, %s : tensor<128x128xf32>, tensor<128x128xf32>, tensor<128x128xf32>
  }
  %u = arith.addf %r#0, %r#1 : tensor<128x128xf32>
  %v = arith.addf %u, %r#2 : tensor<128x128xf32>
  tile.store %v, %C[%c0, %c0] : tensor<128x128xf32>, memref<512x512xf32, strided<[512, 1]>>
  tile.return
}
//--- over.mlir
tile.kernel @three_accumulators(%A: memref<?x?xbf16, strided<[?, 1]>> {tile.align = 16 : i64}, %B: memref<?x?xbf16, strided<[?, 1]>> {tile.align = 16 : i64},
                                %C: memref<512x512xf32, strided<[512, 1]>> {tile.align = 16 : i64}, %K: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %r:3 = tile.for %k = %c0 to %K step %c64 iter_args(%x = %zero, %y = %zero, %z = %zero) -> (tensor<128x256xf32>, tensor<128x256xf32>, tensor<128x256xf32>) pipeline(stages = 1) {
    %a = tile.load %A[%c0, %k] : memref<?x?xbf16, strided<[?, 1]>> -> tensor<128x64xbf16>
    %b = tile.load %B[%c0, %k] : memref<?x?xbf16, strided<[?, 1]>> -> tensor<256x64xbf16>
    %p = tile.dot %a, %b transpose_b, %x : tensor<128x64xbf16>, tensor<256x64xbf16> -> tensor<128x256xf32>
    %q = tile.dot %a, %b transpose_b, %y : tensor<128x64xbf16>, tensor<256x64xbf16> -> tensor<128x256xf32>
    %s = tile.dot %a, %b transpose_b, %z : tensor<128x64xbf16>, tensor<256x64xbf16> -> tensor<128x256xf32>
    tile.yield %p, %q, %s : tensor<128x256xf32>, tensor<128x256xf32>, tensor<128x256xf32>
  }
  %u = arith.addf %r#0, %r#1 : tensor<128x256xf32>
  %v = arith.addf %u, %r#2 : tensor<128x256xf32>
  tile.store %v, %C[%c0, %c0] : tensor<128x256xf32>, memref<512x512xf32, strided<[512, 1]>>
  tile.return
}
