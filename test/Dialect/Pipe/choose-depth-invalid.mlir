// RUN: headrace-opt %s --pipe-choose-depth --split-input-file --verify-diagnostics

!slot = !pipe.buffer<256x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!ring = !pipe.channel<0, [!slot]>

// The table of users, and what fits: 232448 - 6 * 32768 leaves one slot for the staging tile.
module attributes {tile.target = "sm_90a"} {
func.func @too_many_stages(%n: index) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  // expected-note@+2 {{'A' takes 8 x 32768 bytes}}
  // expected-note@+1 {{barriers and alignment take 128 bytes}}
  %ch = pipe.create_channel "A" <mbarrier> : !ring
  // expected-note@+1 {{'C.staging' takes 1 x 32768 bytes}}
  %staging = pipe.create_channel "C.staging" <bulk_store> : !ring
  // expected-note@+2 {{stages = 6 fits}}
  // expected-error@+1 {{pipeline needs 295040 bytes of shared memory for 8 stages, sm_90a has 232448}}
  scf.for %i = %n to %n step %n {
    %a = pipe.consumer_wait %ch : !ring -> !slot
    pipe.consumer_release %ch : !ring
  } {pipe.pipeline = #tile.pipeline<(stages = 8)>}
  return
}
}

// -----

!slot = !pipe.buffer<256x256xf32, #tile.shared<major = 1, swizzle = 128>>
!ring = !pipe.channel<0, [!slot]>

module attributes {tile.target = "sm_90a"} {
// expected-note@+1 {{not even one stage fits: take smaller tiles}}
func.func @too_large(%n: index) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  // expected-note@+2 {{'A' takes 3 x 262144 bytes}}
  // expected-note@+1 {{barriers and alignment take 48 bytes}}
  %ch = pipe.create_channel "A" <mbarrier> : !ring
  // expected-error@+1 {{pipeline needs 786480 bytes of shared memory for 3 stages, sm_90a has 232448}}
  scf.for %i = %n to %n step %n {
    %a = pipe.consumer_wait %ch : !ring -> !slot
    pipe.consumer_release %ch : !ring
  } {pipe.pipeline = #tile.pipeline<(stages = 3)>}
  return
}
}

// -----

!slot = !pipe.buffer<256x256xf32, #tile.shared<major = 1, swizzle = 128>>
!ring = !pipe.channel<0, [!slot]>

// No loop asked for it.
module attributes {tile.target = "sm_90a"} {
// expected-note@+2 {{not even one stage fits: take smaller tiles}}
// expected-error@+1 {{pipeline needs 262144 bytes of shared memory, sm_90a has 232448}}
func.func @no_loop() attributes {pipe.kernel, pipe.warps = 4 : i64} {
  // expected-note@+1 {{'A' takes 1 x 262144 bytes}}
  %ch = pipe.create_channel "A" <barrier> : !ring
  return
}
}

// -----

// expected-error@+1 {{expected the module attribute tile.target, such as "sm_90a"}}
module {}

// -----

// expected-error@+1 {{unknown target 'sm_42'}}
module attributes {tile.target = "sm_42"} {}
