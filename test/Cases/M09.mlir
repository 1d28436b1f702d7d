// Case M09: products that begin with zero in each of several outer trips, with operands from registers: C[o] = f(A[o])
// g(B), where f and g double what they are given in the kernels whose names say so.
//
// param STAGES = 2
// param BM = 64, sm_100a: 128
// param BK = 32
// param S = 64, sm_100a: 128

!matrix = memref<?x?xf16, strided<[?, 1]>>
!result = memref<?x?xf32, strided<[?, 1]>>
!sums = tensor<${BM}x64xf32>
!left = tensor<${BM}x${BK}xf16>
!right = tensor<${BK}x64xf16>

tile.kernel @left(%A: !matrix {tile.name = "A", tile.align = 16 : i64}, %B: !matrix {tile.name = "B", tile.align = 16 : i64},
                  %C: !result {tile.name = "C", tile.align = 16 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bm = arith.constant ${BM} : index
  %bk = arith.constant ${BK} : index
  %M = memref.dim %A, %c0 : !matrix
  %K = memref.dim %A, %c1 : !matrix
  %zero = arith.constant dense<0.0> : !sums
  scf.for %m = %c0 to %M step %bm {
    %sum = tile.for %k = %c0 to %K step %bk iter_args(%acc = %zero) -> (!sums) pipeline(stages = ${STAGES}) {
      %a = tile.load %A[%m, %k] : !matrix -> !left
      %b = tile.load %B[%k, %c0] : !matrix -> !right
      %a2 = arith.addf %a, %a : !left
      %s = tile.dot %a2, %b, %acc : !left, !right -> !sums
      tile.yield %s : !sums
    }
    tile.store %sum, %C[%m, %c0] : !sums, !result
  }
  tile.return
}

tile.kernel @right(%A: !matrix {tile.name = "A", tile.align = 16 : i64}, %B: !matrix {tile.name = "B", tile.align = 16 : i64},
                   %C: !result {tile.name = "C", tile.align = 16 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bm = arith.constant ${BM} : index
  %bk = arith.constant ${BK} : index
  %M = memref.dim %A, %c0 : !matrix
  %K = memref.dim %A, %c1 : !matrix
  %zero = arith.constant dense<0.0> : !sums
  scf.for %m = %c0 to %M step %bm {
    %sum = tile.for %k = %c0 to %K step %bk iter_args(%acc = %zero) -> (!sums) pipeline(stages = ${STAGES}) {
      %a = tile.load %A[%m, %k] : !matrix -> !left
      %b = tile.load %B[%k, %c0] : !matrix -> !right
      %b2 = arith.addf %b, %b : !right
      %s = tile.dot %a, %b2, %acc : !left, !right -> !sums
      tile.yield %s : !sums
    }
    tile.store %sum, %C[%m, %c0] : !sums, !result
  }
  tile.return
}

tile.kernel @both(%A: !matrix {tile.name = "A", tile.align = 16 : i64}, %B: !matrix {tile.name = "B", tile.align = 16 : i64},
                  %C: !result {tile.name = "C", tile.align = 16 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bm = arith.constant ${BM} : index
  %bk = arith.constant ${BK} : index
  %M = memref.dim %A, %c0 : !matrix
  %K = memref.dim %A, %c1 : !matrix
  %zero = arith.constant dense<0.0> : !sums
  scf.for %m = %c0 to %M step %bm {
    %sum = tile.for %k = %c0 to %K step %bk iter_args(%acc = %zero) -> (!sums) pipeline(stages = ${STAGES}) {
      %a = tile.load %A[%m, %k] : !matrix -> !left
      %b = tile.load %B[%k, %c0] : !matrix -> !right
      %a2 = arith.addf %a, %a : !left
      %b2 = arith.addf %b, %b : !right
      %s = tile.dot %a2, %b2, %acc : !left, !right -> !sums
      tile.yield %s : !sums
    }
    tile.store %sum, %C[%m, %c0] : !sums, !result
  }
  tile.return
}

// Of three products only the third goes on from the second: C = A B + A (A B), and D = A A.
tile.kernel @chained(%A: !matrix {tile.name = "A", tile.align = 16 : i64}, %B: !matrix {tile.name = "B", tile.align = 16 : i64},
                     %C: !result {tile.name = "C", tile.align = 16 : i64}, %D: !result {tile.name = "D", tile.align = 16 : i64}) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<${S}x${S}xf32>
  %a = tile.load %A[%c0, %c0] : !matrix -> tensor<${S}x${S}xf16>
  %b = tile.load %B[%c0, %c0] : !matrix -> tensor<${S}x${S}xf16>
  %ab = tile.dot %a, %b, %zero : tensor<${S}x${S}xf16>, tensor<${S}x${S}xf16> -> tensor<${S}x${S}xf32>
  %d = tile.dot %a, %a, %zero : tensor<${S}x${S}xf16>, tensor<${S}x${S}xf16> -> tensor<${S}x${S}xf32>
  %abh = arith.truncf %ab : tensor<${S}x${S}xf32> to tensor<${S}x${S}xf16>
  %c = tile.dot %a, %abh, %ab : tensor<${S}x${S}xf16>, tensor<${S}x${S}xf16> -> tensor<${S}x${S}xf32>
  tile.store %c, %C[%c0, %c0] : tensor<${S}x${S}xf32>, !result
  tile.store %d, %D[%c0, %c0] : tensor<${S}x${S}xf32>, !result
  tile.return
}
