// RUN: headrace-opt %s --pipe-derive-arrivals | FileCheck %s

!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!ring = !pipe.channel<3, [!tile]>
!pairs = !pipe.channel<3, [!tile, !pipe.buffer<128x64xbf16, #tile.shared<major = 1, swizzle = 128>>]>
!array = memref<?x?xbf16, strided<[?, 1]>>

// Channels without mbarriers count nothing.
// CHECK-LABEL: func.func @no_mbarriers
// CHECK: "A" <group> :
// CHECK: "B" <barrier> :
// CHECK: "C" <bulk_store> :
func.func @no_mbarriers() attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %a = pipe.create_channel "A" <group> : !ring
  %b = pipe.create_channel "B" <barrier> : !ring
  %c = pipe.create_channel "C" <bulk_store> : !ring
  pipe.consumer_release %a : !ring
  return
}

// Without roles every warp of the kernel reads, and one thread still announces the bytes of all tiles of a slot.
// CHECK-LABEL: func.func @one_role
// CHECK: {empty_arrivals = 4 : i64, full_arrivals = 1 : i64, tx_bytes = 24576 : i64}
func.func @one_role(%A: !array, %n: index) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %ch = pipe.create_channel "A" <mbarrier> : !pairs
  %a:2 = pipe.producer_acquire %ch : !pairs -> !tile, !pipe.buffer<128x64xbf16, #tile.shared<major = 1, swizzle = 128>>
  pipe.copy <tma> %A[%n, %n] to %a#0 in %ch : !array, !tile, !pairs
  pipe.producer_commit %ch : !pairs
  pipe.consumer_release %ch : !pairs
  return
}
