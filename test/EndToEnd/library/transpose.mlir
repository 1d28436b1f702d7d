// Y = X^T for X [M, N] and Y [N, M], both row-major: read and written along rows, turned in shared memory.
//
// param T = bf16
// param BM = 64
// param BN = 64
// param ALIGN = 16

!matrix = memref<?x?x${T}, strided<[?, 1]>>

tile.kernel @transpose(%X: !matrix {tile.name = "X", tile.align = ${ALIGN} : i64},
                       %Y: !matrix {tile.name = "Y", tile.align = ${ALIGN} : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bm = arith.constant ${BM} : index
  %bn = arith.constant ${BN} : index
  %M = memref.dim %X, %c0 : !matrix
  %N = memref.dim %X, %c1 : !matrix
  %rows = arith.ceildivsi %M, %bm : index
  %columns = arith.ceildivsi %N, %bn : index
  tile.grid %columns, %rows

  %column = tile.program_id 0
  %row = tile.program_id 1
  %m = arith.muli %row, %bm : index
  %n = arith.muli %column, %bn : index
  %x = tile.load %X[%m, %n] : !matrix -> tensor<${BM}x${BN}x${T}>
  %y = tile.transpose %x [1, 0] : tensor<${BM}x${BN}x${T}> -> tensor<${BN}x${BM}x${T}>
  tile.store %y, %Y[%n, %m] : tensor<${BN}x${BM}x${T}>, !matrix
  tile.return
}
