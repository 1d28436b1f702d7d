// RUN: headrace-opt %s --convert-tile-to-pipe | FileCheck %s

// A tile that changes its memory: each kind of crossing becomes the steps of a channel.

#row = #tile.layout<atom = [4, 32], register = [], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[1, 0], [2, 0]], groups = [], repeat = [16, 2]>
// The same elements of the same threads, their registers in another order.
#renamed = #tile.layout<atom = [4, 64], register = [[0, 32]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[1, 0], [2, 0]], groups = [], repeat = [16, 1]>
// Other threads.
#column = #tile.layout<atom = [32, 4], register = [], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[0, 1], [0, 2]], groups = [], repeat = [2, 16]>
#acc = #tile.layout<atom = [64, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], groups = [], repeat = [1, 8]>
#halves = #tile.layout<atom = [64, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], groups = [2 : 0], repeat = [1, 8]>
#sixteens = #tile.layout<atom = [16, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[0, 0], [0, 0]], groups = [2 : 0], repeat = [37, 4]>
#shared = #tile.shared<major = 1, swizzle = 128>
!array = memref<?x?xf32, strided<[?, 1]>>
!whole = memref<512x512xf32, strided<[512, 1]>>
!slot = tensor<64x64xf32, #shared>
!fragment = tensor<64x64xf32, #row>

