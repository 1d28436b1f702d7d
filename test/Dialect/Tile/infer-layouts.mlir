// RUN: headrace-opt %s --tile-infer-layouts | FileCheck %s

!vector = memref<?xf32>
!matrix = memref<?x?xf32, strided<[?, 1]>>

// Tiles that ops tie share one layout, through loops and branches.
// CHECK-LABEL: tile.kernel @ties
tile.kernel @ties(%A: !matrix, %n: index, %p: i1) attributes {warps = 4 : i64} {
  // CHECK: %[[X:.*]] = tile.load {{.*}} -> [[T:tensor<64x64xf32, #.*>]]
  // CHECK: tile.for {{.*}} -> ([[T]])
  // CHECK: arith.addf {{.*}} : [[T]]
  // CHECK: scf.if {{.*}} -> ([[T]])
  // CHECK: arith.mulf {{.*}} : [[T]]
  // CHECK: scf.for {{.*}} -> ([[T]])
  %c0 = arith.constant 0 : index
  %x = tile.load %A[%c0, %c0] : !matrix -> tensor<64x64xf32>
  %r = tile.for %i = %c0 to %n step %n iter_args(%acc = %x) -> (tensor<64x64xf32>) {
    %y = arith.addf %acc, %x : tensor<64x64xf32>
    tile.yield %y : tensor<64x64xf32>
  }
  %s = scf.if %p -> (tensor<64x64xf32>) {
    %y = arith.mulf %r, %r : tensor<64x64xf32>
    scf.yield %y : tensor<64x64xf32>
  } else {
    scf.yield %r : tensor<64x64xf32>
  }
  %t = scf.for %i = %c0 to %n step %n iter_args(%acc = %s) -> (tensor<64x64xf32>) {
    scf.yield %acc : tensor<64x64xf32>
  }
  tile.store %t, %A[%c0, %c0] : tensor<64x64xf32>, !matrix
  tile.return
}

// Element types may differ where layouts may not.
// CHECK-LABEL: tile.kernel @conversions
// CHECK: arith.constant dense<1.000000e+00> : tensor<64x64xf32, [[L:#.*]]>
// CHECK: arith.truncf %{{.*}} : tensor<64x64xf32, [[L]]> to tensor<64x64xbf16, [[L]]>
tile.kernel @conversions(%A: memref<?x?xbf16, strided<[?, 1]>>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %x = arith.constant dense<1.0> : tensor<64x64xf32>
  %y = arith.truncf %x : tensor<64x64xf32> to tensor<64x64xbf16>
  tile.store %y, %A[%c0, %c0] : tensor<64x64xbf16>, memref<?x?xbf16, strided<[?, 1]>>
  tile.return
}

// A constant costs nothing: each use has its own, in the layout that it needs.
// CHECK-LABEL: tile.kernel @constants
// CHECK-DAG: arith.constant dense<0.000000e+00> : [[LONG:tensor<512xf32, #.*>]]
// CHECK-DAG: arith.constant dense<0.000000e+00> : [[LONG2:tensor<512xf32, #.*>]]
tile.kernel @constants(%v: !vector) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<512xf32>
  tile.store %zero, %v[%c0] : tensor<512xf32>, !vector
  tile.store %zero, %v[%c0] : tensor<512xf32>, !vector
  tile.return
}

// Where two fixed layouts meet, a conversion: the accumulator of one matmul is the operand of the next, whose fragments
// lie otherwise.
// CHECK-LABEL: tile.kernel @two_anchors
// CHECK: %[[P:.*]] = tile.dot {{.*}} -> tensor<64x64xf32, [[ACC:#.*]]>
// CHECK: %[[H:.*]] = arith.truncf %[[P]] : tensor<64x64xf32, [[ACC]]> to tensor<64x64xf16, [[ACC]]>
// CHECK: %[[A:.*]] = tile.convert_layout %[[H]]
// CHECK: tile.dot %[[A]],
tile.kernel @two_anchors(%A: memref<?x?xf16, strided<[?, 1]>>, %C: !matrix) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = tile.load %A[%c0, %c0] {mechanism = #tile.mechanism<cp_async>} : memref<?x?xf16, strided<[?, 1]>> -> tensor<64x64xf16, #tile.shared<major = 1, swizzle = 128>>
  %p = tile.dot %a, %a transpose_b, %zero {atom = #tile.atom<mma_sync 16 x 8 x 16, groups = 4 x 1>}
      : tensor<64x64xf16, #tile.shared<major = 1, swizzle = 128>>, tensor<64x64xf16, #tile.shared<major = 1, swizzle = 128>> -> tensor<64x64xf32>
  %h = arith.truncf %p : tensor<64x64xf32> to tensor<64x64xf16>
  %q = tile.dot %h, %a transpose_b, %zero {atom = #tile.atom<mma_sync 16 x 8 x 16, groups = 4 x 1>}
      : tensor<64x64xf16>, tensor<64x64xf16, #tile.shared<major = 1, swizzle = 128>> -> tensor<64x64xf32>
  tile.store %q, %C[%c0, %c0] : tensor<64x64xf32>, !matrix
  tile.return
}
