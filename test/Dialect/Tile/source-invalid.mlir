// RUN: headrace-opt %s --tile-plan --split-input-file --verify-diagnostics

// What a kernel may contain: the gate in front of tile-plan. One rule for each chunk.

module attributes {tile.target = "sm_80"} {
// expected-error@+1 {{expected a kernel's name of letters, digits and '_' that starts with neither a digit nor 'headrace_' nor 'llvm', got 'a.b'}}
tile.kernel @a.b() {
  tile.return
}
}

// -----

module attributes {tile.target = "sm_80"} {
tile.kernel @layout(%v: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{expected a tile without a layout, which tile-infer-layouts chooses, got 'tensor<64x64xf32, #tile.tmem>'}}
  %x = arith.constant dense<0.0> : tensor<64x64xf32, #tile.tmem>
  tile.return
}
}

// -----

module attributes {tile.target = "sm_80"} {
tile.kernel @rank_5() {
  // expected-error@+1 {{expected a tile of rank 1 to 4, of 1 to 16777216 elements of i1, i8 to i64, f16, bf16, f32, f64, f8E4M3FN or f8E5M2, got 'tensor<4x4x4x4x4xf32>'}}
  %x = arith.constant dense<0.0> : tensor<4x4x4x4x4xf32>
  tile.return
}
}

// -----

module attributes {tile.target = "sm_80"} {
tile.kernel @array() {
  // expected-error@+1 {{expected arrays to be arguments of the kernel, this value is 'memref<64xf32>'}}
  %m = memref.alloc() : memref<64xf32>
  tile.return
}
}

// -----

module attributes {tile.target = "sm_80"} {
// expected-error@+1 {{expected index, i1, i8 to i64, f16, bf16, f32, f64, f8E4M3FN, f8E5M2, or tiles or arrays of them, got 'i7'}}
tile.kernel @scalar(%n: i7) {
  tile.return
}
}

// -----

module attributes {tile.target = "sm_89"} {
tile.kernel @float8(%v: memref<?xf8E4M3FN>) {
  %c0 = arith.constant 0 : index
  %x = tile.load %v[%c0] : memref<?xf8E4M3FN> -> tensor<64xf8E4M3FN>
  // expected-error@+1 {{'arith.addf' op expected operands of 16 bits or more: 8-bit floats have only conversions}}
  %y = arith.addf %x, %x : tensor<64xf8E4M3FN>
  tile.return
}
}

// -----

module attributes {tile.target = "sm_80"} {
tile.kernel @float8_target(%v: memref<?xf8E4M3FN>) {
  %c0 = arith.constant 0 : index
  %x = tile.load %v[%c0] : memref<?xf8E4M3FN> -> tensor<64xf8E4M3FN>
  // expected-error@+1 {{'arith.extf' op cvt e4m3x2/e5m2x2 needs sm_89, sm_90, sm_90a, sm_100, sm_100a, sm_100f, sm_103a, sm_110a, sm_120, sm_120a, sm_120f or sm_121a, the target is sm_80}}
  %y = arith.extf %x : tensor<64xf8E4M3FN> to tensor<64xf32>
  tile.return
}
}

// -----

module attributes {tile.target = "sm_89"} {
tile.kernel @float8_from_f64() {
  %x = arith.constant dense<1.0> : tensor<64xf64>
  // expected-error@+1 {{'arith.truncf' op expected a source of f32 or narrower: f64 would be rounded twice}}
  %y = arith.truncf %x : tensor<64xf64> to tensor<64xf8E4M3FN>
  tile.return
}
}

// -----

module attributes {tile.target = "sm_80"} {
tile.kernel @constant() {
  // expected-error@+1 {{'arith.constant' op expected one value for all elements of a tile}}
  %x = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  tile.return
}
}

// -----

module attributes {tile.target = "sm_80"} {
tile.kernel @results(%n: i32) {
  // expected-error@+1 {{'arith.addui_extended' op is not supported: it has 2 results}}
  %s, %o = arith.addui_extended %n, %n : i32, i1
  tile.return
}
}

// -----

module attributes {tile.target = "sm_80"} {
tile.kernel @math_op(%x: f32) {
  // expected-error@+1 {{'math.sin' op is not supported; known: exp, exp2, log, log2, sqrt, rsqrt, tanh, absf, fma, ceil, floor, trunc, roundeven, copysign, absi, ctpop, ctlz}}
  %y = math.sin %x : f32
  tile.return
}
}

// -----

module attributes {tile.target = "sm_80"} {
tile.kernel @math_type(%x: f64) {
  // expected-error@+1 {{'math.exp' op expected elements of f32, f16 or bf16, got 'f64'}}
  %y = math.exp %x : f64
  tile.return
}
}

// -----

module attributes {tile.target = "sm_80"} {
tile.kernel @math_index(%x: index) {
  // expected-error@+1 {{'math.absi' op expected a sized integer, got index}}
  %y = math.absi %x : index
  tile.return
}
}

// -----

