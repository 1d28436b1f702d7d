// RUN: headrace-opt %s --tile-plan | FileCheck %s

// Odd extents are padded where threads would be replicas, and nothing of the padding is seen.

!matrix = memref<?x?xf32, strided<[?, 1]>>
!vector = memref<?xf32>

module attributes {tile.target = "sm_80"} {

// Rows of 1000 elements become 1024, neutral where they are summed, and are stored without the rest.
// CHECK-LABEL: tile.kernel @rows
// CHECK: %[[X:.*]] = tile.load {{.*}} -> tensor<4x1024xf32>
// CHECK: %[[AT:.*]] = tile.iota axis 1 : tensor<4x1024xi32>
// CHECK: %[[END:.*]] = arith.constant dense<1000> : tensor<4x1024xi32>
// CHECK: %[[IN:.*]] = arith.cmpi ult, %[[AT]], %[[END]]
// CHECK: %[[NONE:.*]] = arith.constant dense<-0.000000e+00> : tensor<4x1024xf32>
// CHECK: %[[Y:.*]] = arith.select %[[IN]], %[[X]], %[[NONE]]
// CHECK: tile.reduce %[[Y]] axis 1
// CHECK: (tensor<4x1024xf32>) -> tensor<4xf32>
// CHECK: tile.broadcast {{.*}} -> tensor<4x1024xf32>
// CHECK: tile.store {{.*}} valid = array<i64: 4, 1000>{{.*}} : tensor<4x1024xf32>
tile.kernel @rows(%A: !matrix, %B: !matrix) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %x = tile.load %A[%c0, %c0] : !matrix -> tensor<4x1000xf32>
  %s = tile.reduce %x axis 1 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  } : (tensor<4x1000xf32>) -> tensor<4xf32>
  %e = tile.expand_dims %s axis 1 : tensor<4xf32> -> tensor<4x1xf32>
  %b = tile.broadcast %e : tensor<4x1xf32> -> tensor<4x1000xf32>
  %y = arith.subf %x, %b : tensor<4x1000xf32>
  tile.store %y, %B[%c0, %c0] : tensor<4x1000xf32>, !matrix
  tile.return
}

// Asserts and prints leave the padding alone, and all tiles of a print have it.
// CHECK-LABEL: tile.kernel @messages
// CHECK: tile.assert %{{.*}}, "x" {valid = array<i64: 4, 1000>} : tensor<4x1024xi1>
// CHECK: tile.print "x", %{{.*}}, %{{.*}}, %{{.*}} {valid = array<i64: 4, 1000>} : tensor<4x1024xf32>, index, tensor<4x1024xi1>
tile.kernel @messages(%A: !matrix) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<4x1000xf32>
  %x = tile.load %A[%c0, %c0] : !matrix -> tensor<4x1000xf32>
  %holds = arith.cmpf ogt, %x, %zero : tensor<4x1000xf32>
  tile.assert %holds, "x" : tensor<4x1000xi1>
  tile.print "x", %x, %c0, %holds : tensor<4x1000xf32>, index, tensor<4x1000xi1>
  tile.return
}

// Each source has a neutral element of its own.
// CHECK-LABEL: tile.kernel @neutral_elements
// CHECK: arith.constant dense<0xFF800000> : tensor<128xf32>
// CHECK: arith.constant dense<2147483647> : tensor<128xi32>
tile.kernel @neutral_elements(%v: !vector, %w: memref<?xi32>, %o: !vector, %p: memref<?xi32>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %x = tile.load %v[%c0] : !vector -> tensor<127xf32>
  %i = tile.load %w[%c0] : memref<?xi32> -> tensor<127xi32>
  %m:2 = tile.reduce %x, %i axis 0 {
  ^bb0(%a: f32, %j: i32, %b: f32, %k: i32):
    %c = arith.maximumf %a, %b : f32
    %l = arith.minsi %j, %k : i32
    tile.yield %c, %l : f32, i32
  } : (tensor<127xf32>, tensor<127xi32>) -> (f32, i32)
  tile.store_scalar %m#0, %o[%c0] : f32, !vector
  tile.store_scalar %m#1, %p[%c0] : i32, memref<?xi32>
  tile.return
}

// What is combined in ways of its own has none: the largest element and its place.
// CHECK-LABEL: tile.kernel @no_neutral_element
// CHECK: tile.load {{.*}} -> tensor<127xf32>
tile.kernel @no_neutral_element(%v: !vector, %p: memref<?xi32>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %x = tile.load %v[%c0] : !vector -> tensor<127xf32>
  %i = tile.iota axis 0 : tensor<127xi32>
  %m:2 = tile.reduce %x, %i axis 0 {
  ^bb0(%a: f32, %j: i32, %b: f32, %k: i32):
    %g = arith.cmpf ogt, %a, %b : f32
    %c = arith.select %g, %a, %b : f32
    %l = arith.select %g, %j, %k : i32
    tile.yield %c, %l : f32, i32
  } : (tensor<127xf32>, tensor<127xi32>) -> (f32, i32)
  tile.store_scalar %m#1, %p[%c0] : i32, memref<?xi32>
  tile.return
}

