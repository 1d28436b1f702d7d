// Case W03: sums of segments, some of them empty, leave through shared memory: program p adds the tiles ends[p] to below
// ends[p + 1] of X.
//
// param STAGES = 2
// param SPECIALIZE = auto
// param BM = 64, sm_100a: 128

!rows = memref<?x?xf32, strided<[?, 1]>>
!half = memref<?x?xf16, strided<[?, 1]>>
!table = memref<?xi32, strided<[1]>>
!sums = tensor<${BM}x64xf32>
!operand = tensor<${BM}x64xf16>

// The sum is stored.
tile.kernel @stored(%X: !rows {tile.name = "X", tile.align = 16 : i64}, %ends: !table {tile.name = "ends"},
                    %Z: !rows {tile.name = "Z", tile.align = 16 : i64}, %segments: index {tile.name = "segments"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bm = arith.constant ${BM} : index
  tile.grid %segments
  %p = tile.program_id 0
  %after = arith.addi %p, %c1 : index
  %lower32 = tile.load_scalar %ends[%p] : !table -> i32
  %upper32 = tile.load_scalar %ends[%after] : !table -> i32
  %lower = arith.index_cast %lower32 : i32 to index
  %upper = arith.index_cast %upper32 : i32 to index
  %zero = arith.constant dense<0.0> : !sums
  %sum = tile.for %i = %lower to %upper step %c1 iter_args(%acc = %zero) -> (!sums)
      pipeline(stages = ${STAGES}, specialize = ${SPECIALIZE}) {
    %at = arith.muli %i, %bm : index
    %x = tile.load %X[%at, %c0] : !rows -> !sums
    %s = arith.addf %acc, %x : !sums
    tile.yield %s : !sums
  }
  %m = arith.muli %p, %bm : index
  tile.store %sum, %Z[%m, %c0] : !sums, !rows
  tile.return
}

// The sum is multiplied with B: an instruction that reads shared memory reads what threads have written.
tile.kernel @multiplied(%X: !rows {tile.name = "X", tile.align = 16 : i64}, %B: !half {tile.name = "B", tile.align = 16 : i64},
                        %ends: !table {tile.name = "ends"}, %Z: !rows {tile.name = "Z", tile.align = 16 : i64},
                        %segments: index {tile.name = "segments"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bm = arith.constant ${BM} : index
  tile.grid %segments
  %p = tile.program_id 0
  %after = arith.addi %p, %c1 : index
  %lower32 = tile.load_scalar %ends[%p] : !table -> i32
  %upper32 = tile.load_scalar %ends[%after] : !table -> i32
  %lower = arith.index_cast %lower32 : i32 to index
  %upper = arith.index_cast %upper32 : i32 to index
  %zero = arith.constant dense<0.0> : !sums
  %sum = tile.for %i = %lower to %upper step %c1 iter_args(%acc = %zero) -> (!sums)
      pipeline(stages = ${STAGES}, specialize = ${SPECIALIZE}) {
    %at = arith.muli %i, %bm : index
    %x = tile.load %X[%at, %c0] : !rows -> !sums
    %s = arith.addf %acc, %x : !sums
    tile.yield %s : !sums
  }
  %a = arith.truncf %sum : !sums to !operand
  %b = tile.load %B[%c0, %c0] : !half -> tensor<64x64xf16>
  %product = tile.dot %a, %b transpose_b, %zero : !operand, tensor<64x64xf16> -> !sums
  %m = arith.muli %p, %bm : index
  tile.store %product, %Z[%m, %c0] : !sums, !rows
  tile.return
}
