// RUN: headrace-opt %s --convert-pipe-to-nvvm --split-input-file --verify-diagnostics

#one = #tile.layout<atom = [32], register = [], lane = [[1], [2], [4], [8], [16]], warp = [], groups = [1 : 0], repeat = [1]>
#reversed = #tile.layout<atom = [32], register = [], lane = [[16], [8], [4], [2], [1]], warp = [], groups = [1 : 0], repeat = [1]>

module attributes {tile.target = "sm_80"} {
func.func @moves_between_threads(%x: f32) attributes {pipe.kernel, pipe.warps = 1 : i64} {
  %t = tensor.splat %x : tensor<32xf32, #one>
  // expected-error@+1 {{expected each thread to keep its elements, got [32] = {[32] register lane [1] [2] [4] [8] [16] warp} x repeat [1] x groups [1 on 0] to [32] = {[32] register lane [16] [8] [4] [2] [1] warp} x repeat [1] x groups [1 on 0]}}
  %u = pipe.convert_layout %t : tensor<32xf32, #one> -> tensor<32xf32, #reversed>
  return
}
}

// -----

#one = #tile.layout<atom = [32], register = [], lane = [[1], [2], [4], [8], [16]], warp = [], groups = [1 : 0], repeat = [1]>

module attributes {tile.target = "sm_80"} {
func.func @needs_sm_89(%x: f32) attributes {pipe.kernel, pipe.warps = 1 : i64} {
  %t = tensor.splat %x : tensor<32xf32, #one>
  // expected-error@+1 {{the target is sm_80}}
  %u = arith.truncf %t : tensor<32xf32, #one> to tensor<32xf8E4M3FN, #one>
  return
}
}

// -----

#one = #tile.layout<atom = [32], register = [], lane = [[1], [2], [4], [8], [16]], warp = [], groups = [1 : 0], repeat = [1]>

module attributes {tile.target = "sm_80"} {
func.func @has_no_sine(%x: f32) attributes {pipe.kernel, pipe.warps = 1 : i64} {
  %t = tensor.splat %x : tensor<32xf32, #one>
  // expected-error@+1 {{has no lowering; known: exp, exp2, log, log2, sqrt, rsqrt, tanh, absf, fma, ceil, floor, trunc, roundeven, copysign}}
  %u = math.sin %t : tensor<32xf32, #one>
  return
}
}

// -----

#acc8x8 = #tile.layout<atom = [8, 8], register = [[0, 1]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [], groups = [1 : 0, 1 : 1], repeat = [1, 1]>
#d = #tile.shared<major = 1, swizzle = 0>

module attributes {tile.target = "sm_75"} {
func.func @has_no_f64_instruction(%x: f64) attributes {pipe.kernel, pipe.warps = 1 : i64, pipe.shared_bytes = 512 : i64} {
  %ch = pipe.create_channel "ab" <barrier> {offset = 0 : i64} : !pipe.channel<1, [!pipe.buffer<8x4xf64, #d>, !pipe.buffer<8x4xf64, #d>]>
  %s:2 = pipe.consumer_wait %ch : !pipe.channel<1, [!pipe.buffer<8x4xf64, #d>, !pipe.buffer<8x4xf64, #d>]> -> !pipe.buffer<8x4xf64, #d>, !pipe.buffer<8x4xf64, #d>
  %acc = tensor.splat %x : tensor<8x8xf64, #acc8x8>
  // expected-error@+1 {{expected an instruction of sm_75 that divides the tile, got #tile.atom<mma_sync 8 x 8 x 4, groups = 1 x 1> for 8 x 8 x 4 of 'f64', 'f64' and 'f64'}}
  %r = pipe.mma <mma_sync 8 x 8 x 4, groups = 1 x 1> %s#0, %s#1 transpose_b, %acc : !pipe.buffer<8x4xf64, #d>, !pipe.buffer<8x4xf64, #d> -> tensor<8x8xf64, #acc8x8>
  return
}
}
