// Case P09: the gradient of a 3 x 3 convolution's weights, padded by one: taps outside of the image have negative places.
// dW[tap 3 + channel, n] = sum over pixels of X[pixel + (tap / 3 - 1) width + tap % 3 - 1, channel] G[pixel, n]; rows of
// dW from 27 on are zero. 16 pixels a trip; the place of what is masked is far below zero.
//
// param STAGES = 3
// param SPECIALIZE = auto
// param ALIGN = 2

!image = memref<?x?x?xf16, strided<[?, ?, 1]>>
!matrix = memref<?x?xf16, strided<[?, 1]>>
!result = memref<?x?xf32, strided<[?, 1]>>
!places = tensor<16x32xi32>
!sums = tensor<32x16xf32>

tile.kernel @gradient(%X: !matrix {tile.name = "X"}, %G: !matrix {tile.name = "G", tile.align = 16 : i64},
                      %dW: !result {tile.name = "dW", tile.align = 16 : i64}, %width: index {tile.name = "width"}) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %pixels = memref.dim %G, %c0 : !matrix
  %height = arith.divsi %pixels, %width : index
  %height32 = arith.index_cast %height : index to i32
  %heights = tensor.splat %height32 : !places
  %width32 = arith.index_cast %width : index to i32
  %widths = tensor.splat %width32 : !places
  %three = arith.constant dense<3> : !places
  %one = arith.constant dense<1> : !places
  %column = tile.iota axis 1 : !places
  %channel = arith.remsi %column, %three : !places
  %tap = arith.divsi %column, %three : !places
  %tapX = arith.remsi %tap, %three : !places
  %tapY = arith.divsi %tap, %three : !places
  %right = arith.subi %tapX, %one : !places
  %down = arith.subi %tapY, %one : !places
  %row = tile.iota axis 0 : !places
  %taps = arith.constant dense<9> : !places
  %far = arith.constant dense<-2000000000> : !places
  %isTap = arith.cmpi slt, %tap, %taps : !places
  %zero = arith.constant dense<0.0> : !sums
  %sum = tile.for %p = %c0 to %pixels step %c16 iter_args(%acc = %zero) -> (!sums)
      pipeline(stages = ${STAGES}, specialize = ${SPECIALIZE}) {
    %p32 = arith.index_cast %p : index to i32
    %first = tensor.splat %p32 : !places
    %pixel = arith.addi %first, %row : !places
    %y = arith.divsi %pixel, %widths : !places
    %x = arith.remsi %pixel, %widths : !places
    %yTap = arith.addi %y, %down : !places
    %xTap = arith.addi %x, %right : !places
    %isLine = arith.cmpi ult, %yTap, %heights : !places
    %isColumn = arith.cmpi ult, %xTap, %widths : !places
    %isPixel = arith.andi %isLine, %isColumn : tensor<16x32xi1>
    %isInside = arith.andi %isPixel, %isTap : tensor<16x32xi1>
    %line = arith.muli %yTap, %widths : !places
    %place = arith.addi %line, %xTap : !places
    %wild = arith.addi %place, %far : !places
    %at = arith.select %isInside, %place, %wild : tensor<16x32xi1>, !places
    %a = tile.gather %X[%at, %channel] : !matrix, (!places, !places) -> tensor<16x32xf16>
    %g = tile.load %G[%p, %c0] : !matrix -> tensor<16x16xf16>
    %s = tile.dot %a transpose_a, %g, %acc : tensor<16x32xf16>, tensor<16x16xf16> -> !sums
    tile.yield %s : !sums
  }
  tile.store %sum, %dW[%c0, %c0] : !sums, !result
  tile.return
}

// The same gradient of one tap by plain loads, a line of 8 pixels a trip: the window begins at column tapX - 1.
tile.kernel @lines(%X: !image {tile.name = "X", tile.align = ${ALIGN} : i64}, %G: !image {tile.name = "G", tile.align = 16 : i64},
                   %dW: !result {tile.name = "dW", tile.align = 16 : i64}, %tapY: index {tile.name = "tapY"},
                   %tapX: index {tile.name = "tapX"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %height = memref.dim %X, %c0 : !image
  %right = arith.subi %tapX, %c1 : index
  %down = arith.subi %tapY, %c1 : index
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %sum = tile.for %y = %c0 to %height step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32>)
      pipeline(stages = ${STAGES}, specialize = ${SPECIALIZE}) {
    %yTap = arith.addi %y, %down : index
    %a = tile.load %X[%yTap, %right, %c0] : !image -> tensor<8x16xf16>
    %g = tile.load %G[%y, %c0, %c0] : !image -> tensor<8x16xf16>
    %s = tile.dot %a transpose_a, %g, %acc : tensor<8x16xf16>, tensor<8x16xf16> -> tensor<16x16xf32>
    tile.yield %s : tensor<16x16xf32>
  }
  tile.store %sum, %dW[%c0, %c0] : tensor<16x16xf32>, !result
  tile.return
}
