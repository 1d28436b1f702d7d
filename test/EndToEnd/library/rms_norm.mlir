// Y = X / sqrt(mean(X^2) + eps) * weight for each row of X [M, N], N at most BC; 1 / sqrt of each row is kept for the
// backward pass. Columns behind the last read as zero and add nothing.
//
// param T = bf16
// param BR = 4
// param BC = 1024
// param STAGES = 1
// param WARPS = 4
// param OCCUPANCY = 4
// param SPECIALIZE = auto
// param TRIPS = 2147483647
// param ALIGN = 16

!matrix = memref<?x?x${T}, strided<[?, 1]>>
!vector = memref<?xf32, strided<[1]>>
!narrow = tensor<${BR}x${BC}x${T}>
!rows = tensor<${BR}x${BC}xf32>
!row = tensor<${BR}xf32>

tile.kernel @rms_norm(%X: !matrix {tile.name = "X", tile.align = ${ALIGN} : i64},
                      %weight: !vector {tile.name = "weight", tile.align = ${ALIGN} : i64},
                      %Y: !matrix {tile.name = "Y", tile.align = ${ALIGN} : i64},
                      %rstd: !vector {tile.name = "rstd", tile.align = ${ALIGN} : i64},
                      %eps: f32 {tile.name = "eps"})
    attributes {warps = ${WARPS} : i64, occupancy = ${OCCUPANCY} : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %br = arith.constant ${BR} : index
  %M = memref.dim %X, %c0 : !matrix
  %N = memref.dim %X, %c1 : !matrix
  %blocks = arith.ceildivsi %M, %br : index
  tile.grid %blocks persistent trips ${TRIPS}

  %N32 = arith.index_cast %N : index to i32
  %count = arith.sitofp %N32 : i32 to f32
  %one = arith.constant 1.0 : f32
  %share = arith.divf %one, %count : f32
  %shares = tensor.splat %share : !row
  %epsilons = tensor.splat %eps : !row
  %w = tile.load %weight[%c0] : !vector -> tensor<${BC}xf32>
  %wUp = tile.expand_dims %w axis 0 : tensor<${BC}xf32> -> tensor<1x${BC}xf32>
  %wAll = tile.broadcast %wUp : tensor<1x${BC}xf32> -> !rows

  %first = tile.program_id 0
  %programs = tile.num_programs 0
  tile.for %i = %first to %blocks step %programs pipeline(stages = ${STAGES}, specialize = ${SPECIALIZE}) {
    %m = arith.muli %i, %br : index
    %x = tile.load %X[%m, %c0] : !matrix -> !narrow
    %wide = arith.extf %x : !narrow to !rows
    %square = arith.mulf %wide, %wide : !rows
    %squares = tile.reduce %square axis 1 {
    ^bb0(%p: f32, %q: f32):
      %c = arith.addf %p, %q : f32
      tile.yield %c : f32
    } : (!rows) -> !row
    %average = arith.mulf %squares, %shares : !row
    %shifted = arith.addf %average, %epsilons : !row
    %inverse = math.rsqrt %shifted : !row
    %inverseUp = tile.expand_dims %inverse axis 1 : !row -> tensor<${BR}x1xf32>
    %inverseAll = tile.broadcast %inverseUp : tensor<${BR}x1xf32> -> !rows
    %normal = arith.mulf %wide, %inverseAll : !rows
    %y = arith.mulf %normal, %wAll : !rows
    %out = arith.truncf %y : !rows to !narrow
    tile.store %out, %Y[%m, %c0] : !narrow, !matrix
    tile.store %inverse, %rstd[%m] : !row, !vector
  }
  tile.return
}
