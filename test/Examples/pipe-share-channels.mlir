// RUN: headrace-opt %s --pipe-share-channels | FileCheck %s

// pipe-share-channels makes one channel of those of loops that follow each other: the second loop fills the slots that the
// first has done with. Both must hold the same tiles and be asked for the same depth.

!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!ring = !pipe.channel<0, [!tile]>
!array = memref<?x?xbf16, strided<[?, 1]>>

// CHECK-LABEL: func.func @one_after_the_other
// CHECK: %[[RING:.*]] = pipe.create_channel "first"
// CHECK-NOT: pipe.create_channel
// CHECK: scf.for
// CHECK: pipe.consumer_wait %[[RING]]
// CHECK: scf.for
// CHECK: pipe.producer_acquire %[[RING]]
// CHECK: pipe.consumer_release %[[RING]]
func.func @one_after_the_other(%A: !array, %n: index) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %first = pipe.create_channel "first" <mbarrier> : !ring
  %second = pipe.create_channel "second" <mbarrier> : !ring
  scf.for %k = %c0 to %n step %c64 {
    %e = pipe.producer_acquire %first : !ring -> !tile
    pipe.copy <tma> %A[%c0, %k] to %e in %first : !array, !tile, !ring
    pipe.producer_commit %first : !ring
    %f = pipe.consumer_wait %first : !ring -> !tile
    pipe.consumer_release %first : !ring
  } {pipe.pipeline = #tile.pipeline<(stages = 3)>}
  scf.for %k = %c0 to %n step %c64 {
    %e = pipe.producer_acquire %second : !ring -> !tile
    pipe.copy <tma> %A[%k, %c0] to %e in %second : !array, !tile, !ring
    pipe.producer_commit %second : !ring
    %f = pipe.consumer_wait %second : !ring -> !tile
    pipe.consumer_release %second : !ring
  } {pipe.pipeline = #tile.pipeline<(stages = 3)>}
  return
}

// In one loop both are needed at a time, even if their uses follow each other: the copies run ahead.
// CHECK-LABEL: func.func @in_one_loop
// CHECK-COUNT-2: pipe.create_channel
func.func @in_one_loop(%A: !array, %n: index) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %first = pipe.create_channel "first" <mbarrier> : !ring
  %second = pipe.create_channel "second" <mbarrier> : !ring
  scf.for %k = %c0 to %n step %c64 {
    %e = pipe.producer_acquire %first : !ring -> !tile
    pipe.copy <tma> %A[%c0, %k] to %e in %first : !array, !tile, !ring
    pipe.producer_commit %first : !ring
    %f = pipe.consumer_wait %first : !ring -> !tile
    pipe.consumer_release %first : !ring
    %g = pipe.producer_acquire %second : !ring -> !tile
    pipe.copy <tma> %A[%k, %c0] to %g in %second : !array, !tile, !ring
    pipe.producer_commit %second : !ring
    %h = pipe.consumer_wait %second : !ring -> !tile
    pipe.consumer_release %second : !ring
  } {pipe.pipeline = #tile.pipeline<(stages = 3)>}
  return
}

// A slot that TMA fills becomes full by one arrival and the bytes, one that threads fill by theirs: two channels.
// CHECK-LABEL: func.func @filled_in_two_ways
// CHECK-COUNT-2: pipe.create_channel
func.func @filled_in_two_ways(%A: !array, %n: index) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %first = pipe.create_channel "first" <mbarrier> : !ring
  %second = pipe.create_channel "second" <mbarrier> : !ring
  scf.for %k = %c0 to %n step %c64 {
    %e = pipe.producer_acquire %first : !ring -> !tile
    pipe.copy <tma> %A[%c0, %k] to %e in %first : !array, !tile, !ring
    pipe.producer_commit %first : !ring
    %f = pipe.consumer_wait %first : !ring -> !tile
    pipe.consumer_release %first : !ring
  } {pipe.pipeline = #tile.pipeline<(stages = 3)>}
  scf.for %k = %c0 to %n step %c64 {
    %e = pipe.producer_acquire %second : !ring -> !tile
    pipe.copy <plain> %A[%k, %c1] to %e in %second {vector = 2 : i64} : !array, !tile, !ring
    pipe.producer_commit %second : !ring
    %f = pipe.consumer_wait %second : !ring -> !tile
    pipe.consumer_release %second : !ring
  } {pipe.pipeline = #tile.pipeline<(stages = 3)>}
  return
}
