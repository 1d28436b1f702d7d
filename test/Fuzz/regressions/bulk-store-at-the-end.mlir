// RUN: headrace-compile %s --target=sm_75 --emit=ptx -o %t.ptx
// RUN: headrace-compile %s --target=sm_80 --emit=ptx -o %t.ptx
// RUN: headrace-compile %s --target=sm_90a --emit=ptx -o %t.ptx
// RUN: headrace-compile %s --target=sm_100a --emit=ptx -o %t.ptx
// RUN: headrace-compile %s --target=sm_120a --emit=ptx -o %t.ptx

// A plain store of one array, then a TMA store of another: the kernel ended before the second had read its slot.
// test_tile_regressions.py compares the values.

tile.kernel @bulk_store_at_the_end(%V: memref<?xi32, strided<[1]>> {tile.name = "V", tile.align = 16 : i64},
                                   %C: memref<?x?xf32, strided<[?, 1]>> {tile.name = "C", tile.align = 16 : i64}) {
  %c0 = arith.constant 0 : index
  %v = arith.constant dense<7> : tensor<16xi32>
  tile.store %v, %V[%c0] : tensor<16xi32>, memref<?xi32, strided<[1]>>
  %a = arith.constant dense<0.0> : tensor<128x16xf16>
  %b = arith.constant dense<0.0> : tensor<16x16xf16>
  %z = arith.constant dense<0.0> : tensor<128x16xf32>
  %c = tile.dot %a, %b transpose_b, %z : tensor<128x16xf16>, tensor<16x16xf16> -> tensor<128x16xf32>
  tile.store %c, %C[%c0, %c0] : tensor<128x16xf32>, memref<?x?xf32, strided<[?, 1]>>
  tile.return
}