// CHECK-LABEL: func.func @shared_to_registers
tile.kernel @shared_to_registers(%A: !array {tile.name = "A", tile.align = 16 : i64}, %C: !array) attributes {warps = 4 : i64} {
  // CHECK: %[[CH:.*]] = pipe.create_channel "A" <mbarrier> :
  // CHECK: %[[IN:.*]] = pipe.producer_acquire %[[CH]]
  // CHECK-NEXT: pipe.copy <tma> %{{.*}} to %[[IN]] in %[[CH]] :
  // CHECK-NEXT: pipe.producer_commit %[[CH]]
  // CHECK-NEXT: %[[OUT:.*]] = pipe.consumer_wait %[[CH]]
  // CHECK-NEXT: %[[X:.*]] = pipe.read %[[OUT]]
  // CHECK-NEXT: pipe.consumer_release %[[CH]]
  // CHECK-NEXT: pipe.store %[[X]],
  %c0 = arith.constant 0 : index
  %a = tile.load %A[%c0, %c0] {mechanism = #tile.mechanism<tma>} : !array -> !slot
  %x = tile.convert_layout %a : !slot -> !fragment
  tile.store %x, %C[%c0, %c0] {mechanism = #tile.mechanism<plain>} : !fragment, !array
  tile.return
}

// The staging tile of a TMA store.
// CHECK-LABEL: func.func @registers_to_store
tile.kernel @registers_to_store(%A: !array, %C: !whole {tile.name = "C", tile.align = 16 : i64}) attributes {warps = 4 : i64} {
  // CHECK: %[[CH:.*]] = pipe.create_channel "C.staging" <bulk_store>{{.*}} :
  // CHECK: %[[X:.*]] = pipe.load
  // CHECK-NEXT: %[[IN:.*]] = pipe.producer_acquire %[[CH]]
  // CHECK-NEXT: pipe.write %[[X]], %[[IN]]
  // CHECK-NEXT: pipe.producer_commit %[[CH]]
  // CHECK-NEXT: %[[OUT:.*]] = pipe.consumer_wait %[[CH]]
  // CHECK-NEXT: pipe.async_store %[[OUT]], %{{.*}}[
  // CHECK-NEXT: pipe.consumer_release %[[CH]]
  %c0 = arith.constant 0 : index
  %x = tile.load %A[%c0, %c0] : !array -> !fragment
  %s = tile.convert_layout %x : !fragment -> !slot
  tile.store %s, %C[%c0, %c0] {mechanism = #tile.mechanism<tma>} : !slot, !whole
  tile.return
}

// Two warpgroups that hold rows of their own stage and store them without waiting for each other.
// CHECK-LABEL: func.func @groups_store_their_rows
tile.kernel @groups_store_their_rows(%C: !whole {tile.align = 16 : i64}) attributes {warps = 8 : i64} {
  // CHECK: pipe.create_channel "arg0.staging" <bulk_store> {groups = 2 : i64} :
  // CHECK: pipe.async_store {{.*}} {groups = 2 : i64} :
  %c0 = arith.constant 0 : index
  %x = arith.constant dense<1.0> : tensor<128x64xf32, #halves>
  %s = tile.convert_layout %x : tensor<128x64xf32, #halves> -> tensor<128x64xf32, #shared>
  tile.store %s, %C[%c0, %c0] {mechanism = #tile.mechanism<tma>} : tensor<128x64xf32, #shared>, !whole
  tile.return
}

// 1184 rows of 16 bytes are 37 boxes of 32, one group's 592 are no equal boxes that start at multiples of 128 bytes.
// CHECK-LABEL: func.func @groups_without_boxes
tile.kernel @groups_without_boxes(%C: memref<2048x512xf16, strided<[512, 1]>> {tile.align = 16 : i64}) attributes {warps = 8 : i64} {
  // CHECK: pipe.create_channel "arg0.staging" <bulk_store> : <
  %c0 = arith.constant 0 : index
  %x = arith.constant dense<1.0> : tensor<1184x32xf16, #sixteens>
  %s = tile.convert_layout %x : tensor<1184x32xf16, #sixteens> -> tensor<1184x32xf16, #tile.shared<major = 1, swizzle = 16>>
  tile.store %s, %C[%c0, %c0] {mechanism = #tile.mechanism<tma>}
      : tensor<1184x32xf16, #tile.shared<major = 1, swizzle = 16>>, memref<2048x512xf16, strided<[512, 1]>>
  tile.return
}

// CHECK-LABEL: func.func @renamed_registers
// CHECK-NOT: pipe.create_channel
tile.kernel @renamed_registers(%A: !array, %C: !array) attributes {warps = 4 : i64} {
  // CHECK: %[[X:.*]] = pipe.load
  // CHECK-NEXT: %[[Y:.*]] = pipe.convert_layout %[[X]]
  // CHECK-NEXT: pipe.store %[[Y]],
  %c0 = arith.constant 0 : index
  %x = tile.load %A[%c0, %c0] : !array -> !fragment
  %y = tile.convert_layout %x : !fragment -> tensor<64x64xf32, #renamed>
  tile.store %y, %C[%c0, %c0] {mechanism = #tile.mechanism<plain>} : tensor<64x64xf32, #renamed>, !array
  tile.return
}

// CHECK-LABEL: func.func @registers_through_shared_memory
tile.kernel @registers_through_shared_memory(%A: !array, %C: !array) attributes {warps = 4 : i64} {
  // CHECK: %[[CH:.*]] = pipe.create_channel "conversion" <barrier> :
  // CHECK: %[[X:.*]] = pipe.load
  // CHECK-NEXT: %[[IN:.*]] = pipe.producer_acquire %[[CH]]
  // CHECK-NEXT: pipe.write %[[X]], %[[IN]]
  // CHECK-NEXT: pipe.producer_commit %[[CH]]
  // CHECK-NEXT: %[[OUT:.*]] = pipe.consumer_wait %[[CH]]
  // CHECK-NEXT: %[[Y:.*]] = pipe.read %[[OUT]]
  // CHECK-NEXT: pipe.consumer_release %[[CH]]
  // CHECK-NEXT: pipe.store %[[Y]],
  %c0 = arith.constant 0 : index
  %x = tile.load %A[%c0, %c0] : !array -> !fragment
  %y = tile.convert_layout %x : !fragment -> tensor<64x64xf32, #column>
  tile.store %y, %C[%c0, %c0] {mechanism = #tile.mechanism<plain>} : tensor<64x64xf32, #column>, !array
  tile.return
}

// An operand of wgmma that was computed in registers.
// CHECK-LABEL: func.func @registers_to_matmul
tile.kernel @registers_to_matmul(%A: memref<?x?xbf16, strided<[?, 1]>>) attributes {warps = 4 : i64} {
  // CHECK: %[[CH:.*]] = pipe.create_channel "operand" <barrier> :
  // CHECK: pipe.write
  // CHECK: %[[OUT:.*]] = pipe.consumer_wait %[[CH]]
  // CHECK-NEXT: %[[F:.*]] = pipe.mma_async <wgmma 64 x 64 x 16, groups = 1 x 1> %[[OUT]], %[[OUT]] transpose_b, %{{.*}} :
  // CHECK-NEXT: pipe.mma_wait %[[F]] pending 0
  // CHECK-NEXT: pipe.consumer_release %[[CH]]
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %c0 = arith.constant 0 : index
  %x = tile.load %A[%c0, %c0] : memref<?x?xbf16, strided<[?, 1]>> -> tensor<64x64xbf16, #row>
  %s = tile.convert_layout %x : tensor<64x64xbf16, #row> -> tensor<64x64xbf16, #shared>
  %d = tile.dot %s, %s transpose_b, %zero {atom = #tile.atom<wgmma 64 x 64 x 16, groups = 1 x 1>}
      : tensor<64x64xbf16, #shared>, tensor<64x64xbf16, #shared> -> tensor<64x64xf32, #acc>
  tile.return
}
