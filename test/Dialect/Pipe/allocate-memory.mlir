// RUN: headrace-opt %s --pipe-allocate-memory | FileCheck %s

!vector = !pipe.channel<2, [!pipe.buffer<16xf16, #tile.shared<major = 0, swizzle = 0>>]>
!few = !pipe.channel<1, [!pipe.buffer<128x24xf32, #tile.tmem>]>
!third = !pipe.channel<3, [!pipe.buffer<128x128xf32, #tile.tmem>]>

module attributes {tile.target = "sm_100a"} {

// CHECK-LABEL: func.func @no_channels
// CHECK-SAME: pipe.shared_bytes = 0 : i64
// CHECK-NEXT: return
func.func @no_channels() attributes {pipe.kernel, pipe.warps = 4 : i64} {
  return
}

// Case T04: slots of 32 bytes lie 128 apart.
// CHECK-LABEL: func.func @small_slots
// CHECK-SAME: pipe.shared_bytes = 256 : i64
// CHECK-NOT: pipe.init_channels
func.func @small_slots() attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %a = pipe.create_channel "A" <barrier> : !vector
  return
}

// Case B01: at least 32 columns are allocated, and a power of two.
// CHECK-LABEL: func.func @few_columns
// CHECK: pipe.tmem_alloc 32 address_at 16
func.func @few_columns() attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %a = pipe.create_channel "A" <mbarrier> {async_commit} : !few
  return
}

// Case B01: packed before they are rounded: 3 x 128 + 24 columns are 512, not 128 + 128 + 128 + 32 each rounded.
// CHECK-LABEL: func.func @packed_columns
// CHECK: "three" <mbarrier> {async_commit, barrier_offset = 0 : i64, offset = 0 : i64}
// CHECK: "one" <mbarrier> {async_commit, barrier_offset = 48 : i64, offset = 384 : i64}
// CHECK: pipe.tmem_alloc 512 address_at 64
func.func @packed_columns() attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %a = pipe.create_channel "three" <mbarrier> {async_commit} : !third
  %b = pipe.create_channel "one" <mbarrier> {async_commit} : !few
  return
}

// CHECK-LABEL: func.func @no_kernel
// CHECK: pipe.create_channel "A" <barrier> :
func.func @no_kernel() {
  %a = pipe.create_channel "A" <barrier> : !vector
  return
}

}
