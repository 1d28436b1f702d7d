// RUN: headrace-compile %s --kernel=to_a_row --target=sm_75 --emit=ptx -o %t.ptx
// RUN: headrace-compile %s --kernel=to_a_row --target=sm_80 --emit=ptx -o %t.ptx
// RUN: headrace-compile %s --kernel=to_a_row --target=sm_90a --emit=ptx -o %t.ptx
// RUN: headrace-compile %s --kernel=to_a_row --target=sm_100a --emit=ptx -o %t.ptx
// RUN: headrace-compile %s --kernel=to_a_row --target=sm_120a --emit=ptx -o %t.ptx
// RUN: headrace-compile %s --kernel=to_other_rows --target=sm_75 --emit=ptx -o %t.ptx
// RUN: headrace-compile %s --kernel=to_other_rows --target=sm_80 --emit=ptx -o %t.ptx
// RUN: headrace-compile %s --kernel=to_other_rows --target=sm_90a --emit=ptx -o %t.ptx
// RUN: headrace-compile %s --kernel=to_other_rows --target=sm_100a --emit=ptx -o %t.ptx
// RUN: headrace-compile %s --kernel=to_other_rows --target=sm_120a --emit=ptx -o %t.ptx

// Reshapes that move elements between threads pass through a dense slot. test_tile_regressions.py compares the values.

tile.kernel @to_a_row(%X: memref<?x?xf32, strided<[?, 1]>> {tile.name = "X"},
                      %Z: memref<?xf32, strided<[1]>> {tile.name = "Z"}) {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0, %c0] : memref<?x?xf32, strided<[?, 1]>> -> tensor<16x32xf32>
  %r = tile.reshape %x : tensor<16x32xf32> -> tensor<512xf32>
  tile.store %r, %Z[%c0] : tensor<512xf32>, memref<?xf32, strided<[1]>>
  tile.return
}

tile.kernel @to_other_rows(%A: memref<?x?xf32, strided<[?, 1]>> {tile.name = "A", tile.align = 16 : i64}) {
  %c0 = arith.constant 0 : index
  %x = tile.load %A[%c0, %c0] : memref<?x?xf32, strided<[?, 1]>> -> tensor<16x8xf32>
  %r = tile.reshape %x : tensor<16x8xf32> -> tensor<8x16xf32>
  %y = arith.constant dense<2.0> : tensor<8x16xf32>
  %z = arith.minimumf %r, %y : tensor<8x16xf32>
  tile.store %z, %A[%c0, %c0] : tensor<8x16xf32>, memref<?x?xf32, strided<[?, 1]>>
  tile.return
}
