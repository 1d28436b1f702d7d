// RUN: headrace-opt %s --pipe-thread-cursors | FileCheck %s

!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!ring = !pipe.channel<3, [!tile]>

// A cursor moves only where the branch is taken.
// CHECK-LABEL: func.func @branch
func.func @branch(%p: i1) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  // CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
  // CHECK: %[[ONE:.*]] = arith.constant 1 : i32
  // CHECK: %[[NOW:.*]]:2 = scf.if
  // CHECK:   pipe.producer_commit %{{.*}}[%[[ZERO]], %[[ONE]]]
  // CHECK:   %[[INDEX:.*]], %[[PHASE:.*]] = pipe.advance
  // CHECK:   scf.yield %[[INDEX]], %[[PHASE]] : i32, i32
  // CHECK: } else {
  // CHECK:   scf.yield %[[ZERO]], %[[ONE]] : i32, i32
  // CHECK: pipe.producer_commit %{{.*}}[%[[NOW]]#0, %[[NOW]]#1]
  %ch = pipe.create_channel "A" <mbarrier> : !ring
  scf.if %p {
    pipe.producer_commit %ch : !ring
  }
  pipe.producer_commit %ch : !ring
  return
}

// The results that a branch had stay in front.
// CHECK-LABEL: func.func @branch_with_results
func.func @branch_with_results(%p: i1, %x: index) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  // CHECK: %[[R:.*]]:3 = scf.if %{{.*}} -> (index, i32, i32)
  // CHECK: arith.addi %[[R]]#0, %[[R]]#0
  %ch = pipe.create_channel "A" <mbarrier> : !ring
  %r = scf.if %p -> (index) {
    pipe.consumer_release %ch : !ring
    scf.yield %x : index
  } else {
    scf.yield %x : index
  }
  %s = arith.addi %r, %r : index
  return
}

// The values that a loop had stay in front, and it compares as before.
// CHECK-LABEL: func.func @loop_with_results
func.func @loop_with_results(%n: index, %x: index) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  // CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
  // CHECK: %[[LOOP:.*]]:3 = scf.for unsigned %{{.*}} iter_args(%[[Y:.*]] = %{{.*}}, %[[I:.*]] = %[[ZERO]], %[[P:.*]] = %[[ZERO]])
  // CHECK:   pipe.consumer_release %{{.*}}[%[[I]], %[[P]]]
  // CHECK:   %[[NI:.*]], %[[NP:.*]] = pipe.advance[%[[I]], %[[P]]]
  // CHECK:   scf.yield %{{.*}}, %[[NI]], %[[NP]] : index, i32, i32
  // CHECK: } {kept}
  // CHECK: arith.addi %[[LOOP]]#0, %[[LOOP]]#0
  // CHECK: pipe.consumer_release %{{.*}}[%[[LOOP]]#1, %[[LOOP]]#2]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %ch = pipe.create_channel "A" <mbarrier> : !ring
  %r = scf.for unsigned %i = %c0 to %n step %c1 iter_args(%y = %x) -> (index) {
    pipe.consumer_release %ch : !ring
    %z = arith.addi %y, %i : index
    scf.yield %z : index
  } {kept}
  %s = arith.addi %r, %r : index
  pipe.consumer_release %ch : !ring
  return
}

// CHECK-LABEL: func.func @while
func.func @while(%p: i1) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  // CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
  // CHECK: %[[LOOP:.*]]:2 = scf.while (%[[BI:.*]] = %[[ZERO]], %[[BP:.*]] = %[[ZERO]])
  // CHECK:   scf.condition(%{{.*}}) %[[BI]], %[[BP]] : i32, i32
  // CHECK: ^bb0(%[[AI:.*]]: i32, %[[AP:.*]]: i32):
  // CHECK:   pipe.consumer_wait %{{.*}}[%[[AI]], %[[AP]]]
  // CHECK:   pipe.consumer_release %{{.*}}[%[[AI]], %[[AP]]]
  // CHECK:   %[[NI:.*]], %[[NP:.*]] = pipe.advance[%[[AI]], %[[AP]]]
  // CHECK:   scf.yield %[[NI]], %[[NP]] : i32, i32
  // CHECK: pipe.consumer_wait %{{.*}}[%[[LOOP]]#0, %[[LOOP]]#1]
  %ch = pipe.create_channel "A" <mbarrier> : !ring
  scf.while : () -> () {
    scf.condition(%p)
  } do {
    %a = pipe.consumer_wait %ch : !ring -> !tile
    pipe.consumer_release %ch : !ring
    scf.yield
  }
  %b = pipe.consumer_wait %ch : !ring -> !tile
  return
}

// A loop that moves no cursor reads it all the same.
// CHECK-LABEL: func.func @loop_that_only_waits
func.func @loop_that_only_waits(%n: index) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  // CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
  // CHECK: scf.for {{[^(]*}} {
  // CHECK: pipe.consumer_wait %{{.*}}[%[[ZERO]], %[[ZERO]]]
  %ch = pipe.create_channel "A" <mbarrier> : !ring
  scf.for %i = %n to %n step %n {
    %a = pipe.consumer_wait %ch : !ring -> !tile
  }
  pipe.consumer_release %ch : !ring
  return
}

// A branch that moves no cursor reads it all the same.
// CHECK-LABEL: func.func @branch_that_only_waits
func.func @branch_that_only_waits(%p: i1) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  // CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
  // CHECK: scf.if
  // CHECK: pipe.consumer_wait %{{.*}}[%[[ZERO]], %[[ZERO]]]
  %ch = pipe.create_channel "A" <mbarrier> : !ring
  scf.if %p {
    %a = pipe.consumer_wait %ch : !ring -> !tile
  }
  pipe.consumer_release %ch : !ring
  return
}

// Each channel has cursors of its own.
// CHECK-LABEL: func.func @two_channels
func.func @two_channels() attributes {pipe.kernel, pipe.warps = 4 : i64} {
  // CHECK: %[[A:.*]] = pipe.create_channel "A"
  // CHECK: %[[B:.*]] = pipe.create_channel "B"
  // CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
  // CHECK: %[[ONE:.*]] = arith.constant 1 : i32
  // CHECK: pipe.producer_commit %[[A]][%[[ZERO]], %[[ONE]]]
  // CHECK: pipe.producer_commit %[[B]][%[[ZERO]], %[[ONE]]]
  %a = pipe.create_channel "A" <mbarrier> : !ring
  %b = pipe.create_channel "B" <mbarrier> : !ring
  pipe.producer_commit %a : !ring
  pipe.producer_commit %b : !ring
  return
}

// Cursors written by hand stay.
// CHECK-LABEL: func.func @by_hand
func.func @by_hand(%i: i32) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  // CHECK: pipe.producer_commit %{{.*}}[%[[I:arg.*]], %[[I]]]
  // CHECK-NEXT: return
  %ch = pipe.create_channel "A" <mbarrier> : !ring
  pipe.producer_commit %ch[%i, %i] : !ring
  return
}

// CHECK-LABEL: func.func @no_channels
// CHECK-NEXT: return
func.func @no_channels() attributes {pipe.kernel, pipe.warps = 4 : i64} {
  return
}

// CHECK-LABEL: func.func @no_kernel
// CHECK: pipe.producer_commit %{{[^[]*}} :
func.func @no_kernel() {
  %ch = pipe.create_channel "A" <mbarrier> : !ring
  pipe.producer_commit %ch : !ring
  return
}