module attributes {tile.target = "sm_80"} {
tile.kernel @dim(%A: memref<?xf32>, %i: index) {
  // expected-error@+1 {{expected a constant dimension of the array}}
  %n = memref.dim %A, %i : memref<?xf32>
  tile.return
}
}

// -----

module attributes {tile.target = "sm_80"} {
tile.kernel @own() {
  %x = arith.constant dense<0.0> : tensor<64xf32>
  // expected-error@+1 {{'tile.convert_layout' op is the compiler's own: tile-infer-layouts makes it}}
  %y = tile.convert_layout %x : tensor<64xf32> -> tensor<64xf32>
  tile.return
}
}

// -----

module attributes {tile.target = "sm_80"} {
tile.kernel @other(%A: memref<?xf32>, %i: index) {
  // expected-error@+1 {{expected ops of tile, arith and math, scf.for, scf.if, scf.while, memref.dim and tensor.splat in a kernel, got memref.load}}
  %x = memref.load %A[%i] : memref<?xf32>
  tile.return
}
}

// -----

module attributes {tile.target = "sm_80"} {
// expected-error@+1 {{expected a module of tile.kernel ops alone, got func.func}}
func.func private @helper()
tile.kernel @k() {
  tile.return
}
}

// -----

module attributes {tile.target = "sm_80"} {
tile.kernel @index_tile(%n: index) {
  // expected-error@+1 {{expected a tile of rank 1 to 4, of 1 to 16777216 elements of i1, i8 to i64, f16, bf16, f32, f64, f8E4M3FN or f8E5M2, got 'tensor<64xindex>'}}
  %x = tensor.splat %n : tensor<64xindex>
  tile.return
}
}

// -----

module attributes {tile.target = "sm_80"} {
tile.kernel @blocks() {
  // expected-error@+1 {{'scf.execute_region' op expected regions of one block: control flow is tile.for and scf}}
  scf.execute_region {
    cf.br ^next
  ^next:
    scf.yield
  }
  tile.return
}
}

// -----

module attributes {tile.target = "sm_80"} {
tile.kernel @padding(%v: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %x = arith.constant dense<0.0> : tensor<64xf32>
  // expected-error@+1 {{'tile.store' op has the attribute valid, which is the compiler's own}}
  tile.store %x, %v[%c0] {valid = array<i64: 3>} : tensor<64xf32>, memref<?xf32>
  tile.return
}
}

// -----

module attributes {tile.target = "sm_90a"} {
tile.kernel @print_of_8_bit_floats(%v: memref<?xf8E4M3FN>) {
  %c0 = arith.constant 0 : index
  %x = tile.load %v[%c0] : memref<?xf8E4M3FN> -> tensor<16xf8E4M3FN>
  // expected-error@+1 {{'tile.print' op expected values of 16 bits or more, or integers: convert 8-bit floats first}}
  tile.print "x", %x : tensor<16xf8E4M3FN>
  tile.return
}
}

// -----

module attributes {tile.target = "sm_90a"} {
tile.kernel @valid_of_assert(%c: i1, %x: f32) {
  %t = tensor.splat %x : tensor<4xf32>
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %holds = arith.cmpf ogt, %t, %zero : tensor<4xf32>
  // expected-error@+1 {{'tile.assert' op has the attribute valid, which is the compiler's own}}
  tile.assert %holds, "t" {valid = array<i64: 3>} : tensor<4xi1>
  tile.return
}
}

// -----

module attributes {tile.target = "sm_90a"} {
tile.kernel @assert_in_a_reduction(%v: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %x = tile.load %v[%c0] : memref<?xf32> -> tensor<16xf32>
  %s = tile.reduce %x axis 0 {
  ^bb0(%a: f32, %b: f32):
    %holds = arith.cmpf ogt, %a, %b : f32
    // expected-error@+1 {{'tile.assert' op expected nothing but arithmetic in a combining region}}
    tile.assert %holds, "a" : i1
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  } : (tensor<16xf32>) -> f32
  tile.return
}
}

// -----

module attributes {tile.target = "sm_80"} {
tile.kernel @scaled_8_bit_floats() {
  %a = arith.constant dense<0.0> : tensor<64x64xf8E4M3FN>
  %s = arith.constant dense<127> : tensor<64x2xi8>
  %acc = arith.constant dense<0.0> : tensor<64x64xf32>
  // expected-error@+1 {{'tile.dot_scaled' op cvt e4m3x2/e5m2x2 needs sm_89, }}
  %d = tile.dot_scaled %a, %s, %a, %s, %acc : tensor<64x64xf8E4M3FN>, tensor<64x2xi8>, tensor<64x64xf8E4M3FN>, tensor<64x2xi8> -> tensor<64x64xf32>
  tile.return
}
}

// -----

module attributes {tile.target = "sm_90a"} {
tile.kernel @taking_turns(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{expected order = cooperative or auto: that groups take turns (pingpong) is not there yet}}
  tile.for %i = %c0 to %n step %c1 pipeline(order = pingpong) {
  }
  tile.return
}
}
