// Case Q04: conversions to 8-bit floats, rounded once to nearest even; beyond the largest number there is that number.
//
// param FROM = f16
// param TO = f8E4M3FN

tile.kernel @convert(%X: memref<?x${FROM}, strided<[1]>> {tile.name = "X", tile.align = 16 : i64},
                     %Z: memref<?x${TO}, strided<[1]>> {tile.name = "Z", tile.align = 16 : i64}) {
  %c0 = arith.constant 0 : index
  %width = arith.constant 1024 : index
  %length = memref.dim %X, %c0 : memref<?x${FROM}, strided<[1]>>
  %blocks = arith.ceildivsi %length, %width : index
  tile.grid %blocks
  %p = tile.program_id 0
  %at = arith.muli %p, %width : index
  %x = tile.load %X[%at] : memref<?x${FROM}, strided<[1]>> -> tensor<1024x${FROM}>
  %z = arith.truncf %x : tensor<1024x${FROM}> to tensor<1024x${TO}>
  tile.store %z, %Z[%at] : tensor<1024x${TO}>, memref<?x${TO}, strided<[1]>>
  tile.return
}
