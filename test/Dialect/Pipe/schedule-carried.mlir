// RUN: headrace-opt %s --pipe-schedule-loops --split-input-file --verify-diagnostics | FileCheck %s
// RUN: headrace-opt %s --pipe-schedule-loops --pipe-expand-loops --split-input-file 2>&1 | FileCheck %s --check-prefix=EXPANDED

// Copies whose place the loop carries from trip to trip.

!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!ring = !pipe.channel<3, [!tile]>
!array = memref<?x?xbf16, strided<[?, 1]>>

// What computes the next place runs ahead with the copies.
// CHECK-LABEL: func.func @place_runs_ahead
// CHECK: arith.addi {{.*}}pipe.stage = 0 : i64}
// EXPANDED-NOT: error
// EXPANDED-LABEL: func.func @place_runs_ahead
// EXPANDED: pipe.copy <cp_async> %{{.*}}[%[[FIRST:[a-z0-9]*]],
// EXPANDED: %[[NEXT:.*]] = arith.addi %[[FIRST]],
// EXPANDED: pipe.copy <cp_async> %{{.*}}[%[[NEXT]],
// EXPANDED: %[[LAST:.*]] = arith.addi %[[NEXT]],
// EXPANDED: scf.for {{.*}} iter_args(%[[PLACE:.*]] = %[[LAST]])
// EXPANDED: pipe.copy <cp_async> %{{.*}}[%[[PLACE]],
func.func @place_runs_ahead(%A: !array, %first: index, %n: index, %z: i32) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %ch = pipe.create_channel "A" <group> : !ring
  %r = scf.for %i = %n to %n step %n iter_args(%place = %first) -> (index) {
    %a = pipe.producer_acquire %ch[%z, %z] : !ring -> !tile
    pipe.copy <cp_async> %A[%place, %n] to %a in %ch[%z] : !array, !tile, !ring
    pipe.producer_commit %ch[%z, %z] : !ring
    %next = arith.addi %place, %n : index
    %c = pipe.consumer_wait %ch[%z, %z] : !ring -> !tile
    pipe.consumer_release %ch[%z, %z] : !ring
    scf.yield %next : index
  } {pipe.pipeline = #tile.pipeline<(stages = 3)>}
  return
}

// -----

!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!ring = !pipe.channel<3, [!tile]>
!array = memref<?x?xbf16, strided<[?, 1]>>

// What stays behind would see a place of two trips later.
// CHECK-LABEL: func.func @place_also_used_behind
// CHECK-NOT: pipe.stage
func.func @place_also_used_behind(%A: !array, %C: memref<?xbf16>, %x: bf16, %first: index, %n: index, %z: i32) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %ch = pipe.create_channel "A" <group> : !ring
  // expected-remark@+1 {{this loop is not pipelined: a copy's place depends on an op that cannot run ahead}}
  %r = scf.for %i = %n to %n step %n iter_args(%place = %first) -> (index) {
    %a = pipe.producer_acquire %ch[%z, %z] : !ring -> !tile
    pipe.copy <cp_async> %A[%place, %n] to %a in %ch[%z] : !array, !tile, !ring
    pipe.producer_commit %ch[%z, %z] : !ring
    %next = arith.addi %place, %n : index
    %c = pipe.consumer_wait %ch[%z, %z] : !ring -> !tile
    pipe.consumer_release %ch[%z, %z] : !ring
    // expected-note@+1 {{this op}}
    memref.store %x, %C[%place] : memref<?xbf16>
    scf.yield %next : index
  } {pipe.pipeline = #tile.pipeline<(stages = 3)>}
  return
}

// -----

!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!ring = !pipe.channel<3, [!tile]>
!array = memref<?x?xbf16, strided<[?, 1]>>

// The next place is read from memory that the loop may write.
// CHECK-LABEL: func.func @place_is_loaded
// CHECK-NOT: pipe.stage
func.func @place_is_loaded(%A: !array, %table: memref<?xindex>, %first: index, %n: index, %z: i32) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %ch = pipe.create_channel "A" <group> : !ring
  // expected-remark@+1 {{this loop is not pipelined: a copy's place depends on an op that cannot run ahead}}
  %r = scf.for %i = %n to %n step %n iter_args(%place = %first) -> (index) {
    %a = pipe.producer_acquire %ch[%z, %z] : !ring -> !tile
    pipe.copy <cp_async> %A[%place, %n] to %a in %ch[%z] : !array, !tile, !ring
    pipe.producer_commit %ch[%z, %z] : !ring
    // expected-note@+1 {{this op}}
    %next = memref.load %table[%place] : memref<?xindex>
    %c = pipe.consumer_wait %ch[%z, %z] : !ring -> !tile
    pipe.consumer_release %ch[%z, %z] : !ring
    scf.yield %next : index
  } {pipe.pipeline = #tile.pipeline<(stages = 3)>}
  return
}
