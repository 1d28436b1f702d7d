// Gradients of layer_norm: of each row dX = rstd (g - mean(g) - x mean(g x)) with x = (X - mean) rstd, g = dY weight;
// dWeight += sums of dY x, dBias += sums of dY over all rows: each program sums its rows and adds once. Both must hold
// zeros. Columns behind the last have dY = 0, rows behind the last too.
//
// param T = bf16
// param BR = 4
// param BC = 1024
// param STAGES = 2
// param WARPS = 4
// param SPECIALIZE = auto
// param ALIGN = 16

!matrix = memref<?x?x${T}, strided<[?, 1]>>
!vector = memref<?xf32, strided<[1]>>
!narrow = tensor<${BR}x${BC}x${T}>
!rows = tensor<${BR}x${BC}xf32>
!row = tensor<${BR}xf32>
!column = tensor<${BR}x1xf32>

tile.kernel @layer_norm_backward(%X: !matrix {tile.name = "X", tile.align = ${ALIGN} : i64},
                                 %dY: !matrix {tile.name = "dY", tile.align = ${ALIGN} : i64},
                                 %weight: !vector {tile.name = "weight", tile.align = ${ALIGN} : i64},
                                 %mean: !vector {tile.name = "mean", tile.align = ${ALIGN} : i64},
                                 %rstd: !vector {tile.name = "rstd", tile.align = ${ALIGN} : i64},
                                 %dX: !matrix {tile.name = "dX", tile.align = ${ALIGN} : i64},
                                 %dWeight: !vector {tile.name = "dWeight", tile.align = ${ALIGN} : i64},
                                 %dBias: !vector {tile.name = "dBias", tile.align = ${ALIGN} : i64})
    attributes {warps = ${WARPS} : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %br = arith.constant ${BR} : index
  %M = memref.dim %X, %c0 : !matrix
  %N = memref.dim %X, %c1 : !matrix
  %blocks = arith.ceildivsi %M, %br : index
  tile.grid %blocks persistent

  %N32 = arith.index_cast %N : index to i32
  %count = arith.sitofp %N32 : i32 to f32
  %one = arith.constant 1.0 : f32
  %share = arith.divf %one, %count : f32
  %shares = tensor.splat %share : !row
  %w = tile.load %weight[%c0] : !vector -> tensor<${BC}xf32>
  %wUp = tile.expand_dims %w axis 0 : tensor<${BC}xf32> -> tensor<1x${BC}xf32>
  %wAll = tile.broadcast %wUp : tensor<1x${BC}xf32> -> !rows
  %zero = arith.constant dense<0.0> : !rows

  %first = tile.program_id 0
  %programs = tile.num_programs 0
  %ofWeight, %ofBias = tile.for %i = %first to %blocks step %programs iter_args(%dw = %zero, %db = %zero)
      -> (!rows, !rows) pipeline(stages = ${STAGES}, specialize = ${SPECIALIZE}) {
    %m = arith.muli %i, %br : index
    %x = tile.load %X[%m, %c0] : !matrix -> !narrow
    %dy = tile.load %dY[%m, %c0] : !matrix -> !narrow
    %average = tile.load %mean[%m] : !vector -> !row
    %inverse = tile.load %rstd[%m] : !vector -> !row
    %wide = arith.extf %x : !narrow to !rows
    %grad = arith.extf %dy : !narrow to !rows
    %averageUp = tile.expand_dims %average axis 1 : !row -> !column
    %averageAll = tile.broadcast %averageUp : !column -> !rows
    %inverseUp = tile.expand_dims %inverse axis 1 : !row -> !column
    %inverseAll = tile.broadcast %inverseUp : !column -> !rows
    %deviation = arith.subf %wide, %averageAll : !rows
    %normal = arith.mulf %deviation, %inverseAll : !rows
    %g = arith.mulf %grad, %wAll : !rows
    %gx = arith.mulf %g, %normal : !rows
    %sumG, %sumGx = tile.reduce %g, %gx axis 1 {
    ^bb0(%p: f32, %q: f32, %r: f32, %s: f32):
      %a = arith.addf %p, %r : f32
      %b = arith.addf %q, %s : f32
      tile.yield %a, %b : f32, f32
    } : (!rows, !rows) -> (!row, !row)
    %meanG = arith.mulf %sumG, %shares : !row
    %meanGx = arith.mulf %sumGx, %shares : !row
    %meanGUp = tile.expand_dims %meanG axis 1 : !row -> !column
    %meanGAll = tile.broadcast %meanGUp : !column -> !rows
    %meanGxUp = tile.expand_dims %meanGx axis 1 : !row -> !column
    %meanGxAll = tile.broadcast %meanGxUp : !column -> !rows
    %along = arith.mulf %normal, %meanGxAll : !rows
    %g1 = arith.subf %g, %meanGAll : !rows
    %g2 = arith.subf %g1, %along : !rows
    %dx = arith.mulf %g2, %inverseAll : !rows
    %out = arith.truncf %dx : !rows to !narrow
    tile.store %out, %dX[%m, %c0] : !narrow, !matrix
    %own = arith.mulf %grad, %normal : !rows
    %dw1 = arith.addf %dw, %own : !rows
    %db1 = arith.addf %db, %grad : !rows
    tile.yield %dw1, %db1 : !rows, !rows
  }
  %dwSum, %dbSum = tile.reduce %ofWeight, %ofBias axis 0 {
  ^bb0(%p: f32, %q: f32, %r: f32, %s: f32):
    %a = arith.addf %p, %r : f32
    %b = arith.addf %q, %s : f32
    tile.yield %a, %b : f32, f32
  } : (!rows, !rows) -> (tensor<${BC}xf32>, tensor<${BC}xf32>)
  tile.reduce_store #tile.combine<add> %dwSum, %dWeight[%c0] : tensor<${BC}xf32>, !vector
  tile.reduce_store #tile.combine<add> %dbSum, %dBias[%c0] : tensor<${BC}xf32>, !vector
  tile.return
}
