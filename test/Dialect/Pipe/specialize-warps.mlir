// RUN: headrace-opt %s --pipe-specialize-warps | FileCheck %s

#row = #tile.layout<atom = [4, 32], register = [], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[1, 0], [2, 0]], groups = [], repeat = [16, 2]>
#acc = #tile.layout<atom = [64, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], groups = [2 : 0], repeat = [1, 8]>
!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!tall = !pipe.buffer<128x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!sum = !pipe.buffer<128x64xf32, #tile.tmem>
!ring = !pipe.channel<3, [!tile]>
!pairs = !pipe.channel<3, [!tall, !tile]>
!sums = !pipe.channel<2, [!sum]>
!array = memref<?x?xbf16, strided<[?, 1]>>

module attributes {tile.target = "sm_90a"} {

// CHECK-LABEL: func.func @not_asked_for
// CHECK-NOT: pipe.roles
func.func @not_asked_for(%A: !array, %n: index, %z: i32) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %ch = pipe.create_channel "A" <mbarrier> : !ring
  %a = pipe.producer_acquire %ch[%z, %z] : !ring -> !tile
  pipe.copy <tma> %A[%n, %n] to %a in %ch[%z] : !array, !tile, !ring
  pipe.producer_commit %ch[%z, %z] : !ring
  %b = pipe.consumer_wait %ch[%z, %z] : !ring -> !tile
  pipe.consumer_release %ch[%z, %z] : !ring
  return
}

// Copies without TMA are the work of four warps.
// CHECK-LABEL: func.func @plain_copies
// CHECK-SAME: pipe.warps = 8 : i64
// CHECK: role "compute" warps 4 active 4 registers 0
// CHECK: role "load" warps 4 active 4 registers 0
func.func @plain_copies(%A: !array, %n: index, %z: i32) attributes {pipe.kernel, pipe.specialize, pipe.warps = 4 : i64} {
  %ch = pipe.create_channel "A" <mbarrier> : !ring
  %a = pipe.producer_acquire %ch[%z, %z] : !ring -> !tile
  pipe.copy <plain> %A[%n, %n] to %a in %ch[%z] : !array, !tile, !ring
  pipe.producer_commit %ch[%z, %z] : !ring
  %b = pipe.consumer_wait %ch[%z, %z] : !ring -> !tile
  pipe.consumer_release %ch[%z, %z] : !ring
  return
}

// A loop compares in every role as it did.
// CHECK-LABEL: func.func @unsigned_loop
// CHECK: role "compute"
// CHECK: scf.for unsigned
// CHECK: role "load"
// CHECK: scf.for unsigned
func.func @unsigned_loop(%A: !array, %n: index, %z: i32) attributes {pipe.kernel, pipe.specialize, pipe.warps = 4 : i64} {
  %c1 = arith.constant 1 : index
  %ch = pipe.create_channel "A" <mbarrier> : !ring
  scf.for unsigned %i = %c1 to %n step %c1 {
    %a = pipe.producer_acquire %ch[%z, %z] : !ring -> !tile
    pipe.copy <tma> %A[%n, %n] to %a in %ch[%z] : !array, !tile, !ring
    pipe.producer_commit %ch[%z, %z] : !ring
    %b = pipe.consumer_wait %ch[%z, %z] : !ring -> !tile
    pipe.consumer_release %ch[%z, %z] : !ring
  }
  return
}

// Two warpgroups of wgmma need more registers than equal shares: setmaxnreg works on groups of four warps.
// CHECK-LABEL: func.func @register_budgets
// CHECK-SAME: pipe.warps = 12 : i64
// CHECK: role "compute" warps 8 active 8 registers 240
// CHECK: role "load" warps 4 active 1 registers 24
func.func @register_budgets(%A: !array, %n: index, %z: i32, %acc: tensor<128x64xf32, #acc>) attributes {pipe.kernel, pipe.specialize, pipe.warps = 8 : i64} {
  %ch = pipe.create_channel "A" <mbarrier> : !pairs
  %a:2 = pipe.producer_acquire %ch[%z, %z] : !pairs -> !tall, !tile
  pipe.copy <tma> %A[%n, %n] to %a#0 in %ch[%z] : !array, !tall, !pairs
  pipe.copy <tma> %A[%n, %n] to %a#1 in %ch[%z] : !array, !tile, !pairs
  pipe.producer_commit %ch[%z, %z] : !pairs
  %b:2 = pipe.consumer_wait %ch[%z, %z] : !pairs -> !tall, !tile
  %f = pipe.mma_async <wgmma 64 x 64 x 16, groups = 2 x 1> %b#0, %b#1 transpose_b, %acc : !tall, !tile, tensor<128x64xf32, #acc> -> !pipe.inflight<tensor<128x64xf32, #acc>>
  %r = pipe.mma_wait %f pending 0 : !pipe.inflight<tensor<128x64xf32, #acc>> -> tensor<128x64xf32, #acc>
  pipe.consumer_release %ch[%z, %z] : !pairs
  return
}

