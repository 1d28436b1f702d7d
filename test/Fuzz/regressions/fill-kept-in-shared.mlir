// RUN: headrace-compile %s --target=sm_75 --emit=ptx -o %t.ptx
// RUN: headrace-compile %s --target=sm_80 --emit=ptx -o %t.ptx
// RUN: headrace-compile %s --target=sm_90a --emit=ptx -o %t.ptx
// RUN: headrace-compile %s --target=sm_100a --emit=ptx -o %t.ptx
// RUN: headrace-compile %s --target=sm_120a --emit=ptx -o %t.ptx

// The accumulators leave no registers for the row, which has a fill: slots are filled with zeros alone.
tile.kernel @fill_kept_in_shared(%A: memref<?xf64, strided<[1]>> {tile.name = "A", tile.align = 16 : i64},
                                 %B: memref<?xf64, strided<[1]>> {tile.name = "B", tile.align = 16 : i64},
                                 %n: i32 {tile.name = "n"}) attributes {warps = 2} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %trips = arith.index_cast %n : i32 to index
  %row = tile.load %A[%c0] {fill = -2.0 : f64} : memref<?xf64, strided<[1]>> -> tensor<32xf64>
  %zero = arith.constant dense<0.0> : tensor<256x32xf32>
  %r:2 = tile.for %i = %c0 to %trips step %c1 iter_args(%a = %zero, %b = %zero) -> (tensor<256x32xf32>, tensor<256x32xf32>) {
    tile.store %row, %B[%c0] : tensor<32xf64>, memref<?xf64, strided<[1]>>
    %sum = arith.addf %a, %b : tensor<256x32xf32>
    tile.yield %sum, %zero : tensor<256x32xf32>, tensor<256x32xf32>
  }
  tile.return
}
