// RUN: headrace-opt %s --tile-plan --split-input-file --verify-diagnostics

// What has no lowering is refused where it stands, before anything is planned.

module attributes {tile.target = "sm_90a"} {
tile.kernel @computed_dim(%A: memref<?xf32>, %d: index) {
  // expected-error @+1 {{expected a constant dimension of the array}}
  %n = memref.dim %A, %d : memref<?xf32>
  tile.return
}
}

// -----

module attributes {tile.target = "sm_90a"} {
tile.kernel @no_such_dim(%A: memref<?xf32>) {
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{expected a constant dimension of the array}}
  %n = memref.dim %A, %c1 : memref<?xf32>
  tile.return
}
}

// -----

module attributes {tile.target = "sm_90a"} {
tile.kernel @dim_before_the_first(%A: memref<?xf32>) {
  %c = arith.constant -1 : index
  // expected-error @+1 {{expected a constant dimension of the array}}
  %n = memref.dim %A, %c : memref<?xf32>
  tile.return
}
}

// -----

module attributes {tile.target = "sm_90a"} {
tile.kernel @adds_8_bit_floats(%A: memref<?xf8E4M3FN>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %A[%c0] : memref<?xf8E4M3FN> -> tensor<128xf8E4M3FN>
  // expected-error @+1 {{'arith.addf' op expected operands of 16 bits or more: 8-bit floats have only conversions}}
  %b = arith.addf %a, %a : tensor<128xf8E4M3FN>
  tile.return
}
}

// -----

module attributes {tile.target = "sm_80"} {
tile.kernel @converts_8_bit_floats(%A: memref<?xf8E4M3FN>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %A[%c0] : memref<?xf8E4M3FN> -> tensor<128xf8E4M3FN>
  // expected-error @+1 {{sm_89}}
  %b = arith.extf %a : tensor<128xf8E4M3FN> to tensor<128xf32>
  tile.return
}
}

// -----

module attributes {tile.target = "sm_90a"} {
tile.kernel @cube_root(%A: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %A[%c0] : memref<?xf32> -> tensor<128xf32>
  // expected-error @+1 {{'math.cbrt' op is not supported; known: exp, exp2, log, log2, sqrt, rsqrt, tanh, absf, fma, ceil, floor, trunc, roundeven, copysign, absi, ctpop, ctlz}}
  %b = math.cbrt %a : tensor<128xf32>
  tile.return
}
}

// -----

module attributes {tile.target = "sm_90a"} {
tile.kernel @exponential_of_f64(%x: f64) {
  // expected-error @+1 {{'math.exp' op expected elements of f32, f16 or bf16, got 'f64'}}
  %b = math.exp %x : f64
  tile.return
}
}

// -----

module attributes {tile.target = "sm_75"} {
tile.kernel @bits_of_an_index() {
  %i = tile.program_id 0
  // expected-error @+1 {{'math.ctpop' op expected a sized integer, got index}}
  %b = math.ctpop %i : index
  tile.return
}
}

// -----

module attributes {tile.target = "sm_90a"} {
tile.kernel @chosen_layout() {
  // expected-error @+1 {{expected a tile without a layout, which tile-infer-layouts chooses, got}}
  %a = arith.constant dense<0.0> : tensor<128x64xf32, #tile.tmem>
  tile.return
}
}

// -----

module attributes {tile.target = "sm_90a"} {
tile.kernel @five_dimensions() {
  // expected-error @+1 {{expected a tile of rank 1 to 4, of 1 to 16777216 elements of i1, i8 to i64, f16, bf16, f32, f64, f8E4M3FN or f8E5M2, got 'tensor<2x2x2x2x2xf32>'}}
  %a = arith.constant dense<0.0> : tensor<2x2x2x2x2xf32>
  tile.return
}
}

// -----

module attributes {tile.target = "sm_90a"} {
// expected-error @+1 {{expected index, i1, i8 to i64, f16, bf16, f32, f64, f8E4M3FN, f8E5M2, or tiles or arrays of them, got 'i7'}}
tile.kernel @seven_bits(%x: i7) {
  tile.return
}
}

// -----

module attributes {tile.target = "sm_90a"} {
tile.kernel @distinct_values() {
  // expected-error @+1 {{'arith.constant' op expected one value for all elements of a tile}}
  %a = arith.constant dense<[0.0, 1.0]> : tensor<2xf32>
  tile.return
}
}

// -----

module attributes {tile.target = "sm_90a"} {
tile.kernel @chooses_arrays(%A: memref<?xf32>, %B: memref<?xf32>, %flag: i1) {
  // expected-error @+1 {{expected arrays to be arguments of the kernel, this value is 'memref<?xf32>'}}
  %C = arith.select %flag, %A, %B : memref<?xf32>
  tile.return
}
}

// -----

module attributes {tile.target = "sm_90a"} {
tile.kernel @other_control_flow(%flag: i1) {
  // expected-error @+1 {{expected ops of tile, arith and math, scf.for, scf.if, scf.while, memref.dim and tensor.splat in a kernel, got scf.execute_region}}
  scf.execute_region {
    scf.yield
  }
  tile.return
}
}

// -----

module attributes {tile.target = "sm_90a"} {
// expected-error @+1 {{expected a module of tile.kernel ops alone, got func.func}}
func.func private @helper()
tile.kernel @kernel() {
  tile.return
}
}

// -----

module attributes {tile.target = "sm_90a"} {
// expected-error @+1 {{expected a kernel's name of letters, digits and '_' that starts with neither a digit nor 'headrace_' nor 'llvm', got 'a b'}}
tile.kernel @"a b"() {
  tile.return
}
}
