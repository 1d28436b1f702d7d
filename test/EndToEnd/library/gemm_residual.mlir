// C = A * B^T + R for row-major A [M, K], B [N, K], R and C [M, N].
//
// param T = bf16
// param BM = 128
// param BN = 128
// param BK = 64
// param STAGES = auto
// param SPECIALIZE = auto
// param ALIGN = 16

!matrix = memref<?x?x${T}, strided<[?, 1]>>
!sums = tensor<${BM}x${BN}xf32>

tile.kernel @gemm_residual(%A: !matrix {tile.name = "A", tile.align = ${ALIGN} : i64},
                           %B: !matrix {tile.name = "B", tile.align = ${ALIGN} : i64},
                           %R: !matrix {tile.name = "R", tile.align = ${ALIGN} : i64},
                           %C: !matrix {tile.name = "C", tile.align = ${ALIGN} : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bm = arith.constant ${BM} : index
  %bn = arith.constant ${BN} : index
  %bk = arith.constant ${BK} : index
  %M = memref.dim %C, %c0 : !matrix
  %N = memref.dim %C, %c1 : !matrix
  %K = memref.dim %A, %c1 : !matrix
  %rows = arith.ceildivsi %M, %bm : index
  %columns = arith.ceildivsi %N, %bn : index
  %tiles = arith.muli %rows, %columns : index
  tile.grid %tiles persistent

  %first = tile.program_id 0
  %programs = tile.num_programs 0
  scf.for %t = %first to %tiles step %programs {
    %row, %column = tile.grouped_index %t of %rows x %columns group 16
    %m = arith.muli %row, %bm : index
    %n = arith.muli %column, %bn : index
    %zero = arith.constant dense<0.0> : !sums
    %sum = tile.for %k = %c0 to %K step %bk iter_args(%acc = %zero) -> (!sums)
        pipeline(stages = ${STAGES}, specialize = ${SPECIALIZE}) {
      %a = tile.load %A[%m, %k] : !matrix -> tensor<${BM}x${BK}x${T}>
      %b = tile.load %B[%n, %k] : !matrix -> tensor<${BN}x${BK}x${T}>
      %s = tile.dot %a, %b transpose_b, %acc : tensor<${BM}x${BK}x${T}>, tensor<${BN}x${BK}x${T}> -> !sums
      tile.yield %s : !sums
    }
    %residual = tile.load %R[%m, %n] : !matrix -> tensor<${BM}x${BN}x${T}>
    %wide = arith.extf %residual : tensor<${BM}x${BN}x${T}> to !sums
    %y = arith.addf %sum, %wide : !sums
    %c = arith.truncf %y : !sums to tensor<${BM}x${BN}x${T}>
    tile.store %c, %C[%m, %n] : tensor<${BM}x${BN}x${T}>, !matrix
  }
  tile.return
}
