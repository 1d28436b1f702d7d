// RUN: headrace-compile %s --target=sm_75 --emit=ptx -o %t.ptx
// RUN: headrace-compile %s --target=sm_80 --emit=ptx -o %t.ptx
// RUN: headrace-compile %s --target=sm_90a --emit=ptx -o %t.ptx
// RUN: headrace-compile %s --target=sm_100a --emit=ptx -o %t.ptx
// RUN: headrace-compile %s --target=sm_120a --emit=ptx -o %t.ptx

// A product carried by scf.while, in a kernel of several roles: the role that computes got the waits of the loop without
// the releases after it. test_tile_regressions.py compares the values.

tile.kernel @accumulator_of_a_while(%A: memref<?x?xf16, strided<[?, 1]>> {tile.name = "A", tile.align = 16 : i64},
               %C: memref<?x?xf32, strided<[?, 1]>> {tile.name = "C", tile.align = 16 : i64}, %n: i32 {tile.name = "n"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %m = arith.index_cast %n : i32 to index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %r:2 = scf.while (%i = %c0, %acc = %zero) : (index, tensor<64x64xf32>) -> (index, tensor<64x64xf32>) {
    %more = arith.cmpi slt, %i, %m : index
    scf.condition(%more) %i, %acc : index, tensor<64x64xf32>
  } do {
  ^bb0(%i: index, %acc: tensor<64x64xf32>):
    %x = tile.load %A[%c0, %c0] : memref<?x?xf16, strided<[?, 1]>> -> tensor<64x64xf16>
    %x2 = tile.load %A[%c64, %c0] : memref<?x?xf16, strided<[?, 1]>> -> tensor<64x64xf16>
    %y = tile.dot %x, %x2 transpose_b, %acc : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %j = arith.addi %i, %c1 : index
    scf.yield %j, %y : index, tensor<64x64xf32>
  }
  %s = tile.for %k = %c0 to %m step %c1 iter_args(%b = %zero) -> (tensor<64x64xf32>) pipeline(stages = 2, specialize = on) {
    %o = arith.muli %k, %c64 : index
    %a = tile.load %A[%c0, %o] : memref<?x?xf16, strided<[?, 1]>> -> tensor<64x64xf16>
    %d = tile.dot %a, %a, %b : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    tile.yield %d : tensor<64x64xf32>
  }
  tile.store %r#1, %C[%c0, %c64] : tensor<64x64xf32>, memref<?x?xf32, strided<[?, 1]>>
  tile.store %s, %C[%c0, %c0] : tensor<64x64xf32>, memref<?x?xf32, strided<[?, 1]>>
  tile.return
}
