// RUN: headrace-compile %s --target=sm_90a --emit=ptx -o - 2>/dev/null | FileCheck %s
// RUN: headrace-compile %s --target=sm_80 --emit=ptx -o %t.ptx
// RUN: headrace-compile %s --target=sm_100a --emit=ptx -o %t.ptx
// RUN: headrace-compile %s --target=sm_120a --emit=ptx -o %t.ptx

// Eight elements are held by many lanes, of which one writes: stmatrix, which all lanes of a warp run together, was put
// under that predicate and waited forever. test_tile_regressions.py compares the values.

// CHECK-LABEL: .entry replicas_and_stmatrix
// CHECK-NOT: @{{.*}}stmatrix
tile.kernel @replicas_and_stmatrix(%A: memref<?x?xf16, strided<[?, 1]>> {tile.name = "A", tile.align = 16 : i64},
    %C: memref<?x?xf32, strided<[?, 1]>> {tile.name = "C", tile.align = 16 : i64},
    %D: memref<?xf32, strided<[1]>> {tile.name = "D", tile.align = 16 : i64}) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %a = tile.load %A[%c0, %c0] : memref<?x?xf16, strided<[?, 1]>> -> tensor<16x16xf16>
  %s = tile.dot %a, %a, %zero : tensor<16x16xf16>, tensor<16x16xf16> -> tensor<16x16xf32>
  tile.store %s, %C[%c0, %c0] : tensor<16x16xf32>, memref<?x?xf32, strided<[?, 1]>>
  %t = arith.constant dense<3.0> : tensor<8xf32>
  tile.store %t, %D[%c0] : tensor<8xf32>, memref<?xf32, strided<[1]>>
  tile.return
}
