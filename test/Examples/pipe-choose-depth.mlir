// RUN: headrace-opt %s --pipe-choose-depth | FileCheck %s

// pipe-choose-depth says how many slots each channel has (depth 0 before). A channel that a pipelined loop consumes gets
// the loop's `stages`, or with `auto` the most that fit (8 at most); any other channel gets one.


!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!ring = !pipe.channel<0, [!tile]>
!large = !pipe.channel<0, [!pipe.buffer<256x64xbf16, #tile.shared<major = 1, swizzle = 128>>]>

module attributes {tile.target = "sm_90a"} {

// CHECK-LABEL: func.func @as_asked
func.func @as_asked(%n: index) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: pipe.create_channel "once" <mbarrier> : <1, [
  // CHECK: pipe.create_channel "each trip" <mbarrier> : <3, [
  %once = pipe.create_channel "once" <mbarrier> : !ring
  %trips = pipe.create_channel "each trip" <mbarrier> : !ring
  %q = pipe.consumer_wait %once : !ring -> !tile
  scf.for %i = %c0 to %n step %c1 {
    %k = pipe.consumer_wait %trips : !ring -> !tile
    pipe.consumer_release %trips : !ring
  } {pipe.pipeline = #tile.pipeline<(stages = 3)>}
  pipe.consumer_release %once : !ring
  return
}

// A slot takes 32768 of 232448 bytes: seven fit, with their barriers.
// CHECK-LABEL: func.func @as_fits
func.func @as_fits(%n: index) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: pipe.create_channel "each trip" <mbarrier> : <7, [
  %trips = pipe.create_channel "each trip" <mbarrier> : !large
  scf.for %i = %c0 to %n step %c1 {
    %k = pipe.consumer_wait %trips : !large -> !pipe.buffer<256x64xbf16, #tile.shared<major = 1, swizzle = 128>>
    pipe.consumer_release %trips : !large
  } {pipe.pipeline = #tile.pipeline<(stages = auto)>}
  return
}

}
