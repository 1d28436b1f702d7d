// Case W06: copy warps that bring one tile by TMA and another by plain copies, as the rows of S, ${W} numbers each, need
// not begin at multiples of 16 bytes. C = the sum of Q[i] Q[i]^T, sum = the sum of S[i].
//
// param STAGES = 2
// param T = bf16, sm_75: f16
// param SPECIALIZE = on
// param BM = 64, sm_100a: 128
// param W = 250
// param ALIGN = 4

!matrix = memref<?x?x${T}, strided<[?, 1]>>
!rows = memref<?x?xf32, strided<[?, 1]>>
!operand = tensor<${BM}x64x${T}>
!sums = tensor<${BM}x${BM}xf32>
!row = tensor<1x${W}xf32>

tile.kernel @mixed(%Q: !matrix {tile.name = "Q", tile.align = 16 : i64}, %S: !rows {tile.name = "S", tile.align = ${ALIGN} : i64},
                   %C: !rows {tile.name = "C", tile.align = 16 : i64}, %sum: !rows {tile.name = "sum", tile.align = 4 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bm = arith.constant ${BM} : index
  %trips = memref.dim %S, %c0 : !rows
  %zero = arith.constant dense<0.0> : !sums
  %none = arith.constant dense<0.0> : !row
  %r:2 = tile.for %i = %c0 to %trips step %c1 iter_args(%acc = %zero, %t = %none) -> (!sums, !row)
      pipeline(stages = ${STAGES}, specialize = ${SPECIALIZE}) {
    %at = arith.muli %i, %bm : index
    %q = tile.load %Q[%at, %c0] : !matrix -> !operand
    %s = tile.load %S[%i, %c0] : !rows -> !row
    %more = tile.dot %q, %q transpose_b, %acc : !operand, !operand -> !sums
    %u = arith.addf %t, %s : !row
    tile.yield %more, %u : !sums, !row
  }
  tile.store %r#0, %C[%c0, %c0] : !sums, !rows
  tile.store %r#1, %sum[%c0, %c0] : !row, !rows
  tile.return
}