// A branch is copied to the roles that have ops in it, with its condition; an offset that both need to both.
// CHECK-LABEL: func.func @branch
// CHECK: role "compute"
// CHECK:   %[[MINE:.*]] = arith.muli
// CHECK:   scf.if
// CHECK:     pipe.consumer_wait
// CHECK-NOT: pipe.copy
// CHECK:     pipe.store %{{.*}}[%[[MINE]], %{{.*}}]
// CHECK: role "load"
// CHECK:   %[[ITS:.*]] = arith.muli
// CHECK:   scf.if
// CHECK:     pipe.copy <tma> %{{.*}}[%[[ITS]], %{{.*}}]
// CHECK-NOT: pipe.store
func.func @branch(%A: !array, %C: !array, %n: index, %z: i32, %p: i1) attributes {pipe.kernel, pipe.specialize, pipe.warps = 4 : i64} {
  %ch = pipe.create_channel "A" <mbarrier> : !ring
  %m = arith.muli %n, %n : index
  scf.if %p {
    %a = pipe.producer_acquire %ch[%z, %z] : !ring -> !tile
    pipe.copy <tma> %A[%m, %n] to %a in %ch[%z] : !array, !tile, !ring
    pipe.producer_commit %ch[%z, %z] : !ring
    %b = pipe.consumer_wait %ch[%z, %z] : !ring -> !tile
    %x = pipe.read %b : !tile -> tensor<64x64xbf16, #row>
    pipe.consumer_release %ch[%z, %z] : !ring
    pipe.store %x, %C[%m, %n] : tensor<64x64xbf16, #row>, !array
  }
  return
}

// tcgen05 has a warp of its own; the accumulator goes from it to the warps that read it.
// CHECK-LABEL: func.func @matmul_role
// CHECK-SAME: pipe.warps = 6 : i64
// CHECK: role "compute" warps 4 active 4 registers 0
// CHECK-NOT: role
// CHECK: pipe.consumer_wait %[[SUMS:[0-9]*]][
// CHECK: pipe.consumer_release %[[SUMS]][
// CHECK: role "load" warps 1 active 1 registers 0
// CHECK-NOT: role
// CHECK: pipe.copy
// CHECK: role "mma" warps 1 active 1 registers 0
// CHECK: pipe.producer_acquire %[[SUMS]][
// CHECK: pipe.consumer_wait %[[AB:[0-9]*]][
// CHECK: pipe.mma_tmem
// CHECK: pipe.consumer_release %[[AB]][
// CHECK: pipe.producer_commit %[[SUMS]][
func.func @matmul_role(%A: !array, %n: index, %z: i32, %on: i1) attributes {pipe.kernel, pipe.specialize, pipe.warps = 4 : i64} {
  %ab = pipe.create_channel "A+B" <mbarrier> {async_release} : !pairs
  %sums = pipe.create_channel "accumulator" <mbarrier> {async_commit} : !sums
  %a:2 = pipe.producer_acquire %ab[%z, %z] : !pairs -> !tall, !tile
  pipe.copy <tma> %A[%n, %n] to %a#0 in %ab[%z] : !array, !tall, !pairs
  pipe.copy <tma> %A[%n, %n] to %a#1 in %ab[%z] : !array, !tile, !pairs
  pipe.producer_commit %ab[%z, %z] : !pairs
  %s = pipe.producer_acquire %sums[%z, %z] : !sums -> !sum
  %b:2 = pipe.consumer_wait %ab[%z, %z] : !pairs -> !tall, !tile
  pipe.mma_tmem <tcgen05 128 x 64 x 16, groups = 1 x 1> %b#0, %b#1 transpose_b into %s accumulate %on : !tall, !tile, !sum
  pipe.consumer_release %ab[%z, %z] : !pairs
  pipe.producer_commit %sums[%z, %z] : !sums
  %t = pipe.consumer_wait %sums[%z, %z] : !sums -> !sum
  pipe.consumer_release %sums[%z, %z] : !sums
  return
}

}
