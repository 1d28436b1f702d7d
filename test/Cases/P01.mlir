// Case P01: trips below the number of stages, lower bounds other than 0, steps that do not divide.
//
// param STAGES = 3
// param SPECIALIZE = auto

// Program p goes along its own range: Z[p, i] = X[p, i] + 1 for the tiles i = T[p, 0], T[p, 0] + T[p, 2], ... below T[p, 1].

!rows = memref<?x?xf32, strided<[?, 1]>>
!table = memref<?x?xi32, strided<[?, 1]>>

tile.kernel @copy(%X: !rows {tile.name = "X", tile.align = 16 : i64}, %T: !table {tile.name = "T"},
                  %Z: !rows {tile.name = "Z", tile.align = 16 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %width = arith.constant 128 : index
  %programs = memref.dim %T, %c0 : !table
  tile.grid %programs
  %p = tile.program_id 0
  %lower32 = tile.load_scalar %T[%p, %c0] : !table -> i32
  %upper32 = tile.load_scalar %T[%p, %c1] : !table -> i32
  %step32 = tile.load_scalar %T[%p, %c2] : !table -> i32
  %lower = arith.index_cast %lower32 : i32 to index
  %upper = arith.index_cast %upper32 : i32 to index
  %step = arith.index_cast %step32 : i32 to index
  %one = arith.constant dense<1.0> : tensor<1x128xf32>
  tile.for %i = %lower to %upper step %step pipeline(stages = ${STAGES}, specialize = ${SPECIALIZE}) {
    %at = arith.muli %i, %width : index
    %x = tile.load %X[%p, %at] : !rows -> tensor<1x128xf32>
    %y = arith.addf %x, %one : tensor<1x128xf32>
    tile.store %y, %Z[%p, %at] : tensor<1x128xf32>, !rows
    tile.yield
  }
  tile.return
}

// Program p: Z[128 p ..] = A B over the tiles of K in its range; the tiles are 128 x 64 x 32.

!half = memref<?x?xf16, strided<[?, 1]>>

tile.kernel @product(%A: !half {tile.name = "A", tile.align = 16 : i64}, %B: !half {tile.name = "B", tile.align = 16 : i64},
                     %T: !table {tile.name = "T"}, %Z: !rows {tile.name = "Z", tile.align = 16 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %programs = memref.dim %T, %c0 : !table
  tile.grid %programs
  %p = tile.program_id 0
  %lower32 = tile.load_scalar %T[%p, %c0] : !table -> i32
  %upper32 = tile.load_scalar %T[%p, %c1] : !table -> i32
  %step32 = tile.load_scalar %T[%p, %c2] : !table -> i32
  %lower = arith.index_cast %lower32 : i32 to index
  %upper = arith.index_cast %upper32 : i32 to index
  %step = arith.index_cast %step32 : i32 to index
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %sum = tile.for %i = %lower to %upper step %step iter_args(%acc = %zero) -> (tensor<128x64xf32>)
      pipeline(stages = ${STAGES}, specialize = ${SPECIALIZE}) {
    %k = arith.muli %i, %c32 : index
    %a = tile.load %A[%c0, %k] : !half -> tensor<128x32xf16>
    %b = tile.load %B[%k, %c0] : !half -> tensor<32x64xf16>
    %s = tile.dot %a, %b, %acc : tensor<128x32xf16>, tensor<32x64xf16> -> tensor<128x64xf32>
    tile.yield %s : tensor<128x64xf32>
  }
  %m = arith.muli %p, %c128 : index
  tile.store %sum, %Z[%m, %c0] : tensor<128x64xf32>, !rows
  tile.return
}
