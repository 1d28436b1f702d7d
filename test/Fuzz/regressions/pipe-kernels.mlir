// RUN: headrace-opt %s --headrace-to-pipe --split-input-file --verify-diagnostics

// What the passes of the pipe dialect take for granted about kernels written by hand.

module attributes {tile.target = "sm_90a"} {
// expected-error @+1 {{expected a kernel: a function with a body and the attribute pipe.kernel}}
func.func private @no_body() attributes {pipe.kernel, pipe.warps = 4 : i64}
}

// -----

module attributes {tile.target = "sm_90a"} {
// expected-error @+1 {{expected a kernel of one block: control flow is scf.for, scf.if and scf.while}}
func.func @two_blocks() attributes {pipe.kernel, pipe.warps = 4 : i64} {
  cf.br ^next
^next:
  return
}
}

// -----

!slot = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
module attributes {tile.target = "sm_90a"} {
func.func @channel_in_a_branch(%flag: i1) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  scf.if %flag {
    // expected-error @+1 {{expected channels to be made in the outermost block of a kernel}}
    %channel = pipe.create_channel "A" <barrier> : !pipe.channel<1, [!slot]>
  }
  return
}
}

// -----

module attributes {tile.target = "sm_90a"} {
// expected-error @+1 {{expected a kernel with pipe.warps and without roles, to make roles of it}}
func.func @no_warps() attributes {pipe.kernel, pipe.specialize} {
  return
}
}

// -----

module attributes {tile.target = "sm_90a"} {
// expected-error @+1 {{expected pipe.warps to be 1 to 32, got "four"}}
func.func @warps_in_words() attributes {pipe.kernel, pipe.warps = "four"} {
  return
}
}

// -----

module attributes {tile.target = "sm_90a"} {
func.func @negative_stage(%n: index) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  scf.for %i = %n to %n step %n {
    // expected-error @+1 {{expected pipe.stage to be 0 to 64, got -1}}
    %two = arith.addi %i, %i {pipe.stage = -1 : i64, pipe.order = 0 : i64} : index
  }
  return
}
}

// -----

module attributes {tile.target = "sm_90a"} {
func.func @pipeline_by_number(%n: index) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  // expected-error @+1 {{expected pipe.pipeline to be #tile.pipeline<(...)>, got 3 : i64}}
  scf.for %i = %n to %n step %n {
  } {pipe.pipeline = 3 : i64}
  return
}
}

// -----

!slot = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
module attributes {tile.target = "sm_90a"} {
func.func @no_groups(%A: memref<?x?xbf16, strided<[?, 1]>>, %i: index) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %channel = pipe.create_channel "A" <bulk_store> : !pipe.channel<1, [!slot]>
  %buffer = pipe.consumer_wait %channel : !pipe.channel<1, [!slot]> -> !slot
  // expected-error @+1 {{expected 1 to 32 groups that share the rows equally, got 0}}
  pipe.async_store %buffer, %A[%i, %i] {groups = 0 : i64} : !slot, memref<?x?xbf16, strided<[?, 1]>>
  return
}
}
