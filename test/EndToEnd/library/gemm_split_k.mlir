// C += A * B^T in f32, for products with few output tiles and a long K: program (t, s) adds the s-th part of K to tile
// t. Row-major A [M, K], B [N, K]; C [M, N] must hold zeros, or what the product is added to.
//
// param T = bf16
// param BM = 128
// param BN = 128
// param BK = 64
// param STAGES = auto
// param SPECIALIZE = auto
// param ALIGN = 16

!matrix = memref<?x?x${T}, strided<[?, 1]>>
!result = memref<?x?xf32, strided<[?, 1]>>
!sums = tensor<${BM}x${BN}xf32>

tile.kernel @gemm_split_k(%A: !matrix {tile.name = "A", tile.align = ${ALIGN} : i64},
                          %B: !matrix {tile.name = "B", tile.align = ${ALIGN} : i64},
                          %C: !result {tile.name = "C", tile.align = ${ALIGN} : i64},
                          %splits: index {tile.name = "splits"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bm = arith.constant ${BM} : index
  %bn = arith.constant ${BN} : index
  %bk = arith.constant ${BK} : index
  %M = memref.dim %C, %c0 : !result
  %N = memref.dim %C, %c1 : !result
  %K = memref.dim %A, %c1 : !matrix
  %rows = arith.ceildivsi %M, %bm : index
  %columns = arith.ceildivsi %N, %bn : index
  %tiles = arith.muli %rows, %columns : index
  tile.grid %tiles, %splits

  %t = tile.program_id 0
  %split = tile.program_id 1
  %row, %column = tile.grouped_index %t of %rows x %columns group 16
  %m = arith.muli %row, %bm : index
  %n = arith.muli %column, %bn : index
  // Parts are of whole trips; the last ones may be empty.
  %trips = arith.ceildivsi %K, %bk : index
  %tripsEach = arith.ceildivsi %trips, %splits : index
  %part = arith.muli %tripsEach, %bk : index
  %begin = arith.muli %split, %part : index
  %behind = arith.addi %begin, %part : index
  %end = arith.minsi %behind, %K : index
  %zero = arith.constant dense<0.0> : !sums
  %sum = tile.for %k = %begin to %end step %bk iter_args(%acc = %zero) -> (!sums)
      pipeline(stages = ${STAGES}, specialize = ${SPECIALIZE}) {
    %a = tile.load %A[%m, %k] : !matrix -> tensor<${BM}x${BK}x${T}>
    %b = tile.load %B[%n, %k] : !matrix -> tensor<${BN}x${BK}x${T}>
    %s = tile.dot %a, %b transpose_b, %acc : tensor<${BM}x${BK}x${T}>, tensor<${BN}x${BK}x${T}> -> !sums
    tile.yield %s : !sums
  }
  tile.reduce_store #tile.combine<add> %sum, %C[%m, %n] : !sums, !result
  tile.return
}
