// Case D01: what a warp does together stays outside of branches that programs or lanes take alone.

!vector = memref<?xf32, strided<[1]>>
!matrix = memref<?x?xf32, strided<[?, 1]>>
!half = memref<?x?xf16, strided<[?, 1]>>

// Sums of rows after two branches: program 0 marks that it ran, and with `none` set nobody does anything.
tile.kernel @sums(%X: !matrix {tile.name = "X"}, %mark: !vector {tile.name = "mark"}, %Z: !matrix {tile.name = "Z"},
                  %none: i32 {tile.name = "none"}) {
  %c0 = arith.constant 0 : index
  %programs = memref.dim %Z, %c0 : !matrix
  tile.grid %programs
  %p = tile.program_id 0
  %no = arith.constant 0 : i32
  %goesOn = arith.cmpi eq, %none, %no : i32
  scf.if %goesOn {
    %x = tile.load %X[%c0, %c0] : !matrix -> tensor<4x4xf32>
    %isFirst = arith.cmpi eq, %p, %c0 : index
    scf.if %isFirst {
      %one = arith.constant 1.0 : f32
      tile.store_scalar %one, %mark[%c0] : f32, !vector
    }
    %sum = tile.reduce %x axis 1 {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tile.yield %c : f32
    } : (tensor<4x4xf32>) -> tensor<4xf32>
    %row = tile.expand_dims %sum axis 0 : tensor<4xf32> -> tensor<1x4xf32>
    tile.store %row, %Z[%p, %c0] : tensor<1x4xf32>, !matrix
  }
  tile.return
}

// A product of which all elements but one are stored.
tile.kernel @product(%A: !half {tile.name = "A"}, %B: !half {tile.name = "B"}, %C: !matrix {tile.name = "C"},
                     %kept: i32 {tile.name = "kept"}) {
  %c0 = arith.constant 0 : index
  %a = tile.load %A[%c0, %c0] : !half -> tensor<16x16xf16>
  %b = tile.load %B[%c0, %c0] : !half -> tensor<16x8xf16>
  %zero = arith.constant dense<0.0> : tensor<16x8xf32>
  %c = tile.dot %a, %b, %zero : tensor<16x16xf16>, tensor<16x8xf16> -> tensor<16x8xf32>
  %rows = tile.iota axis 0 : tensor<16x8xi32>
  %columns = tile.iota axis 1 : tensor<16x8xi32>
  %kepts = tensor.splat %kept : tensor<16x8xi32>
  %both = arith.addi %rows, %columns : tensor<16x8xi32>
  %isKept = arith.cmpi eq, %both, %kepts : tensor<16x8xi32>
  %outside = arith.constant dense<-1> : tensor<16x8xi32>
  %places = arith.select %isKept, %outside, %rows : tensor<16x8xi1>, tensor<16x8xi32>
  tile.scatter %c, %C[%places, %columns] : tensor<16x8xf32>, !matrix, (tensor<16x8xi32>, tensor<16x8xi32>)
  tile.return
}
