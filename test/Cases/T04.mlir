// Cases T04 and T05: sums of pieces of ${W} elements from element `first` on. A piece of 64 bytes makes slots that are
// smaller than the 128 bytes that TMA aligns to; a first element inside a unit of 16 bytes is none that TMA can take.
//
// param STAGES = 2
// param SPECIALIZE = auto
// param T = f16
// param W = 32
// param KNOWN = 16

!vector = memref<?x${T}, strided<[1]>>
!piece = tensor<${W}x${T}>

// `first` is a multiple of KNOWN elements.
tile.kernel @pieces(%X: !vector {tile.name = "X", tile.align = 16 : i64}, %sum: !vector {tile.name = "sum", tile.align = 16 : i64},
                    %first: index {tile.name = "first"}, %trips: index {tile.name = "trips"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %width = arith.constant ${W} : index
  %start = tile.assume %first multiple_of ${KNOWN}
  %zero = arith.constant dense<0.0> : !piece
  %r = tile.for %i = %c0 to %trips step %c1 iter_args(%acc = %zero) -> (!piece)
      pipeline(stages = ${STAGES}, specialize = ${SPECIALIZE}) {
    %place = arith.muli %i, %width : index
    %at = arith.addi %start, %place : index
    %x = tile.load %X[%at] : !vector -> !piece
    %s = arith.addf %acc, %x : !piece
    tile.yield %s : !piece
  }
  tile.store %r, %sum[%c0] : !piece, !vector
  tile.return
}
