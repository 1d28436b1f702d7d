// RUN: headrace-opt %s --pipe-choose-depth | FileCheck %s

!slot = !pipe.buffer<256x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!small = !pipe.buffer<64x16xbf16, #tile.shared<major = 1, swizzle = 32>>
!ring = !pipe.channel<0, [!slot]>
!little = !pipe.channel<0, [!small]>
!two = !pipe.channel<2, [!slot]>
!narrow = !pipe.channel<0, [!pipe.buffer<128x256xf32, #tile.tmem>]>
!wide = !pipe.channel<0, [!pipe.buffer<128x384xf32, #tile.tmem>]>

module attributes {tile.target = "sm_100a"} {

// Depths written by hand stay.
// CHECK-LABEL: func.func @keeps_depth
// CHECK: pipe.create_channel "A" <mbarrier> : <2, [
func.func @keeps_depth(%n: index) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %ch = pipe.create_channel "A" <mbarrier> : !two
  scf.for %i = %n to %n step %n {
    %a = pipe.consumer_wait %ch : !two -> !slot
    pipe.consumer_release %ch : !two
  } {pipe.pipeline = #tile.pipeline<(stages = 5)>}
  return
}

// No stages are no overlap: one slot.
// CHECK-LABEL: func.func @zero_stages
// CHECK: pipe.create_channel "A" <mbarrier> : <1, [
func.func @zero_stages(%n: index) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %ch = pipe.create_channel "A" <mbarrier> : !ring
  scf.for %i = %n to %n step %n {
    %a = pipe.consumer_wait %ch : !ring -> !slot
    pipe.consumer_release %ch : !ring
  } {pipe.pipeline = #tile.pipeline<(stages = 0)>}
  return
}

// CHECK-LABEL: func.func @loop_without_pipeline
// CHECK: pipe.create_channel "A" <mbarrier> : <1, [
func.func @loop_without_pipeline(%n: index) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %ch = pipe.create_channel "A" <mbarrier> : !ring
  scf.for %i = %n to %n step %n {
    %a = pipe.consumer_wait %ch : !ring -> !slot
    pipe.consumer_release %ch : !ring
  }
  return
}

// Staging tiles of stores are not prefetched.
// CHECK-LABEL: func.func @staging
// CHECK: pipe.create_channel "C.staging" <bulk_store> : <1, [
func.func @staging(%n: index) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %ch = pipe.create_channel "C.staging" <bulk_store> : !ring
  scf.for %i = %n to %n step %n {
    %a = pipe.consumer_wait %ch : !ring -> !slot
    pipe.consumer_release %ch : !ring
  } {pipe.pipeline = #tile.pipeline<(stages = 3)>}
  return
}

// However small a slot is.
// CHECK-LABEL: func.func @at_most_eight
// CHECK: pipe.create_channel "A" <mbarrier> : <8, [
func.func @at_most_eight(%n: index) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %ch = pipe.create_channel "A" <mbarrier> : !little
  scf.for %i = %n to %n step %n {
    %a = pipe.consumer_wait %ch : !little -> !small
    pipe.consumer_release %ch : !little
  } {pipe.pipeline = #tile.pipeline<(stages = auto)>}
  return
}

// Two programs share a multiprocessor: half as many slots fit as of one.
// CHECK-LABEL: func.func @occupancy
// CHECK: pipe.create_channel "A" <mbarrier> : <3, [
func.func @occupancy(%n: index) attributes {pipe.kernel, pipe.warps = 4 : i64, pipe.occupancy = 2 : i64} {
  %ch = pipe.create_channel "A" <mbarrier> : !ring
  scf.for %i = %n to %n step %n {
    %a = pipe.consumer_wait %ch : !ring -> !slot
    pipe.consumer_release %ch : !ring
  } {pipe.pipeline = #tile.pipeline<(stages = auto)>}
  return
}

// CHECK-LABEL: func.func @two_accumulators
// CHECK: pipe.create_channel "accumulator" <mbarrier> {async_commit} : <2, [
func.func @two_accumulators() attributes {pipe.kernel, pipe.warps = 4 : i64, pipe.specialize} {
  %ch = pipe.create_channel "accumulator" <mbarrier> {async_commit} : !narrow
  return
}

// 2 x 384 columns are more than 512.
// CHECK-LABEL: func.func @one_accumulator
// CHECK: pipe.create_channel "accumulator" <mbarrier> {async_commit} : <1, [
func.func @one_accumulator() attributes {pipe.kernel, pipe.warps = 4 : i64, pipe.specialize} {
  %ch = pipe.create_channel "accumulator" <mbarrier> {async_commit} : !wide
  return
}

// Without roles nothing could overlap.
// CHECK-LABEL: func.func @one_role
// CHECK: pipe.create_channel "accumulator" <mbarrier> {async_commit} : <1, [
func.func @one_role() attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %ch = pipe.create_channel "accumulator" <mbarrier> {async_commit} : !narrow
  return
}

// CHECK-LABEL: func.func @no_kernel
// CHECK: pipe.create_channel "A" <mbarrier> : <0, [
func.func @no_kernel() {
  %ch = pipe.create_channel "A" <mbarrier> : !ring
  return
}

}
