// RUN: headrace-opt %s --pipe-rotate-waits | FileCheck %s

#acc = #tile.layout<atom = [64, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]],
                    warp = [[16, 0], [32, 0]], groups = [1 : 0, 1 : 1], repeat = [1, 8]>
#shared = #tile.shared<major = 1, swizzle = 128>

// A trip's wgmma is waited for at its end. The wait for the next slot goes under it: the tensor core works while the
// barrier is looked at. The first slot is waited for before the loop, and no slot past the last trip.

// CHECK-LABEL: func.func @next_slot_under_matmul
// CHECK-SAME:    %[[N:.*]]: index)
func.func @next_slot_under_matmul(%n: index) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %i = arith.constant 0 : i32
  %ch = pipe.create_channel "ab" <mbarrier> : <3, [<64x64xbf16, #shared>, <64x64xbf16, #shared>]>
  // CHECK: %[[ANY:.*]] = arith.cmpi slt, %c0{{.*}}, %[[N]]
  // CHECK: %[[FIRST:.*]]:2 = pipe.consumer_wait {{.*}} if %[[ANY]]
  // CHECK: scf.for %[[K:.*]] = {{.*}} iter_args({{.*}}, %[[A:.*]] = %[[FIRST]]#0, %[[B:.*]] = %[[FIRST]]#1)
  %r:3 = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %zero, %index = %i, %phase = %i)
      -> (tensor<64x64xf32, #acc>, i32, i32) {
    %a, %b = pipe.consumer_wait %ch[%index, %phase]
        : <3, [<64x64xbf16, #shared>, <64x64xbf16, #shared>]>
        -> !pipe.buffer<64x64xbf16, #shared>, !pipe.buffer<64x64xbf16, #shared>
    // CHECK-NOT: pipe.consumer_wait
    // CHECK: pipe.mma_async {{.*}} %[[A]], %[[B]] transpose_b
    // CHECK: %[[NEXT:.*]] = arith.addi %[[K]]
    // CHECK: %[[MORE:.*]] = arith.cmpi slt, %[[NEXT]], %[[N]]
    // CHECK: pipe.advance
    // CHECK: %[[SLOT:.*]]:2 = pipe.consumer_wait {{.*}} if %[[MORE]]
    // CHECK: pipe.mma_wait
    // CHECK: pipe.consumer_release
    // CHECK: scf.yield {{.*}}, %[[SLOT]]#0, %[[SLOT]]#1
    %f = pipe.mma_async <wgmma 64 x 64 x 16, groups = 1 x 1> %a, %b transpose_b, %acc
        : !pipe.buffer<64x64xbf16, #shared>, <64x64xbf16, #shared>, tensor<64x64xf32, #acc>
        -> <tensor<64x64xf32, #acc>>
    %s = pipe.mma_wait %f pending 0 : <tensor<64x64xf32, #acc>> -> tensor<64x64xf32, #acc>
    pipe.consumer_release %ch[%index, %phase] : <3, [<64x64xbf16, #shared>, <64x64xbf16, #shared>]>
    %index2, %phase2 = pipe.advance[%index, %phase] depth 3
    scf.yield %s, %index2, %phase2 : tensor<64x64xf32, #acc>, i32, i32
  }
  return
}

// A wait whose slot is read without a wgmma in flight stays where it is.
// CHECK-LABEL: func.func @synchronous_reader
// CHECK: scf.for
// CHECK-NEXT: pipe.consumer_wait
func.func @synchronous_reader(%n: index) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %i = arith.constant 0 : i32
  %ch = pipe.create_channel "a" <mbarrier> : <3, [<64x64xbf16, #shared>]>
  %r:2 = scf.for %k = %c0 to %n step %c64 iter_args(%index = %i, %phase = %i) -> (i32, i32) {
    %a = pipe.consumer_wait %ch[%index, %phase] : <3, [<64x64xbf16, #shared>]> -> !pipe.buffer<64x64xbf16, #shared>
    pipe.consumer_release %ch[%index, %phase] : <3, [<64x64xbf16, #shared>]>
    %index2, %phase2 = pipe.advance[%index, %phase] depth 3
    scf.yield %index2, %phase2 : i32, i32
  }
  return
}

// With one slot the next trip's data comes only after this trip's release: the wait stays, or it would never end.
// CHECK-LABEL: func.func @one_slot
// CHECK: scf.for
// CHECK-NEXT: pipe.consumer_wait
// CHECK-NOT: pipe.consumer_wait
// CHECK: pipe.consumer_release
func.func @one_slot(%n: index) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %i = arith.constant 0 : i32
  %ch = pipe.create_channel "ab" <mbarrier> : <1, [<64x64xbf16, #shared>, <64x64xbf16, #shared>]>
  %r:3 = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %zero, %index = %i, %phase = %i)
      -> (tensor<64x64xf32, #acc>, i32, i32) {
    %a, %b = pipe.consumer_wait %ch[%index, %phase]
        : <1, [<64x64xbf16, #shared>, <64x64xbf16, #shared>]>
        -> !pipe.buffer<64x64xbf16, #shared>, !pipe.buffer<64x64xbf16, #shared>
    %f = pipe.mma_async <wgmma 64 x 64 x 16, groups = 1 x 1> %a, %b transpose_b, %acc
        : !pipe.buffer<64x64xbf16, #shared>, <64x64xbf16, #shared>, tensor<64x64xf32, #acc>
        -> <tensor<64x64xf32, #acc>>
    %s = pipe.mma_wait %f pending 0 : <tensor<64x64xf32, #acc>> -> tensor<64x64xf32, #acc>
    pipe.consumer_release %ch[%index, %phase] : <1, [<64x64xbf16, #shared>, <64x64xbf16, #shared>]>
    %index2, %phase2 = pipe.advance[%index, %phase] depth 1
    scf.yield %s, %index2, %phase2 : tensor<64x64xf32, #acc>, i32, i32
  }
  return
}
