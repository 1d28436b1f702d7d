// RUN: headrace-opt %s --convert-pipe-to-nvvm --split-input-file | FileCheck %s

// Atomic updates: red where PTX has it for the type and the target, else a loop of compare and swap.

#line = #tile.layout<atom = [32], register = [], lane = [[1], [2], [4], [8], [16]], warp = [], groups = [], repeat = [1]>

module attributes {tile.target = "sm_80"} {

// CHECK-LABEL: llvm.func @sums
// CHECK: "@$1 red.global.add.f32 [$0], $2;", "l,b,f,~{memory}"
// CHECK: "@$1 red.global.add.f64 [$0], $2;", "l,b,d,~{memory}"
// CHECK: "@$1 red.global.add.noftz.f16 [$0], $2;", "l,b,h,~{memory}"
// CHECK: "@$1 red.global.add.u32 [$0], $2;", "l,b,r,~{memory}"
// CHECK: "@$1 red.global.add.u64 [$0], $2;", "l,b,l,~{memory}"
// CHECK: llvm.return
func.func @sums(%A0: memref<?xf32>, %x0: f32, %A1: memref<?xf64>, %x1: f64, %A2: memref<?xf16>, %x2: f16, %A3: memref<?xi32>, %x3: i32, %A4: memref<?xi64>, %x4: i64, %i: index) attributes {pipe.kernel, pipe.warps = 1 : i64} {
  %t0 = tensor.splat %x0 : tensor<32xf32, #line>
  tile.reduce_store #tile.combine<add> %t0, %A0[%i] : tensor<32xf32, #line>, memref<?xf32>
  %t1 = tensor.splat %x1 : tensor<32xf64, #line>
  tile.reduce_store #tile.combine<add> %t1, %A1[%i] : tensor<32xf64, #line>, memref<?xf64>
  %t2 = tensor.splat %x2 : tensor<32xf16, #line>
  tile.reduce_store #tile.combine<add> %t2, %A2[%i] : tensor<32xf16, #line>, memref<?xf16>
  %t3 = tensor.splat %x3 : tensor<32xi32, #line>
  tile.reduce_store #tile.combine<add> %t3, %A3[%i] : tensor<32xi32, #line>, memref<?xi32>
  %t4 = tensor.splat %x4 : tensor<32xi64, #line>
  tile.reduce_store #tile.combine<add> %t4, %A4[%i] : tensor<32xi64, #line>, memref<?xi64>
  return
}

// CHECK-LABEL: llvm.func @integers_with_sign
// CHECK: red.global.min.s32
// CHECK: red.global.max.s32
// CHECK: red.global.min.s64
// CHECK: red.global.max.s64
// CHECK: llvm.return
func.func @integers_with_sign(%A0: memref<?xi32>, %x0: i32, %A1: memref<?xi32>, %x1: i32, %A2: memref<?xi64>, %x2: i64, %A3: memref<?xi64>, %x3: i64, %i: index) attributes {pipe.kernel, pipe.warps = 1 : i64} {
  %t0 = tensor.splat %x0 : tensor<32xi32, #line>
  tile.reduce_store #tile.combine<min> %t0, %A0[%i] : tensor<32xi32, #line>, memref<?xi32>
  %t1 = tensor.splat %x1 : tensor<32xi32, #line>
  tile.reduce_store #tile.combine<max> %t1, %A1[%i] : tensor<32xi32, #line>, memref<?xi32>
  %t2 = tensor.splat %x2 : tensor<32xi64, #line>
  tile.reduce_store #tile.combine<min> %t2, %A2[%i] : tensor<32xi64, #line>, memref<?xi64>
  %t3 = tensor.splat %x3 : tensor<32xi64, #line>
  tile.reduce_store #tile.combine<max> %t3, %A3[%i] : tensor<32xi64, #line>, memref<?xi64>
  return
}

// What is there is read, combined and swapped in until nobody came between. Outside of the array nothing is touched: the
// branch jumps over all of it.
// CHECK-LABEL: llvm.func @largest_of_floats
// CHECK: "{\0A.reg .pred p;\0A.reg .b32 old, new, seen;\0A.reg .b16 zero;\0A.reg .f32 x, y;\0A@!$1 bra D;{{.*}}ld.relaxed.gpu.global.b32 old, [$0];\0AL:\0Amov.b32 x, old;\0Amax.f32 x, x, y;\0Amov.b32 new, x;\0Aatom.global.cas.b32 seen, [$0], old, new;\0Asetp.eq.b32 p, seen, old;\0Amov.b32 old, seen;\0A@!p bra L;\0AD:\0A}", "l,b,f,~{memory}"
// CHECK: .reg .b64 old, new, seen;{{.*}}ld.relaxed.gpu.global.b64 old, [$0];{{.*}}min.f64 x, x, y;{{.*}}atom.global.cas.b64 seen, [$0], old, new;
// CHECK: llvm.return
func.func @largest_of_floats(%A0: memref<?xf32>, %x0: f32, %A1: memref<?xf64>, %x1: f64, %i: index) attributes {pipe.kernel, pipe.warps = 1 : i64} {
  %t0 = tensor.splat %x0 : tensor<32xf32, #line>
  tile.reduce_store #tile.combine<max> %t0, %A0[%i] : tensor<32xf32, #line>, memref<?xf32>
  %t1 = tensor.splat %x1 : tensor<32xf64, #line>
  tile.reduce_store #tile.combine<min> %t1, %A1[%i] : tensor<32xf64, #line>, memref<?xf64>
  return
}

// 16 bits are combined in f32; a bf16 is the upper half of one.
// CHECK-LABEL: llvm.func @narrow_floats
// CHECK: .reg .b16 old, new, seen;{{.*}}cvt.f32.f16 y, $2;{{.*}}cvt.f32.f16 x, old;\0Amin.f32 x, x, y;\0Acvt.rn.f16.f32 new, x;\0Aatom.global.cas.b16 seen, [$0], old, new;
// CHECK: mov.b32 y, {zero, $2};{{.*}}mov.b32 x, {zero, old};\0Amax.f32 x, x, y;\0Acvt.rn.bf16.f32 new, x;\0Aatom.global.cas.b16 seen, [$0], old, new;
// CHECK: llvm.return
func.func @narrow_floats(%A0: memref<?xf16>, %x0: f16, %A1: memref<?xbf16>, %x1: bf16, %i: index) attributes {pipe.kernel, pipe.warps = 1 : i64} {
  %t0 = tensor.splat %x0 : tensor<32xf16, #line>
  tile.reduce_store #tile.combine<min> %t0, %A0[%i] : tensor<32xf16, #line>, memref<?xf16>
  %t1 = tensor.splat %x1 : tensor<32xbf16, #line>
  tile.reduce_store #tile.combine<max> %t1, %A1[%i] : tensor<32xbf16, #line>, memref<?xbf16>
  return
}

// CHECK-LABEL: llvm.func @no_reduction_before_sm_90
// CHECK: add.f32 x, x, y;\0Acvt.rn.bf16.f32 new, x;\0Aatom.global.cas.b16
// CHECK: llvm.return
func.func @no_reduction_before_sm_90(%A0: memref<?xbf16>, %x0: bf16, %i: index) attributes {pipe.kernel, pipe.warps = 1 : i64} {
  %t0 = tensor.splat %x0 : tensor<32xbf16, #line>
  tile.reduce_store #tile.combine<add> %t0, %A0[%i] : tensor<32xbf16, #line>, memref<?xbf16>
  return
}

// Bounds, and one writer for each element.
// CHECK-LABEL: llvm.func @writer_inside
// CHECK: %[[WRITER:.*]] = arith.cmpi eq, %{{.*}}, %{{.*}} : i32
// CHECK: %[[IN:.*]] = arith.cmpi ult
// CHECK: %[[BOTH:.*]] = arith.andi %[[IN]], %[[WRITER]] : i1
// CHECK: "@$1 red.global.add.f32 [$0], $2;", "l,b,f,~{memory}" %{{.*}}, %[[BOTH]], %{{.*}} :
// CHECK-NOT: red.global
// CHECK: llvm.return
func.func @writer_inside(%A: memref<?xf32>, %x: f32, %i: index) attributes {pipe.kernel, pipe.warps = 1 : i64} {
  %t = tensor.splat %x : tensor<16xf32, #tile.layout<atom = [16], register = [], lane = [[1], [2], [4], [8], [0]], warp = [], groups = [], repeat = [1]>>
  tile.reduce_store #tile.combine<add> %t, %A[%i] : tensor<16xf32, #tile.layout<atom = [16], register = [], lane = [[1], [2], [4], [8], [0]], warp = [], groups = [], repeat = [1]>>, memref<?xf32>
  return
}

// Scatters combine alike.
// CHECK-LABEL: llvm.func @scatters
// CHECK: red.global.max.s32
// CHECK: llvm.return
func.func @scatters(%A: memref<?xi32>, %x: i32) attributes {pipe.kernel, pipe.warps = 1 : i64} {
  %t = tensor.splat %x : tensor<32xi32, #line>
  tile.scatter combine #tile.combine<max> %t, %A[%t] : tensor<32xi32, #line>, memref<?xi32>, (tensor<32xi32, #line>)
  return
}

}

// -----

#line = #tile.layout<atom = [32], register = [], lane = [[1], [2], [4], [8], [16]], warp = [], groups = [], repeat = [1]>

module attributes {tile.target = "sm_90a"} {

// CHECK-LABEL: llvm.func @reduction_from_sm_90_on
// CHECK: "@$1 red.global.add.noftz.bf16 [$0], $2;", "l,b,h,~{memory}"
// CHECK: llvm.return
func.func @reduction_from_sm_90_on(%A0: memref<?xbf16>, %x0: bf16, %i: index) attributes {pipe.kernel, pipe.warps = 1 : i64} {
  %t0 = tensor.splat %x0 : tensor<32xbf16, #line>
  tile.reduce_store #tile.combine<add> %t0, %A0[%i] : tensor<32xbf16, #line>, memref<?xbf16>
  return
}

}
