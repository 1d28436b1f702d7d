// C = silu(A * G^T) * (A * U^T) for row-major A [M, K], gate G and up U [N, K], C [M, N]: two products share A's tile.
//
// param T = bf16
// param BM = 128
// param BN = 64, sm_90a: 128, sm_100a: 128
// param BK = 64
// param STAGES = auto
// param SPECIALIZE = auto
// param ALIGN = 16

!matrix = memref<?x?x${T}, strided<[?, 1]>>
!weights = tensor<${BN}x${BK}x${T}>
!sums = tensor<${BM}x${BN}xf32>

tile.kernel @gemm_swiglu(%A: !matrix {tile.name = "A", tile.align = ${ALIGN} : i64},
                         %G: !matrix {tile.name = "G", tile.align = ${ALIGN} : i64},
                         %U: !matrix {tile.name = "U", tile.align = ${ALIGN} : i64},
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
    %gate, %up = tile.for %k = %c0 to %K step %bk iter_args(%x = %zero, %y = %zero) -> (!sums, !sums)
        pipeline(stages = ${STAGES}, specialize = ${SPECIALIZE}) {
      %a = tile.load %A[%m, %k] : !matrix -> tensor<${BM}x${BK}x${T}>
      %g = tile.load %G[%n, %k] : !matrix -> !weights
      %u = tile.load %U[%n, %k] : !matrix -> !weights
      %x1 = tile.dot %a, %g transpose_b, %x : tensor<${BM}x${BK}x${T}>, !weights -> !sums
      %y1 = tile.dot %a, %u transpose_b, %y : tensor<${BM}x${BK}x${T}>, !weights -> !sums
      tile.yield %x1, %y1 : !sums, !sums
    }
    %one = arith.constant dense<1.0> : !sums
    %negative = arith.negf %gate : !sums
    %e = math.exp %negative : !sums
    %e1 = arith.addf %e, %one : !sums
    %silu = arith.divf %gate, %e1 : !sums
    %gated = arith.mulf %silu, %up : !sums
    %c = arith.truncf %gated : !sums to tensor<${BM}x${BN}x${T}>
    tile.store %c, %C[%m, %n] : tensor<${BM}x${BN}x${T}>, !matrix
  }
  tile.return
}
