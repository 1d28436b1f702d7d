// Case T02: rows of 511 elements, known when compiled; their distance is no multiple of 16 bytes. C = A B^T.
//
// param T = bf16, sm_75: f16
// param ALIGN = 2
// param STAGES = 3, sm_75: 2

!operand = memref<?x511x${T}, strided<[511, 1]>>
!result = memref<?x130xf32, strided<[130, 1]>>
!sums = tensor<128x64xf32>

tile.kernel @static(%A: !operand {tile.name = "A", tile.align = ${ALIGN} : i64}, %B: !operand {tile.name = "B", tile.align = ${ALIGN} : i64},
                    %C: !result {tile.name = "C", tile.align = 4 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bm = arith.constant 128 : index
  %bn = arith.constant 64 : index
  %bk = arith.constant 64 : index
  %K = memref.dim %A, %c1 : !operand
  %M = memref.dim %C, %c0 : !result
  %N = memref.dim %C, %c1 : !result
  %rows = arith.ceildivsi %M, %bm : index
  %columns = arith.ceildivsi %N, %bn : index
  tile.grid %rows, %columns
  %row = tile.program_id 0
  %column = tile.program_id 1
  %m = arith.muli %row, %bm : index
  %n = arith.muli %column, %bn : index
  %zero = arith.constant dense<0.0> : !sums
  %sum = tile.for %k = %c0 to %K step %bk iter_args(%acc = %zero) -> (!sums) pipeline(stages = ${STAGES}) {
    %a = tile.load %A[%m, %k] : !operand -> tensor<128x64x${T}>
    %b = tile.load %B[%n, %k] : !operand -> tensor<64x64x${T}>
    %s = tile.dot %a, %b transpose_b, %acc : tensor<128x64x${T}>, tensor<64x64x${T}> -> !sums
    tile.yield %s : !sums
  }
  tile.store %sum, %C[%m, %n] : !sums, !result
  tile.return
}
