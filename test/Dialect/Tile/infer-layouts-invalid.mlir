// RUN: headrace-opt %s --tile-infer-layouts --split-input-file --verify-diagnostics

// An atom written by hand that leaves a rest.
tile.kernel @atom(%A: memref<?x?xf16, strided<[?, 1]>>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<24x64xf32>
  %a = tile.load %A[%c0, %c0] : memref<?x?xf16, strided<[?, 1]>> -> tensor<24x64xf16>
  %b = tile.load %A[%c0, %c0] : memref<?x?xf16, strided<[?, 1]>> -> tensor<64x64xf16>
  // expected-error@+1 {{atom #tile.atom<mma_sync 16 x 8 x 16, groups = 2 x 2> does not divide an accumulator of 'tensor<24x64xf32>'}}
  %p = tile.dot %a, %b transpose_b, %zero {atom = #tile.atom<mma_sync 16 x 8 x 16, groups = 2 x 2>} : tensor<24x64xf16>, tensor<64x64xf16> -> tensor<24x64xf32>
  tile.return
}
