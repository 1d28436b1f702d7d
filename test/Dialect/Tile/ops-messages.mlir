// RUN: headrace-opt %s | headrace-opt | FileCheck %s
// RUN: headrace-opt %s --mlir-print-op-generic | headrace-opt | FileCheck %s
// RUN: headrace-opt %s --canonicalize --cse | FileCheck %s --check-prefix=CANON

// Asserts and prints, printed and parsed again; what holds goes, and nothing else does.

// CHECK-LABEL: tile.kernel @asserts
// CANON-LABEL: tile.kernel @asserts
tile.kernel @asserts(%c: i1, %x: f32) {
  %t = tensor.splat %x : tensor<8x4xf32>
  %zero = arith.constant dense<0.0> : tensor<8x4xf32>
  %positive = arith.cmpf ogt, %t, %zero : tensor<8x4xf32>
  // CHECK: tile.assert %{{.*}}, "n is small" : i1
  // CHECK: tile.assert %{{.*}}, "x is \22positive\22" {valid = array<i64: 7, 4>} : tensor<8x4xi1>
  // CANON: tile.assert %{{.*}}, "n is small" : i1
  // CANON: tile.assert %{{.*}}, "n is small" : i1
  // CANON: tile.assert %{{.*}}, "x is
  tile.assert %c, "n is small" : i1
  tile.assert %c, "n is small" : i1
  tile.assert %positive, "x is \"positive\"" {valid = array<i64: 7, 4>} : tensor<8x4xi1>
  // CANON-NOT: holds
  // CANON: tile.assert %false, "fails" : i1
  // CANON-NOT: holds
  // CANON: tile.return
  %true = arith.constant true
  %false = arith.constant false
  %all = arith.constant dense<true> : tensor<4xi1>
  tile.assert %true, "holds" : i1
  tile.assert %false, "fails" : i1
  tile.assert %all, "holds" : tensor<4xi1>
  tile.return
}

// CHECK-LABEL: tile.kernel @prints
tile.kernel @prints(%i: index, %x: f32) {
  %t = tensor.splat %x : tensor<8x4xf32>
  %n = tile.iota axis 0 : tensor<8x4xi32>
  // CHECK: tile.print "here"{{$}}
  // CHECK: tile.print "i", %{{.*}}, %{{.*}} : index, f32
  // CHECK: tile.print "t", %{{.*}}, %{{.*}}, %{{.*}} {valid = array<i64: 7, 4>} : tensor<8x4xf32>, index, tensor<8x4xi32>
  tile.print "here"
  tile.print "i", %i, %x : index, f32
  tile.print "t", %t, %i, %n {valid = array<i64: 7, 4>} : tensor<8x4xf32>, index, tensor<8x4xi32>
  tile.return
}
