// RUN: headrace-opt %s --convert-tile-to-pipe | FileCheck %s

// An array that is read and written changes hands between threads: they meet before each access.

#line = #tile.layout<atom = [128], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]], groups = [], repeat = [1]>
!vector = memref<?xf32>
!tile = tensor<128xf32, #line>

// CHECK-LABEL: func.func @read_and_written
// CHECK-SAME: %[[V:[a-z0-9]*]]: memref<?xf32>, %[[W:[a-z0-9]*]]: memref<?xf32>, %[[Z:[a-z0-9]*]]: memref<?xf32>)
tile.kernel @read_and_written(%v: !vector, %w: !vector, %z: !vector) attributes {warps = 4 : i64} {
  // CHECK: pipe.role_barrier
  // CHECK-NEXT: %[[X:.*]] = pipe.load %[[V]]
  // CHECK-NEXT: pipe.role_barrier
  // CHECK-NEXT: pipe.store %[[X]], %[[V]]
  // CHECK-NEXT: pipe.role_barrier
  // CHECK-NEXT: pipe.load %[[V]]
  // Nobody writes w, nobody reads z.
  // CHECK-NEXT: pipe.load %[[W]]
  // CHECK-NEXT: arith.addf
  // CHECK-NEXT: pipe.store %{{.*}}, %[[Z]]
  // CHECK-NEXT: return
  %c0 = arith.constant 0 : index
  %x = tile.load %v[%c0] : !vector -> !tile
  tile.store %x, %v[%c0] {mechanism = #tile.mechanism<plain>} : !tile, !vector
  %y = tile.load %v[%c0] : !vector -> !tile
  %u = tile.load %w[%c0] : !vector -> !tile
  %s = arith.addf %y, %u : !tile
  tile.store %s, %z[%c0] {mechanism = #tile.mechanism<plain>} : !tile, !vector
  tile.return
}

// Whatever reads, whatever writes.
// CHECK-LABEL: func.func @all_kinds
tile.kernel @all_kinds(%v: !vector, %w: !vector) attributes {warps = 4 : i64} {
  // CHECK: pipe.role_barrier
  // CHECK-NEXT: tile.load_scalar
  // CHECK-NEXT: pipe.role_barrier
  // CHECK-NEXT: tile.store_scalar
  // CHECK: pipe.role_barrier
  // CHECK-NEXT: tile.gather
  // CHECK-NEXT: pipe.role_barrier
  // CHECK-NEXT: tile.scatter
  // CHECK-NEXT: pipe.role_barrier
  // CHECK-NEXT: tile.reduce_store
  %c0 = arith.constant 0 : index
  %s = tile.load_scalar %v[%c0] : !vector -> f32
  tile.store_scalar %s, %v[%c0] : f32, !vector
  %p = tile.iota axis 0 : tensor<128xi32, #line>
  %x = tile.gather %w[%p] : !vector, (tensor<128xi32, #line>) -> !tile
  tile.scatter %x, %w[%p] : !tile, !vector, (tensor<128xi32, #line>)
  tile.reduce_store #tile.combine<add> %x, %w[%c0] : !tile, !vector
  tile.return
}

// Updates alone need no order: none of them reads what another wrote, and they are atomic.
// CHECK-LABEL: func.func @updates_alone
// CHECK-NOT: pipe.role_barrier
tile.kernel @updates_alone(%v: !vector) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %x = arith.constant dense<1.0> : !tile
  tile.reduce_store #tile.combine<add> %x, %v[%c0] : !tile, !vector
  tile.reduce_store #tile.combine<add> %x, %v[%c0] : !tile, !vector
  tile.return
}

// A late thread must not undo what another wrote after it: writes keep their order among each other.
// CHECK-LABEL: func.func @writes_alone
tile.kernel @writes_alone(%v: !vector, %w: !vector, %s: f32) attributes {warps = 4 : i64} {
  // CHECK: pipe.store %{{.*}}, %[[V:.*]][
  // CHECK: pipe.role_barrier
  // CHECK-NEXT: tile.store_scalar %{{.*}}, %[[V]][
  %c0 = arith.constant 0 : index
  %x = arith.constant dense<1.0> : !tile
  tile.store %x, %v[%c0] {mechanism = #tile.mechanism<plain>} : !tile, !vector
  tile.store_scalar %s, %v[%c0] : f32, !vector
  tile.return
}

// One write has nothing to be ordered with.
// CHECK-LABEL: func.func @one_write
// CHECK-NOT: pipe.role_barrier
tile.kernel @one_write(%v: !vector) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %x = arith.constant dense<1.0> : !tile
  tile.store %x, %v[%c0] {mechanism = #tile.mechanism<plain>} : !tile, !vector
  tile.return
}
