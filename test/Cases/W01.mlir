// Case W01: y = x W with a loop that makes one trip at K = ${BK}: X [1, K], W [K, N], in blocks of 256 columns.
//
// param STAGES = 1
// param SPECIALIZE = on
// param T = bf16, sm_75: f16
// param BM = 64, sm_100a: 128
// param BK = 64

!matrix = memref<?x?x${T}, strided<[?, 1]>>
!result = memref<?x?xf32, strided<[?, 1]>>
!sums = tensor<${BM}x256xf32>

tile.kernel @gemv(%X: !matrix {tile.name = "X", tile.align = 16 : i64}, %W: !matrix {tile.name = "W", tile.align = 16 : i64},
                  %Y: !result {tile.name = "Y", tile.align = 16 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bk = arith.constant ${BK} : index
  %bn = arith.constant 256 : index
  %N = memref.dim %Y, %c1 : !result
  %K = memref.dim %X, %c1 : !matrix
  %columns = arith.ceildivsi %N, %bn : index
  tile.grid %columns
  %p = tile.program_id 0
  %n = arith.muli %p, %bn : index
  %zero = arith.constant dense<0.0> : !sums
  %sum = tile.for %k = %c0 to %K step %bk iter_args(%acc = %zero) -> (!sums)
      pipeline(stages = ${STAGES}, specialize = ${SPECIALIZE}) {
    %x = tile.load %X[%c0, %k] : !matrix -> tensor<${BM}x${BK}x${T}>
    %w = tile.load %W[%k, %n] : !matrix -> tensor<${BK}x256x${T}>
    %s = tile.dot %x, %w, %acc : tensor<${BM}x${BK}x${T}>, tensor<${BK}x256x${T}> -> !sums
    tile.yield %s : !sums
  }
  tile.store %sum, %Y[%c0, %n] : !sums, !result
  tile.return
}
