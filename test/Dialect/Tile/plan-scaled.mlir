// RUN: headrace-opt %s --tile-plan --canonicalize 2>&1 | FileCheck %s

// Products of scaled blocks: numbers take their scales before, as bf16, and are multiplied like all others.

module attributes {tile.target = "sm_90a"} {
// CHECK: remark: scales: numbers take their scales before and are multiplied as bf16
// CHECK-LABEL: tile.kernel @exponents
tile.kernel @exponents(%A: memref<?x?xf8E4M3FN, strided<[?, 1]>>, %S: memref<?x?xi8, strided<[?, 1]>>,
                       %C: memref<?x?xf32, strided<[?, 1]>>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %A[%c0, %c0] : memref<?x?xf8E4M3FN, strided<[?, 1]>> -> tensor<64x64xf8E4M3FN>
  %s = tile.load %S[%c0, %c0] : memref<?x?xi8, strided<[?, 1]>> -> tensor<64x2xi8>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  // CHECK-DAG: %[[SMALLEST:.*]] = arith.constant dense<4194304> : tensor<64x2xi32>
  // CHECK-DAG: %[[NAN:.*]] = arith.constant dense<2143289344> : tensor<64x2xi32>
  // CHECK: %[[NUMBERS:.*]] = arith.extf %{{.*}} : tensor<64x64xf8E4M3FN> to tensor<64x64xf32>
  // CHECK: %[[WIDE:.*]] = arith.extui %{{.*}} : tensor<64x2xi8> to tensor<64x2xi32>
  // CHECK: %[[BITS:.*]] = arith.shli %[[WIDE]], %{{.*}}
  // CHECK: %[[IS_ZERO:.*]] = arith.cmpi eq, %[[WIDE]], %{{.*}}
  // CHECK: %[[NORMAL:.*]] = arith.select %[[IS_ZERO]], %[[SMALLEST]], %[[BITS]]
  // CHECK: %[[IS_NAN:.*]] = arith.cmpi eq, %[[WIDE]], %{{.*}}
  // CHECK: %[[ALL:.*]] = arith.select %[[IS_NAN]], %[[NAN]], %[[NORMAL]]
  // CHECK: %[[FACTORS:.*]] = arith.bitcast %[[ALL]] : tensor<64x2xi32> to tensor<64x2xf32>
  // CHECK: %[[UP:.*]] = tile.expand_dims %[[FACTORS]] axis 2
  // CHECK: %[[EACH:.*]] = tile.broadcast %[[UP]] : tensor<64x2x1xf32> -> tensor<64x2x32xf32>
  // CHECK: %[[SPREAD:.*]] = tile.reshape %[[EACH]] : tensor<64x2x32xf32> -> tensor<64x64xf32>
  // CHECK: %[[PRODUCT:.*]] = arith.mulf %[[NUMBERS]], %[[SPREAD]]
  // CHECK: %[[SCALED:.*]] = arith.truncf %[[PRODUCT]] : tensor<64x64xf32> to tensor<64x64xbf16>
  // CHECK: tile.dot %[[SCALED]], %{{.*}} transpose_b, %{{.*}} {{{.*}}tile.why_not_faster = "numbers take their scales before and are multiplied as bf16
  %d = tile.dot_scaled %a, %s, %a, %s, %zero
      : tensor<64x64xf8E4M3FN>, tensor<64x2xi8>, tensor<64x64xf8E4M3FN>, tensor<64x2xi8> -> tensor<64x64xf32>
  tile.store %d, %C[%c0, %c0] : tensor<64x64xf32>, memref<?x?xf32, strided<[?, 1]>>
  tile.return
}

// CHECK-LABEL: tile.kernel @pairs
tile.kernel @pairs(%A: memref<?x?xi8, strided<[?, 1]>>, %S: memref<?x?xf8E4M3FN, strided<[?, 1]>>,
                   %C: memref<?x?xf32, strided<[?, 1]>>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %A[%c0, %c0] : memref<?x?xi8, strided<[?, 1]>> -> tensor<64x32xi8>
  %s = tile.load %S[%c0, %c0] : memref<?x?xf8E4M3FN, strided<[?, 1]>> -> tensor<64x4xf8E4M3FN>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  // CHECK: arith.extui %{{.*}} : tensor<64x32xi8> to tensor<64x32xi32>
  // CHECK: %[[LOW:.*]] = arith.bitcast %{{.*}} : tensor<64x32xi16> to tensor<64x32xf16>
  // CHECK: %[[HIGH:.*]] = arith.bitcast %{{.*}} : tensor<64x32xi16> to tensor<64x32xf16>
  // CHECK: %[[JOINED:.*]] = tile.join %{{.*}}, %{{.*}} : tensor<64x32xf32> -> tensor<64x32x2xf32>
  // CHECK: tile.reshape %[[JOINED]] : tensor<64x32x2xf32> -> tensor<64x64xf32>
  // CHECK: arith.extf %{{.*}} : tensor<64x4xf8E4M3FN> to tensor<64x4xf32>
  // CHECK: tile.broadcast %{{.*}} : tensor<64x4x1xf32> -> tensor<64x4x16xf32>
  %d = tile.dot_scaled %a, %s, %a, %s, %zero
      : tensor<64x32xi8>, tensor<64x4xf8E4M3FN>, tensor<64x32xi8>, tensor<64x4xf8E4M3FN> -> tensor<64x64xf32>
  tile.store %d, %C[%c0, %c0] : tensor<64x64xf32>, memref<?x?xf32, strided<[?, 1]>>
  tile.return
}
}
