// C = A * B^T for A [M, K] and B [N, K] in blocks along K that have a scale each: OCP microscaling formats and nvfp4.
// Numbers T are f8E4M3FN or f8E5M2, or i8 with two of 4 bits. Scales S are i8, exponents of two for 32 numbers, or f8E4M3FN
// for 16 numbers of 4 bits: SA [M, K / 32] and SB [N, K / 32], or K / 16. C [M, N]. A trip takes COLUMNS of T and SCALES.
//
// param T = i8
// param S = i8
// param BM = 128, sm_80: 64
// param BN = 128, sm_80: 64
// param COLUMNS = 32
// param SCALES = 2
// param STAGES = auto
// param SPECIALIZE = auto
// param ALIGN = 16

!operand = memref<?x?x${T}, strided<[?, 1]>>
!scales = memref<?x?x${S}, strided<[?, 1]>>
!result = memref<?x?xbf16, strided<[?, 1]>>
!sums = tensor<${BM}x${BN}xf32>

tile.kernel @gemm_microscaled(%A: !operand {tile.name = "A", tile.align = ${ALIGN} : i64},
                              %SA: !scales {tile.name = "SA"},
                              %B: !operand {tile.name = "B", tile.align = ${ALIGN} : i64},
                              %SB: !scales {tile.name = "SB"},
                              %C: !result {tile.name = "C", tile.align = ${ALIGN} : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bm = arith.constant ${BM} : index
  %bn = arith.constant ${BN} : index
  %columns = arith.constant ${COLUMNS} : index
  %scalesOfTrip = arith.constant ${SCALES} : index
  %M = memref.dim %C, %c0 : !result
  %N = memref.dim %C, %c1 : !result
  %K = memref.dim %A, %c1 : !operand
  %rowTiles = arith.ceildivsi %M, %bm : index
  %columnTiles = arith.ceildivsi %N, %bn : index
  %tiles = arith.muli %rowTiles, %columnTiles : index
  tile.grid %tiles persistent

  %first = tile.program_id 0
  %programs = tile.num_programs 0
  scf.for %t = %first to %tiles step %programs {
    %row, %column = tile.grouped_index %t of %rowTiles x %columnTiles group 16
    %m = arith.muli %row, %bm : index
    %n = arith.muli %column, %bn : index
    %zero = arith.constant dense<0.0> : !sums
    %trips = arith.ceildivsi %K, %columns : index
    %sum = tile.for %trip = %c0 to %trips step %c1 iter_args(%acc = %zero) -> (!sums)
        pipeline(stages = ${STAGES}, specialize = ${SPECIALIZE}) {
      %k = arith.muli %trip, %columns : index
      %s = arith.muli %trip, %scalesOfTrip : index
      %a = tile.load %A[%m, %k] : !operand -> tensor<${BM}x${COLUMNS}x${T}>
      %b = tile.load %B[%n, %k] : !operand -> tensor<${BN}x${COLUMNS}x${T}>
      %aScale = tile.load %SA[%m, %s] : !scales -> tensor<${BM}x${SCALES}x${S}>
      %bScale = tile.load %SB[%n, %s] : !scales -> tensor<${BN}x${SCALES}x${S}>
      %next = tile.dot_scaled %a, %aScale, %b, %bScale, %acc
          : tensor<${BM}x${COLUMNS}x${T}>, tensor<${BM}x${SCALES}x${S}>, tensor<${BN}x${COLUMNS}x${T}>,
            tensor<${BN}x${SCALES}x${S}> -> !sums
      tile.yield %next : !sums
    }
    %c = arith.truncf %sum : !sums to tensor<${BM}x${BN}xbf16>
    tile.store %c, %C[%m, %n] : tensor<${BM}x${BN}xbf16>, !result
  }
  tile.return
}
