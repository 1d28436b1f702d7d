// C = alpha * A * B + beta * C as BLAS defines it: with beta = 0, C is not read, so it may hold NaN.
// Row-major A [M, K], B [K, N] and C [M, N].
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

tile.kernel @gemm_alpha_beta(%A: !matrix {tile.name = "A", tile.align = ${ALIGN} : i64},
                             %B: !matrix {tile.name = "B", tile.align = ${ALIGN} : i64},
                             %C: !matrix {tile.name = "C", tile.align = ${ALIGN} : i64},
                             %alpha: f32 {tile.name = "alpha"}, %beta: f32 {tile.name = "beta"}) {
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

  %none = arith.constant 0.0 : f32
  %readsC = arith.cmpf une, %beta, %none : f32
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
      %b = tile.load %B[%k, %n] : !matrix -> tensor<${BK}x${BN}x${T}>
      %s = tile.dot %a, %b, %acc : tensor<${BM}x${BK}x${T}>, tensor<${BK}x${BN}x${T}> -> !sums
      tile.yield %s : !sums
    }
    %alphas = tensor.splat %alpha : !sums
    %product = arith.mulf %sum, %alphas : !sums
    %y = scf.if %readsC -> (!sums) {
      %old = tile.load %C[%m, %n] : !matrix -> tensor<${BM}x${BN}x${T}>
      %wide = arith.extf %old : tensor<${BM}x${BN}x${T}> to !sums
      %betas = tensor.splat %beta : !sums
      %kept = arith.mulf %wide, %betas : !sums
      %both = arith.addf %product, %kept : !sums
      scf.yield %both : !sums
    } else {
      scf.yield %product : !sums
    }
    %c = arith.truncf %y : !sums to tensor<${BM}x${BN}x${T}>
    tile.store %c, %C[%m, %n] : tensor<${BM}x${BN}x${T}>, !matrix
  }
  tile.return
}
