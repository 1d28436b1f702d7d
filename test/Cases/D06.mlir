// Case D06: programs for which ptxas would serialise wgmma, ignore register budgets or spill.
//
// param STAGES = 2
// param SPECIALIZE = auto
// param CONSUMERS = auto
// param BM = 64
// param BN = 256

!matrix = memref<?x?xbf16, strided<[?, 1]>>
!result = memref<?x?xf32, strided<[?, 1]>>
!sums = tensor<${BM}x${BN}xf32>
!left = tensor<${BM}x64xbf16>
!right = tensor<${BN}x64xbf16>

// C[m] = A[m] B^T: the accumulator starts from zero in each trip of the outer loop.
tile.kernel @zeroed(%A: !matrix {tile.name = "A", tile.align = 16 : i64}, %B: !matrix {tile.name = "B", tile.align = 16 : i64},
                    %C: !result {tile.name = "C", tile.align = 16 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bm = arith.constant ${BM} : index
  %bk = arith.constant 64 : index
  %M = memref.dim %A, %c0 : !matrix
  %K = memref.dim %A, %c1 : !matrix
  %zero = arith.constant dense<0.0> : !sums
  scf.for %m = %c0 to %M step %bm {
    %sum = tile.for %k = %c0 to %K step %bk iter_args(%acc = %zero) -> (!sums)
        pipeline(stages = ${STAGES}, specialize = ${SPECIALIZE}, consumers = ${CONSUMERS}) {
      %a = tile.load %A[%m, %k] : !matrix -> !left
      %b = tile.load %B[%c0, %k] : !matrix -> !right
      %s = tile.dot %a, %b transpose_b, %acc : !left, !right -> !sums
      tile.yield %s : !sums
    }
    tile.store %sum, %C[%m, %c0] : !sums, !result
  }
  tile.return
}

// Two accumulators side by side: C and D are the products of the first and the second rows of A.
tile.kernel @two(%A: !matrix {tile.name = "A", tile.align = 16 : i64}, %B: !matrix {tile.name = "B", tile.align = 16 : i64},
                 %C: !result {tile.name = "C", tile.align = 16 : i64}, %D: !result {tile.name = "D", tile.align = 16 : i64})
    attributes {warps = 4} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bk = arith.constant 64 : index
  %bm = arith.constant ${BM} : index
  %K = memref.dim %A, %c1 : !matrix
  %zero = arith.constant dense<0.0> : !sums
  %r:2 = tile.for %k = %c0 to %K step %bk iter_args(%x = %zero, %y = %zero) -> (!sums, !sums)
      pipeline(stages = ${STAGES}, specialize = ${SPECIALIZE}, consumers = ${CONSUMERS}) {
    %a = tile.load %A[%c0, %k] : !matrix -> !left
    %below = tile.load %A[%bm, %k] : !matrix -> !left
    %b = tile.load %B[%c0, %k] : !matrix -> !right
    %p = tile.dot %a, %b transpose_b, %x : !left, !right -> !sums
    %q = tile.dot %below, %b transpose_b, %y : !left, !right -> !sums
    tile.yield %p, %q : !sums, !sums
  }
  tile.store %r#0, %C[%c0, %c0] : !sums, !result
  tile.store %r#1, %D[%c0, %c0] : !sums, !result
  tile.return
}
