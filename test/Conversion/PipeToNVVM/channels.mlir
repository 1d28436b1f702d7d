// RUN: headrace-opt %s --convert-pipe-to-nvvm --canonicalize --cse --split-input-file | FileCheck %s

!slot = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!tma = !pipe.channel<3, [!slot, !slot]>
!plain = !pipe.channel<2, [!slot]>
!three = !pipe.channel<3, [!slot]>
!one = !pipe.channel<1, [!slot]>
module attributes {tile.target = "sm_90a"} {

// Three full barriers, then three empty ones.
// CHECK-LABEL: llvm.func @init
func.func @init() attributes {pipe.kernel, pipe.warps = 4 : i64, pipe.shared_bytes = 65536 : i64} {
  // CHECK:      scf.if
  // CHECK:        "mbarrier.init.shared::cta.b64 [$0+60000], 1;"
  // CHECK-NEXT:   "mbarrier.init.shared::cta.b64 [$0+60008], 1;"
  // CHECK-NEXT:   "mbarrier.init.shared::cta.b64 [$0+60016], 1;"
  // CHECK-NEXT:   "mbarrier.init.shared::cta.b64 [$0+60024], 8;"
  // CHECK-NEXT:   "mbarrier.init.shared::cta.b64 [$0+60032], 8;"
  // CHECK-NEXT:   "mbarrier.init.shared::cta.b64 [$0+60040], 8;"
  // CHECK-NEXT:   "fence.mbarrier_init.release.cluster;"
  // CHECK:      {{^ *[}]$}}
  // CHECK-NEXT: "bar.sync 0;"
  %channel = pipe.create_channel "A" <mbarrier> {full_arrivals = 1 : i64, empty_arrivals = 8 : i64, tx_bytes = 16384 : i64, offset = 0 : i64, barrier_offset = 60000 : i64} : !tma
  pipe.init_channels
  return
}

// CHECK-LABEL: llvm.func @init_without_barriers
// CHECK-NOT:   inline_asm
// CHECK:       llvm.return
func.func @init_without_barriers() attributes {pipe.kernel, pipe.warps = 4 : i64, pipe.shared_bytes = 65536 : i64} {
  %channel = pipe.create_channel "A" <barrier> {offset = 0 : i64} : !plain
  pipe.init_channels
  return
}

// The leader waits and announces the bytes; TMA itself fills the barrier.
// CHECK-LABEL: llvm.func @tma_producer
// CHECK-SAME:  (%[[INDEX:.*]]: i32, %[[PHASE:.*]]: i32, %[[P:.*]]: i1)
func.func @tma_producer(%index: i32, %phase: i32, %p: i1) attributes {pipe.kernel, pipe.warps = 4 : i64, pipe.shared_bytes = 65536 : i64} {
  %channel = pipe.create_channel "A" <mbarrier> {full_arrivals = 1 : i64, empty_arrivals = 8 : i64, tx_bytes = 16384 : i64, offset = 0 : i64, barrier_offset = 60000 : i64} : !tma
  // CHECK-DAG:  %[[FULLS:.*]] = arith.constant 60000 : i32
  // CHECK-DAG:  %[[EMPTIES:.*]] = arith.constant 60024 : i32
  // CHECK-DAG:  %[[TID:.*]] = nvvm.read.ptx.sreg.tid.x
  // CHECK-DAG:  %[[EIGHTH:.*]] = arith.shli %[[INDEX]], %{{.*}}
  // CHECK-DAG:  %[[BARRIERS:.*]] = arith.addi %{{.*}}, %[[EIGHTH]]
  // CHECK-DAG:  %[[EMPTY:.*]] = arith.addi %[[BARRIERS]], %[[EMPTIES]]
  // CHECK-DAG:  %[[FULL:.*]] = arith.addi %[[BARRIERS]], %[[FULLS]]
  // CHECK-DAG:  %[[LEADER:.*]] = arith.cmpi eq, %[[TID]], %{{.*}}
  // CHECK-DAG:  %[[DO:.*]] = arith.andi %[[LEADER]], %[[P]]
  // CHECK:      "{\0A.reg .pred p;\0A@!$3 bra D;\0AW: mbarrier.try_wait.parity.shared::cta.b64 p, [$0], $1;\0A@!p bra W;\0Ambarrier.arrive.expect_tx.shared::cta.b64 _, [$2], 16384;\0AD:\0A}"
  // CHECK-SAME: %[[EMPTY]], %[[PHASE]], %[[FULL]], %[[DO]]
  // CHECK-NOT:  inline_asm
  // CHECK:      llvm.return
  %a, %b = pipe.producer_acquire %channel[%index, %phase] if %p : !tma -> !slot, !slot
  pipe.producer_commit %channel[%index, %phase] if %p : !tma
  return
}

// CHECK-LABEL: llvm.func @plain_producer
func.func @plain_producer(%index: i32, %phase: i32, %p: i1) attributes {pipe.kernel, pipe.warps = 4 : i64, pipe.shared_bytes = 65536 : i64} {
  %channel = pipe.create_channel "A" <mbarrier> {full_arrivals = 4 : i64, empty_arrivals = 8 : i64, offset = 0 : i64, barrier_offset = 60000 : i64} : !plain
  // CHECK:      "{\0A.reg .pred p;\0A@!$2 bra D;\0AW: mbarrier.try_wait.parity.shared::cta.b64 p, [$0], $1;\0A@p bra D;\0Abra W;\0AD:\0A}"
  // CHECK:      "fence.proxy.async.shared::cta;"
  // CHECK-NEXT: "bar.warp.sync 0xffffffff;"
  // CHECK:      "@$1 mbarrier.arrive.shared::cta.b64 _, [$0];"
  %a = pipe.producer_acquire %channel[%index, %phase] if %p : !plain -> !slot
  pipe.producer_commit %channel[%index, %phase] if %p : !plain
  return
}

// CHECK-LABEL: llvm.func @consumer
func.func @consumer(%index: i32, %phase: i32) attributes {pipe.kernel, pipe.warps = 4 : i64, pipe.shared_bytes = 65536 : i64} {
  %channel = pipe.create_channel "A" <mbarrier> {full_arrivals = 1 : i64, empty_arrivals = 4 : i64, tx_bytes = 16384 : i64, offset = 0 : i64, barrier_offset = 60000 : i64} : !tma
  // CHECK:      "{\0A.reg .pred p;\0AW: mbarrier.try_wait.parity.shared::cta.b64 p, [$0], $1;\0A@p bra D;\0Abra W;\0AD:\0A}"
  // CHECK-NOT:  fence
  // CHECK:      "bar.warp.sync 0xffffffff;"
  // CHECK:      "@$1 mbarrier.arrive.shared::cta.b64 _, [$0];"
  %a, %b = pipe.consumer_wait %channel[%index, %phase] : !tma -> !slot, !slot
  pipe.consumer_release %channel[%index, %phase] : !tma
  return
}

// The second role's leader is thread 128, and its slots are read through its own threads.
// CHECK-LABEL: llvm.func @leader_of_role
func.func @leader_of_role(%index: i32, %phase: i32) attributes {pipe.kernel, pipe.warps = 8 : i64, pipe.shared_bytes = 65536 : i64} {
  %channel = pipe.create_channel "A" <mbarrier> {full_arrivals = 1 : i64, empty_arrivals = 4 : i64, tx_bytes = 16384 : i64, offset = 0 : i64, barrier_offset = 60000 : i64} : !tma
  // CHECK-DAG:  %[[FIRST:.*]] = arith.constant 128 : i32
  // CHECK-DAG:  %[[TID:.*]] = nvvm.read.ptx.sreg.tid.x
  // CHECK:      arith.cmpi eq, %[[TID]], %[[FIRST]]
  pipe.roles {
    role "compute" warps 4 active 4 registers 0 {
    }
    role "load" warps 4 active 1 registers 0 {
      %a, %b = pipe.producer_acquire %channel[%index, %phase] : !tma -> !slot, !slot
    }
  }
  return
}

// CHECK-LABEL: llvm.func @bulk_store
func.func @bulk_store(%index: i32, %phase: i32) attributes {pipe.kernel, pipe.warps = 4 : i64, pipe.shared_bytes = 65536 : i64} {
  %channel = pipe.create_channel "C" <bulk_store> {offset = 0 : i64} : !plain
  // CHECK:      "@$0 cp.async.bulk.wait_group.read 1;"
  // CHECK-NEXT: "fence.proxy.async.shared::cta;"
  // CHECK-NEXT: "bar.sync 0;"
  // CHECK-NEXT: "@$0 cp.async.bulk.commit_group;"
  // CHECK-NEXT: "@$0 cp.async.bulk.wait_group 0;"
  %a = pipe.producer_acquire %channel[%index, %phase] : !plain -> !slot
  pipe.fence_async
  pipe.role_barrier
  pipe.producer_commit %channel[%index, %phase] : !plain
  %b = pipe.consumer_wait %channel[%index, %phase] : !plain -> !slot
  pipe.consumer_release %channel[%index, %phase] : !plain
  pipe.drain_stores
  return
}

// CHECK-LABEL: llvm.func @advance
// CHECK-SAME:  (%[[I:[^:]*]]: i32, %[[PHASE:[^:]*]]: i32, %[[P:[^:]*]]: i1
func.func @advance(%index: i32, %phase: i32, %p: i1, %n: index) attributes {pipe.kernel, pipe.warps = 1 : i64, pipe.shared_bytes = 65536 : i64} {
  %three = pipe.create_channel "A" <mbarrier> {full_arrivals = 1 : i64, empty_arrivals = 1 : i64, offset = 0 : i64, barrier_offset = 60000 : i64} : !three
  %one = pipe.create_channel "B" <mbarrier> {full_arrivals = 1 : i64, empty_arrivals = 1 : i64, offset = 0 : i64, barrier_offset = 60100 : i64} : !one
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK:      scf.for {{.*}} iter_args(%[[INDEX:.*]] = %[[I]], %[[PARITY:.*]] = %[[PHASE]])
  // CHECK:        %[[NEXT:.*]] = arith.addi %[[INDEX]], %[[ONE:.*]] : i32
  // CHECK:        %[[WRAPS:.*]] = arith.cmpi eq, %[[NEXT]], %{{.*}} : i32
  // CHECK:        %[[TO:.*]] = arith.select %[[WRAPS]], %{{.*}}, %[[NEXT]]
  // CHECK:        %[[FLIP:.*]] = arith.extui %[[WRAPS]]
  // CHECK:        %[[NEW:.*]] = arith.xori %[[PARITY]], %[[FLIP]]
  // CHECK:        scf.yield %[[TO]], %[[NEW]]
  scf.for %k = %c0 to %n step %c1 iter_args(%i = %index, %q = %phase) -> (i32, i32) {
    %slot = pipe.consumer_wait %three[%i, %q] : !three -> !slot
    %j, %r = pipe.advance [%i, %q] depth 3
    scf.yield %j, %r : i32, i32
  }
  // CHECK:      scf.for
  // CHECK:        %[[STEP:.*]] = arith.extui %[[P]]
  // CHECK:        arith.addi %{{.*}}, %[[STEP]]
  scf.for %k = %c0 to %n step %c1 iter_args(%i = %index, %q = %phase) -> (i32, i32) {
    %slot = pipe.consumer_wait %three[%i, %q] : !three -> !slot
    %j, %r = pipe.advance [%i, %q] depth 3 if %p
    scf.yield %j, %r : i32, i32
  }
  // A ring of one slot: only the phase moves.
  // CHECK:      scf.for {{.*}} iter_args(%[[ONLY:.*]] = %[[PHASE]])
  // CHECK:        arith.xori %[[ONLY]], %[[ONE]]
  scf.for %k = %c0 to %n step %c1 iter_args(%i = %index, %q = %phase) -> (i32, i32) {
    %slot = pipe.consumer_wait %one[%i, %q] : !one -> !slot
    %j, %r = pipe.advance [%i, %q] depth 1
    scf.yield %j, %r : i32, i32
  }
  return
}
}

