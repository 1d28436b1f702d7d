// 3 x 3 convolution with padding 1 and a stride, as a product (implicit im2col): Y = patches(X) * W^T. X holds images
// [images, H, W, C] as rows, [images H W, C]; W [9, KO, C]; Y [images P Q, KO] with P x Q the outputs of an image.
// Rows of patches are gathered: a position outside the image is outside the array and reads as zero.
//
// param T = bf16
// param BM = 128
// param BN = 128
// param BK = 64
// param STAGES = auto
// param SPECIALIZE = auto
// param ALIGN = 16

!matrix = memref<?x?x${T}, strided<[?, 1]>>
!weights = memref<?x?x?x${T}, strided<[?, ?, 1]>>
!places = tensor<${BM}xi32>
!sums = tensor<${BM}x${BN}xf32>

tile.kernel @conv3x3_gather(%X: !matrix {tile.name = "X", tile.align = ${ALIGN} : i64},
                            %W: !weights {tile.name = "W", tile.align = ${ALIGN} : i64},
                            %Y: !matrix {tile.name = "Y", tile.align = ${ALIGN} : i64},
                            %height: i32 {tile.name = "height"}, %width: i32 {tile.name = "width"},
                            %outHeight: i32 {tile.name = "outHeight"}, %outWidth: i32 {tile.name = "outWidth"},
                            %stride: i32 {tile.name = "stride"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c9 = arith.constant 9 : index
  %bm = arith.constant ${BM} : index
  %bn = arith.constant ${BN} : index
  %bk = arith.constant ${BK} : index
  %M = memref.dim %Y, %c0 : !matrix
  %N = memref.dim %Y, %c1 : !matrix
  %C = memref.dim %X, %c1 : !matrix
  %rows = arith.ceildivsi %M, %bm : index
  %columns = arith.ceildivsi %N, %bn : index
  %tiles = arith.muli %rows, %columns : index
  tile.grid %tiles persistent

  %perTap = arith.ceildivsi %C, %bk : index
  %trips = arith.muli %perTap, %c9 : index
  %one = arith.constant dense<1> : !places
  %zero32 = arith.constant dense<0> : !places
  %outside = arith.constant dense<-1> : !places
  %heights = tensor.splat %height : !places
  %widths = tensor.splat %width : !places
  %outHeights = tensor.splat %outHeight : !places
  %outWidths = tensor.splat %outWidth : !places
  %strides = tensor.splat %stride : !places
  %steps = tile.iota axis 0 : !places

  %first = tile.program_id 0
  %programs = tile.num_programs 0
  scf.for %t = %first to %tiles step %programs {
    %row, %column = tile.grouped_index %t of %rows x %columns group 16
    %m = arith.muli %row, %bm : index
    %n = arith.muli %column, %bn : index
    // Output m is pixel (p, q) of an image; its patch starts at (p stride - 1, q stride - 1).
    %m32 = arith.index_cast %m : index to i32
    %starts = tensor.splat %m32 : !places
    %outputs = arith.addi %starts, %steps : !places
    %q = arith.remsi %outputs, %outWidths : !places
    %line = arith.divsi %outputs, %outWidths : !places
    %p = arith.remsi %line, %outHeights : !places
    %image = arith.divsi %line, %outHeights : !places
    %pStride = arith.muli %p, %strides : !places
    %qStride = arith.muli %q, %strides : !places
    %top = arith.subi %pStride, %one : !places
    %left = arith.subi %qStride, %one : !places
    %firstLine = arith.muli %image, %heights : !places

    %zero = arith.constant dense<0.0> : !sums
    %sum = tile.for %i = %c0 to %trips step %c1 iter_args(%acc = %zero) -> (!sums)
        pipeline(stages = ${STAGES}, specialize = ${SPECIALIZE}) {
      %tap = arith.divsi %i, %perTap : index
      %block = arith.remsi %i, %perTap : index
      %c = arith.muli %block, %bk : index
      %down = arith.divsi %tap, %c3 : index
      %right = arith.remsi %tap, %c3 : index
      %down32 = arith.index_cast %down : index to i32
      %right32 = arith.index_cast %right : index to i32
      %downs = tensor.splat %down32 : !places
      %rights = tensor.splat %right32 : !places
      %y = arith.addi %top, %downs : !places
      %x = arith.addi %left, %rights : !places
      %below = arith.cmpi sge, %y, %zero32 : !places
      %above = arith.cmpi slt, %y, %heights : !places
      %after = arith.cmpi sge, %x, %zero32 : !places
      %before = arith.cmpi slt, %x, %widths : !places
      %inY = arith.andi %below, %above : tensor<${BM}xi1>
      %inX = arith.andi %after, %before : tensor<${BM}xi1>
      %inside = arith.andi %inY, %inX : tensor<${BM}xi1>
      %imageLine = arith.addi %firstLine, %y : !places
      %linePlace = arith.muli %imageLine, %widths : !places
      %place = arith.addi %linePlace, %x : !places
      %kept = arith.select %inside, %place, %outside : tensor<${BM}xi1>, !places
      %a = tile.gather %X[%kept, %c] : !matrix, (!places, index) -> tensor<${BM}x${BK}x${T}>
      %b = tile.load %W[%tap, %n, %c] : !weights -> tensor<${BN}x${BK}x${T}>
      %s = tile.dot %a, %b transpose_b, %acc : tensor<${BM}x${BK}x${T}>, tensor<${BN}x${BK}x${T}> -> !sums
      tile.yield %s : !sums
    }
    %out = arith.truncf %sum : !sums to tensor<${BM}x${BN}x${T}>
    tile.store %out, %Y[%m, %n] : tensor<${BM}x${BN}x${T}>, !matrix
  }
  tile.return
}