// From the front a scan meets no padding; from the end it does.
// CHECK-LABEL: tile.kernel @scans
// CHECK: %[[X:.*]] = tile.load {{.*}} -> tensor<128xf32>
// CHECK: tile.scan %[[X]] axis 0 {
// CHECK: %[[Y:.*]] = arith.select %{{.*}}, %[[X]], %{{.*}} : tensor<128xi1>, tensor<128xf32>
// CHECK: tile.scan %[[Y]] axis 0 attributes {reverse}
tile.kernel @scans(%v: !vector, %w: !vector) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %x = tile.load %v[%c0] : !vector -> tensor<127xf32>
  %s = tile.scan %x axis 0 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  } : (tensor<127xf32>) -> tensor<127xf32>
  %t = tile.scan %x axis 0 attributes {reverse} {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  } : (tensor<127xf32>) -> tensor<127xf32>
  %y = arith.mulf %s, %t : tensor<127xf32>
  tile.store %y, %w[%c0] : tensor<127xf32>, !vector
  tile.return
}

// Only as far as all threads need: 229 columns of 64 rows are 232, since lanes take rows too.
// CHECK-LABEL: tile.kernel @a_little
// CHECK: tile.load {{.*}} -> tensor<64x232xf32>
// CHECK: tile.store {{.*}} valid = array<i64: 64, 229>
tile.kernel @a_little(%A: !matrix, %B: !matrix) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %x = tile.load %A[%c0, %c0] : !matrix -> tensor<64x229xf32>
  tile.store %x, %B[%c0, %c0] : tensor<64x229xf32>, !matrix
  tile.return
}

// 24 columns of 64 rows have room for all threads.
// CHECK-LABEL: tile.kernel @enough_factors
// CHECK: tile.load {{.*}} -> tensor<64x24xf32>
tile.kernel @enough_factors(%A: !matrix, %B: !matrix) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %x = tile.load %A[%c0, %c0] : !matrix -> tensor<64x24xf32>
  tile.store %x, %B[%c0, %c0] : tensor<64x24xf32>, !matrix
  tile.return
}

// A loop carries padded tiles; atomics and scatters leave padding out, and places are padded with what they place.
// CHECK-LABEL: tile.kernel @carried
// CHECK: tile.for {{.*}} -> (tensor<4x128xf32>)
// CHECK: tile.yield {{.*}} : tensor<4x128xf32>
// CHECK: tile.reduce_store <add> {{.*}} {valid = array<i64: 4, 127>}
// CHECK: %[[P:.*]] = tile.load {{.*}} -> tensor<128xi32>
// CHECK: tile.scatter {{.*}}[%{{.*}}, %[[P]]] {valid = array<i64: 4, 127>}
tile.kernel @carried(%A: !matrix, %B: !matrix, %p: memref<?xi32>, %n: index) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant dense<0.0> : tensor<4x127xf32>
  %s = tile.for %i = %c0 to %n step %c4 iter_args(%acc = %zero) -> (tensor<4x127xf32>) {
    %x = tile.load %A[%i, %c0] : !matrix -> tensor<4x127xf32>
    %y = arith.addf %acc, %x : tensor<4x127xf32>
    tile.yield %y : tensor<4x127xf32>
  }
  tile.reduce_store <add> %s, %B[%c0, %c0] : tensor<4x127xf32>, !matrix
  %places = tile.load %p[%c0] : memref<?xi32> -> tensor<127xi32>
  tile.scatter %s, %B[%c0, %places] : tensor<4x127xf32>, !matrix, (index, tensor<127xi32>)
  tile.return
}

// Elements that a reshape moves, and operands of a matmul, keep their extents; so do arrays that the kernel writes.
// CHECK-LABEL: tile.kernel @as_they_are
// CHECK: tile.load {{.*}} -> tensor<4x1000xf32>
// CHECK: tile.reshape {{.*}} -> tensor<100x40xf32>
// CHECK: tile.load {{.*}} -> tensor<127xf32>
tile.kernel @as_they_are(%A: !matrix, %B: !matrix, %v: !vector) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %x = tile.load %A[%c0, %c0] : !matrix -> tensor<4x1000xf32>
  %y = tile.reshape %x : tensor<4x1000xf32> -> tensor<100x40xf32>
  tile.store %y, %B[%c0, %c0] : tensor<100x40xf32>, !matrix
  %w = tile.load %v[%c0] : !vector -> tensor<127xf32>
  tile.store %w, %v[%c0] : tensor<127xf32>, !vector
  tile.return
}

// A dimension that a reshape leaves alone may have padding.
// CHECK-LABEL: tile.kernel @beside_a_reshape
// CHECK: tile.reshape {{.*}} : tensor<128x4xf32> -> tensor<128x2x2xf32>
// CHECK: tile.split {{.*}} -> tensor<128x2xf32>
// CHECK: tile.join {{.*}} -> tensor<128x2x2xf32>
tile.kernel @beside_a_reshape(%A: !matrix, %B: !matrix) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %x = tile.load %A[%c0, %c0] : !matrix -> tensor<127x4xf32>
  %p = tile.reshape %x : tensor<127x4xf32> -> tensor<127x2x2xf32>
  %a, %b = tile.split %p : tensor<127x2x2xf32> -> tensor<127x2xf32>
  %j = tile.join %b, %a : tensor<127x2xf32> -> tensor<127x2x2xf32>
  %y = tile.reshape %j : tensor<127x2x2xf32> -> tensor<127x4xf32>
  tile.store %y, %B[%c0, %c0] : tensor<127x4xf32>, !matrix
  tile.return
}

}
