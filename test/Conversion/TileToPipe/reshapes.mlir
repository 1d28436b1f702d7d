// RUN: headrace-opt %s --convert-tile-to-pipe | FileCheck %s

// Reshapes: through a dense slot, seen in other extents; and those that leave every element in its thread.

#grid = #tile.layout<atom = [4, 32], register = [], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[1, 0], [2, 0]], groups = [], repeat = [4, 1]>
#line = #tile.layout<atom = [128], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]], groups = [], repeat = [4]>
#vectors = #tile.layout<atom = [512], register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = [[128], [256]], groups = [], repeat = [1]>
#column = #tile.layout<atom = [128, 1], register = [], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], groups = [], repeat = [4, 1]>
!vector = memref<?xf32>
!matrix = memref<?x?xf32, strided<[?, 1]>>

// CHECK-LABEL: func.func @through_a_slot
tile.kernel @through_a_slot(%A: !matrix, %v: !vector) attributes {warps = 4 : i64} {
  // CHECK: %[[CH:.*]] = pipe.create_channel "conversion" <barrier> : <{{[0-9]+}}, [<16x32xf32, #{{.*}}>]>
  // CHECK: %[[X:.*]] = pipe.load
  // CHECK: %[[IN:.*]] = pipe.producer_acquire %[[CH]]
  // CHECK-NEXT: pipe.write %[[X]], %[[IN]]
  // CHECK-NEXT: pipe.producer_commit %[[CH]]
  // CHECK-NEXT: %[[OUT:.*]] = pipe.consumer_wait %[[CH]]
  // CHECK-NEXT: %[[VIEW:.*]] = pipe.view %[[OUT]] : <16x32xf32, #{{.*}}> -> <512xf32, #{{.*}}>
  // CHECK-NEXT: %[[Y:.*]] = pipe.read %[[VIEW]]
  // CHECK-NEXT: pipe.consumer_release %[[CH]]
  // CHECK-NEXT: pipe.store %[[Y]],
  %c0 = arith.constant 0 : index
  %x = tile.load %A[%c0, %c0] : !matrix -> tensor<16x32xf32, #grid>
  %y = tile.reshape %x : tensor<16x32xf32, #grid> -> tensor<512xf32, #vectors>
  tile.store %y, %v[%c0] {mechanism = #tile.mechanism<plain>} : tensor<512xf32, #vectors>, !vector
  tile.return
}

// Single bits pass as bytes.
// CHECK-LABEL: func.func @bits
// CHECK: %[[BYTES:.*]] = arith.extui %{{.*}} : tensor<16x32xi1, #{{.*}}> to tensor<16x32xi8, #{{.*}}>
// CHECK: pipe.write %[[BYTES]],
// CHECK: pipe.view {{.*}} -> <512xi8, #{{.*}}>
// CHECK: %[[READ:.*]] = pipe.read
// CHECK: arith.trunci %[[READ]] : tensor<512xi8, #{{.*}}> to tensor<512xi1, #{{.*}}>
tile.kernel @bits(%A: !matrix, %v: !vector) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %x = tile.load %A[%c0, %c0] : !matrix -> tensor<16x32xf32, #grid>
  %p = arith.cmpf olt, %x, %x : tensor<16x32xf32, #grid>
  %q = tile.reshape %p : tensor<16x32xi1, #grid> -> tensor<512xi1, #vectors>
  %y = arith.uitofp %q : tensor<512xi1, #vectors> to tensor<512xf32, #vectors>
  tile.store %y, %v[%c0] {mechanism = #tile.mechanism<plain>} : tensor<512xf32, #vectors>, !vector
  tile.return
}

// Every element stays where it is.
// CHECK-LABEL: func.func @only_units
// CHECK-NOT: pipe.create_channel
// CHECK: tile.reshape
tile.kernel @only_units(%v: !vector, %A: !matrix) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %x = tile.load %v[%c0] : !vector -> tensor<512xf32, #line>
  %y = tile.reshape %x : tensor<512xf32, #line> -> tensor<512x1xf32, #column>
  tile.store %y, %A[%c0, %c0] {mechanism = #tile.mechanism<plain>} : tensor<512x1xf32, #column>, !matrix
  tile.return
}

// Rows of 32 lanes, one after the other over the warps: as lanes and warps count them in one dimension.
// CHECK-LABEL: func.func @rows_in_a_line
// CHECK-NOT: pipe.create_channel
// CHECK: tile.reshape
tile.kernel @rows_in_a_line(%A: !matrix, %v: !vector) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %x = tile.load %A[%c0, %c0] : !matrix -> tensor<16x32xf32, #grid>
  %y = tile.reshape %x : tensor<16x32xf32, #grid> -> tensor<512xf32, #line>
  tile.store %y, %v[%c0] {mechanism = #tile.mechanism<plain>} : tensor<512xf32, #line>, !vector
  tile.return
}
