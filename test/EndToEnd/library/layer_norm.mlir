// Y = (X - mean) / sqrt(variance + eps) * weight + bias for each row of X [M, N], N at most BC; mean and 1 / sqrt of
// each row are kept for the backward pass. Columns behind the last count in neither: their deviation is made zero.
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
!column = tensor<${BR}x1xf32>

tile.kernel @layer_norm(%X: !matrix {tile.name = "X", tile.align = ${ALIGN} : i64},
                        %weight: !vector {tile.name = "weight", tile.align = ${ALIGN} : i64},
                        %bias: !vector {tile.name = "bias", tile.align = ${ALIGN} : i64},
                        %Y: !matrix {tile.name = "Y", tile.align = ${ALIGN} : i64},
                        %mean: !vector {tile.name = "mean", tile.align = ${ALIGN} : i64},
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
  %bc = arith.constant ${BC} : index
  %isFull = arith.cmpi sge, %N, %bc : index
  %zero = arith.constant dense<0.0> : !rows
  %w = tile.load %weight[%c0] : !vector -> tensor<${BC}xf32>
  %b = tile.load %bias[%c0] : !vector -> tensor<${BC}xf32>
  %wUp = tile.expand_dims %w axis 0 : tensor<${BC}xf32> -> tensor<1x${BC}xf32>
  %bUp = tile.expand_dims %b axis 0 : tensor<${BC}xf32> -> tensor<1x${BC}xf32>
  %wAll = tile.broadcast %wUp : tensor<1x${BC}xf32> -> !rows
  %bAll = tile.broadcast %bUp : tensor<1x${BC}xf32> -> !rows

  %first = tile.program_id 0
  %programs = tile.num_programs 0
  tile.for %i = %first to %blocks step %programs pipeline(stages = ${STAGES}, specialize = ${SPECIALIZE}) {
    %m = arith.muli %i, %br : index
    %x = tile.load %X[%m, %c0] : !matrix -> !narrow
    %wide = arith.extf %x : !narrow to !rows
    %sum = tile.reduce %wide axis 1 {
    ^bb0(%p: f32, %q: f32):
      %c = arith.addf %p, %q : f32
      tile.yield %c : f32
    } : (!rows) -> !row
    %average = arith.mulf %sum, %shares : !row
    %averageUp = tile.expand_dims %average axis 1 : !row -> !column
    %averageAll = tile.broadcast %averageUp : !column -> !rows
    %difference = arith.subf %wide, %averageAll : !rows
    %deviation = scf.if %isFull -> (!rows) {
      scf.yield %difference : !rows
    } else {
      %places = tile.iota axis 1 : tensor<${BR}x${BC}xi32>
      %ends = tensor.splat %N32 : tensor<${BR}x${BC}xi32>
      %isColumn = arith.cmpi slt, %places, %ends : tensor<${BR}x${BC}xi32>
      %masked = arith.select %isColumn, %difference, %zero : tensor<${BR}x${BC}xi1>, !rows
      scf.yield %masked : !rows
    }
    %square = arith.mulf %deviation, %deviation : !rows
    %squares = tile.reduce %square axis 1 {
    ^bb0(%p: f32, %q: f32):
      %c = arith.addf %p, %q : f32
      tile.yield %c : f32
    } : (!rows) -> !row
    %variance = arith.mulf %squares, %shares : !row
    %shifted = arith.addf %variance, %epsilons : !row
    %inverse = math.rsqrt %shifted : !row
    %inverseUp = tile.expand_dims %inverse axis 1 : !row -> !column
    %inverseAll = tile.broadcast %inverseUp : !column -> !rows
    %normal = arith.mulf %deviation, %inverseAll : !rows
    %weighted = arith.mulf %normal, %wAll : !rows
    %y = arith.addf %weighted, %bAll : !rows
    %out = arith.truncf %y : !rows to !narrow
    tile.store %out, %Y[%m, %c0] : !narrow, !matrix
    tile.store %average, %mean[%m] : !row, !vector
    tile.store %inverse, %rstd[%m] : !row, !vector
  }
  tile.return
}
