// RUN: headrace-compile %s --target=sm_90a --emit=ptx -o - 2>/dev/null | FileCheck %s

// B is contiguous along N, in panels of 32 columns: two groups of 48 would start inside one, where no matrix descriptor
// can. The tensor cores are fed by mma.sync instead.

// CHECK-LABEL: .entry two_halves
// CHECK-NOT: wgmma
// CHECK: mma.sync.aligned.m16n8k16
tile.kernel @two_halves(%A: memref<?x?xf16, strided<[?, 1]>> {tile.align = 16 : i64},
                        %B: memref<?x?xf16, strided<[?, 1]>> {tile.align = 16 : i64},
                        %C: memref<?x?xf32, strided<[?, 1]>>, %count: index) attributes {warps = 8 : i64} {
  %c0 = arith.constant 0 : index
  tile.grid %count
  %zero = arith.constant dense<0.0> : tensor<64x96xf32>
  %a = tile.load %A[%c0, %c0] : memref<?x?xf16, strided<[?, 1]>> -> tensor<64x16xf16>
  %b = tile.load %B[%c0, %c0] : memref<?x?xf16, strided<[?, 1]>> -> tensor<16x96xf16>
  %s = tile.dot %a, %b, %zero : tensor<64x16xf16>, tensor<16x96xf16> -> tensor<64x96xf32>
  tile.store %s, %C[%c0, %c0] : tensor<64x96xf32>, memref<?x?xf32, strided<[?, 1]>>
  tile.return
}
