// loss = lse - logit[label], lse = log(sum(exp(logits))) for each row of logits [M, V]: a program for each row, one
// pass over the vocabulary that rescales the sum when the maximum grows. A negative label makes the loss 0.
//
// param T = bf16
// param BC = 4096
// param LOWEST = 0xFF80
// param STAGES = 3
// param WARPS = 8
// param SPECIALIZE = auto
// param ALIGN = 16

!matrix = memref<?x?x${T}, strided<[?, 1]>>
!vector = memref<?xf32, strided<[1]>>
!table = memref<?xi32, strided<[1]>>
!narrow = tensor<${BC}x${T}>
!part = tensor<${BC}xf32>

tile.kernel @cross_entropy(%logits: !matrix {tile.name = "logits", tile.align = ${ALIGN} : i64},
                           %labels: !table {tile.name = "labels"}, %losses: !vector {tile.name = "losses"},
                           %lses: !vector {tile.name = "lses"}) attributes {warps = ${WARPS} : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bc = arith.constant ${BC} : index
  %M = memref.dim %logits, %c0 : !matrix
  %V = memref.dim %logits, %c1 : !matrix
  tile.grid %M

  %m = tile.program_id 0
  %label = tile.load_scalar %labels[%m] : !table -> i32
  %place = arith.index_cast %label : i32 to index
  %chosen = tile.load_scalar %logits[%m, %place] : !matrix -> ${T}

  %log2e = arith.constant 1.44269504 : f32
  %log2es = arith.constant dense<1.44269504> : !part
  %lowest = arith.constant -3.0e38 : f32
  %none = arith.constant 0.0 : f32
  %top, %total = tile.for %n = %c0 to %V step %bc iter_args(%max = %lowest, %sum = %none) -> (f32, f32)
      pipeline(stages = ${STAGES}, specialize = ${SPECIALIZE}) {
    %x = tile.load %logits[%m, %n] {fill = ${LOWEST} : ${T}} : !matrix -> !narrow
    %wide = arith.extf %x : !narrow to !part
    %own = tile.reduce %wide axis 0 {
    ^bb0(%a: f32, %b: f32):
      %c = arith.maximumf %a, %b : f32
      tile.yield %c : f32
    } : (!part) -> f32
    %next = arith.maximumf %max, %own : f32
    %nexts = tensor.splat %next : !part
    %below = arith.subf %wide, %nexts : !part
    %below2 = arith.mulf %below, %log2es : !part
    %e = math.exp2 %below2 : !part
    %ownSum = tile.reduce %e axis 0 {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tile.yield %c : f32
    } : (!part) -> f32
    %drop = arith.subf %max, %next : f32
    %drop2 = arith.mulf %drop, %log2e : f32
    %decay = math.exp2 %drop2 : f32
    %kept = arith.mulf %sum, %decay : f32
    %nextSum = arith.addf %kept, %ownSum : f32
    tile.yield %next, %nextSum : f32, f32
  }
  %log = math.log %total : f32
  %lse = arith.addf %log, %top : f32
  %logit = arith.extf %chosen : ${T} to f32
  %difference = arith.subf %lse, %logit : f32
  %zero = arith.constant 0 : i32
  %counts = arith.cmpi sge, %label, %zero : i32
  %loss = arith.select %counts, %difference, %none : f32
  tile.store_scalar %loss, %losses[%m] : f32, !vector
  tile.store_scalar %lse, %lses[%m] : f32, !vector
  tile.return
}
