// RUN: not headrace-opt %s --headrace-to-layout 2>&1 | FileCheck %s --implicit-check-not=error:

// Code generation for a tile of a hundred times the registers would not end.
module attributes {tile.target = "sm_90a"} {
tile.kernel @huge(%A: memref<?x?xf32, strided<[?, 1]>>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  // CHECK: registers.mlir:[[@LINE+1]]:{{.*}}error: expected a tile that fits the registers of 128 threads, got 'tensor<1024x1024xf32>': 8192 registers of 255 in each
  %a = tile.load %A[%c0, %c0] : memref<?x?xf32, strided<[?, 1]>> -> tensor<1024x1024xf32>
  tile.store %a, %A[%c0, %c0] : tensor<1024x1024xf32>, memref<?x?xf32, strided<[?, 1]>>
  tile.return
}
}
