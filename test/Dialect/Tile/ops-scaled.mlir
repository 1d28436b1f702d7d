// RUN: headrace-opt %s | headrace-opt | FileCheck %s
// RUN: headrace-opt %s --mlir-print-op-generic | headrace-opt | FileCheck %s

// Products of scaled blocks, printed and parsed again.

// CHECK-LABEL: tile.kernel @scaled
tile.kernel @scaled() {
  %a = arith.constant dense<1.0> : tensor<64x64xf8E4M3FN>
  %b = arith.constant dense<1.0> : tensor<32x64xf8E5M2>
  %aScale = arith.constant dense<127> : tensor<64x2xi8>
  %bScale = arith.constant dense<127> : tensor<32x2xi8>
  %acc = arith.constant dense<0.0> : tensor<64x32xf32>
  // CHECK: tile.dot_scaled %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : tensor<64x64xf8E4M3FN>, tensor<64x2xi8>, tensor<32x64xf8E5M2>, tensor<32x2xi8> -> tensor<64x32xf32>
  %d = tile.dot_scaled %a, %aScale, %b, %bScale, %acc
      : tensor<64x64xf8E4M3FN>, tensor<64x2xi8>, tensor<32x64xf8E5M2>, tensor<32x2xi8> -> tensor<64x32xf32>
  %pairs = arith.constant dense<1> : tensor<64x32xi8>
  %factors = arith.constant dense<1.0> : tensor<64x4xf8E4M3FN>
  %square = arith.constant dense<0.0> : tensor<64x64xf32>
  // CHECK: tile.dot_scaled {{.*}} : tensor<64x32xi8>, tensor<64x4xf8E4M3FN>, tensor<64x32xi8>, tensor<64x4xf8E4M3FN> -> tensor<64x64xf32>
  %e = tile.dot_scaled %pairs, %factors, %pairs, %factors, %square
      : tensor<64x32xi8>, tensor<64x4xf8E4M3FN>, tensor<64x32xi8>, tensor<64x4xf8E4M3FN> -> tensor<64x64xf32>
  tile.return
}
