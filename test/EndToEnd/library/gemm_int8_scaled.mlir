// C = (A * B^T) * rowScale * columnScale for int8 A [M, K], B [N, K] with f32 scales of each row of A and of B; the
// product is exact in i32. C [M, N].
//
// param T = bf16
// param BM = 128
// param BN = 128
// param BK = 128
// param STAGES = auto
// param SPECIALIZE = auto
// param ALIGN = 16

!operand = memref<?x?xi8, strided<[?, 1]>>
!result = memref<?x?x${T}, strided<[?, 1]>>
!scales = memref<?xf32, strided<[1]>>
!exact = tensor<${BM}x${BN}xi32>
!sums = tensor<${BM}x${BN}xf32>

tile.kernel @gemm_int8_scaled(%A: !operand {tile.name = "A", tile.align = ${ALIGN} : i64},
                              %B: !operand {tile.name = "B", tile.align = ${ALIGN} : i64},
                              %rowScale: !scales {tile.name = "rowScale", tile.align = ${ALIGN} : i64},
                              %columnScale: !scales {tile.name = "columnScale", tile.align = ${ALIGN} : i64},
                              %C: !result {tile.name = "C", tile.align = ${ALIGN} : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bm = arith.constant ${BM} : index
  %bn = arith.constant ${BN} : index
  %bk = arith.constant ${BK} : index
  %M = memref.dim %C, %c0 : !result
  %N = memref.dim %C, %c1 : !result
  %K = memref.dim %A, %c1 : !operand
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
    %zero = arith.constant dense<0> : !exact
    %sum = tile.for %k = %c0 to %K step %bk iter_args(%acc = %zero) -> (!exact)
        pipeline(stages = ${STAGES}, specialize = ${SPECIALIZE}) {
      %a = tile.load %A[%m, %k] : !operand -> tensor<${BM}x${BK}xi8>
      %b = tile.load %B[%n, %k] : !operand -> tensor<${BN}x${BK}xi8>
      %s = tile.dot %a, %b transpose_b, %acc : tensor<${BM}x${BK}xi8>, tensor<${BN}x${BK}xi8> -> !exact
      tile.yield %s : !exact
    }
    %ofRows = tile.load %rowScale[%m] : !scales -> tensor<${BM}xf32>
    %ofColumns = tile.load %columnScale[%n] : !scales -> tensor<${BN}xf32>
    %rowsUp = tile.expand_dims %ofRows axis 1 : tensor<${BM}xf32> -> tensor<${BM}x1xf32>
    %rowsAll = tile.broadcast %rowsUp : tensor<${BM}x1xf32> -> !sums
    %columnsUp = tile.expand_dims %ofColumns axis 0 : tensor<${BN}xf32> -> tensor<1x${BN}xf32>
    %columnsAll = tile.broadcast %columnsUp : tensor<1x${BN}xf32> -> !sums
    %x = arith.sitofp %sum : !exact to !sums
    %xr = arith.mulf %x, %rowsAll : !sums
    %xrc = arith.mulf %xr, %columnsAll : !sums
    %c = arith.truncf %xrc : !sums to tensor<${BM}x${BN}x${T}>
    tile.store %c, %C[%m, %n] : tensor<${BM}x${BN}x${T}>, !result
  }
  tile.return
}
