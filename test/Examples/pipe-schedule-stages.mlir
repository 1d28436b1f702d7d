// RUN: headrace-opt %s --pipe-schedule-stages | FileCheck %s

// pipe-schedule-stages lets a loop work on two trips at a time, here in a chain of two matmuls on compute capability 9.0:
// what reads the first product waits for the next trip, so that the exponentials of a trip run while the first matmul of
// the trip behind is in flight. It moves nothing yet. The first matmul and its operand K are stage 0, all else is stage 1;
// matmuls start as soon as they can (places 4 and 14) and are waited for last (places 18 and 20). What was decided is left
// for the report.

#acc = #tile.layout<atom = [64, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], groups = [1 : 0, 1 : 1], repeat = [1, 8]>
#a = #tile.layout<atom = [64, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], groups = [1 : 0, 1 : -1], repeat = [1, 4]>
!sums = tensor<64x64xf32, #acc>
!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!ring = !pipe.channel<4, [!tile]>
!one = !pipe.channel<1, [!tile]>

module attributes {tile.target = "sm_90a"} {
  // CHECK-LABEL: func.func @chain
  // CHECK-SAME: pipe.schedules = [{
  // CHECK-SAME: next_trip = ["what reads the matmul at line [[# @LINE + 27]]"]
  // CHECK-SAME: stages = 2 : i64
  func.func @chain(%A: memref<?x?xbf16, strided<[?, 1]>>, %n: index) attributes {pipe.kernel, pipe.specialize, pipe.warps = 4 : i64} {
    %q = pipe.create_channel "Q" <mbarrier> : !one
    %k = pipe.create_channel "K" <mbarrier> : !ring
    %v = pipe.create_channel "V" <mbarrier> : !ring
    %zero = arith.constant dense<0.0> : !sums
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %p0 = arith.constant 0 : i32
    %p1 = arith.constant 1 : i32
    %qs = pipe.consumer_wait %q[%p0, %p0] : !one -> !tile
    // CHECK: scf.for
    %r:9 = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %zero, %ki = %p0, %kp = %p1, %vi = %p0, %vp = %p1, %kci = %p0, %kcp = %p0, %vci = %p0, %vcp = %p0) -> (!sums, i32, i32, i32, i32, i32, i32, i32, i32) {
      // CHECK: pipe.producer_acquire {{.*}} {pipe.order = 0 : i64, pipe.stage = 0 : i64}
      %ks = pipe.producer_acquire %k[%ki, %kp] : !ring -> !tile
      pipe.copy <tma> %A[%i, %c0] to %ks in %k[%ki] : memref<?x?xbf16, strided<[?, 1]>>, !tile, !ring
      pipe.producer_commit %k[%ki, %kp] : !ring
      %nki, %nkp = pipe.advance [%ki, %kp] depth 4
      %kw = pipe.consumer_wait %k[%kci, %kcp] : !ring -> !tile
      // CHECK: pipe.producer_acquire {{.*}} {pipe.order = 6 : i64, pipe.stage = 1 : i64}
      %vs = pipe.producer_acquire %v[%vi, %vp] : !ring -> !tile
      pipe.copy <tma> %A[%i, %c64] to %vs in %v[%vi] : memref<?x?xbf16, strided<[?, 1]>>, !tile, !ring
      pipe.producer_commit %v[%vi, %vp] : !ring
      %nvi, %nvp = pipe.advance [%vi, %vp] depth 4
      %vw = pipe.consumer_wait %v[%vci, %vcp] : !ring -> !tile
      // CHECK: pipe.mma_async {{.*}} {pipe.order = 4 : i64, pipe.stage = 0 : i64}
      %s = pipe.mma_async <wgmma 64 x 64 x 16, groups = 1 x 1> %qs, %kw transpose_b, %zero : !tile, !tile, !sums -> !pipe.inflight<!sums>
      // CHECK: pipe.mma_wait {{.*}} {pipe.order = 18 : i64, pipe.stage = 0 : i64}
      %sd = pipe.mma_wait %s pending 0 : !pipe.inflight<!sums> -> !sums
      pipe.consumer_release %k[%kci, %kcp] : !ring
      %nkci, %nkcp = pipe.advance [%kci, %kcp] depth 4
      // CHECK: math.exp2 {{.*}} {pipe.order = 10 : i64, pipe.stage = 1 : i64}
      %e = math.exp2 %sd : !sums
      %e2 = math.exp2 %e : !sums
      %t = arith.truncf %e2 : !sums to tensor<64x64xbf16, #acc>
      %p = pipe.convert_layout %t : tensor<64x64xbf16, #acc> -> tensor<64x64xbf16, #a>
      // CHECK: pipe.mma_async {{.*}} {pipe.order = 14 : i64, pipe.stage = 1 : i64}
      %o = pipe.mma_async <wgmma 64 x 64 x 16, groups = 1 x 1> %p, %vw, %acc : tensor<64x64xbf16, #a>, !tile, !sums -> !pipe.inflight<!sums>
      // CHECK: pipe.mma_wait {{.*}} {pipe.order = 20 : i64, pipe.stage = 1 : i64}
      %od = pipe.mma_wait %o pending 0 : !pipe.inflight<!sums> -> !sums
      pipe.consumer_release %v[%vci, %vcp] : !ring
      %nvci, %nvcp = pipe.advance [%vci, %vcp] depth 4
      scf.yield %od, %nki, %nkp, %nvi, %nvp, %nkci, %nkcp, %nvci, %nvcp : !sums, i32, i32, i32, i32, i32, i32, i32, i32
    } {pipe.pipeline = #tile.pipeline<(stages = 4)>}
    pipe.consumer_release %q[%p0, %p0] : !one
    return
  }
}
