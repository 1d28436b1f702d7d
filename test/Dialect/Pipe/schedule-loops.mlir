// RUN: headrace-opt %s --pipe-schedule-loops --split-input-file --verify-diagnostics | FileCheck %s

!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!ring = !pipe.channel<3, [!tile]>
!array = memref<?x?xbf16, strided<[?, 1]>>

// Two rings of one loop: the shallower one runs less far ahead.
// CHECK-LABEL: func.func @two_depths
func.func @two_depths(%A: !array, %n: index, %z: i32) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %deep = pipe.create_channel "A" <group> : !ring
  %flat = pipe.create_channel "B" <group> : !pipe.channel<2, [!tile]>
  scf.for %i = %n to %n step %n {
    // CHECK: pipe.producer_acquire {{.*}}pipe.stage = 0 : i64}
    // CHECK: pipe.producer_acquire {{.*}}pipe.stage = 1 : i64}
    // CHECK: pipe.consumer_wait {{.*}}pipe.stage = 2 : i64}
    // CHECK: pipe.consumer_wait {{.*}}pipe.stage = 2 : i64}
    %a = pipe.producer_acquire %deep[%z, %z] : !ring -> !tile
    pipe.copy <cp_async> %A[%i, %n] to %a in %deep[%z] : !array, !tile, !ring
    pipe.producer_commit %deep[%z, %z] : !ring
    %b = pipe.producer_acquire %flat[%z, %z] : !pipe.channel<2, [!tile]> -> !tile
    pipe.copy <cp_async> %A[%n, %i] to %b in %flat[%z] : !array, !tile, !pipe.channel<2, [!tile]>
    pipe.producer_commit %flat[%z, %z] : !pipe.channel<2, [!tile]>
    %c = pipe.consumer_wait %deep[%z, %z] : !ring -> !tile
    %d = pipe.consumer_wait %flat[%z, %z] : !pipe.channel<2, [!tile]> -> !tile
    pipe.consumer_release %deep[%z, %z] : !ring
    pipe.consumer_release %flat[%z, %z] : !pipe.channel<2, [!tile]>
  } {pipe.pipeline = #tile.pipeline<(stages = 3)>}
  return
}

// An offset that the copies and the computation need is computed by each for itself.
// CHECK-LABEL: func.func @shared_offset
func.func @shared_offset(%A: !array, %n: index, %z: i32) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %ch = pipe.create_channel "A" <group> : !ring
  scf.for %i = %n to %n step %n {
    // CHECK-DAG: %[[MINE:.*]] = arith.muli {{.*}}pipe.stage = 2 : i64}
    // CHECK-DAG: %[[AHEAD:.*]] = arith.muli {{.*}}pipe.stage = 0 : i64}
    // CHECK: pipe.copy <cp_async> %{{.*}}[%[[AHEAD]], %{{.*}}]
    // CHECK: memref.store %{{.*}}, %{{.*}}[%[[MINE]], %{{.*}}]
    %m = arith.muli %i, %n : index
    %a = pipe.producer_acquire %ch[%z, %z] : !ring -> !tile
    pipe.copy <cp_async> %A[%m, %n] to %a in %ch[%z] : !array, !tile, !ring
    pipe.producer_commit %ch[%z, %z] : !ring
    %c = pipe.consumer_wait %ch[%z, %z] : !ring -> !tile
    pipe.consumer_release %ch[%z, %z] : !ring
    %one = arith.constant 1.0 : bf16
    memref.store %one, %A[%m, %n] : !array
  } {pipe.pipeline = #tile.pipeline<(stages = 3)>}
  return
}

// -----

!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!ring = !pipe.channel<3, [!tile]>
!array = memref<?x?xbf16, strided<[?, 1]>>

// CHECK-LABEL: func.func @place_cannot_run_ahead
// CHECK-NOT: pipe.stage
func.func @place_cannot_run_ahead(%A: !array, %table: memref<?xindex>, %n: index, %z: i32) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %ch = pipe.create_channel "A" <group> : !ring
  // expected-remark@+1 {{this loop is not pipelined: a copy's place depends on an op that cannot run ahead}}
  scf.for %i = %n to %n step %n {
    // expected-note@+1 {{this op}}
    %m = memref.load %table[%i] : memref<?xindex>
    %a = pipe.producer_acquire %ch[%z, %z] : !ring -> !tile
    pipe.copy <cp_async> %A[%m, %n] to %a in %ch[%z] : !array, !tile, !ring
    pipe.producer_commit %ch[%z, %z] : !ring
    %c = pipe.consumer_wait %ch[%z, %z] : !ring -> !tile
    pipe.consumer_release %ch[%z, %z] : !ring
  } {pipe.pipeline = #tile.pipeline<(stages = 3)>}
  return
}

// Nothing to overlap with one slot.
// CHECK-LABEL: func.func @one_slot
// CHECK-NOT: pipe.stage
func.func @one_slot(%A: !array, %n: index, %z: i32) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %ch = pipe.create_channel "A" <group> : !pipe.channel<1, [!tile]>
  scf.for %i = %n to %n step %n {
    %a = pipe.producer_acquire %ch[%z, %z] : !pipe.channel<1, [!tile]> -> !tile
    pipe.copy <cp_async> %A[%i, %n] to %a in %ch[%z] : !array, !tile, !pipe.channel<1, [!tile]>
    pipe.producer_commit %ch[%z, %z] : !pipe.channel<1, [!tile]>
    %c = pipe.consumer_wait %ch[%z, %z] : !pipe.channel<1, [!tile]> -> !tile
    pipe.consumer_release %ch[%z, %z] : !pipe.channel<1, [!tile]>
  } {pipe.pipeline = #tile.pipeline<(stages = 1)>}
  return
}

// CHECK-LABEL: func.func @not_asked_for
// CHECK-NOT: pipe.stage
func.func @not_asked_for(%A: !array, %n: index, %z: i32) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %ch = pipe.create_channel "A" <group> : !ring
  scf.for %i = %n to %n step %n {
    %a = pipe.producer_acquire %ch[%z, %z] : !ring -> !tile
    pipe.copy <cp_async> %A[%i, %n] to %a in %ch[%z] : !array, !tile, !ring
    pipe.producer_commit %ch[%z, %z] : !ring
    %c = pipe.consumer_wait %ch[%z, %z] : !ring -> !tile
    pipe.consumer_release %ch[%z, %z] : !ring
  }
  return
}

// A kernel of several roles needs no schedule: its load role runs ahead by itself.
// CHECK-LABEL: func.func @specialized
// CHECK-NOT: pipe.stage
func.func @specialized(%A: !array, %n: index, %z: i32) attributes {pipe.kernel, pipe.specialize, pipe.warps = 4 : i64} {
  %ch = pipe.create_channel "A" <mbarrier> : !ring
  scf.for %i = %n to %n step %n {
    %a = pipe.producer_acquire %ch[%z, %z] : !ring -> !tile
    pipe.copy <tma> %A[%i, %n] to %a in %ch[%z] : !array, !tile, !ring
    pipe.producer_commit %ch[%z, %z] : !ring
    %c = pipe.consumer_wait %ch[%z, %z] : !ring -> !tile
    pipe.consumer_release %ch[%z, %z] : !ring
  } {pipe.pipeline = #tile.pipeline<(stages = 3)>}
  return
}
