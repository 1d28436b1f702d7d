// RUN: headrace-compile %s --target=sm_75 --emit=ptx -o %t.ptx
// RUN: headrace-compile %s --target=sm_80 --emit=ptx -o %t.ptx
// RUN: headrace-compile %s --target=sm_90a --emit=ptx -o %t.ptx
// RUN: headrace-compile %s --target=sm_100a --emit=ptx -o %t.ptx
// RUN: headrace-compile %s --target=sm_120a --emit=ptx -o %t.ptx

// Places computed from coordinates, of arrays that TMA could copy. test_tile_regressions.py compares the values.

tile.kernel @scatter_of_reversed_rows(%X: memref<?x?xf32, strided<[?, 1]>> {tile.name = "X", tile.align = 16 : i64},
                                      %Z: memref<?x?xf32, strided<[?, 1]>> {tile.name = "Z", tile.align = 16 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %X_0 = memref.dim %X, %c0 : memref<?x?xf32, strided<[?, 1]>>
  %X_0_1 = tile.assume %X_0 multiple_of 16
  %Z_1 = memref.dim %Z, %c1 : memref<?x?xf32, strided<[?, 1]>>
  %Z_1_1 = tile.assume %Z_1 multiple_of 16
  tile.grid %c1
  %x = tile.load %X[%c0, %c0] : memref<?x?xf32, strided<[?, 1]>> -> tensor<16x32xf32>
  %iota = tile.iota axis 0 : tensor<16xi32>
  %last = arith.constant dense<15> : tensor<16xi32>
  %rows = arith.subi %last, %iota : tensor<16xi32>
  tile.scatter %x, %Z[%rows, %c0] : tensor<16x32xf32>, memref<?x?xf32, strided<[?, 1]>>, (tensor<16xi32>, index)
  tile.return
}
