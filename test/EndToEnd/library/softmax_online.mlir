// Y = softmax of each row of X [M, N] of any length, a program for each row. The first loop keeps, for each of BC
// columns, the largest number so far and the sum of exponentials relative to it (no reduction in the loop); the second
// writes.
//
// param T = bf16
// param BC = 2048
// param LOWEST = 0xFF80
// param STAGES = 3
// param WARPS = 8
// param SPECIALIZE = auto
// param ALIGN = 16

!matrix = memref<?x?x${T}, strided<[?, 1]>>
!narrow = tensor<${BC}x${T}>
!part = tensor<${BC}xf32>

tile.kernel @softmax_online(%X: !matrix {tile.name = "X", tile.align = ${ALIGN} : i64},
                            %Y: !matrix {tile.name = "Y", tile.align = ${ALIGN} : i64})
    attributes {warps = ${WARPS} : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bc = arith.constant ${BC} : index
  %M = memref.dim %X, %c0 : !matrix
  %N = memref.dim %X, %c1 : !matrix
  tile.grid %M

  %m = tile.program_id 0
  %log2e = arith.constant dense<1.44269504> : !part
  // Finite, so that the difference of two that saw no number is none.
  %lowest = arith.constant dense<-3.0e38> : !part
  %zero = arith.constant dense<0.0> : !part
  %maxima, %sums = tile.for %n = %c0 to %N step %bc iter_args(%max = %lowest, %sum = %zero) -> (!part, !part)
      pipeline(stages = ${STAGES}, specialize = ${SPECIALIZE}) {
    %x = tile.load %X[%m, %n] {fill = ${LOWEST} : ${T}} : !matrix -> !narrow
    %wide = arith.extf %x : !narrow to !part
    %next = arith.maximumf %max, %wide : !part
    %drop = arith.subf %max, %next : !part
    %drop2 = arith.mulf %drop, %log2e : !part
    %decay = math.exp2 %drop2 : !part
    %below = arith.subf %wide, %next : !part
    %below2 = arith.mulf %below, %log2e : !part
    %e = math.exp2 %below2 : !part
    %kept = arith.mulf %sum, %decay : !part
    %nextSum = arith.addf %kept, %e : !part
    tile.yield %next, %nextSum : !part, !part
  }
  %top = tile.reduce %maxima axis 0 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.maximumf %a, %b : f32
    tile.yield %c : f32
  } : (!part) -> f32
  %tops = tensor.splat %top : !part
  %drops = arith.subf %maxima, %tops : !part
  %drops2 = arith.mulf %drops, %log2e : !part
  %decays = math.exp2 %drops2 : !part
  %shares = arith.mulf %sums, %decays : !part
  %total = tile.reduce %shares axis 0 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  } : (!part) -> f32
  %one = arith.constant 1.0 : f32
  %inverse = arith.divf %one, %total : f32
  %inverses = tensor.splat %inverse : !part
  tile.for %n = %c0 to %N step %bc pipeline(stages = ${STAGES}, specialize = ${SPECIALIZE}) {
    %x = tile.load %X[%m, %n] : !matrix -> !narrow
    %wide = arith.extf %x : !narrow to !part
    %below = arith.subf %wide, %tops : !part
    %below2 = arith.mulf %below, %log2e : !part
    %e = math.exp2 %below2 : !part
    %y = arith.mulf %e, %inverses : !part
    %out = arith.truncf %y : !part to !narrow
    tile.store %out, %Y[%m, %n] : !narrow, !matrix
  }
  tile.return
}
