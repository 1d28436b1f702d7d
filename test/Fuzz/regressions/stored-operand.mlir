// RUN: headrace-compile %s --target=sm_90a --emit=pipe -o - 2>/dev/null | FileCheck %s
// RUN: headrace-compile %s --target=sm_90a --emit=ptx -o %t.ptx

// An operand that is also stored, and then the product: the plain store of the product once took the slot of a value
// that had been erased before, at the same place in memory.

// CHECK-LABEL: func.func @stored_operand
// CHECK: pipe.async_store %{{.*}}, %arg4[{{.*}}f8E4M3FN
// CHECK: pipe.store %{{.*}}, %arg4[{{.*}}f8E4M3FN
// CHECK: pipe.async_store %{{.*}}, %arg2[{{.*}} : <64x64xf32
// CHECK: pipe.store %{{.*}}, %arg2[{{.*}}tensor<64x64xf32
tile.kernel @stored_operand(%A: memref<?x?xf8E4M3FN, strided<[?, 1]>> {tile.align = 16 : i64},
                            %B: memref<?x?xf8E4M3FN, strided<[?, 1]>> {tile.align = 16 : i64},
                            %C: memref<?x?xf32, strided<[?, 1]>> {tile.align = 16 : i64}, %count: index,
                            %D: memref<?x?xf8E4M3FN, strided<[?, 1]>> {tile.align = 16 : i64}) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %i = tile.program_id 0
  %m = arith.muli %i, %c64 : index
  tile.grid %count
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = tile.load %A[%m, %c0] : memref<?x?xf8E4M3FN, strided<[?, 1]>> -> tensor<64x64xf8E4M3FN>
  %b = tile.load %B[%c0, %c0] : memref<?x?xf8E4M3FN, strided<[?, 1]>> -> tensor<64x64xf8E4M3FN>
  tile.store %a, %D[%m, %c0] : tensor<64x64xf8E4M3FN>, memref<?x?xf8E4M3FN, strided<[?, 1]>>
  %s = tile.dot %a, %b transpose_b, %zero : tensor<64x64xf8E4M3FN>, tensor<64x64xf8E4M3FN> -> tensor<64x64xf32>
  tile.store %s, %C[%m, %c0] : tensor<64x64xf32>, memref<?x?xf32, strided<[?, 1]>>
  tile.return
}
