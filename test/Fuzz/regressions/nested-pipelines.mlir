// RUN: headrace-compile %s --target=sm_75 --emit=ptx -o %t.ptx
// RUN: headrace-compile %s --target=sm_80 --emit=ptx -o %t.ptx
// RUN: headrace-compile %s --target=sm_90a --emit=ptx -o %t.ptx
// RUN: headrace-compile %s --target=sm_100a --emit=ptx -o %t.ptx
// RUN: headrace-compile %s --target=sm_120a --emit=ptx -o %t.ptx

// A pipelined loop in a pipelined loop: the outer one was expanded last, when the first trips of the inner one had no
// schedule any more. test_tile_regressions.py compares the values.

tile.kernel @nested_pipelines(%A: memref<?x?xf16, strided<[?, 1]>> {tile.name = "A", tile.align = 16 : i64},
    %B: memref<?x?xf16, strided<[?, 1]>> {tile.name = "B", tile.align = 16 : i64},
    %C: memref<?x?xf32, strided<[?, 1]>> {tile.name = "C", tile.align = 16 : i64},
    %D: memref<?x?xf32, strided<[?, 1]>> {tile.name = "D", tile.align = 16 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %one = arith.constant dense<1.0> : tensor<16x16xf16>
  %r = tile.for %k = %c0 to %c64 step %c16 iter_args(%acc = %zero) -> (tensor<16x16xf32>) pipeline(stages = 2, specialize = off) {
    tile.for %t = %c0 to %c2 step %c1 pipeline(stages = 2, specialize = off) {
      %i = arith.muli %t, %c16 : index
      %a = tile.load %A[%i, %c0] : memref<?x?xf16, strided<[?, 1]>> -> tensor<16x16xf16>
      %p = tile.dot %a, %one, %zero : tensor<16x16xf16>, tensor<16x16xf16> -> tensor<16x16xf32>
      tile.store %p, %C[%i, %k] : tensor<16x16xf32>, memref<?x?xf32, strided<[?, 1]>>
      tile.yield
    }
    %b = tile.load %B[%c0, %k] : memref<?x?xf16, strided<[?, 1]>> -> tensor<16x16xf16>
    %s = tile.dot %b, %one, %acc : tensor<16x16xf16>, tensor<16x16xf16> -> tensor<16x16xf32>
    tile.yield %s : tensor<16x16xf32>
  }
  tile.store %r, %D[%c0, %c0] : tensor<16x16xf32>, memref<?x?xf32, strided<[?, 1]>>
  tile.return
}
