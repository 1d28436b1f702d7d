// Case P07: a tile is read before the load at the end of the body replaces it: sum = S + X[0] + .. + X[trips - 2], and
// last = X[trips - 1].
//
// param STAGES = 2
// param SPECIALIZE = auto
// param T = i32
// param W = 32

!vector = memref<?x${T}, strided<[1]>>
!rows = memref<?x?x${T}, strided<[?, 1]>>
!row = tensor<${W}x${T}>

tile.kernel @sum(%X: !rows {tile.name = "X", tile.align = 16 : i64}, %S: !vector {tile.name = "S", tile.align = 16 : i64},
                 %sum: !vector {tile.name = "sum", tile.align = 16 : i64},
                 %last: !vector {tile.name = "last", tile.align = 16 : i64}, %trips: index {tile.name = "trips"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %first = tile.load %S[%c0] : !vector -> !row
  %zero = arith.constant dense<0> : !row
  %r:2 = tile.for %i = %c0 to %trips step %c1 iter_args(%acc = %zero, %s = %first) -> (!row, !row)
      pipeline(stages = ${STAGES}, specialize = ${SPECIALIZE}) {
    %more = arith.addi %acc, %s : !row
    %next = tile.load %X[%i, %c0] : !rows -> !row
    tile.yield %more, %next : !row, !row
  }
  tile.store %r#0, %sum[%c0] : !row, !vector
  tile.store %r#1, %last[%c0] : !row, !vector
  tile.return
}
