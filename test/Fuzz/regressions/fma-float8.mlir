// RUN: headrace-compile %s --target=sm_89 --emit=ptx -o - 2>/dev/null | FileCheck %s

// No instruction of the tensor cores divides K = 8: the CUDA cores multiply, in f32, where products of 8-bit floats are
// exact.

// CHECK-LABEL: .entry eight_deep
// CHECK-DAG: cvt.rn.f16x2.e4m3x2
// CHECK-DAG: cvt.rn.f16x2.e5m2x2
// CHECK: fma.rn.f32
tile.kernel @eight_deep(%A: memref<?x?xf8E4M3FN, strided<[?, 1]>>, %B: memref<?x?xf8E5M2, strided<[?, 1]>>,
                        %C: memref<?x?xf32, strided<[?, 1]>>, %count: index) {
  %c0 = arith.constant 0 : index
  tile.grid %count
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %a = tile.load %A[%c0, %c0] : memref<?x?xf8E4M3FN, strided<[?, 1]>> -> tensor<32x8xf8E4M3FN>
  %b = tile.load %B[%c0, %c0] : memref<?x?xf8E5M2, strided<[?, 1]>> -> tensor<32x8xf8E5M2>
  %s = tile.dot %a, %b transpose_b, %zero : tensor<32x8xf8E4M3FN>, tensor<32x8xf8E5M2> -> tensor<32x32xf32>
  tile.store %s, %C[%c0, %c0] : tensor<32x32xf32>, memref<?x?xf32, strided<[?, 1]>>
  tile.return
}
