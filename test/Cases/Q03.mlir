// Case Q03: products of float32 that keep float32's precision.
//
// param ATTRS = {precision = #tile.precision<ieee>}
// param STAGES = 2

!matrix = memref<?x?xf32, strided<[?, 1]>>
!narrow = memref<?x?xbf16, strided<[?, 1]>>
!block = tensor<64x64xf32>

// C = A B.
tile.kernel @product(%A: !matrix {tile.name = "A", tile.align = 16 : i64}, %B: !matrix {tile.name = "B", tile.align = 16 : i64},
                     %C: !matrix {tile.name = "C", tile.align = 16 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bk = arith.constant 32 : index
  %K = memref.dim %A, %c1 : !matrix
  %zero = arith.constant dense<0.0> : !block
  %sum = tile.for %k = %c0 to %K step %bk iter_args(%acc = %zero) -> (!block) pipeline(stages = ${STAGES}) {
    %a = tile.load %A[%c0, %k] : !matrix -> tensor<64x32xf32>
    %b = tile.load %B[%k, %c0] : !matrix -> tensor<32x64xf32>
    %s = tile.dot %a, %b, %acc ${ATTRS} : tensor<64x32xf32>, tensor<32x64xf32> -> !block
    tile.yield %s : !block
  }
  tile.store %sum, %C[%c0, %c0] : !block, !matrix
  tile.return
}

// C = A B with A of bf16, made float32 first.
tile.kernel @upcast(%A: !narrow {tile.name = "A", tile.align = 16 : i64}, %B: !matrix {tile.name = "B", tile.align = 16 : i64},
                    %C: !matrix {tile.name = "C", tile.align = 16 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bk = arith.constant 32 : index
  %K = memref.dim %A, %c1 : !narrow
  %zero = arith.constant dense<0.0> : !block
  %sum = tile.for %k = %c0 to %K step %bk iter_args(%acc = %zero) -> (!block) pipeline(stages = ${STAGES}) {
    %a = tile.load %A[%c0, %k] : !narrow -> tensor<64x32xbf16>
    %b = tile.load %B[%k, %c0] : !matrix -> tensor<32x64xf32>
    %wide = arith.extf %a : tensor<64x32xbf16> to tensor<64x32xf32>
    %s = tile.dot %wide, %b, %acc ${ATTRS} : tensor<64x32xf32>, tensor<32x64xf32> -> !block
    tile.yield %s : !block
  }
  tile.store %sum, %C[%c0, %c0] : !block, !matrix
  tile.return
}

// C = (A B^T) D.
tile.kernel @chain(%A: !matrix {tile.name = "A", tile.align = 16 : i64}, %B: !matrix {tile.name = "B", tile.align = 16 : i64},
                   %D: !matrix {tile.name = "D", tile.align = 16 : i64}, %C: !matrix {tile.name = "C", tile.align = 16 : i64}) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : !block
  %a = tile.load %A[%c0, %c0] : !matrix -> !block
  %b = tile.load %B[%c0, %c0] : !matrix -> !block
  %d = tile.load %D[%c0, %c0] : !matrix -> !block
  %s = tile.dot %a, %b transpose_b, %zero ${ATTRS} : !block, !block -> !block
  %c = tile.dot %s, %d, %zero ${ATTRS} : !block, !block -> !block
  tile.store %c, %C[%c0, %c0] : !block, !matrix
  tile.return
}
