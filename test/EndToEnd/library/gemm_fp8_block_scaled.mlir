// C = A * B^T for e4m3 A [M, K], B [N, K] with f32 scales: of A one for 128 columns of each row, SA [ceil(K/128), M]
// (so that the scales of a tile lie together), of B one for 128 x 128 elements, SB [ceil(N/128), ceil(K/128)].
// Each 128 of K are summed by the tensor core, scaled and added to the sum in f32 ("promoted"), since the tensor core
// keeps few bits of sums of 8-bit floats. C [M, N].
//
// param T = bf16
// param BM = 128
// param STAGES = auto
// param SPECIALIZE = auto
// param ALIGN = 16

!operand = memref<?x?xf8E4M3FN, strided<[?, 1]>>
!result = memref<?x?x${T}, strided<[?, 1]>>
!scales = memref<?x?xf32, strided<[?, 1]>>
!sums = tensor<${BM}x128xf32>

tile.kernel @gemm_fp8_block_scaled(%A: !operand {tile.name = "A", tile.align = ${ALIGN} : i64},
                                   %B: !operand {tile.name = "B", tile.align = ${ALIGN} : i64},
                                   %SA: !scales {tile.name = "SA", tile.align = ${ALIGN} : i64},
                                   %SB: !scales {tile.name = "SB"},
                                   %C: !result {tile.name = "C", tile.align = ${ALIGN} : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bm = arith.constant ${BM} : index
  %c128 = arith.constant 128 : index
  %M = memref.dim %C, %c0 : !result
  %N = memref.dim %C, %c1 : !result
  %K = memref.dim %A, %c1 : !operand
  %rows = arith.ceildivsi %M, %bm : index
  %columns = arith.ceildivsi %N, %c128 : index
  %blocks = arith.ceildivsi %K, %c128 : index
  %tiles = arith.muli %rows, %columns : index
  tile.grid %tiles persistent

  %first = tile.program_id 0
  %programs = tile.num_programs 0
  scf.for %t = %first to %tiles step %programs {
    %row, %column = tile.grouped_index %t of %rows x %columns group 16
    %m = arith.muli %row, %bm : index
    %n = arith.muli %column, %c128 : index
    %zero = arith.constant dense<0.0> : !sums
    %sum = tile.for %block = %c0 to %blocks step %c1 iter_args(%acc = %zero) -> (!sums)
        pipeline(stages = ${STAGES}, specialize = ${SPECIALIZE}) {
      %k = arith.muli %block, %c128 : index
      %a = tile.load %A[%m, %k] : !operand -> tensor<${BM}x128xf8E4M3FN>
      %b = tile.load %B[%n, %k] : !operand -> tensor<128x128xf8E4M3FN>
      %ofRows = tile.load %SA[%block, %m] : !scales -> tensor<${BM}xf32>
      %ofBlock = tile.load_scalar %SB[%column, %block] : !scales -> f32
      %part = tile.dot %a, %b transpose_b, %zero
          : tensor<${BM}x128xf8E4M3FN>, tensor<128x128xf8E4M3FN> -> !sums
      %ofBlocks = tensor.splat %ofBlock : tensor<${BM}xf32>
      %scales = arith.mulf %ofRows, %ofBlocks : tensor<${BM}xf32>
      %scalesUp = tile.expand_dims %scales axis 1 : tensor<${BM}xf32> -> tensor<${BM}x1xf32>
      %scalesAll = tile.broadcast %scalesUp : tensor<${BM}x1xf32> -> !sums
      %scaled = arith.mulf %part, %scalesAll : !sums
      %next = arith.addf %acc, %scaled : !sums
      tile.yield %next : !sums
    }
    %c = arith.truncf %sum : !sums to tensor<${BM}x128x${T}>
    tile.store %c, %C[%m, %n] : tensor<${BM}x128x${T}>, !result
  }
  tile.return
}
