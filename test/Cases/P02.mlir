// Case P02: results of a loop that an early stage computes. Of T[p] trips program p keeps the tile that the last one
// loaded, the product of its number with 10 and the tile before; with no trip the initial values.
//
// param STAGES = 3
// param SPECIALIZE = auto

!rows = memref<?x?xf32, strided<[?, 1]>>
!table = memref<?xi32, strided<[1]>>
!row = tensor<1x128xf32>

tile.kernel @last(%X: !rows {tile.name = "X", tile.align = 16 : i64}, %T: !table {tile.name = "T"},
                  %last: !rows {tile.name = "last", tile.align = 16 : i64},
                  %previous: !rows {tile.name = "previous", tile.align = 16 : i64}, %number: !table {tile.name = "number"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %programs = memref.dim %T, %c0 : !table
  tile.grid %programs
  %p = tile.program_id 0
  %trips32 = tile.load_scalar %T[%p] : !table -> i32
  %trips = arith.index_cast %trips32 : i32 to index
  %none = arith.constant dense<-1.0> : !row
  %before = arith.constant dense<-2.0> : !row
  %noNumber = arith.constant -5 : index
  %r:3 = tile.for %i = %c0 to %trips step %c1 iter_args(%x = %none, %y = %before, %n = %noNumber) -> (!row, !row, index)
      pipeline(stages = ${STAGES}, specialize = ${SPECIALIZE}) {
    %next = tile.load %X[%i, %c0] : !rows -> !row
    %m = arith.muli %i, %c10 : index
    tile.yield %next, %x, %m : !row, !row, index
  }
  tile.store %r#0, %last[%p, %c0] : !row, !rows
  tile.store %r#1, %previous[%p, %c0] : !row, !rows
  %number32 = arith.index_cast %r#2 : index to i32
  tile.store_scalar %number32, %number[%p] : i32, !table
  tile.return
}
