// RUN: headrace-compile %s --target=sm_75 --emit=ptx -o %t.ptx
// RUN: headrace-compile %s --target=sm_80 --emit=ptx -o %t.ptx
// RUN: headrace-compile %s --target=sm_90a --emit=ptx -o %t.ptx
// RUN: headrace-compile %s --target=sm_100a --emit=ptx -o %t.ptx
// RUN: headrace-compile %s --target=sm_120a --emit=ptx -o %t.ptx

// A loop that folds away takes all users of its channels with it: a barrier of no arrivals was left and initialised.
// test_tile_regressions.py compares the values.

tile.kernel @loop_without_trips(%A: memref<?x?xi8, strided<[?, 1]>> {tile.name = "A", tile.align = 16 : i64},
    %C: memref<?x?xi32, strided<[?, 1]>> {tile.name = "C", tile.align = 16 : i64}) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0> : tensor<16x16xi32>
  %b = arith.constant dense<0> : tensor<16x16xi8>
  %r = tile.for %k = %c0 to %c0 step %c16 iter_args(%acc = %zero) -> (tensor<16x16xi32>) {
    %a = tile.load %A[%c0, %k] : memref<?x?xi8, strided<[?, 1]>> -> tensor<16x16xi8>
    %s = tile.dot %a transpose_a, %b, %acc : tensor<16x16xi8>, tensor<16x16xi8> -> tensor<16x16xi32>
    tile.yield %s : tensor<16x16xi32>
  }
  tile.store %r, %C[%c0, %c0] : tensor<16x16xi32>, memref<?x?xi32, strided<[?, 1]>>
  tile.return
}
