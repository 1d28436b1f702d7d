// Rotary position embedding of interleaved pairs: each pair (x, y) of columns 2j, 2j + 1 of X [T, H, D] is turned by the
// angle of its token and pair, to (x cos - y sin, x sin + y cos) in Y [T, H, D]. Cosines and sines [T, D / 2] are f32.
//
// A row is loaded as it lies, then taken for pairs and split: neighbours share a thread, so nothing moves.
//
// param T = bf16
// param BH = 8
// Pairs of a tile, and columns, twice as many.
// param PAIRS = 64
// param COLUMNS = 128
// param STAGES = 1
// param WARPS = 4
// param SPECIALIZE = auto
// param ALIGN = 16

!array = memref<?x?x?x${T}, strided<[?, ?, 1]>>
!angles = memref<?x?xf32, strided<[?, 1]>>
!narrow = tensor<${BH}x${COLUMNS}x${T}>
!wide = tensor<${BH}x${COLUMNS}xf32>
!pairs = tensor<${BH}x${PAIRS}x2xf32>
!half = tensor<${BH}x${PAIRS}xf32>
!row = tensor<${PAIRS}xf32>
!rowUp = tensor<1x${PAIRS}xf32>

tile.kernel @rotary(%X: !array {tile.name = "X", tile.align = ${ALIGN} : i64},
                    %cosines: !angles {tile.name = "cosines", tile.align = ${ALIGN} : i64},
                    %sines: !angles {tile.name = "sines", tile.align = ${ALIGN} : i64},
                    %Y: !array {tile.name = "Y", tile.align = ${ALIGN} : i64}) attributes {warps = ${WARPS} : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %bh = arith.constant ${BH} : index
  %bp = arith.constant ${PAIRS} : index
  %heads = memref.dim %X, %c1 : !array
  %tokens = memref.dim %X, %c0 : !array
  %P = memref.dim %cosines, %c1 : !angles
  %blocks = arith.ceildivsi %heads, %bh : index
  tile.grid %blocks, %tokens

  %block = tile.program_id 0
  %t = tile.program_id 1
  %h = arith.muli %block, %bh : index
  tile.for %p = %c0 to %P step %bp pipeline(stages = ${STAGES}, specialize = ${SPECIALIZE}) {
    %n = arith.muli %p, %c2 : index
    %x = tile.load %X[%t, %h, %n] : !array -> !narrow
    %wide = arith.extf %x : !narrow to !wide
    %pairs = tile.reshape %wide : !wide -> !pairs
    %even, %odd = tile.split %pairs : !pairs -> !half
    %cos = tile.load %cosines[%t, %p] : !angles -> !row
    %cosUp = tile.expand_dims %cos axis 0 : !row -> !rowUp
    %sin = tile.load %sines[%t, %p] : !angles -> !row
    %sinUp = tile.expand_dims %sin axis 0 : !row -> !rowUp
    %cosAll = tile.broadcast %cosUp : !rowUp -> !half
    %sinAll = tile.broadcast %sinUp : !rowUp -> !half
    %evenCos = arith.mulf %even, %cosAll : !half
    %oddSin = arith.mulf %odd, %sinAll : !half
    %left = arith.subf %evenCos, %oddSin : !half
    %evenSin = arith.mulf %even, %sinAll : !half
    %oddCos = arith.mulf %odd, %cosAll : !half
    %right = arith.addf %evenSin, %oddCos : !half
    %joined = tile.join %left, %right : !half -> !pairs
    %flat = tile.reshape %joined : !pairs -> !wide
    %y = arith.truncf %flat : !wide to !narrow
    tile.store %y, %Y[%t, %h, %n] : !narrow, !array
  }
  tile.return
}
