// RUN: headrace-opt %s --pipe-expand-loops --split-input-file --verify-diagnostics | FileCheck %s

!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!ring = !pipe.channel<3, [!tile]>
!array = memref<?x?xbf16, strided<[?, 1]>>

// Two channels, three slots each, so four groups are started ahead of the first wait: behind the group of A that is
// waited for come the one of B of the same trip and two of the next, behind B's own the two.
// CHECK-LABEL: func.func @pending_groups
// CHECK: scf.for
// CHECK: pipe.consumer_wait {{.*}} {pending = 3 : i64}
// CHECK: pipe.consumer_wait {{.*}} {pending = 2 : i64}
func.func @pending_groups(%A: !array, %n: index, %z: i32) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %x = pipe.create_channel "A" <group> : !ring
  %y = pipe.create_channel "B" <group> : !ring
  scf.for %i = %n to %n step %n {
    %a = pipe.producer_acquire %x[%z, %z] {pipe.stage = 0 : i64, pipe.order = 2 : i64} : !ring -> !tile
    pipe.copy <cp_async> %A[%i, %n] to %a in %x[%z] {pipe.stage = 0 : i64, pipe.order = 3 : i64} : !array, !tile, !ring
    pipe.producer_commit %x[%z, %z] {pipe.stage = 0 : i64, pipe.order = 4 : i64} : !ring
    %b = pipe.producer_acquire %y[%z, %z] {pipe.stage = 0 : i64, pipe.order = 5 : i64} : !ring -> !tile
    pipe.copy <cp_async> %A[%n, %i] to %b in %y[%z] {pipe.stage = 0 : i64, pipe.order = 6 : i64} : !array, !tile, !ring
    pipe.producer_commit %y[%z, %z] {pipe.stage = 0 : i64, pipe.order = 7 : i64} : !ring
    %c = pipe.consumer_wait %x[%z, %z] {pipe.stage = 2 : i64, pipe.order = 0 : i64} : !ring -> !tile
    %d = pipe.consumer_wait %y[%z, %z] {pipe.stage = 2 : i64, pipe.order = 1 : i64} : !ring -> !tile
    pipe.consumer_release %x[%z, %z] {pipe.stage = 2 : i64, pipe.order = 8 : i64} : !ring
    pipe.consumer_release %y[%z, %z] {pipe.stage = 2 : i64, pipe.order = 9 : i64} : !ring
  }
  return
}

// Commits of mbarriers are switched off: an empty slot must not count as full.
// CHECK-LABEL: func.func @mbarrier_commits
// CHECK: pipe.producer_commit %{{.*}}[%{{.*}}, %{{.*}}] if %{{.*}} :
// CHECK: scf.for
// CHECK: pipe.consumer_wait {{[^{]*}} :
// CHECK: pipe.producer_commit %{{.*}}[%{{.*}}, %{{.*}}] if %{{.*}} :
func.func @mbarrier_commits(%A: !array, %n: index, %z: i32) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %x = pipe.create_channel "A" <mbarrier> : !ring
  scf.for %i = %n to %n step %n {
    %a = pipe.producer_acquire %x[%z, %z] {pipe.stage = 0 : i64, pipe.order = 1 : i64} : !ring -> !tile
    pipe.copy <tma> %A[%i, %n] to %a in %x[%z] {pipe.stage = 0 : i64, pipe.order = 2 : i64} : !array, !tile, !ring
    pipe.producer_commit %x[%z, %z] {pipe.stage = 0 : i64, pipe.order = 3 : i64} : !ring
    %c = pipe.consumer_wait %x[%z, %z] {pipe.stage = 1 : i64, pipe.order = 0 : i64} : !ring -> !tile
    pipe.consumer_release %x[%z, %z] {pipe.stage = 1 : i64, pipe.order = 4 : i64} : !ring
  }
  return
}

// A predicate that a copy has already is narrowed.
// CHECK-LABEL: func.func @narrows_predicates
// CHECK-SAME: %[[P:[a-z0-9]*]]: i1
// CHECK: %[[BOTH:.*]] = arith.andi %[[P]], %{{.*}} : i1
// CHECK: pipe.copy {{.*}} if %[[BOTH]]
func.func @narrows_predicates(%A: !array, %n: index, %z: i32, %p: i1) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %x = pipe.create_channel "A" <group> : !ring
  scf.for %i = %n to %n step %n {
    %a = pipe.producer_acquire %x[%z, %z] {pipe.stage = 0 : i64, pipe.order = 1 : i64} : !ring -> !tile
    pipe.copy <cp_async> %A[%i, %n] to %a in %x[%z] if %p {pipe.stage = 0 : i64, pipe.order = 2 : i64} : !array, !tile, !ring
    pipe.producer_commit %x[%z, %z] {pipe.stage = 0 : i64, pipe.order = 3 : i64} : !ring
    %c = pipe.consumer_wait %x[%z, %z] {pipe.stage = 1 : i64, pipe.order = 0 : i64} : !ring -> !tile
    pipe.consumer_release %x[%z, %z] {pipe.stage = 1 : i64, pipe.order = 4 : i64} : !ring
  }
  return
}

// Without a schedule a loop stays, and its waits wait for everything.
// CHECK-LABEL: func.func @unscheduled
// CHECK-NEXT: pipe.create_channel
// CHECK-NEXT: scf.for
// CHECK-NEXT: pipe.consumer_wait {{.*}} {pending = 0 : i64}
// CHECK-NEXT: pipe.consumer_release
func.func @unscheduled(%A: !array, %n: index, %z: i32) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %x = pipe.create_channel "A" <group> : !ring
  scf.for %i = %n to %n step %n {
    %c = pipe.consumer_wait %x[%z, %z] : !ring -> !tile
    pipe.consumer_release %x[%z, %z] : !ring
  }
  return
}

// -----

!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!ring = !pipe.channel<3, [!tile]>
!array = memref<?x?xbf16, strided<[?, 1]>>

// A copy that needs a value before it is made. Nothing moves, so the wait is for all groups.
// CHECK-LABEL: func.func @backwards
// CHECK: scf.for
// CHECK-NEXT: arith.addi
// CHECK-NEXT: pipe.producer_acquire
// CHECK-NEXT: pipe.copy
// CHECK-NEXT: pipe.producer_commit
// CHECK-NEXT: pipe.consumer_wait {{.*}} {pending = 0 : i64}
// CHECK-NEXT: pipe.consumer_release
// CHECK-NOT: pipe.stage
func.func @backwards(%A: !array, %n: index, %z: i32) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %ch = pipe.create_channel "A" <group> : !ring
  // expected-remark@+1 {{this loop is not pipelined: its schedule reads a value of a later stage}}
  scf.for %i = %n to %n step %n {
    %m = arith.addi %i, %n {pipe.stage = 2 : i64, pipe.order = 0 : i64} : index
    %a = pipe.producer_acquire %ch[%z, %z] {pipe.stage = 0 : i64, pipe.order = 2 : i64} : !ring -> !tile
    pipe.copy <cp_async> %A[%m, %n] to %a in %ch[%z] {pipe.stage = 0 : i64, pipe.order = 3 : i64} : !array, !tile, !ring
    pipe.producer_commit %ch[%z, %z] {pipe.stage = 0 : i64, pipe.order = 4 : i64} : !ring
    %c = pipe.consumer_wait %ch[%z, %z] {pipe.stage = 2 : i64, pipe.order = 1 : i64} : !ring -> !tile
    pipe.consumer_release %ch[%z, %z] {pipe.stage = 2 : i64, pipe.order = 5 : i64} : !ring
  }
  return
}
