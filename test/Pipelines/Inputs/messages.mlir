// Asserts and prints: of scalars and tiles, outside of loops and in them. Arrays that headrace-sim makes (new:...) hold
// -1, and NaN as floats.
//
// param T = bf16
// param PREDICATE = une
// param LEAST = 64

// `sum` is not a number where an operand is not: `une` of a value and itself is then true, and `oeq` false.
tile.kernel @product(%A: memref<?x?x${T}, strided<[?, 1]>> {tile.name = "A", tile.align = 16 : i64},
                     %B: memref<?x?x${T}, strided<[?, 1]>> {tile.name = "B", tile.align = 16 : i64},
                     %C: memref<?x?xf32, strided<[?, 1]>> {tile.name = "C", tile.align = 16 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bk = arith.constant 64 : index
  %least = arith.constant ${LEAST} : index
  %K = memref.dim %A, %c1 : memref<?x?x${T}, strided<[?, 1]>>
  %isLong = arith.cmpi sge, %K, %least : index
  tile.assert %isLong, "K is too short" : i1
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = tile.for %k = %c0 to %K step %bk iter_args(%acc = %zero) -> (tensor<128x128xf32>) pipeline(stages = 2) {
    %next = arith.addi %k, %bk : index
    %isInside = arith.cmpi sle, %next, %K : index
    tile.assert %isInside, "K is no multiple of 64" : i1
    %a = tile.load %A[%c0, %k] : memref<?x?x${T}, strided<[?, 1]>> -> tensor<128x64x${T}>
    %b = tile.load %B[%c0, %k] : memref<?x?x${T}, strided<[?, 1]>> -> tensor<128x64x${T}>
    %s = tile.dot %a, %b transpose_b, %acc : tensor<128x64x${T}>, tensor<128x64x${T}> -> tensor<128x128xf32>
    tile.yield %s : tensor<128x128xf32>
  }
  %holds = arith.cmpf ${PREDICATE}, %sum, %sum : tensor<128x128xf32>
  tile.assert %holds, "the sum is what it is" : tensor<128x128xi1>
  tile.store %sum, %C[%c0, %c0] : tensor<128x128xf32>, memref<?x?xf32, strided<[?, 1]>>
  tile.return
}

// In the loop the accumulator is read in each trip.
tile.kernel @running(%A: memref<?x?x${T}, strided<[?, 1]>> {tile.name = "A", tile.align = 16 : i64},
                     %B: memref<?x?x${T}, strided<[?, 1]>> {tile.name = "B", tile.align = 16 : i64},
                     %C: memref<?x?xf32, strided<[?, 1]>> {tile.name = "C", tile.align = 16 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bk = arith.constant 64 : index
  %K = memref.dim %A, %c1 : memref<?x?x${T}, strided<[?, 1]>>
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = tile.for %k = %c0 to %K step %bk iter_args(%acc = %zero) -> (tensor<128x128xf32>) pipeline(stages = 2) {
    %a = tile.load %A[%c0, %k] : memref<?x?x${T}, strided<[?, 1]>> -> tensor<128x64x${T}>
    %b = tile.load %B[%c0, %k] : memref<?x?x${T}, strided<[?, 1]>> -> tensor<128x64x${T}>
    %s = tile.dot %a, %b transpose_b, %acc : tensor<128x64x${T}>, tensor<128x64x${T}> -> tensor<128x128xf32>
    %isOperand = arith.cmpf ${PREDICATE}, %a, %a : tensor<128x64x${T}>
    tile.assert %isOperand, "an operand" : tensor<128x64xi1>
    %holds = arith.cmpf ${PREDICATE}, %s, %s : tensor<128x128xf32>
    tile.assert %holds, "a partial sum" : tensor<128x128xi1>
    tile.print "k", %k : index
    tile.yield %s : tensor<128x128xf32>
  }
  tile.store %sum, %C[%c0, %c0] : tensor<128x128xf32>, memref<?x?xf32, strided<[?, 1]>>
  tile.return
}

// 100 elements are padded to 128: neither fails nor is printed what is behind them.
tile.kernel @row(%X: memref<?xi32> {tile.name = "X"}, %Y: memref<?xi32> {tile.name = "Y"}) attributes {warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %c1
  %x = tile.load %X[%c0] : memref<?xi32> -> tensor<100xi32>
  %zero = arith.constant dense<0> : tensor<100xi32>
  %isNegative = arith.cmpi slt, %x, %zero : tensor<100xi32>
  tile.assert %isNegative, "x is negative" : tensor<100xi1>
  tile.print "x", %x, %isNegative : tensor<100xi32>, tensor<100xi1>
  tile.store %x, %Y[%c0] : tensor<100xi32>, memref<?xi32>
  tile.return
}

// Everything that a line can have. 3 x 2 elements are held by several threads each, of which one prints.
tile.kernel @lines(%n: index {tile.name = "n"}) attributes {warps = 4 : i64} {
  %c2 = arith.constant 2 : index
  %c1 = arith.constant 1 : index
  tile.grid %c2, %c1
  %true = arith.constant true
  %byte = arith.constant -3 : i8
  %short = arith.constant 300 : i16
  %int = arith.constant -70000 : i32
  %long = arith.constant 9000000000 : i64
  %half = arith.constant 0.1 : f16
  %brain = arith.constant 0.1 : bf16
  %single = arith.constant 0.1 : f32
  %double = arith.constant 0.1 : f64
  tile.print "100% of \"it\""
  tile.print "integers", %true, %byte, %short, %int, %long, %n : i1, i8, i16, i32, i64, index
  tile.print "floats", %half, %brain, %single, %double : f16, bf16, f32, f64
  %row = tile.iota axis 0 : tensor<3x2xi32>
  %column = tile.iota axis 1 : tensor<3x2xi32>
  %sum = arith.addi %row, %column : tensor<3x2xi32>
  %quarter = arith.constant dense<0.25> : tensor<3x2xf32>
  %float = arith.sitofp %sum : tensor<3x2xi32> to tensor<3x2xf32>
  %x = arith.mulf %float, %quarter : tensor<3x2xf32>
  tile.print "tile", %x, %n, %sum : tensor<3x2xf32>, index, tensor<3x2xi32>
  tile.return
}
