// 3 x 3 convolution with padding 1 and stride 1: a program computes BW pixels of one line for BN channels, and each tap
// is a load at an offset, whose pixels outside the image read as zero: X [images, H, W, C], W [9, KO, C] and
// Y [images, H, W, KO]. All loads are boxes of an array, with no index of each row.
//
// param T = bf16
// param BW = 128
// param BN = 128
// param BK = 64
// param STAGES = auto
// param SPECIALIZE = auto
// param ALIGN = 16

!images = memref<?x?x?x?x${T}, strided<[?, ?, ?, 1]>>
!weights = memref<?x?x?x${T}, strided<[?, ?, 1]>>
!sums = tensor<${BW}x${BN}xf32>

tile.kernel @conv3x3_lines(%X: !images {tile.name = "X", tile.align = ${ALIGN} : i64},
                           %W: !weights {tile.name = "W", tile.align = ${ALIGN} : i64},
                           %Y: !images {tile.name = "Y", tile.align = ${ALIGN} : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c9 = arith.constant 9 : index
  %bw = arith.constant ${BW} : index
  %bn = arith.constant ${BN} : index
  %bk = arith.constant ${BK} : index
  %images = memref.dim %Y, %c0 : !images
  %height = memref.dim %Y, %c1 : !images
  %width = memref.dim %Y, %c2 : !images
  %N = memref.dim %Y, %c3 : !images
  %C = memref.dim %X, %c3 : !images
  %parts = arith.ceildivsi %width, %bw : index
  %columns = arith.ceildivsi %N, %bn : index
  %lines = arith.muli %images, %height : index
  %tilesEach = arith.muli %parts, %columns : index
  %tiles = arith.muli %tilesEach, %lines : index
  tile.grid %tiles persistent

  %perTap = arith.ceildivsi %C, %bk : index
  %trips = arith.muli %perTap, %c9 : index
  %first = tile.program_id 0
  %programs = tile.num_programs 0
  scf.for %t = %first to %tiles step %programs {
    %line = arith.divsi %t, %tilesEach : index
    %inLine = arith.remsi %t, %tilesEach : index
    %part = arith.divsi %inLine, %columns : index
    %column = arith.remsi %inLine, %columns : index
    %image = arith.divsi %line, %height : index
    %p = arith.remsi %line, %height : index
    %q = arith.muli %part, %bw : index
    %n = arith.muli %column, %bn : index
    %top = arith.subi %p, %c1 : index
    %left = arith.subi %q, %c1 : index
    %zero = arith.constant dense<0.0> : !sums
    %sum = tile.for %i = %c0 to %trips step %c1 iter_args(%acc = %zero) -> (!sums)
        pipeline(stages = ${STAGES}, specialize = ${SPECIALIZE}) {
      %tap = arith.divsi %i, %perTap : index
      %block = arith.remsi %i, %perTap : index
      %c = arith.muli %block, %bk : index
      %down = arith.divsi %tap, %c3 : index
      %right = arith.remsi %tap, %c3 : index
      %y = arith.addi %top, %down : index
      %x = arith.addi %left, %right : index
      %a = tile.load %X[%image, %y, %x, %c] : !images -> tensor<${BW}x${BK}x${T}>
      %b = tile.load %W[%tap, %n, %c] : !weights -> tensor<${BN}x${BK}x${T}>
      %s = tile.dot %a, %b transpose_b, %acc : tensor<${BW}x${BK}x${T}>, tensor<${BN}x${BK}x${T}> -> !sums
      tile.yield %s : !sums
    }
    %out = arith.truncf %sum : !sums to tensor<${BW}x${BN}x${T}>
    tile.store %out, %Y[%image, %p, %q, %n] : tensor<${BW}x${BN}x${T}>, !images
  }
  tile.return
}
