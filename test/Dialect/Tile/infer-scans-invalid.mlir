// RUN: headrace-opt %s --tile-infer-layouts --split-input-file --verify-diagnostics

// More than a thread of a warp can hold of one row: 257 is odd, so lanes have no share of it.
tile.kernel @too_long_for_a_thread(%A: memref<?xf32>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %x = tile.load %A[%c0] : memref<?xf32> -> tensor<257xf32>
  // expected-error@+1 {{expected an axis that 32 threads can scan, got 'tensor<257xf32>'}}
  %s = tile.scan %x axis 0 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  } : (tensor<257xf32>) -> tensor<257xf32>
  tile.return
}
