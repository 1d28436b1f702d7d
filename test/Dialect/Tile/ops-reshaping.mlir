// RUN: headrace-opt %s | headrace-opt | FileCheck %s
// RUN: headrace-opt %s --mlir-print-op-generic | headrace-opt | FileCheck %s

// Coordinates and changes of shape, printed and parsed again.

// CHECK-LABEL: tile.kernel @coordinates
tile.kernel @coordinates() {
  // CHECK: tile.iota axis 0 : tensor<128xi32>
  // CHECK: tile.iota axis 1 : tensor<3x229xi64>
  // 127 is the largest that an i8 holds.
  // CHECK: tile.iota axis 0 : tensor<128xi8>
  // CHECK: tile.iota axis 3 : tensor<2x3x4x5xi16>
  %0 = tile.iota axis 0 : tensor<128xi32>
  %1 = tile.iota axis 1 : tensor<3x229xi64>
  %2 = tile.iota axis 0 : tensor<128xi8>
  %3 = tile.iota axis 3 : tensor<2x3x4x5xi16>
  tile.return
}

// CHECK-LABEL: tile.kernel @transposes
tile.kernel @transposes() {
  %v = arith.constant dense<1.0> : tensor<24xf32>
  %m = arith.constant dense<1.0> : tensor<64x32xf32>
  %t = arith.constant dense<1> : tensor<2x3x4x5xi8>
  // CHECK: tile.transpose %{{.*}} [0] : tensor<24xf32> -> tensor<24xf32>
  // CHECK: tile.transpose %{{.*}} [1, 0] : tensor<64x32xf32> -> tensor<32x64xf32>
  // CHECK: tile.transpose %{{.*}} [3, 1, 0, 2] : tensor<2x3x4x5xi8> -> tensor<5x3x2x4xi8>
  %0 = tile.transpose %v [0] : tensor<24xf32> -> tensor<24xf32>
  %1 = tile.transpose %m [1, 0] : tensor<64x32xf32> -> tensor<32x64xf32>
  %2 = tile.transpose %t [3, 1, 0, 2] : tensor<2x3x4x5xi8> -> tensor<5x3x2x4xi8>
  tile.return
}

// CHECK-LABEL: tile.kernel @reshapes
tile.kernel @reshapes() {
  %m = arith.constant dense<1.0> : tensor<64x32xf32>
  %one = arith.constant dense<1.0> : tensor<1x1x1x1xf32>
  // CHECK: tile.reshape %{{.*}} : tensor<64x32xf32> -> tensor<2048xf32>
  // CHECK: tile.reshape %{{.*}} : tensor<64x32xf32> -> tensor<1x64x1x32xf32>
  // CHECK: tile.reshape %{{.*}} : tensor<1x1x1x1xf32> -> tensor<1xf32>
  %0 = tile.reshape %m : tensor<64x32xf32> -> tensor<2048xf32>
  %1 = tile.reshape %m : tensor<64x32xf32> -> tensor<1x64x1x32xf32>
  %2 = tile.reshape %one : tensor<1x1x1x1xf32> -> tensor<1xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @splits_and_joins
tile.kernel @splits_and_joins() {
  %p = arith.constant dense<1.0> : tensor<8x64x2xf16>
  %v = arith.constant dense<1> : tensor<3x2xi1>
  // CHECK: %[[A:.*]], %[[B:.*]] = tile.split %{{.*}} : tensor<8x64x2xf16> -> tensor<8x64xf16>
  // CHECK: tile.join %[[B]], %[[A]] : tensor<8x64xf16> -> tensor<8x64x2xf16>
  // CHECK: tile.split %{{.*}} : tensor<3x2xi1> -> tensor<3xi1>
  %a, %b = tile.split %p : tensor<8x64x2xf16> -> tensor<8x64xf16>
  %j = tile.join %b, %a : tensor<8x64xf16> -> tensor<8x64x2xf16>
  %c, %d = tile.split %v : tensor<3x2xi1> -> tensor<3xi1>
  tile.return
}
