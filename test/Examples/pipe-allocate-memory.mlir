// RUN: headrace-opt %s --pipe-allocate-memory | FileCheck %s

// pipe-allocate-memory gives every channel its place: slots in shared memory, then two mbarriers for each slot of a
// channel that has them; accumulators in columns of tensor memory, which is allocated once at the start (a power of two
// of columns, its address in the last 8 bytes of shared memory) and freed once at the end, after all roles.

!ring = !pipe.channel<3, [!pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>]>
!vector = !pipe.channel<1, [!pipe.buffer<32xf32, #tile.shared<major = 0, swizzle = 0>>]>
!sums = !pipe.channel<2, [!pipe.buffer<128x48xf32, #tile.tmem>]>

module attributes {tile.target = "sm_100a"} {

// 3 * 8192 + 128 + 16 * (3 + 2) + 8 bytes.
// CHECK-LABEL: func.func @places
// CHECK-SAME:  pipe.shared_bytes = 24792 : i64
func.func @places() attributes {pipe.kernel, pipe.warps = 4 : i64} {
  // The vector needs less alignment, so it comes last though it was made first.
  // CHECK-NEXT: pipe.create_channel "scale" <barrier> {offset = 24576 : i64}
  // CHECK-NEXT: pipe.create_channel "A" <mbarrier> {barrier_offset = 24704 : i64, offset = 0 : i64}
  // CHECK-NEXT: pipe.create_channel "accumulator" <mbarrier> {async_commit, barrier_offset = 24752 : i64, offset = 0 : i64}
  %scale = pipe.create_channel "scale" <barrier> : !vector
  %a = pipe.create_channel "A" <mbarrier> : !ring
  %sums = pipe.create_channel "accumulator" <mbarrier> {async_commit} : !sums
  // CHECK-NEXT: pipe.tmem_alloc 128 address_at 24784
  // CHECK-NEXT: pipe.init_channels
  // CHECK-NEXT: pipe.roles
  pipe.roles {
    role "compute" warps 4 active 4 registers 0 {
    }
  }
  // CHECK: pipe.tmem_dealloc 128 address_at 24784
  // CHECK-NEXT: return
  return
}

}
