// RUN: headrace-opt %s --split-input-file --verify-diagnostics | FileCheck %s
// RUN: headrace-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC

// What of a padded tile is stored: the attribute of all that write tiles.

!vector = memref<?xf32>

// CHECK-LABEL: func.func @valid
// GENERIC-COUNT-4: valid = array<i64: 3>
func.func @valid(%v: !vector, %p: tensor<4xi32>, %t: tensor<4xf32>, %i: index) {
  // CHECK: tile.store %{{.*}} {valid = array<i64: 3>}
  // CHECK: tile.reduce_store <add> %{{.*}} {valid = array<i64: 3>}
  // CHECK: tile.scatter %{{.*}} {valid = array<i64: 3>}
  // CHECK: pipe.store %{{.*}} {valid = array<i64: 3>}
  tile.store %t, %v[%i] {valid = array<i64: 3>} : tensor<4xf32>, !vector
  tile.reduce_store <add> %t, %v[%i] {valid = array<i64: 3>} : tensor<4xf32>, !vector
  tile.scatter %t, %v[%p] {valid = array<i64: 3>} : tensor<4xf32>, !vector, (tensor<4xi32>)
  pipe.store %t, %v[%i] {valid = array<i64: 3>} : tensor<4xf32>, !vector
  return
}

// -----

func.func @longer_than_the_tile(%v: memref<?xf32>, %t: tensor<4xf32>, %i: index) {
  // expected-error@+1 {{'tile.store' op expected valid extents of 1 to the tile's, one for each dimension of 'tensor<4xf32>'}}
  tile.store %t, %v[%i] {valid = array<i64: 5>} : tensor<4xf32>, memref<?xf32>
  return
}

// -----

func.func @nothing(%v: memref<?xf32>, %t: tensor<4xf32>, %i: index) {
  // expected-error@+1 {{'tile.reduce_store' op expected valid extents of 1 to the tile's, one for each dimension of 'tensor<4xf32>'}}
  tile.reduce_store <add> %t, %v[%i] {valid = array<i64: 0>} : tensor<4xf32>, memref<?xf32>
  return
}

// -----

func.func @too_many(%v: memref<?xf32>, %t: tensor<4xf32>, %p: tensor<4xi32>) {
  // expected-error@+1 {{'tile.scatter' op expected valid extents of 1 to the tile's, one for each dimension of 'tensor<4xf32>'}}
  tile.scatter %t, %v[%p] {valid = array<i64: 4, 4>} : tensor<4xf32>, memref<?xf32>, (tensor<4xi32>)
  return
}

// -----

func.func @too_few(%v: memref<?x?xf32>, %t: tensor<4x4xf32>, %i: index) {
  // expected-error@+1 {{'pipe.store' op expected valid extents of 1 to the tile's, one for each dimension of 'tensor<4x4xf32>'}}
  pipe.store %t, %v[%i, %i] {valid = array<i64: 4>} : tensor<4x4xf32>, memref<?x?xf32>
  return
}
