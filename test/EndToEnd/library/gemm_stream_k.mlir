// C += A * B^T in f32, stream-K: the trips of all tiles are one sequence, of which every program takes an equal part,
// whichever tiles it begins and ends in. Row-major A [M, K], B [N, K]; C [M, N] must hold zeros.
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

tile.kernel @gemm_stream_k(%A: !matrix {tile.name = "A", tile.align = ${ALIGN} : i64},
                           %B: !matrix {tile.name = "B", tile.align = ${ALIGN} : i64},
                           %C: !result {tile.name = "C", tile.align = ${ALIGN} : i64}) {
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
  %tripsEach = arith.ceildivsi %K, %bk : index
  %trips = arith.muli %tiles, %tripsEach : index
  tile.grid %trips persistent

  %program = tile.program_id 0
  %next = arith.addi %program, %c1 : index
  %programs = tile.num_programs 0
  %beforeBegin = arith.muli %program, %trips : index
  %begin = arith.divsi %beforeBegin, %programs : index
  %beforeEnd = arith.muli %next, %trips : index
  %end = arith.divsi %beforeEnd, %programs : index
  // A grid of no trips launches nothing, so the divisor is positive.
  %firstTile = arith.divsi %begin, %tripsEach : index
  %lastTile = arith.ceildivsi %end, %tripsEach : index
  scf.for %t = %firstTile to %lastTile step %c1 {
    %row, %column = tile.grouped_index %t of %rows x %columns group 16
    %m = arith.muli %row, %bm : index
    %n = arith.muli %column, %bn : index
    %start = arith.muli %t, %tripsEach : index
    %fromStart = arith.subi %begin, %start : index
    %fromTrip = arith.maxsi %fromStart, %c0 : index
    %toEnd = arith.subi %end, %start : index
    %toTrip = arith.minsi %toEnd, %tripsEach : index
    %from = arith.muli %fromTrip, %bk : index
    %to = arith.muli %toTrip, %bk : index
    %zero = arith.constant dense<0.0> : !sums
    %sum = tile.for %k = %from to %to step %bk iter_args(%acc = %zero) -> (!sums)
        pipeline(stages = ${STAGES}, specialize = ${SPECIALIZE}) {
      %a = tile.load %A[%m, %k] : !matrix -> tensor<${BM}x${BK}x${T}>
      %b = tile.load %B[%n, %k] : !matrix -> tensor<${BN}x${BK}x${T}>
      %s = tile.dot %a, %b transpose_b, %acc : tensor<${BM}x${BK}x${T}>, tensor<${BN}x${BK}x${T}> -> !sums
      tile.yield %s : !sums
    }
    // Nobody else adds to a tile whose trips are all here.
    %own = arith.subi %toTrip, %fromTrip : index
    %isWhole = arith.cmpi eq, %own, %tripsEach : index
    scf.if %isWhole {
      tile.store %sum, %C[%m, %n] : !sums, !result
    } else {
      tile.reduce_store #tile.combine<add> %sum, %C[%m, %n] : !sums, !result
    }
  }
  tile.return
}
