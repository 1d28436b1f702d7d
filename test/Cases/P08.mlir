// Case P08: a load with a fill other than zero in a pipelined loop: sum and largest of X in blocks of ${W}, of which the
// last is ragged.
//
// param STAGES = 3
// param SPECIALIZE = auto
// param FILL = 1.0
// param W = 128

!vector = memref<?xf32, strided<[1]>>
!row = tensor<${W}xf32>

tile.kernel @filled(%X: !vector {tile.name = "X", tile.align = 16 : i64}, %sum: !vector {tile.name = "sum", tile.align = 16 : i64},
                    %most: !vector {tile.name = "most", tile.align = 16 : i64}) {
  %c0 = arith.constant 0 : index
  %width = arith.constant ${W} : index
  %length = memref.dim %X, %c0 : !vector
  %zero = arith.constant dense<0.0> : !row
  %lowest = arith.constant dense<0xFF800000> : !row
  %r:2 = tile.for %at = %c0 to %length step %width iter_args(%s = %zero, %m = %lowest) -> (!row, !row)
      pipeline(stages = ${STAGES}, specialize = ${SPECIALIZE}) {
    %x = tile.load %X[%at] {fill = ${FILL} : f32} : !vector -> !row
    %s2 = arith.addf %s, %x : !row
    %m2 = arith.maximumf %m, %x : !row
    tile.yield %s2, %m2 : !row, !row
  }
  tile.store %r#0, %sum[%c0] : !row, !vector
  tile.store %r#1, %most[%c0] : !row, !vector
  tile.return
}
