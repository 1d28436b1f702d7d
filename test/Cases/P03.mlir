// Case P03: what a pipelined load brings is used under a condition alone. Z[table[i]] = i + 1 if `flag`.
//
// param STAGES = 2
// param SPECIALIZE = auto

!table = memref<?xi32, strided<[1]>>

tile.kernel @scalars(%table: !table {tile.name = "table", tile.align = 16 : i64},
                     %Z: !table {tile.name = "Z", tile.align = 16 : i64}, %flag: i32 {tile.name = "flag"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %trips = memref.dim %table, %c0 : !table
  %zero = arith.constant 0 : i32
  %isSet = arith.cmpi ne, %flag, %zero : i32
  tile.for %i = %c0 to %trips step %c1 pipeline(stages = ${STAGES}, specialize = ${SPECIALIZE}) {
    %place32 = tile.load_scalar %table[%i] : !table -> i32
    scf.if %isSet {
      %place = arith.index_cast %place32 : i32 to index
      %after = arith.addi %i, %c1 : index
      %number = arith.index_cast %after : index to i32
      tile.store_scalar %number, %Z[%place] : i32, !table
    }
    tile.yield
  }
  tile.return
}

// A tile of ${WIDTH} places for each trip: Z[table[${WIDTH} i + j]] = i + 1.
//
// param WIDTH = 1

tile.kernel @tiles(%table: !table {tile.name = "table", tile.align = 16 : i64},
                   %Z: !table {tile.name = "Z", tile.align = 16 : i64}, %flag: i32 {tile.name = "flag"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %width = arith.constant ${WIDTH} : index
  %length = memref.dim %table, %c0 : !table
  %zero = arith.constant 0 : i32
  %isSet = arith.cmpi ne, %flag, %zero : i32
  tile.for %at = %c0 to %length step %width pipeline(stages = ${STAGES}, specialize = ${SPECIALIZE}) {
    %places = tile.load %table[%at] : !table -> tensor<${WIDTH}xi32>
    scf.if %isSet {
      %i = arith.divsi %at, %width : index
      %after = arith.addi %i, %c1 : index
      %number = arith.index_cast %after : index to i32
      %numbers = tensor.splat %number : tensor<${WIDTH}xi32>
      tile.scatter %numbers, %Z[%places] : tensor<${WIDTH}xi32>, !table, (tensor<${WIDTH}xi32>)
    }
    tile.yield
  }
  tile.return
}
