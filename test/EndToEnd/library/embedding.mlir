// Y[i] = table[ids[i]]: rows of table [V, D] by ids [M]; Y [M, D]. An id outside the table gives a row of zeros.
//
// param T = bf16
// param BR = 16
// param BC = 256
// param ALIGN = 16

!matrix = memref<?x?x${T}, strided<[?, 1]>>
!ids = memref<?xi32, strided<[1]>>

tile.kernel @embedding(%table: !matrix {tile.name = "table", tile.align = ${ALIGN} : i64},
                       %ids: !ids {tile.name = "ids", tile.align = ${ALIGN} : i64},
                       %Y: !matrix {tile.name = "Y", tile.align = ${ALIGN} : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %br = arith.constant ${BR} : index
  %bc = arith.constant ${BC} : index
  %M = memref.dim %Y, %c0 : !matrix
  %D = memref.dim %Y, %c1 : !matrix
  %rows = arith.ceildivsi %M, %br : index
  %columns = arith.ceildivsi %D, %bc : index
  tile.grid %columns, %rows

  %column = tile.program_id 0
  %row = tile.program_id 1
  %m = arith.muli %row, %br : index
  %n = arith.muli %column, %bc : index
  %places = tile.load %ids[%m] : !ids -> tensor<${BR}xi32>
  %x = tile.gather %table[%places, %n] : !matrix, (tensor<${BR}xi32>, index) -> tensor<${BR}x${BC}x${T}>
  tile.store %x, %Y[%m, %n] {cache = #tile.cache<evict_first>} : tensor<${BR}x${BC}x${T}>, !matrix
  tile.return
}
