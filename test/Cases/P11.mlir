// Case P11: inner loops without trips, some of them with an upper bound below the lower. Program p makes 4 trips around
// the range T[p, 0] to T[p, 1] by T[p, 2]; counts[p] is how many inner trips there are, Z[p] the sum of what they load.
//
// param STAGES = 2
// param INNER = 2
// param SPECIALIZE = auto

!rows = memref<?x?xf32, strided<[?, 1]>>
!table = memref<?x?xi32, strided<[?, 1]>>
!counts = memref<?xi32, strided<[1]>>
!row = tensor<1x64xf32>

tile.kernel @nested(%X: !rows {tile.name = "X", tile.align = 16 : i64}, %T: !table {tile.name = "T"},
                    %counts: !counts {tile.name = "counts"}, %Z: !rows {tile.name = "Z", tile.align = 16 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %programs = memref.dim %T, %c0 : !table
  tile.grid %programs
  %p = tile.program_id 0
  %lower32 = tile.load_scalar %T[%p, %c0] : !table -> i32
  %upper32 = tile.load_scalar %T[%p, %c1] : !table -> i32
  %step32 = tile.load_scalar %T[%p, %c2] : !table -> i32
  %lower = arith.index_cast %lower32 : i32 to index
  %upper = arith.index_cast %upper32 : i32 to index
  %step = arith.index_cast %step32 : i32 to index
  %zero = arith.constant dense<0.0> : !row
  %none = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %r:2 = tile.for %i = %c0 to %c4 step %c1 iter_args(%s = %zero, %n = %none) -> (!row, i32)
      pipeline(stages = ${STAGES}, specialize = ${SPECIALIZE}) {
    %y = tile.load %X[%i, %c0] : !rows -> !row
    %in:2 = tile.for %j = %lower to %upper step %step iter_args(%t = %s, %m = %n) -> (!row, i32)
        pipeline(stages = ${INNER}, specialize = ${SPECIALIZE}) {
      %x = tile.load %X[%j, %c0] : !rows -> !row
      %z = arith.addf %t, %x : !row
      %more = arith.addi %m, %one : i32
      tile.yield %z, %more : !row, i32
    }
    %both = arith.addf %in#0, %y : !row
    tile.yield %both, %in#1 : !row, i32
  }
  tile.store_scalar %r#1, %counts[%p] : i32, !counts
  tile.store %r#0, %Z[%p, %c0] : !row, !rows
  tile.return
}
