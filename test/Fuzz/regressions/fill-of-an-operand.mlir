// RUN: headrace-compile %s --target=sm_75 --emit=ptx -o %t.ptx
// RUN: headrace-compile %s --target=sm_80 --emit=ptx -o %t.ptx
// RUN: headrace-compile %s --target=sm_90a --emit=ptx -o %t.ptx
// RUN: headrace-compile %s --target=sm_100a --emit=ptx -o %t.ptx
// RUN: headrace-compile %s --target=sm_120a --emit=ptx -o %t.ptx

// A tile that lies outside of its array as a whole, and is an operand: copies fill with zeros, the product saw those and
// not -2. test_tile_regressions.py compares the values.

tile.kernel @fill_of_an_operand(%A: memref<?x?xf16, strided<[?, 1]>> {tile.name = "A", tile.align = 16 : i64},
    %B: memref<?x?xf16, strided<[?, 1]>> {tile.name = "B", tile.align = 16 : i64},
    %C: memref<?x?xf32, strided<[?, 1]>> {tile.name = "C", tile.align = 16 : i64}) {
  %c0 = arith.constant 0 : index
  %cm16 = arith.constant -16 : index
  %a = tile.load %A[%c0, %c0] : memref<?x?xf16, strided<[?, 1]>> -> tensor<16x16xf16>
  %b = tile.load %B[%cm16, %c0] {fill = -2.0 : f16} : memref<?x?xf16, strided<[?, 1]>> -> tensor<16x16xf16>
  %z = arith.constant dense<0.0> : tensor<16x16xf32>
  %c = tile.dot %a, %b transpose_b, %z : tensor<16x16xf16>, tensor<16x16xf16> -> tensor<16x16xf32>
  tile.store %c, %C[%c0, %c0] : tensor<16x16xf32>, memref<?x?xf32, strided<[?, 1]>>
  tile.return
}
