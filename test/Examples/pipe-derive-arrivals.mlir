// RUN: headrace-opt %s --pipe-derive-arrivals | FileCheck %s

// pipe-derive-arrivals counts who arrives at the two mbarriers of a slot. Full: one arrival that announces the bytes of a
// TMA copy, or one of each warp that writes, or the one of tcgen05.commit. Empty: one of each warp that reads, or
// tcgen05.commit. The `load` role has four warps here of which one works; `compute` is eight warps.

!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!ring = !pipe.channel<3, [!tile]>
!sums = !pipe.channel<1, [!pipe.buffer<128x64xf32, #tile.tmem>]>
!array = memref<?x?xbf16, strided<[?, 1]>>

// CHECK-LABEL: func.func @counts
func.func @counts(%A: !array, %i: index) attributes {pipe.kernel, pipe.specialize, pipe.warps = 13 : i64} {
  // CHECK: "by TMA" <mbarrier> {empty_arrivals = 8 : i64, full_arrivals = 1 : i64, tx_bytes = 8192 : i64}
  // CHECK: "by warps" <mbarrier> {async_release, empty_arrivals = 1 : i64, full_arrivals = 8 : i64}
  // CHECK: "by tcgen05" <mbarrier> {async_commit, empty_arrivals = 8 : i64, full_arrivals = 1 : i64}
  %tma = pipe.create_channel "by TMA" <mbarrier> : !ring
  %warps = pipe.create_channel "by warps" <mbarrier> {async_release} : !ring
  %sums = pipe.create_channel "by tcgen05" <mbarrier> {async_commit} : !sums
  pipe.roles {
    role "compute" warps 8 active 8 registers 0 {
      pipe.consumer_release %tma : !ring
      %w = pipe.producer_acquire %warps : !ring -> !tile
      pipe.consumer_release %sums : !sums
    }
    role "load" warps 4 active 1 registers 0 {
      %a = pipe.producer_acquire %tma : !ring -> !tile
      pipe.copy <tma> %A[%i, %i] to %a in %tma : !array, !tile, !ring
    }
    role "mma" warps 1 active 1 registers 0 {
      pipe.consumer_release %warps : !ring
      %s = pipe.producer_acquire %sums : !sums -> !pipe.buffer<128x64xf32, #tile.tmem>
    }
  }
  return
}
