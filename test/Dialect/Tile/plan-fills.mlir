// RUN: headrace-opt %s --tile-plan --split-input-file --verify-diagnostics | FileCheck %s

// Fills other than zero. Copies that run ahead can only fill with zeros: the fill is put in where the tile is read.

!array = memref<?x?xf16, strided<[?, 1]>>
!stack = memref<?x?x?xf16, strided<[?, ?, 1]>>
!vector = memref<?xf32>

module attributes {tile.target = "sm_90a"} {

// A tile that lies inside of the array stays as it is.
// CHECK-LABEL: tile.kernel @operand_of_a_matmul
// CHECK-SAME: (%[[A:[a-z0-9]*]]: memref
// CHECK: tile.for %[[K:.*]] = %[[M:.*]] to
// CHECK: %[[X:.*]] = tile.load %[[A]][%[[M]], %[[K]]] {mechanism = #tile.mechanism<tma>}
// CHECK: %[[Y:.*]] = scf.if %{{.*}} -> (tensor<64x64xf16>) {
// CHECK-NEXT: scf.yield %[[X]]
// CHECK-NEXT: } else {
// CHECK-NEXT: %[[FILL:.*]] = arith.constant dense<-2.000000e+00> : tensor<64x64xf16>
// CHECK: %[[ROWS:.*]] = memref.dim %[[A]],
// CHECK: tile.iota axis 0 : tensor<64x64xi32>
// CHECK: %[[DOWN:.*]] = arith.cmpi ult
// CHECK: %[[COLUMNS:.*]] = memref.dim %[[A]],
// CHECK: tile.iota axis 1 : tensor<64x64xi32>
// CHECK: %[[ALONG:.*]] = arith.cmpi ult
// CHECK: %[[IN:.*]] = arith.andi %[[DOWN]], %[[ALONG]] : tensor<64x64xi1>
// CHECK: arith.select %[[IN]], %[[X]], %[[FILL]]
// CHECK: tile.dot %[[Y]], %[[Y]] transpose_b,
tile.kernel @operand_of_a_matmul(%A: !array {tile.align = 16 : i64}, %n: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = tile.for %k = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) pipeline(stages = 3) {
    %a = tile.load %A[%c0, %k] {fill = -2.0 : f16} : !array -> tensor<64x64xf16>
    %s = tile.dot %a, %a transpose_b, %acc : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    tile.yield %s : tensor<64x64xf32>
  }
  tile.return
}

// -0 is not what a copy fills with.
// CHECK-LABEL: tile.kernel @negative_zero
// CHECK: tile.load {{.*}} {mechanism = #tile.mechanism<tma>}
// CHECK: %[[FILL:.*]] = arith.constant dense<-0.000000e+00> : tensor<64xf32>
// CHECK: arith.select {{.*}}, %[[FILL]]
tile.kernel @negative_zero(%v: !vector {tile.align = 16 : i64}, %w: !vector, %n: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  tile.for %i = %c0 to %n step %c64 pipeline(stages = 3) {
    %x = tile.load %v[%i] {fill = -0.0 : f32} : !vector -> tensor<64xf32>
    tile.store %x, %w[%i] : tensor<64xf32>, !vector
  }
  tile.return
}

// A place along a dimension that the tile has not counts too.
// CHECK-LABEL: tile.kernel @leading_place
// CHECK: tile.load {{.*}} -> tensor<64x64xf16>
// CHECK-COUNT-3: arith.cmpi ult, {{.*}} : tensor<64x64xi32>
// CHECK: arith.select
tile.kernel @leading_place(%S: !stack {tile.align = 16 : i64}, %i: index) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = tile.load %S[%i, %c0, %c0] {fill = 1.0 : f16} : !stack -> tensor<64x64xf16>
  %s = tile.dot %a, %a transpose_b, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  tile.return
}

// Zeros need nothing.
// CHECK-LABEL: tile.kernel @zeros
// CHECK: tile.load {{.*}} {fill = 0.000000e+00 : f16, mechanism = #tile.mechanism<tma>}
// CHECK-NOT: arith.select
// CHECK: tile.return
tile.kernel @zeros(%A: !array {tile.align = 16 : i64}) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = tile.load %A[%c0, %c0] {fill = 0.0 : f16} : !array -> tensor<64x64xf16>
  %s = tile.dot %a, %a transpose_b, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  tile.return
}

// Loads into registers fill by themselves.
// CHECK-LABEL: tile.kernel @registers
// CHECK: tile.load {{.*}} {fill = 1.000000e+00 : f32} : memref
// CHECK-NOT: arith.select
// CHECK: tile.return
tile.kernel @registers(%v: !vector, %w: !vector) {
  %c0 = arith.constant 0 : index
  %x = tile.load %v[%c0] {fill = 1.0 : f32} : !vector -> tensor<64xf32>
  tile.store %x, %w[%c0] : tensor<64xf32>, !vector
  tile.return
}

}
