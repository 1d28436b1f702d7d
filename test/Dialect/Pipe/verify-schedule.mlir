// RUN: headrace-opt %s --pipe-peel-stages --split-input-file --verify-diagnostics

// Rules C1 to C7 of VerifySchedule.h: one schedule that breaks each, and that alone.

func.func @c1_place_is_taken(%n: index, %x: i32) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  scf.for %i = %n to %n step %n {
    // expected-note@+1 {{which is the place of this op}}
    %a = arith.addi %x, %x {pipe.stage = 0 : i64, pipe.order = 0 : i64} : i32
    // expected-error@+1 {{expected a place of its own, got 0}}
    %b = arith.muli %x, %x {pipe.stage = 1 : i64, pipe.order = 0 : i64} : i32
  }
  return
}

// -----

func.func @c2_before_its_value(%n: index, %x: i32) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  scf.for %i = %n to %n step %n {
    // expected-note@+1 {{made here}}
    %a = arith.addi %x, %x {pipe.stage = 1 : i64, pipe.order = 1 : i64} : i32
    // expected-error@+1 {{is scheduled before a value that it uses: stage 1, place 0 needs stage 1, place 1 of the same trip}}
    %b = arith.muli %a, %a {pipe.stage = 1 : i64, pipe.order = 0 : i64} : i32
  }
  return
}

// -----

// The value of the trip before, one stage later: it is made after this op, in the same trip of the new loop.
func.func @c2_before_its_carried_value(%n: index, %x: i32) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %r = scf.for %i = %n to %n step %n iter_args(%sum = %x) -> (i32) {
    // expected-error@+1 {{is scheduled before a value that it uses: stage 0, place 0 needs stage 1, place 1 of the trip before}}
    %a = arith.muli %sum, %x {pipe.stage = 0 : i64, pipe.order = 0 : i64} : i32
    // expected-note@+1 {{made here}}
    %b = arith.addi %a, %x {pipe.stage = 1 : i64, pipe.order = 1 : i64} : i32
    scf.yield %b : i32
  }
  return
}

// -----

// What a branch uses counts.
func.func @c2_in_a_branch(%n: index, %x: i32, %p: i1) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  scf.for %i = %n to %n step %n {
    // expected-note@+1 {{made here}}
    %a = arith.addi %x, %x {pipe.stage = 1 : i64, pipe.order = 1 : i64} : i32
    // expected-error@+1 {{is scheduled before a value that it uses}}
    %b = scf.if %p -> (i32) {
      %c = arith.muli %a, %x : i32
      scf.yield %c : i32
    } else {
      scf.yield %x : i32
    } {pipe.stage = 0 : i64, pipe.order = 0 : i64}
  }
  return
}

// -----

!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!ring = !pipe.channel<2, [!tile]>

func.func @c3_read_in_another_stage(%n: index, %z: i32) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %ch = pipe.create_channel "A" <mbarrier> : !ring
  scf.for %i = %n to %n step %n {
    // expected-note@+1 {{this step}}
    %b = pipe.consumer_wait %ch[%z, %z] {pipe.stage = 0 : i64, pipe.order = 0 : i64} : !ring -> !tile
    // expected-error@+1 {{uses a slot of channel 'A' outside of its consumer_wait and release: stage 1, place 1 against stage 0, place 0}}
    %x = pipe.read %b {pipe.stage = 1 : i64, pipe.order = 1 : i64} : !tile -> tensor<64x64xbf16>
    pipe.consumer_release %ch[%z, %z] {pipe.stage = 0 : i64, pipe.order = 2 : i64} : !ring
  }
  return
}

// -----

!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!ring = !pipe.channel<2, [!tile]>

func.func @c3_read_after_its_release(%n: index, %z: i32) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %ch = pipe.create_channel "A" <mbarrier> : !ring
  scf.for %i = %n to %n step %n {
    %b = pipe.consumer_wait %ch[%z, %z] {pipe.stage = 0 : i64, pipe.order = 0 : i64} : !ring -> !tile
    // expected-error@+1 {{outside of its consumer_wait and release: stage 0, place 2 against stage 0, place 1}}
    %x = pipe.read %b {pipe.stage = 0 : i64, pipe.order = 2 : i64} : !tile -> tensor<64x64xbf16>
    // expected-note@+1 {{this step}}
    pipe.consumer_release %ch[%z, %z] {pipe.stage = 0 : i64, pipe.order = 1 : i64} : !ring
  }
  return
}

// -----

!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!ring = !pipe.channel<2, [!tile]>
!array = memref<?x?xbf16, strided<[?, 1]>>

func.func @c3_committed_in_another_stage(%A: !array, %n: index, %z: i32) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %ch = pipe.create_channel "A" <mbarrier> : !ring
  scf.for %i = %n to %n step %n {
    // expected-note@+1 {{this step}}
    %a = pipe.producer_acquire %ch[%z, %z] {pipe.stage = 0 : i64, pipe.order = 0 : i64} : !ring -> !tile
    pipe.copy <tma> %A[%i, %n] to %a in %ch[%z] {pipe.stage = 0 : i64, pipe.order = 1 : i64} : !array, !tile, !ring
    // expected-error@+1 {{uses a slot of channel 'A' outside of its producer_acquire and commit}}
    pipe.producer_commit %ch[%z, %z] {pipe.stage = 1 : i64, pipe.order = 2 : i64} : !ring
  }
  return
}

// -----

!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!ring = !pipe.channel<2, [!tile]>
!array = memref<?x?xbf16, strided<[?, 1]>>

