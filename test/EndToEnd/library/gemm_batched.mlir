// C[b] = A[b] * B[b]^T for A [batch, M, K], B [batch, N, K] and C [batch, M, N].
//
// param T = bf16
// param BM = 128
// param BN = 128
// param BK = 64
// param STAGES = auto
// param SPECIALIZE = auto
// param ALIGN = 16

!matrices = memref<?x?x?x${T}, strided<[?, ?, 1]>>
!sums = tensor<${BM}x${BN}xf32>

tile.kernel @gemm_batched(%A: !matrices {tile.name = "A", tile.align = ${ALIGN} : i64},
                          %B: !matrices {tile.name = "B", tile.align = ${ALIGN} : i64},
                          %C: !matrices {tile.name = "C", tile.align = ${ALIGN} : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %bm = arith.constant ${BM} : index
  %bn = arith.constant ${BN} : index
  %bk = arith.constant ${BK} : index
  %batch = memref.dim %C, %c0 : !matrices
  %M = memref.dim %C, %c1 : !matrices
  %N = memref.dim %C, %c2 : !matrices
  %K = memref.dim %A, %c2 : !matrices
  %rows = arith.ceildivsi %M, %bm : index
  %columns = arith.ceildivsi %N, %bn : index
  %tilesEach = arith.muli %rows, %columns : index
  %tiles = arith.muli %tilesEach, %batch : index
  tile.grid %tiles persistent

  %first = tile.program_id 0
  %programs = tile.num_programs 0
  scf.for %t = %first to %tiles step %programs {
    %i = arith.divsi %t, %tilesEach : index
    %inMatrix = arith.remsi %t, %tilesEach : index
    %row, %column = tile.grouped_index %inMatrix of %rows x %columns group 16
    %m = arith.muli %row, %bm : index
    %n = arith.muli %column, %bn : index
    %zero = arith.constant dense<0.0> : !sums
    %sum = tile.for %k = %c0 to %K step %bk iter_args(%acc = %zero) -> (!sums)
        pipeline(stages = ${STAGES}, specialize = ${SPECIALIZE}) {
      %a = tile.load %A[%i, %m, %k] : !matrices -> tensor<${BM}x${BK}x${T}>
      %b = tile.load %B[%i, %n, %k] : !matrices -> tensor<${BN}x${BK}x${T}>
      %s = tile.dot %a, %b transpose_b, %acc : tensor<${BM}x${BK}x${T}>, tensor<${BN}x${BK}x${T}> -> !sums
      tile.yield %s : !sums
    }
    %c = arith.truncf %sum : !sums to tensor<${BM}x${BN}x${T}>
    tile.store %c, %C[%i, %m, %n] : tensor<${BM}x${BN}x${T}>, !matrices
  }
  tile.return
}
