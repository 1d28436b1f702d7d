// RUN: headrace-opt %s --convert-pipe-to-nvvm --canonicalize --cse | FileCheck %s

// convert-pipe-to-nvvm turns slots into addresses, register tiles into one scalar for each register of a thread, and
// protocol steps into the instructions of the channel's `sync`; one table of lowerings for each generation. Here: wait on
// a full mbarrier by parity, each thread reads its elements, one arrival of each warp on the empty mbarrier.

#row = #tile.layout<atom = [4, 32], register = [], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[1, 0], [2, 0]], groups = [], repeat = [1, 1]>
!tile = !pipe.buffer<4x32xf32, #tile.shared<major = 1, swizzle = 0>>
!ring = !pipe.channel<2, [!tile]>

module attributes {tile.target = "sm_90a"} {

// An array argument is its address, then its extents and strides that are not static; threads and blocks are always stated.
// CHECK-LABEL: llvm.func @consumer
// CHECK-SAME:  (%[[C:.*]]: !llvm.ptr<1>, %[[INDEX:.*]]: i32, %[[PHASE:.*]]: i32)
// CHECK-SAME:  nvvm.kernel, nvvm.minctasm = 1 : i32, nvvm.reqntid = array<i32: 128, 1, 1>
func.func @consumer(%C: memref<4x32xf32, strided<[32, 1]>>, %index: i32, %phase: i32)
    attributes {pipe.kernel, pipe.warps = 4 : i64, pipe.shared_bytes = 1056 : i64} {
  %c0 = arith.constant 0 : index
  %ch = pipe.create_channel "A" <mbarrier> {full_arrivals = 1 : i64, empty_arrivals = 4 : i64, tx_bytes = 512 : i64, offset = 0 : i64, barrier_offset = 1024 : i64} : !ring
  // The full barrier of the slot, at 1024 + 8 * index.
  // CHECK: %[[FULL:.*]] = arith.addi %{{.*}}, %c1024_i32
  // CHECK: "{{.*}}mbarrier.try_wait.parity.shared::cta.b64 p, [$0], $1;{{.*}}" %[[FULL]], %[[PHASE]]
  // 32 floats of a row are what one ldmatrix spreads over 32 lanes.
  // CHECK: %[[X:.*]] = llvm.inline_asm {{.*}} "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {$0}, [$1];"
  // The empty barriers follow the two full ones.
  // CHECK: %[[EMPTY:.*]] = arith.addi %{{.*}}, %c1040_i32
  // CHECK: "@$1 mbarrier.arrive.shared::cta.b64 _, [$0];"{{.*}} %[[EMPTY]],
  // CHECK: "@$1 st.global.b32 [$0], $2;"{{.*}} %[[X]] :
  %a = pipe.consumer_wait %ch[%index, %phase] : !ring -> !tile
  %x = pipe.read %a : !tile -> tensor<4x32xf32, #row>
  pipe.consumer_release %ch[%index, %phase] : !ring
  pipe.store %x, %C[%c0, %c0] {vector = 4 : i64} : tensor<4x32xf32, #row>, memref<4x32xf32, strided<[32, 1]>>
  // CHECK: llvm.return
  return
}

}
