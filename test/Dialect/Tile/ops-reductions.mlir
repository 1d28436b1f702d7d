// RUN: headrace-opt %s | headrace-opt | FileCheck %s
// RUN: headrace-opt %s --mlir-print-op-generic | headrace-opt | FileCheck %s

// Reductions and scans, printed and parsed again.

// CHECK-LABEL: tile.kernel @reductions
tile.kernel @reductions() {
  %x = arith.constant dense<1.0> : tensor<128x24xf32>
  %v = arith.constant dense<1.0> : tensor<229xf32>
  %bits = arith.constant dense<true> : tensor<2x3x4x5xi1>
  // CHECK: tile.reduce %{{.*}} axis 1 {
  // CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32):
  // CHECK-NEXT: %[[C:.*]] = arith.maximumf %[[A]], %[[B]] : f32
  // CHECK-NEXT: tile.yield %[[C]] : f32
  // CHECK-NEXT: } : (tensor<128x24xf32>) -> tensor<128xf32>
  %0 = tile.reduce %x axis 1 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.maximumf %a, %b : f32
    tile.yield %c : f32
  } : (tensor<128x24xf32>) -> tensor<128xf32>
  // The only dimension: a scalar is left.
  // CHECK: tile.reduce %{{.*}} axis 0 {
  // CHECK: } : (tensor<229xf32>) -> f32
  %1 = tile.reduce %v axis 0 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  } : (tensor<229xf32>) -> f32
  // CHECK: } : (tensor<2x3x4x5xi1>) -> tensor<2x3x5xi1>
  %2 = tile.reduce %bits axis 2 {
  ^bb0(%a: i1, %b: i1):
    %c = arith.ori %a, %b : i1
    tile.yield %c : i1
  } : (tensor<2x3x4x5xi1>) -> tensor<2x3x5xi1>
  tile.return
}

// The largest element of each row and its column.
// CHECK-LABEL: tile.kernel @several_sources
// CHECK: %{{.*}}:2 = tile.reduce %{{.*}}, %{{.*}} axis 1 {
// CHECK-NEXT: ^bb0(%{{.*}}: f32, %{{.*}}: i32, %{{.*}}: f32, %{{.*}}: i32):
// CHECK: tile.yield %{{.*}}, %{{.*}} : f32, i32
// CHECK: } : (tensor<8x40xf32>, tensor<8x40xi32>) -> (tensor<8xf32>, tensor<8xi32>)
tile.kernel @several_sources() {
  %x = arith.constant dense<1.0> : tensor<8x40xf32>
  %i = tile.iota axis 1 : tensor<8x40xi32>
  %r:2 = tile.reduce %x, %i axis 1 {
  ^bb0(%x1: f32, %i1: i32, %x2: f32, %i2: i32):
    %first = arith.cmpf oge, %x1, %x2 : f32
    %xm = arith.select %first, %x1, %x2 : f32
    %im = arith.select %first, %i1, %i2 : i32
    tile.yield %xm, %im : f32, i32
  } : (tensor<8x40xf32>, tensor<8x40xi32>) -> (tensor<8xf32>, tensor<8xi32>)
  tile.return
}

// What each of four parts of the axis gives.
// CHECK-LABEL: tile.kernel @parts
// CHECK: tile.reduce %{{.*}} axis 1 attributes {parts = 4 : i64} {
// CHECK: } : (tensor<8x40xf32>) -> tensor<8x4xf32>
tile.kernel @parts() {
  %x = arith.constant dense<1.0> : tensor<8x40xf32>
  %r = tile.reduce %x axis 1 attributes {parts = 4 : i64} {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  } : (tensor<8x40xf32>) -> tensor<8x4xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @scans
tile.kernel @scans() {
  %v = arith.constant dense<1> : tensor<1xi64>
  %x = arith.constant dense<1.0> : tensor<16x48xf32>
  %y = arith.constant dense<2.0> : tensor<16x48xf32>
  // CHECK: tile.scan %{{.*}} axis 0 {
  // CHECK: } : (tensor<1xi64>) -> tensor<1xi64>
  %0 = tile.scan %v axis 0 {
  ^bb0(%a: i64, %b: i64):
    %c = arith.addi %a, %b : i64
    tile.yield %c : i64
  } : (tensor<1xi64>) -> tensor<1xi64>
  // A linear recurrence, from the end on.
  // CHECK: %{{.*}}:2 = tile.scan %{{.*}}, %{{.*}} axis 1 attributes {reverse} {
  // CHECK: } : (tensor<16x48xf32>, tensor<16x48xf32>) -> (tensor<16x48xf32>, tensor<16x48xf32>)
  %1:2 = tile.scan %x, %y axis 1 attributes {reverse} {
  ^bb0(%a1: f32, %b1: f32, %a2: f32, %b2: f32):
    %a = arith.mulf %a1, %a2 : f32
    %p = arith.mulf %a2, %b1 : f32
    %b = arith.addf %p, %b2 : f32
    tile.yield %a, %b : f32, f32
  } : (tensor<16x48xf32>, tensor<16x48xf32>) -> (tensor<16x48xf32>, tensor<16x48xf32>)
  tile.return
}
