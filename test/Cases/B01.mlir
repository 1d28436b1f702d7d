// Case B01: columns of tensor memory: sums of three products that go on side by side, a large accumulator whose left
// operand is computed, and a narrow one.
//
// param N = 128
// param R = 256

!matrix = memref<?x?xbf16, strided<[?, 1]>>
!result = memref<?x?xf32, strided<[?, 1]>>
!left = tensor<128x64xbf16>

// C = 3 A B^T, from three accumulators.
tile.kernel @three(%A: !matrix {tile.name = "A", tile.align = 16 : i64}, %B: !matrix {tile.name = "B", tile.align = 16 : i64},
                   %C: !result {tile.name = "C", tile.align = 16 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %K = memref.dim %A, %c1 : !matrix
  %zero = arith.constant dense<0.0> : tensor<128x${N}xf32>
  %r:3 = tile.for %k = %c0 to %K step %c64 iter_args(%x = %zero, %y = %zero, %z = %zero)
      -> (tensor<128x${N}xf32>, tensor<128x${N}xf32>, tensor<128x${N}xf32>) pipeline(stages = 1) {
    %a = tile.load %A[%c0, %k] : !matrix -> !left
    %b = tile.load %B[%c0, %k] : !matrix -> tensor<${N}x64xbf16>
    %p = tile.dot %a, %b transpose_b, %x : !left, tensor<${N}x64xbf16> -> tensor<128x${N}xf32>
    %q = tile.dot %a, %b transpose_b, %y : !left, tensor<${N}x64xbf16> -> tensor<128x${N}xf32>
    %s = tile.dot %a, %b transpose_b, %z : !left, tensor<${N}x64xbf16> -> tensor<128x${N}xf32>
    tile.yield %p, %q, %s : tensor<128x${N}xf32>, tensor<128x${N}xf32>, tensor<128x${N}xf32>
  }
  %u = arith.addf %r#0, %r#1 : tensor<128x${N}xf32>
  %v = arith.addf %u, %r#2 : tensor<128x${N}xf32>
  tile.store %v, %C[%c0, %c0] : tensor<128x${N}xf32>, !result
  tile.return
}

// C = (2 A) B^T for ${R} rows and ${N} columns.
tile.kernel @large(%A: !matrix {tile.name = "A", tile.align = 16 : i64}, %B: !matrix {tile.name = "B", tile.align = 16 : i64},
                   %C: !result {tile.name = "C", tile.align = 16 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %K = memref.dim %A, %c1 : !matrix
  %zero = arith.constant dense<0.0> : tensor<${R}x${N}xf32>
  %r = tile.for %k = %c0 to %K step %c32 iter_args(%x = %zero) -> (tensor<${R}x${N}xf32>) pipeline(stages = 1) {
    %a = tile.load %A[%c0, %k] : !matrix -> tensor<${R}x32xbf16>
    %b = tile.load %B[%c0, %k] : !matrix -> tensor<${N}x32xbf16>
    %a2 = arith.addf %a, %a : tensor<${R}x32xbf16>
    %p = tile.dot %a2, %b transpose_b, %x : tensor<${R}x32xbf16>, tensor<${N}x32xbf16> -> tensor<${R}x${N}xf32>
    tile.yield %p : tensor<${R}x${N}xf32>
  }
  tile.store %r, %C[%c0, %c0] : tensor<${R}x${N}xf32>, !result
  tile.return
}
