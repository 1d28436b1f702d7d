// RUN: not headrace-compile %s --target=sm_100a --emit=ptx -o - 2>&1 | FileCheck %s

// The first thing that names the tile dialect is an attribute of a pipe op: the dialect must be there by then.

// CHECK: error:
%d = pipe.mma_async <wgmma 64 x 16 x 8, groups = 1 x 1> %a, %b transpose_b, %acc {precision = #tile.precision<tf32>} : tensor<64x8xf32>, tensor<16x8xf32>, tensor<64x16xf32> -> tensor<64x16xf32>
