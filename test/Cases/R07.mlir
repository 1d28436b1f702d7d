// Case R07: a group that does not divide the rows of tiles: every tile is written exactly once. C's tiles of 8 x 16 hold
// the number of the program's tile, and `count` gets 1 for each tile.
//
// param GROUP = 8

!result = memref<?x?xi32, strided<[?, 1]>>
!block = tensor<8x16xi32>

tile.kernel @persistent(%C: !result {tile.name = "C", tile.align = 16 : i64}, %count: !result {tile.name = "count"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bm = arith.constant 8 : index
  %bn = arith.constant 16 : index
  %M = memref.dim %C, %c0 : !result
  %N = memref.dim %C, %c1 : !result
  %rows = arith.ceildivsi %M, %bm : index
  %columns = arith.ceildivsi %N, %bn : index
  %tiles = arith.muli %rows, %columns : index
  tile.grid %tiles persistent
  %first = tile.program_id 0
  %programs = tile.num_programs 0
  %one = arith.constant dense<1> : tensor<1x1xi32>
  scf.for %t = %first to %tiles step %programs {
    %row, %column = tile.grouped_index %t of %rows x %columns group ${GROUP}
    %m = arith.muli %row, %bm : index
    %n = arith.muli %column, %bn : index
    %t32 = arith.index_cast %t : index to i32
    %numbers = tensor.splat %t32 : !block
    tile.store %numbers, %C[%m, %n] : !block, !result
    tile.reduce_store #tile.combine<add> %one, %count[%row, %column] : tensor<1x1xi32>, !result
  }
  tile.return
}

tile.kernel @plain(%C: !result {tile.name = "C", tile.align = 16 : i64}, %count: !result {tile.name = "count"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bm = arith.constant 8 : index
  %bn = arith.constant 16 : index
  %M = memref.dim %C, %c0 : !result
  %N = memref.dim %C, %c1 : !result
  %rows = arith.ceildivsi %M, %bm : index
  %columns = arith.ceildivsi %N, %bn : index
  %tiles = arith.muli %rows, %columns : index
  tile.grid %tiles
  %t = tile.program_id 0
  %row, %column = tile.grouped_index %t of %rows x %columns group ${GROUP}
  %m = arith.muli %row, %bm : index
  %n = arith.muli %column, %bn : index
  %t32 = arith.index_cast %t : index to i32
  %numbers = tensor.splat %t32 : !block
  tile.store %numbers, %C[%m, %n] : !block, !result
  %one = arith.constant dense<1> : tensor<1x1xi32>
  tile.reduce_store #tile.combine<add> %one, %count[%row, %column] : tensor<1x1xi32>, !result
  tile.return
}
