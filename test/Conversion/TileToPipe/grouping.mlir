// RUN: headrace-opt %s --convert-tile-to-pipe | FileCheck %s

// Which loads share a channel: the two of one dot, if they move alike and nothing between them writes memory.

#shared = #tile.shared<major = 1, swizzle = 128>
#acc = #tile.layout<atom = [16, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [], groups = [2 : 0, 2 : 1], repeat = [2, 4]>
#row = #tile.layout<atom = [4, 32], register = [], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[1, 0], [2, 0]], groups = [], repeat = [16, 2]>
!array = memref<?x?xf16, strided<[?, 1]>>
!tile = tensor<64x64xf16, #shared>
!sum = tensor<64x64xf32, #acc>

// The channel's name has the arrays in the order of the loads.
// CHECK-LABEL: func.func @one_channel
// CHECK: pipe.create_channel "B+arg0" <group> : <0, [<64x64xf16, {{.*}}>, <64x64xf16, {{.*}}>]>
// CHECK-NOT: pipe.create_channel
tile.kernel @one_channel(%A: !array, %B: !array {tile.name = "B"}) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : !sum
  %b = tile.load %B[%c0, %c0] {mechanism = #tile.mechanism<cp_async>} : !array -> !tile
  %a = tile.load %A[%c0, %c0] {mechanism = #tile.mechanism<cp_async>} : !array -> !tile
  // CHECK: pipe.mma {{.*}} %[[SLOT:.*]]#1, %[[SLOT]]#0 transpose_b
  %s = tile.dot %a, %b transpose_b, %zero {atom = #tile.atom<mma_sync 16 x 8 x 16, groups = 2 x 2>} : !tile, !tile -> !sum
  tile.return
}

// CHECK-LABEL: func.func @different_mechanisms
// CHECK: pipe.create_channel "A" <group>
// CHECK: pipe.create_channel "B" <barrier>
tile.kernel @different_mechanisms(%A: !array {tile.name = "A"}, %B: !array {tile.name = "B"}) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : !sum
  %a = tile.load %A[%c0, %c0] {mechanism = #tile.mechanism<cp_async>} : !array -> !tile
  %b = tile.load %B[%c0, %c0] {mechanism = #tile.mechanism<plain>} : !array -> !tile
  %s = tile.dot %a, %b transpose_b, %zero {atom = #tile.atom<mma_sync 16 x 8 x 16, groups = 2 x 2>} : !tile, !tile -> !sum
  tile.return
}

// CHECK-LABEL: func.func @store_between
// CHECK: pipe.create_channel "A" <group>
// CHECK: pipe.create_channel "B" <group>
tile.kernel @store_between(%A: !array {tile.name = "A"}, %B: !array {tile.name = "B"}) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : !sum
  %one = arith.constant dense<1.0> : tensor<64x64xf16, #row>
  // The copy of A must not move below the store.
  // CHECK: pipe.copy
  // CHECK: pipe.store
  // CHECK: pipe.copy
  %a = tile.load %A[%c0, %c0] {mechanism = #tile.mechanism<cp_async>} : !array -> !tile
  tile.store %one, %A[%c0, %c0] {mechanism = #tile.mechanism<plain>} : tensor<64x64xf16, #row>, !array
  %b = tile.load %B[%c0, %c0] {mechanism = #tile.mechanism<cp_async>} : !array -> !tile
  %s = tile.dot %a, %b transpose_b, %zero {atom = #tile.atom<mma_sync 16 x 8 x 16, groups = 2 x 2>} : !tile, !tile -> !sum
  tile.return
}

// A tile with two readers is freed after the last of them.
// CHECK-LABEL: func.func @two_readers
// CHECK: pipe.create_channel "A" <group>
// CHECK: pipe.create_channel "B" <group>
tile.kernel @two_readers(%A: !array {tile.name = "A"}, %B: !array {tile.name = "B"}) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : !sum
  // CHECK: pipe.consumer_wait %[[A:[0-9]*]] :
  // CHECK: pipe.consumer_wait %[[B:[0-9]*]] :
  // CHECK-NEXT: pipe.mma
  // CHECK-NEXT: pipe.consumer_release %[[B]] :
  // CHECK-NEXT: pipe.mma
  // CHECK-NEXT: pipe.consumer_release %[[A]] :
  %a = tile.load %A[%c0, %c0] {mechanism = #tile.mechanism<cp_async>} : !array -> !tile
  %b = tile.load %B[%c0, %c0] {mechanism = #tile.mechanism<cp_async>} : !array -> !tile
  %s = tile.dot %a, %b transpose_b, %zero {atom = #tile.atom<mma_sync 16 x 8 x 16, groups = 2 x 2>} : !tile, !tile -> !sum
  %t = tile.dot %a, %a transpose_b, %s {atom = #tile.atom<mma_sync 16 x 8 x 16, groups = 2 x 2>} : !tile, !tile -> !sum
  tile.return
}
