// Y = softmax of each row of X [M, N], N at most BC: BR whole rows at a time in registers, read once. Programs are
// persistent; more of them on a multiprocessor (OCCUPANCY), or STAGES above 1, keep the next rows on their way.
//
// param T = bf16
// param BR = 4
// param BC = 1024
// param LOWEST = 0xFF80
// param STAGES = 1
// param WARPS = 4
// param OCCUPANCY = 4
// param SPECIALIZE = auto
// param TRIPS = 2147483647
// param ALIGN = 16

!matrix = memref<?x?x${T}, strided<[?, 1]>>
!narrow = tensor<${BR}x${BC}x${T}>
!rows = tensor<${BR}x${BC}xf32>
!row = tensor<${BR}xf32>

tile.kernel @softmax_rows(%X: !matrix {tile.name = "X", tile.align = ${ALIGN} : i64},
                          %Y: !matrix {tile.name = "Y", tile.align = ${ALIGN} : i64})
    attributes {warps = ${WARPS} : i64, occupancy = ${OCCUPANCY} : i64} {
  %c0 = arith.constant 0 : index
  %br = arith.constant ${BR} : index
  %M = memref.dim %X, %c0 : !matrix
  %blocks = arith.ceildivsi %M, %br : index
  tile.grid %blocks persistent trips ${TRIPS}

  %log2e = arith.constant dense<1.44269504> : !rows
  %first = tile.program_id 0
  %programs = tile.num_programs 0
  tile.for %i = %first to %blocks step %programs pipeline(stages = ${STAGES}, specialize = ${SPECIALIZE}) {
    %m = arith.muli %i, %br : index
    // LOWEST is minus infinity of T: columns behind the last add nothing.
    %x = tile.load %X[%m, %c0] {fill = ${LOWEST} : ${T}} : !matrix -> !narrow
    %wide = arith.extf %x : !narrow to !rows
    %max = tile.reduce %wide axis 1 {
    ^bb0(%a: f32, %b: f32):
      %c = arith.maximumf %a, %b : f32
      tile.yield %c : f32
    } : (!rows) -> !row
    %maxUp = tile.expand_dims %max axis 1 : !row -> tensor<${BR}x1xf32>
    %maxAll = tile.broadcast %maxUp : tensor<${BR}x1xf32> -> !rows
    %below = arith.subf %wide, %maxAll : !rows
    %scaled = arith.mulf %below, %log2e : !rows
    %e = math.exp2 %scaled : !rows
    %sum = tile.reduce %e axis 1 {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tile.yield %c : f32
    } : (!rows) -> !row
    %one = arith.constant dense<1.0> : !row
    %inverse = arith.divf %one, %sum : !row
    %inverseUp = tile.expand_dims %inverse axis 1 : !row -> tensor<${BR}x1xf32>
    %inverseAll = tile.broadcast %inverseUp : tensor<${BR}x1xf32> -> !rows
    %y = arith.mulf %e, %inverseAll : !rows
    %out = arith.truncf %y : !rows to !narrow
    tile.store %out, %Y[%m, %c0] : !narrow, !matrix
  }
  tile.return
}
