// RUN: headrace-opt %s --pipe-allocate-memory --split-input-file --verify-diagnostics

!ring = !pipe.channel<3, [!pipe.buffer<256x256xbf16, #tile.shared<major = 1, swizzle = 128>>]>
module attributes {tile.target = "sm_90a"} {
// expected-error@+1 {{channels need 393264 bytes of shared memory, sm_90a has 232448}}
func.func @shared_memory() attributes {pipe.kernel, pipe.warps = 4 : i64} {
  // expected-note@+2 {{'A' takes 3 x 131072 bytes}}
  // expected-note@+1 {{barriers and alignment take 48 bytes}}
  %a = pipe.create_channel "A" <mbarrier> : !ring
  return
}
}

// -----

!ring = !pipe.channel<3, [!pipe.buffer<256x64xbf16, #tile.shared<major = 1, swizzle = 128>>]>
module attributes {tile.target = "sm_90a"} {
// Four programs on one multiprocessor have a quarter of its memory each.
// expected-error@+1 {{channels need 98304 bytes of shared memory, sm_90a has 57344}}
func.func @occupancy() attributes {pipe.kernel, pipe.warps = 4 : i64, pipe.occupancy = 4 : i64} {
  // expected-note@+1 {{'A' takes 3 x 32768 bytes}}
  %a = pipe.create_channel "A" <group> : !ring
  return
}
}

// -----

// Case B01: the users of tensor memory.
!wide = !pipe.channel<1, [!pipe.buffer<128x256xf32, #tile.tmem>]>
!two = !pipe.channel<2, [!pipe.buffer<128x160xf32, #tile.tmem>]>
module attributes {tile.target = "sm_100a"} {
// expected-error@+1 {{accumulators need 576 columns of tensor memory, sm_100a has 512}}
func.func @tensor_memory() attributes {pipe.kernel, pipe.warps = 4 : i64} {
  // expected-note@+1 {{'scores' takes 1 x 256 columns}}
  %a = pipe.create_channel "scores" <mbarrier> {async_commit} : !wide
  // expected-note@+1 {{'output' takes 2 x 160 columns}}
  %b = pipe.create_channel "output" <mbarrier> {async_commit} : !two
  return
}
}