// -----

!slot = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
module attributes {tile.target = "sm_80"} {
// CHECK-LABEL: llvm.func @cp_async_group
func.func @cp_async_group(%index: i32, %phase: i32, %p: i1) attributes {pipe.kernel, pipe.warps = 4 : i64, pipe.shared_bytes = 65536 : i64} {
  %channel = pipe.create_channel "A" <group> {offset = 0 : i64} : !pipe.channel<3, [!slot]>
  // The group is closed also where nothing was copied.
  // CHECK:      "cp.async.commit_group;", "~{memory}"  : () -> ()
  // CHECK-NEXT: "cp.async.wait_group 2;"
  // CHECK-NEXT: llvm.return
  pipe.init_channels
  %a = pipe.producer_acquire %channel[%index, %phase] if %p : !pipe.channel<3, [!slot]> -> !slot
  pipe.producer_commit %channel[%index, %phase] if %p : !pipe.channel<3, [!slot]>
  %b = pipe.consumer_wait %channel[%index, %phase] {pending = 2 : i64} : !pipe.channel<3, [!slot]> -> !slot
  pipe.consumer_release %channel[%index, %phase] : !pipe.channel<3, [!slot]>
  return
}

// CHECK-LABEL: llvm.func @barrier_channel
// CHECK-NOT:   inline_asm
// CHECK:       llvm.return
func.func @barrier_channel() attributes {pipe.kernel, pipe.warps = 4 : i64, pipe.shared_bytes = 65536 : i64} {
  %channel = pipe.create_channel "A" <barrier> {offset = 0 : i64} : !pipe.channel<1, [!slot]>
  %a = pipe.producer_acquire %channel : !pipe.channel<1, [!slot]> -> !slot
  pipe.producer_commit %channel : !pipe.channel<1, [!slot]>
  %b = pipe.consumer_wait %channel : !pipe.channel<1, [!slot]> -> !slot
  pipe.consumer_release %channel : !pipe.channel<1, [!slot]>
  return
}
}
