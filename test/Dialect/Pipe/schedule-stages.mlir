// RUN: headrace-opt %s --pipe-schedule-stages --split-input-file --verify-diagnostics | FileCheck %s

// What is left alone, and why; and what the user may ask for.

#acc = #tile.layout<atom = [64, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], groups = [1 : 0], repeat = [1, 8]>
#a = #tile.layout<atom = [64, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], groups = [1 : 0], repeat = [1, 4]>
!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!sums = tensor<64x64xf32, #acc>
!flight = !pipe.inflight<!sums>

// The exponentials run under the next trip's first matmul.
// CHECK-LABEL: func.func @chain
// CHECK-SAME: next_trip = ["what reads the matmul at line {{[0-9]+}}"]
// CHECK: math.exp2 {{.*}}pipe.stage = 1 : i64}
module attributes {tile.target = "sm_90a"} {
  func.func @chain(%n: index, %a: !tile, %b: !tile, %zero: !sums, %init: !sums) -> !sums attributes {pipe.kernel, pipe.specialize, pipe.warps = 4 : i64} {
    %r = scf.for %i = %n to %n step %n iter_args(%acc = %init) -> (!sums) {
      %s = pipe.mma_async <wgmma 64 x 64 x 16, groups = 1 x 1> %a, %b, %zero : !tile, !tile, !sums -> !flight
      %sd = pipe.mma_wait %s pending 0 : !flight -> !sums
      %e = math.exp2 %sd : !sums
      %e2 = math.exp2 %e : !sums
      %t = arith.truncf %e2 : !sums to tensor<64x64xbf16, #acc>
      %p = pipe.convert_layout %t : tensor<64x64xbf16, #acc> -> tensor<64x64xbf16, #a>
      %o = pipe.mma_async <wgmma 64 x 64 x 16, groups = 1 x 1> %p, %b, %acc : tensor<64x64xbf16, #a>, !tile, !sums -> !flight
      %od = pipe.mma_wait %o pending 0 : !flight -> !sums
      scf.yield %od : !sums
    } {pipe.pipeline = #tile.pipeline<(stages = 2)>}
    return %r : !sums
  }
}

// -----

#acc = #tile.layout<atom = [64, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], groups = [1 : 0], repeat = [1, 8]>
#a = #tile.layout<atom = [64, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], groups = [1 : 0], repeat = [1, 4]>
!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!sums = tensor<64x64xf32, #acc>
!flight = !pipe.inflight<!sums>

// mma.sync and plain arithmetic run in order.
// CHECK-LABEL: func.func @no_asynchronous_matmul
// CHECK-SAME: why_one_stage = "it starts no asynchronous matmul"
// CHECK-NOT: pipe.stage
module attributes {tile.target = "sm_90a"} {
  func.func @no_asynchronous_matmul(%n: index, %a: !tile, %b: !tile, %zero: !sums, %init: !sums) -> !sums attributes {pipe.kernel, pipe.specialize, pipe.warps = 4 : i64} {
    %r = scf.for %i = %n to %n step %n iter_args(%acc = %init) -> (!sums) {
      %e = math.exp2 %acc : !sums
      scf.yield %e : !sums
    } {pipe.pipeline = #tile.pipeline<(stages = 2)>}
    return %r : !sums
  }
}

// -----

#acc = #tile.layout<atom = [64, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], groups = [1 : 0], repeat = [1, 8]>
#a = #tile.layout<atom = [64, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], groups = [1 : 0], repeat = [1, 4]>
!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!sums = tensor<64x64xf32, #acc>
!flight = !pipe.inflight<!sums>

// A sum of products: what a trip makes, only the next one needs.
// CHECK-LABEL: func.func @only_the_next_trip_waits
// CHECK-SAME: why_one_stage = "nothing in a trip waits for its matmuls but the next trip"
// CHECK-NOT: pipe.stage
module attributes {tile.target = "sm_90a"} {
  func.func @only_the_next_trip_waits(%n: index, %a: !tile, %b: !tile, %zero: !sums, %init: !sums) -> !sums attributes {pipe.kernel, pipe.specialize, pipe.warps = 4 : i64} {
    %r = scf.for %i = %n to %n step %n iter_args(%acc = %init) -> (!sums) {
      %s = pipe.mma_async <wgmma 64 x 64 x 16, groups = 1 x 1> %a, %b, %acc : !tile, !tile, !sums -> !flight
      %sd = pipe.mma_wait %s pending 0 : !flight -> !sums
      scf.yield %sd : !sums
    } {pipe.pipeline = #tile.pipeline<(stages = 2)>}
    return %r : !sums
  }
}

// -----

#acc = #tile.layout<atom = [64, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], groups = [1 : 0], repeat = [1, 8]>
#a = #tile.layout<atom = [64, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], groups = [1 : 0], repeat = [1, 4]>
!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!sums = tensor<64x64xf32, #acc>
!flight = !pipe.inflight<!sums>

// Copies and matmuls in one role.
// CHECK-LABEL: func.func @one_role
// CHECK-SAME: why_one_stage = "copies are done by the role that computes
// CHECK-NOT: pipe.stage
module attributes {tile.target = "sm_90a"} {
  func.func @one_role(%n: index, %a: !tile, %b: !tile, %zero: !sums, %init: !sums) -> !sums attributes {pipe.kernel, pipe.warps = 4 : i64} {
    %r = scf.for %i = %n to %n step %n iter_args(%acc = %init) -> (!sums) {
      %s = pipe.mma_async <wgmma 64 x 64 x 16, groups = 1 x 1> %a, %b, %zero : !tile, !tile, !sums -> !flight
      %sd = pipe.mma_wait %s pending 0 : !flight -> !sums
      %e = math.exp2 %sd : !sums
      %e2 = math.exp2 %e : !sums
      %t = arith.truncf %e2 : !sums to tensor<64x64xbf16, #acc>
      %p = pipe.convert_layout %t : tensor<64x64xbf16, #acc> -> tensor<64x64xbf16, #a>
      %o = pipe.mma_async <wgmma 64 x 64 x 16, groups = 1 x 1> %p, %b, %acc : tensor<64x64xbf16, #a>, !tile, !sums -> !flight
      %od = pipe.mma_wait %o pending 0 : !flight -> !sums
      scf.yield %od : !sums
    } {pipe.pipeline = #tile.pipeline<(stages = 2)>}
    return %r : !sums
  }
}

// -----

#acc = #tile.layout<atom = [64, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], groups = [1 : 0], repeat = [1, 32]>
#a = #tile.layout<atom = [64, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], groups = [1 : 0], repeat = [1, 16]>
!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!sums = tensor<64x256xf32, #acc>
!flight = !pipe.inflight<!sums>

// Two products and the sum take 3 x 128 registers of a thread.
// CHECK-LABEL: func.func @too_many_registers
// CHECK-SAME: not_fitting_registers = {{[0-9]+}} : i64
// CHECK-SAME: why_one_stage = "what is faster does not fit into registers"
// CHECK-NOT: pipe.stage
module attributes {tile.target = "sm_90a"} {
  func.func @too_many_registers(%n: index, %a: !tile, %b: !tile, %zero: !sums, %init: !sums) -> !sums attributes {pipe.kernel, pipe.specialize, pipe.warps = 4 : i64} {
    %r = scf.for %i = %n to %n step %n iter_args(%acc = %init) -> (!sums) {
      %s = pipe.mma_async <wgmma 64 x 256 x 16, groups = 1 x 1> %a, %b, %zero : !tile, !tile, !sums -> !flight
      %sd = pipe.mma_wait %s pending 0 : !flight -> !sums
      %e = math.exp2 %sd : !sums
      %e2 = math.exp2 %e : !sums
      %t = arith.truncf %e2 : !sums to tensor<64x256xbf16, #acc>
      %p = pipe.convert_layout %t : tensor<64x256xbf16, #acc> -> tensor<64x256xbf16, #a>
      %o = pipe.mma_async <wgmma 64 x 256 x 16, groups = 1 x 1> %p, %b, %acc : tensor<64x256xbf16, #a>, !tile, !sums -> !flight
      %od = pipe.mma_wait %o pending 0 : !flight -> !sums
      scf.yield %od : !sums
    } {pipe.pipeline = #tile.pipeline<(stages = 2)>}
    return %r : !sums
  }
}

// -----

#acc = #tile.layout<atom = [64, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], groups = [1 : 0], repeat = [1, 8]>
#a = #tile.layout<atom = [64, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], groups = [1 : 0], repeat = [1, 4]>
!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!sums = tensor<64x64xf32, #acc>
!flight = !pipe.inflight<!sums>

// Steps of a channel in a branch.
// CHECK-LABEL: func.func @steps_in_a_branch
// CHECK-SAME: why_one_stage = "it has steps of a channel in a loop or a branch of its own"
// CHECK-NOT: pipe.stage
module attributes {tile.target = "sm_90a"} {
  func.func @steps_in_a_branch(%n: index, %z: i32, %p: i1) attributes {pipe.kernel, pipe.specialize, pipe.warps = 4 : i64} {
    %ch = pipe.create_channel "A" <mbarrier> : !pipe.channel<2, [!tile]>
    scf.for %i = %n to %n step %n {
      scf.if %p {
        %w = pipe.consumer_wait %ch[%z, %z] : !pipe.channel<2, [!tile]> -> !tile
        pipe.consumer_release %ch[%z, %z] : !pipe.channel<2, [!tile]>
      }
    } {pipe.pipeline = #tile.pipeline<(stages = 2)>}
    return
  }
}

// -----

#acc = #tile.layout<atom = [64, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], groups = [1 : 0], repeat = [1, 8]>
#a = #tile.layout<atom = [64, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], groups = [1 : 0], repeat = [1, 4]>
!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!sums = tensor<64x64xf32, #acc>
!flight = !pipe.inflight<!sums>

// Without a pipeline nothing is asked.
// CHECK-LABEL: func.func @not_asked_for
// CHECK-NOT: pipe.stage
// CHECK-NOT: pipe.schedules
module attributes {tile.target = "sm_90a"} {
  func.func @not_asked_for(%n: index, %a: !tile, %b: !tile, %zero: !sums, %init: !sums) -> !sums attributes {pipe.kernel, pipe.specialize, pipe.warps = 4 : i64} {
    %r = scf.for %i = %n to %n step %n iter_args(%acc = %init) -> (!sums) {
      %s = pipe.mma_async <wgmma 64 x 64 x 16, groups = 1 x 1> %a, %b, %zero : !tile, !tile, !sums -> !flight
      %sd = pipe.mma_wait %s pending 0 : !flight -> !sums
      %e = math.exp2 %sd : !sums
      %e2 = math.exp2 %e : !sums
      %t = arith.truncf %e2 : !sums to tensor<64x64xbf16, #acc>
      %p = pipe.convert_layout %t : tensor<64x64xbf16, #acc> -> tensor<64x64xbf16, #a>
      %o = pipe.mma_async <wgmma 64 x 64 x 16, groups = 1 x 1> %p, %b, %acc : tensor<64x64xbf16, #a>, !tile, !sums -> !flight
      %od = pipe.mma_wait %o pending 0 : !flight -> !sums
      scf.yield %od : !sums
    }
    return %r : !sums
  }
}

// -----

#acc = #tile.layout<atom = [64, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], groups = [1 : 0], repeat = [1, 8]>
#a = #tile.layout<atom = [64, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], groups = [1 : 0], repeat = [1, 4]>
!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!sums = tensor<64x64xf32, #acc>
!flight = !pipe.inflight<!sums>

// The user keeps the loop whole.
// CHECK-LABEL: func.func @wish_for_one_stage
// CHECK-SAME: stages = 1 : i64
// CHECK-NOT: pipe.stage
// CHECK-NOT: tile.stage
module attributes {tile.target = "sm_90a"} {
  func.func @wish_for_one_stage(%n: index, %a: !tile, %b: !tile, %zero: !sums, %init: !sums) -> !sums attributes {pipe.kernel, pipe.specialize, pipe.warps = 4 : i64} {
    %r = scf.for %i = %n to %n step %n iter_args(%acc = %init) -> (!sums) {
      %s = pipe.mma_async <wgmma 64 x 64 x 16, groups = 1 x 1> %a, %b, %zero {tile.stage = 0 : i64} : !tile, !tile, !sums -> !flight
      %sd = pipe.mma_wait %s pending 0 : !flight -> !sums
      %e = math.exp2 %sd : !sums
      %e2 = math.exp2 %e : !sums
      %t = arith.truncf %e2 : !sums to tensor<64x64xbf16, #acc>
      %p = pipe.convert_layout %t : tensor<64x64xbf16, #acc> -> tensor<64x64xbf16, #a>
      %o = pipe.mma_async <wgmma 64 x 64 x 16, groups = 1 x 1> %p, %b, %acc {tile.stage = 0 : i64} : tensor<64x64xbf16, #a>, !tile, !sums -> !flight
      %od = pipe.mma_wait %o pending 0 : !flight -> !sums
      scf.yield %od : !sums
    } {pipe.pipeline = #tile.pipeline<(stages = 2)>}
    return %r : !sums
  }
}

// -----

#acc = #tile.layout<atom = [64, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], groups = [1 : 0], repeat = [1, 8]>
#a = #tile.layout<atom = [64, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], groups = [1 : 0], repeat = [1, 4]>
!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!sums = tensor<64x64xf32, #acc>
!flight = !pipe.inflight<!sums>

// The user cuts a loop of one role, which would be left alone.
// CHECK-LABEL: func.func @wish_for_two_stages
// CHECK: pipe.mma_async {{.*}}pipe.stage = 0 : i64}
// CHECK: math.exp2 {{.*}}pipe.stage = 1 : i64}
// CHECK: pipe.mma_async {{.*}}pipe.stage = 1 : i64}
module attributes {tile.target = "sm_90a"} {
  func.func @wish_for_two_stages(%n: index, %a: !tile, %b: !tile, %zero: !sums, %init: !sums) -> !sums attributes {pipe.kernel, pipe.warps = 4 : i64} {
    %r = scf.for %i = %n to %n step %n iter_args(%acc = %init) -> (!sums) {
      %s = pipe.mma_async <wgmma 64 x 64 x 16, groups = 1 x 1> %a, %b, %zero {tile.stage = 0 : i64} : !tile, !tile, !sums -> !flight
      %sd = pipe.mma_wait %s pending 0 : !flight -> !sums
      %e = math.exp2 %sd : !sums
      %e2 = math.exp2 %e : !sums
      %t = arith.truncf %e2 : !sums to tensor<64x64xbf16, #acc>
      %p = pipe.convert_layout %t : tensor<64x64xbf16, #acc> -> tensor<64x64xbf16, #a>
      %o = pipe.mma_async <wgmma 64 x 64 x 16, groups = 1 x 1> %p, %b, %acc {tile.stage = 1 : i64} : tensor<64x64xbf16, #a>, !tile, !sums -> !flight
      %od = pipe.mma_wait %o pending 0 : !flight -> !sums
      scf.yield %od : !sums
    } {pipe.pipeline = #tile.pipeline<(stages = 2)>}
    return %r : !sums
  }
}

// -----

#acc = #tile.layout<atom = [64, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], groups = [1 : 0], repeat = [1, 8]>
#a = #tile.layout<atom = [64, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], groups = [1 : 0], repeat = [1, 4]>
!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!sums = tensor<64x64xf32, #acc>
!flight = !pipe.inflight<!sums>

// The second matmul needs the first one's product.
module attributes {tile.target = "sm_90a"} {
  func.func @wish_against_the_order(%n: index, %a: !tile, %b: !tile, %zero: !sums, %init: !sums) -> !sums attributes {pipe.kernel, pipe.specialize, pipe.warps = 4 : i64} {
    %r = scf.for %i = %n to %n step %n iter_args(%acc = %init) -> (!sums) {
      // expected-error@+1 {{no schedule of this loop has this op in stage 1, which tile.stage asks for}}
      %s = pipe.mma_async <wgmma 64 x 64 x 16, groups = 1 x 1> %a, %b, %zero {tile.stage = 1 : i64} : !tile, !tile, !sums -> !flight
      %sd = pipe.mma_wait %s pending 0 : !flight -> !sums
      %e = math.exp2 %sd : !sums
      %e2 = math.exp2 %e : !sums
      %t = arith.truncf %e2 : !sums to tensor<64x64xbf16, #acc>
      %p = pipe.convert_layout %t : tensor<64x64xbf16, #acc> -> tensor<64x64xbf16, #a>
      %o = pipe.mma_async <wgmma 64 x 64 x 16, groups = 1 x 1> %p, %b, %acc {tile.stage = 0 : i64} : tensor<64x64xbf16, #a>, !tile, !sums -> !flight
      %od = pipe.mma_wait %o pending 0 : !flight -> !sums
      scf.yield %od : !sums
    } {pipe.pipeline = #tile.pipeline<(stages = 2)>}
    return %r : !sums
  }
}

// -----

#acc = #tile.layout<atom = [64, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], groups = [1 : 0], repeat = [1, 32]>
#a = #tile.layout<atom = [64, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], groups = [1 : 0], repeat = [1, 16]>
!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!sums = tensor<64x256xf32, #acc>
!flight = !pipe.inflight<!sums>

// What is wished for does not fit.
module attributes {tile.target = "sm_90a"} {
  func.func @wish_for_too_much(%n: index, %a: !tile, %b: !tile, %zero: !sums, %init: !sums) -> !sums attributes {pipe.kernel, pipe.specialize, pipe.warps = 4 : i64} {
    // expected-error@+1 {{the stages that tile.stage asks for take}}
    %r = scf.for %i = %n to %n step %n iter_args(%acc = %init) -> (!sums) {
      %s = pipe.mma_async <wgmma 64 x 256 x 16, groups = 1 x 1> %a, %b, %zero {tile.stage = 0 : i64} : !tile, !tile, !sums -> !flight
      %sd = pipe.mma_wait %s pending 0 : !flight -> !sums
      %e = math.exp2 %sd : !sums
      %e2 = math.exp2 %e : !sums
      %t = arith.truncf %e2 : !sums to tensor<64x256xbf16, #acc>
      %p = pipe.convert_layout %t : tensor<64x256xbf16, #acc> -> tensor<64x256xbf16, #a>
      %o = pipe.mma_async <wgmma 64 x 256 x 16, groups = 1 x 1> %p, %b, %acc {tile.stage = 1 : i64} : tensor<64x256xbf16, #a>, !tile, !sums -> !flight
      %od = pipe.mma_wait %o pending 0 : !flight -> !sums
      scf.yield %od : !sums
    } {pipe.pipeline = #tile.pipeline<(stages = 2)>}
    return %r : !sums
  }
}

// -----

#acc = #tile.layout<atom = [64, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], groups = [1 : 0], repeat = [1, 8]>
#a = #tile.layout<atom = [64, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], groups = [1 : 0], repeat = [1, 4]>
!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!sums = tensor<64x64xf32, #acc>
!flight = !pipe.inflight<!sums>

// A wish that nobody hears.
module attributes {tile.target = "sm_90a"} {
  func.func @wish_outside(%n: index, %a: !tile, %b: !tile, %zero: !sums, %init: !sums) -> !sums attributes {pipe.kernel, pipe.specialize, pipe.warps = 4 : i64} {
    // expected-error@+1 {{expected tile.stage on an op of the body of a pipelined loop}}
    %x = math.exp2 %zero {tile.stage = 0 : i64} : !sums
    %r = scf.for %i = %n to %n step %n iter_args(%acc = %init) -> (!sums) {
      %s = pipe.mma_async <wgmma 64 x 64 x 16, groups = 1 x 1> %a, %b, %zero : !tile, !tile, !sums -> !flight
      %sd = pipe.mma_wait %s pending 0 : !flight -> !sums
      %e = math.exp2 %sd : !sums
      %e2 = math.exp2 %e : !sums
      %t = arith.truncf %e2 : !sums to tensor<64x64xbf16, #acc>
      %p = pipe.convert_layout %t : tensor<64x64xbf16, #acc> -> tensor<64x64xbf16, #a>
      %o = pipe.mma_async <wgmma 64 x 64 x 16, groups = 1 x 1> %p, %b, %acc : tensor<64x64xbf16, #a>, !tile, !sums -> !flight
      %od = pipe.mma_wait %o pending 0 : !flight -> !sums
      scf.yield %od : !sums
    } {pipe.pipeline = #tile.pipeline<(stages = 2)>}
    return %r : !sums
  }
}

// -----

#acc = #tile.layout<atom = [64, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], groups = [1 : 0], repeat = [1, 8]>
#a = #tile.layout<atom = [64, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], groups = [1 : 0], repeat = [1, 4]>
!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!sums = tensor<64x64xf32, #acc>
!flight = !pipe.inflight<!sums>

// No such stage.
module attributes {tile.target = "sm_90a"} {
  func.func @wish_for_stage_9(%n: index, %a: !tile, %b: !tile, %zero: !sums, %init: !sums) -> !sums attributes {pipe.kernel, pipe.specialize, pipe.warps = 4 : i64} {
    %r = scf.for %i = %n to %n step %n iter_args(%acc = %init) -> (!sums) {
      // expected-error@+1 {{expected tile.stage to be 0 to 8, got 9}}
      %s = pipe.mma_async <wgmma 64 x 64 x 16, groups = 1 x 1> %a, %b, %zero {tile.stage = 9 : i64} : !tile, !tile, !sums -> !flight
      %sd = pipe.mma_wait %s pending 0 : !flight -> !sums
      %e = math.exp2 %sd : !sums
      %e2 = math.exp2 %e : !sums
      %t = arith.truncf %e2 : !sums to tensor<64x64xbf16, #acc>
      %p = pipe.convert_layout %t : tensor<64x64xbf16, #acc> -> tensor<64x64xbf16, #a>
      %o = pipe.mma_async <wgmma 64 x 64 x 16, groups = 1 x 1> %p, %b, %acc : tensor<64x64xbf16, #a>, !tile, !sums -> !flight
      %od = pipe.mma_wait %o pending 0 : !flight -> !sums
      scf.yield %od : !sums
    } {pipe.pipeline = #tile.pipeline<(stages = 2)>}
    return %r : !sums
  }
}