func.func @c4_waits_before_it_is_filled(%A: !array, %n: index, %z: i32) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %ch = pipe.create_channel "A" <mbarrier> : !ring
  scf.for %i = %n to %n step %n {
    %a = pipe.producer_acquire %ch[%z, %z] {pipe.stage = 1 : i64, pipe.order = 0 : i64} : !ring -> !tile
    pipe.copy <tma> %A[%i, %n] to %a in %ch[%z] {pipe.stage = 1 : i64, pipe.order = 1 : i64} : !array, !tile, !ring
    // expected-note@+1 {{filled here}}
    pipe.producer_commit %ch[%z, %z] {pipe.stage = 1 : i64, pipe.order = 2 : i64} : !ring
    // expected-error@+1 {{waits for a slot of channel 'A' before it is filled: stage 0, place 3 against stage 1, place 2}}
    %b = pipe.consumer_wait %ch[%z, %z] {pipe.stage = 0 : i64, pipe.order = 3 : i64} : !ring -> !tile
    pipe.consumer_release %ch[%z, %z] {pipe.stage = 0 : i64, pipe.order = 4 : i64} : !ring
  }
  return
}

// -----

!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!ring = !pipe.channel<1, [!tile]>
!array = memref<?x?xbf16, strided<[?, 1]>>

// With one slot, the copy may be a trip ahead only after the release.
func.func @c4_fills_what_is_not_released(%A: !array, %n: index, %z: i32) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %ch = pipe.create_channel "A" <mbarrier> : !ring
  scf.for %i = %n to %n step %n {
    // expected-error@+1 {{fills a slot of channel 'A' that is not released: stage 0, place 0 against stage 1, place 4 of 1 trip before, the slots that there are}}
    %a = pipe.producer_acquire %ch[%z, %z] {pipe.stage = 0 : i64, pipe.order = 0 : i64} : !ring -> !tile
    pipe.copy <tma> %A[%i, %n] to %a in %ch[%z] {pipe.stage = 0 : i64, pipe.order = 1 : i64} : !array, !tile, !ring
    pipe.producer_commit %ch[%z, %z] {pipe.stage = 0 : i64, pipe.order = 2 : i64} : !ring
    %b = pipe.consumer_wait %ch[%z, %z] {pipe.stage = 1 : i64, pipe.order = 3 : i64} : !ring -> !tile
    // expected-note@+1 {{released here}}
    pipe.consumer_release %ch[%z, %z] {pipe.stage = 1 : i64, pipe.order = 4 : i64} : !ring
  }
  return
}

// -----

!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
#acc = #tile.layout<atom = [64, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], groups = [1 : 0], repeat = [1, 8]>

func.func @c5_in_flight_across_stages(%n: index, %z: i32, %a: !tile, %b: !tile, %acc: tensor<64x64xf32, #acc>) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  scf.for %i = %n to %n step %n {
    // expected-error@+1 {{expected the accumulator in flight to be waited for in stage 0, where it starts}}
    %s = pipe.mma_async <wgmma 64 x 64 x 16, groups = 1 x 1> %a, %b, %acc {pipe.stage = 0 : i64, pipe.order = 0 : i64} : !tile, !tile, tensor<64x64xf32, #acc> -> !pipe.inflight<tensor<64x64xf32, #acc>>
    // expected-note@+1 {{used here}}
    %d = pipe.mma_wait %s pending 0 {pipe.stage = 1 : i64, pipe.order = 1 : i64} : !pipe.inflight<tensor<64x64xf32, #acc>> -> tensor<64x64xf32, #acc>
  }
  return
}

// -----

func.func @c6_effects_change_places(%M: memref<?xi32>, %n: index, %x: i32) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  scf.for %i = %n to %n step %n {
    // expected-note@+1 {{this op}}
    memref.store %x, %M[%i] {pipe.stage = 0 : i64, pipe.order = 1 : i64} : memref<?xi32>
    // expected-error@+1 {{is scheduled before an op with effects that it follows: stage 0, place 0 against stage 0, place 1 of the same trip}}
    memref.store %x, %M[%n] {pipe.stage = 0 : i64, pipe.order = 0 : i64} : memref<?xi32>
  }
  return
}

// -----

// The first effect of the next trip would come before the last of this one.
func.func @c6_effects_of_two_trips(%M: memref<?xi32>, %n: index, %x: i32) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  scf.for %i = %n to %n step %n {
    // expected-error@+1 {{is scheduled before an op with effects that it follows: stage 0, place 0 against stage 1, place 1 of the trip before}}
    memref.store %x, %M[%i] {pipe.stage = 0 : i64, pipe.order = 0 : i64} : memref<?xi32>
    // expected-note@+1 {{this op}}
    memref.store %x, %M[%n] {pipe.stage = 1 : i64, pipe.order = 1 : i64} : memref<?xi32>
  }
  return
}

// -----

#acc = #tile.layout<atom = [64, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], groups = [1 : 0], repeat = [1, 32]>

module attributes {tile.target = "sm_90a"} {
  func.func @c7_too_much_to_hand_on(%n: index, %x: f32) attributes {pipe.kernel, pipe.warps = 4 : i64} {
    // expected-error@+1 {{expected a schedule whose trips hand on no more than 255 registers of a thread, got 256}}
    scf.for %i = %n to %n step %n {
      %y = tensor.splat %x {pipe.stage = 0 : i64, pipe.order = 0 : i64} : tensor<64x256xf32, #acc>
      %a = math.exp2 %y {pipe.stage = 0 : i64, pipe.order = 1 : i64} : tensor<64x256xf32, #acc>
      %b = math.exp2 %a {pipe.stage = 2 : i64, pipe.order = 2 : i64} : tensor<64x256xf32, #acc>
    }
    return
  }
}
