// RUN: headrace-compile %s --kernel=tcgen05_first --target=sm_80 --emit=ptx -o %t.ptx
// RUN: headrace-compile %s --kernel=tcgen05_first --target=sm_90a --emit=ptx -o %t.ptx
// RUN: headrace-compile %s --kernel=tcgen05_first --target=sm_100a --emit=ptx -o %t.ptx
// RUN: headrace-compile %s --kernel=mma_sync_first --target=sm_80 --emit=ptx -o %t.ptx
// RUN: headrace-compile %s --kernel=mma_sync_first --target=sm_90a --emit=ptx -o %t.ptx
// RUN: headrace-compile %s --kernel=mma_sync_first --target=sm_100a --emit=ptx -o %t.ptx

// A tile that tcgen05 and mma.sync multiply in one loop, in either order: the slot that tcgen05 frees does not wait for
// what other warps read of it, so those load a copy of their own. test_tile_regressions.py compares the values.

!m = memref<?x?xbf16, strided<[?, 1]>>
!r = memref<?x?xf32, strided<[?, 1]>>
tile.kernel @tcgen05_first(%A: !m {tile.name = "A", tile.align = 16 : i64}, %D: !m {tile.name = "D", tile.align = 16 : i64},
    %B: !m {tile.name = "B", tile.align = 16 : i64}, %C: !r {tile.name = "C", tile.align = 16 : i64},
    %E: !r {tile.name = "E", tile.align = 16 : i64}) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bk = arith.constant 64 : index
  %K = memref.dim %A, %c1 : !m
  %z = arith.constant dense<0.0> : tensor<128x64xf32>
  %y = arith.constant dense<0.0> : tensor<64x64xf32>
  tile.grid %c1
  %r:2 = tile.for %k = %c0 to %K step %bk iter_args(%p = %z, %q = %y) -> (tensor<128x64xf32>, tensor<64x64xf32>) pipeline(stages = 1) {
    %a = tile.load %A[%c0, %k] : !m -> tensor<128x64xbf16>
    %d = tile.load %D[%c0, %k] : !m -> tensor<64x64xbf16>
    %b = tile.load %B[%c0, %k] : !m -> tensor<64x64xbf16>
    %s = tile.dot %a, %b transpose_b, %p : tensor<128x64xbf16>, tensor<64x64xbf16> -> tensor<128x64xf32>
    %t = tile.dot %d, %b transpose_b, %q : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    tile.yield %s, %t : tensor<128x64xf32>, tensor<64x64xf32>
  }
  tile.store %r#0, %C[%c0, %c0] : tensor<128x64xf32>, !r
  tile.store %r#1, %E[%c0, %c0] : tensor<64x64xf32>, !r
  tile.return
}
tile.kernel @mma_sync_first(%A: !m {tile.name = "A", tile.align = 16 : i64}, %D: !m {tile.name = "D", tile.align = 16 : i64},
    %B: !m {tile.name = "B", tile.align = 16 : i64}, %C: !r {tile.name = "C", tile.align = 16 : i64},
    %E: !r {tile.name = "E", tile.align = 16 : i64}) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bk = arith.constant 64 : index
  %K = memref.dim %A, %c1 : !m
  %z = arith.constant dense<0.0> : tensor<128x64xf32>
  %y = arith.constant dense<0.0> : tensor<64x64xf32>
  tile.grid %c1
  %r:2 = tile.for %k = %c0 to %K step %bk iter_args(%p = %z, %q = %y) -> (tensor<128x64xf32>, tensor<64x64xf32>) pipeline(stages = 1) {
    %a = tile.load %A[%c0, %k] : !m -> tensor<128x64xbf16>
    %d = tile.load %D[%c0, %k] : !m -> tensor<64x64xbf16>
    %b = tile.load %B[%c0, %k] : !m -> tensor<64x64xbf16>
    %t = tile.dot %d, %b transpose_b, %q : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    %s = tile.dot %a, %b transpose_b, %p : tensor<128x64xbf16>, tensor<64x64xbf16> -> tensor<128x64xf32>
    tile.yield %s, %t : tensor<128x64xf32>, tensor<64x64xf32>
  }
  tile.store %r#0, %C[%c0, %c0] : tensor<128x64xf32>, !r
  tile.store %r#1, %E[%c0, %c0] : tensor<64x64xf32>, !r
  tile.return
}
