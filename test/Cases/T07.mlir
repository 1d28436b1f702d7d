// Case T07: tiles over the limits of a TMA box: Z = X in blocks of ${R} x ${C} through a pipelined loop.
//
// param T = f16
// param R = 32
// param C = 48
// param STAGES = 2

!matrix = memref<?x?x${T}, strided<[?, 1]>>
!block = tensor<${R}x${C}x${T}>

tile.kernel @copy(%X: !matrix {tile.name = "X", tile.align = 16 : i64}, %Z: !matrix {tile.name = "Z", tile.align = 16 : i64}) {
  %c0 = arith.constant 0 : index
  %rows = arith.constant ${R} : index
  %M = memref.dim %X, %c0 : !matrix
  tile.for %m = %c0 to %M step %rows pipeline(stages = ${STAGES}) {
    %x = tile.load %X[%m, %c0] : !matrix -> !block
    tile.store %x, %Z[%m, %c0] : !block, !matrix
    tile.yield
  }
  tile.return
}
