// Case T07: a tile that no equal boxes of TMA make up goes another way, and says so.

// RUN: headrace-compile %s --target=sm_90a --emit=ptx -o %t.ptx 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=PTX < %t.ptx

// 2056 is 8 * 257 rows.
// CHECK: remark: copy by cp_async: tma: expected at most 256 rows, or a number of rows that splits into equal boxes at multiples of 128 bytes, got 2056 rows of 32 bytes
// PTX-LABEL: .entry depth_2056
// PTX: cp.async.cg
tile.kernel @depth_2056(%A: memref<?x?xf32, strided<[?, 1]>> {tile.align = 16 : i64},
                        %B: memref<?x?xf32, strided<[?, 1]>> {tile.align = 16 : i64}, %C: memref<?x?xf32, strided<[?, 1]>>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<16x8xf32>
  %a = tile.load %A[%c0, %c0] : memref<?x?xf32, strided<[?, 1]>> -> tensor<16x2056xf32>
  %b = tile.load %B[%c0, %c0] : memref<?x?xf32, strided<[?, 1]>> -> tensor<2056x8xf32>
  %s = tile.dot %a, %b, %zero {precision = #tile.precision<tf32>}
      : tensor<16x2056xf32>, tensor<2056x8xf32> -> tensor<16x8xf32>
  tile.store %s, %C[%c0, %c0] : tensor<16x8xf32>, memref<?x?xf32, strided<[?, 1]>>
  tile.return
}
