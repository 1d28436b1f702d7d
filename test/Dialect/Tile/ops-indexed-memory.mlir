// RUN: headrace-opt %s | headrace-opt | FileCheck %s
// RUN: headrace-opt %s --mlir-print-op-generic | headrace-opt | FileCheck %s

// Single elements, elements by index, atomic updates and tiles of fewer dimensions than their array, printed and parsed
// again.

!matrix = memref<?x?xf32, strided<[?, 1]>>
!stack = memref<?x?x?x?x?xf32, strided<[?, ?, ?, ?, 1]>>

// CHECK-LABEL: tile.kernel @scalars
tile.kernel @scalars(%v: memref<?xi32, strided<[1]>>, %A: !stack, %i: index) {
  // CHECK: %[[N:.*]] = tile.load_scalar %{{.*}}[%{{.*}}] : memref<?xi32, strided<[1]>> -> i32
  // CHECK: %[[X:.*]] = tile.load_scalar %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] : memref<?x?x?x?x?xf32, strided<[?, ?, ?, ?, 1]>> -> f32
  // CHECK: tile.store_scalar %[[N]], %{{.*}}[%{{.*}}] : i32, memref<?xi32, strided<[1]>>
  // CHECK: tile.store_scalar %[[X]], %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] : f32, memref
  %n = tile.load_scalar %v[%i] : memref<?xi32, strided<[1]>> -> i32
  %x = tile.load_scalar %A[%i, %i, %i, %i, %i] : !stack -> f32
  tile.store_scalar %n, %v[%i] : i32, memref<?xi32, strided<[1]>>
  tile.store_scalar %x, %A[%i, %i, %i, %i, %i] : f32, !stack
  tile.return
}

// CHECK-LABEL: tile.kernel @gathers
tile.kernel @gathers(%A: !matrix, %S: !stack, %i: index) {
  %rows = tile.iota axis 0 : tensor<64xi32>
  %columns = tile.iota axis 0 : tensor<24xi64>
  %each = tile.iota axis 1 : tensor<64x24xi64>
  // CHECK: tile.gather %{{.*}}[%{{.*}}, %{{.*}}] : memref<{{.*}}>, (tensor<64xi32>, index) -> tensor<64x24xf32>
  // CHECK: tile.gather %{{.*}}[%{{.*}}, %{{.*}}] : memref<{{.*}}>, (tensor<64xi32>, tensor<24xi64>) -> tensor<64x24xf32>
  // CHECK: tile.gather %{{.*}}[%{{.*}}, %{{.*}}] {cache = #tile.cache<evict_last>, fill = -1.000000e+00 : f32, vector = 16 : i64} : memref<{{.*}}>, (index, tensor<64x24xi64>) -> tensor<64x24xf32>
  // CHECK: tile.gather %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] : memref<{{.*}}>, (index, index, index, tensor<64xi32>, index) -> tensor<64x24xf32>
  %0 = tile.gather %A[%rows, %i] : !matrix, (tensor<64xi32>, index) -> tensor<64x24xf32>
  %1 = tile.gather %A[%rows, %columns] : !matrix, (tensor<64xi32>, tensor<24xi64>) -> tensor<64x24xf32>
  %2 = tile.gather %A[%i, %each] {fill = -1.0 : f32, cache = #tile.cache<evict_last>, vector = 16 : i64} : !matrix, (index, tensor<64x24xi64>) -> tensor<64x24xf32>
  %3 = tile.gather %S[%i, %i, %i, %rows, %i] : !stack, (index, index, index, tensor<64xi32>, index) -> tensor<64x24xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @scatters
tile.kernel @scatters(%A: !matrix, %S: !stack, %i: index) {
  %x = arith.constant dense<1.0> : tensor<64x24xf32>
  %rows = tile.iota axis 0 : tensor<64xi32>
  // CHECK: tile.scatter %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] : tensor<64x24xf32>, memref<{{.*}}>, (tensor<64xi32>, index)
  // CHECK: tile.scatter combine <max> %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] : tensor<64x24xf32>, memref<{{.*}}>, (tensor<64xi32>, index)
  // CHECK: tile.scatter %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] : tensor<64x24xf32>, memref<{{.*}}>, (index, index, index, tensor<64xi32>, index)
  tile.scatter %x, %A[%rows, %i] : tensor<64x24xf32>, !matrix, (tensor<64xi32>, index)
  tile.scatter combine #tile.combine<max> %x, %A[%rows, %i] : tensor<64x24xf32>, !matrix, (tensor<64xi32>, index)
  tile.scatter %x, %S[%i, %i, %i, %rows, %i] : tensor<64x24xf32>, !stack, (index, index, index, tensor<64xi32>, index)
  tile.return
}

// CHECK-LABEL: tile.kernel @updates
tile.kernel @updates(%A: !matrix, %S: !stack, %i: index) {
  %x = arith.constant dense<1.0> : tensor<64x24xf32>
  // CHECK: tile.reduce_store <add> %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] : tensor<64x24xf32>, memref
  // CHECK: tile.reduce_store <min> %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] : tensor<64x24xf32>, memref
  // CHECK: tile.reduce_store <max> %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] : tensor<64x24xf32>, memref
  tile.reduce_store #tile.combine<add> %x, %A[%i, %i] : tensor<64x24xf32>, !matrix
  tile.reduce_store #tile.combine<min> %x, %A[%i, %i] : tensor<64x24xf32>, !matrix
  tile.reduce_store #tile.combine<max> %x, %S[%i, %i, %i, %i, %i] : tensor<64x24xf32>, !stack
  tile.return
}

// CHECK-LABEL: tile.kernel @tiles_of_fewer_dimensions
tile.kernel @tiles_of_fewer_dimensions(%S: !stack, %i: index) {
  // CHECK: %[[X:.*]] = tile.load %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] : memref<{{.*}}> -> tensor<8xf32>
  // CHECK: tile.store %[[X]], %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] : tensor<8xf32>, memref
  %x = tile.load %S[%i, %i, %i, %i, %i] : !stack -> tensor<8xf32>
  tile.store %x, %S[%i, %i, %i, %i, %i] : tensor<8xf32>, !stack
  tile.return
}
