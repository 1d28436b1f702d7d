// Case T05: windows that begin inside a unit of 16 bytes, and operands whose elements are two apart.
//
// param STAGES = 2
// param SPECIALIZE = auto

!numbers = memref<?x?xi32, strided<[?, 1]>>
!window = tensor<32x32xi32>

// Z = the sum of the windows [32 i : 32 i + 32, column : column + 32] of X.
tile.kernel @windows(%X: !numbers {tile.name = "X", tile.align = 16 : i64}, %Z: !numbers {tile.name = "Z", tile.align = 16 : i64},
                     %column: index {tile.name = "column"}, %trips: index {tile.name = "trips"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0> : !window
  %r = tile.for %i = %c0 to %trips step %c1 iter_args(%acc = %zero) -> (!window)
      pipeline(stages = ${STAGES}, specialize = ${SPECIALIZE}) {
    %at = arith.muli %i, %c32 : index
    %x = tile.load %X[%at, %column] : !numbers -> !window
    %s = arith.addi %acc, %x : !window
    tile.yield %s : !window
  }
  tile.store %r, %Z[%c0, %c0] : !window, !numbers
  tile.return
}

// O = (Q K^T) V, 64 keys at a time; the distance of neighbours in a row is `strides[1]`.
!half = memref<?x?xf16, strided<[?, ?]>>
!result = memref<?x?xf32, strided<[?, 1]>>
!block = tensor<64x64xf16>
!sums = tensor<64x64xf32>

tile.kernel @strided(%Q: !half {tile.name = "Q"}, %K: !half {tile.name = "K"}, %V: !half {tile.name = "V"},
                     %O: !result {tile.name = "O", tile.align = 16 : i64}) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %keys = memref.dim %K, %c0 : !half
  %q = tile.load %Q[%c0, %c0] : !half -> !block
  %zero = arith.constant dense<0.0> : !sums
  %r = tile.for %j = %c0 to %keys step %c64 iter_args(%acc = %zero) -> (!sums)
      pipeline(stages = ${STAGES}, specialize = ${SPECIALIZE}) {
    %k = tile.load %K[%j, %c0] : !half -> !block
    %scores = tile.dot %q, %k transpose_b, %zero : !block, !block -> !sums
    %weights = arith.truncf %scores : !sums to !block
    %v = tile.load %V[%j, %c0] : !half -> !block
    %o = tile.dot %weights, %v, %acc : !block, !block -> !sums
    tile.yield %o : !sums
  }
  tile.store %r, %O[%c0, %c0] : !sums, !result
  tile.return
}
