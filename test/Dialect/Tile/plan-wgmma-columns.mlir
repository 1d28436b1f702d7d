// RUN: headrace-opt %s --tile-plan 2>&1 | FileCheck %s

// Columns of one wgmma: its sums and some registers more must be there at launch. Three warpgroups and one for copies
// start with 128 registers each, so 256 columns are two instructions; without copies they have 168.

!a = memref<?x?xbf16, strided<[?, 1]>>

module attributes {tile.target = "sm_90a"} {
// CHECK-LABEL: tile.kernel @two_groups
// CHECK: tile.dot {{.*}}wgmma 64 x 256 x 16, groups = 2 x 1
tile.kernel @two_groups(%A: !a {tile.align = 16 : i64}, %n: index) attributes {warps = 8 : i64} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %sum = tile.for %k = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<128x256xf32>) pipeline(stages = 2) {
    %x = tile.load %A[%c0, %k] : !a -> tensor<128x64xbf16>
    %y = tile.load %A[%c0, %k] : !a -> tensor<256x64xbf16>
    %next = tile.dot %x, %y transpose_b, %acc : tensor<128x64xbf16>, tensor<256x64xbf16> -> tensor<128x256xf32>
    tile.yield %next : tensor<128x256xf32>
  }
  tile.return
}

// CHECK-LABEL: tile.kernel @three_groups
// CHECK: tile.dot {{.*}}wgmma 64 x 128 x 16, groups = 3 x 1
tile.kernel @three_groups(%A: !a {tile.align = 16 : i64}, %n: index) attributes {warps = 12 : i64} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<192x256xf32>
  %sum = tile.for %k = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<192x256xf32>) pipeline(stages = 2) {
    %x = tile.load %A[%c0, %k] : !a -> tensor<192x64xbf16>
    %y = tile.load %A[%c0, %k] : !a -> tensor<256x64xbf16>
    %next = tile.dot %x, %y transpose_b, %acc : tensor<192x64xbf16>, tensor<256x64xbf16> -> tensor<192x256xf32>
    tile.yield %next : tensor<192x256xf32>
  }
  tile.return
}

// Two blocks a multiprocessor: 112 registers at launch.
// CHECK-LABEL: tile.kernel @two_blocks
// CHECK: tile.dot {{.*}}wgmma 64 x 88 x 16, groups = 2 x 1
tile.kernel @two_blocks(%A: !a {tile.align = 16 : i64}, %n: index) attributes {warps = 8 : i64, occupancy = 2 : i64} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<128x176xf32>
  %sum = tile.for %k = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<128x176xf32>) pipeline(stages = 2) {
    %x = tile.load %A[%c0, %k] : !a -> tensor<128x64xbf16>
    %y = tile.load %A[%c0, %k] : !a -> tensor<176x64xbf16>
    %next = tile.dot %x, %y transpose_b, %acc : tensor<128x64xbf16>, tensor<176x64xbf16> -> tensor<128x176xf32>
    tile.yield %next : tensor<128x176xf32>
  }
  tile.return
}
}
