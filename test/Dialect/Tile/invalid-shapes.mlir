// RUN: headrace-opt %s --split-input-file --verify-diagnostics

// Dots, expansions and broadcasts: one constraint for each chunk. C1.. are those of the op's description.

func.func @dot_rank(%a: tensor<16xf16>, %b: tensor<16x8xf16>, %c: tensor<8xf32>) {
  // expected-error@+1 {{'tile.dot' op expected operands of rank 2, got 'tensor<16xf16>', 'tensor<16x8xf16>' and 'tensor<8xf32>'}}
  %d = tile.dot %a, %b, %c : tensor<16xf16>, tensor<16x8xf16> -> tensor<8xf32>
  return
}

// -----

func.func @dot_elements(%a: tensor<16x16xcomplex<f32>>, %c: tensor<16x16xf32>) {
  // expected-error@+1 {{'tile.dot' op expected elements that are numbers, got 'tensor<16x16xcomplex<f32>>'}}
  %d = tile.dot %a, %a, %c : tensor<16x16xcomplex<f32>>, tensor<16x16xcomplex<f32>> -> tensor<16x16xf32>
  return
}

// -----

// C1 of dot.
func.func @dot_k(%a: tensor<16x32xf16>, %b: tensor<16x8xf16>, %c: tensor<16x8xf32>) {
  // expected-error@+1 {{'tile.dot' op expected operands of one K, got 32 in a and 16 in b}}
  %d = tile.dot %a, %b, %c : tensor<16x32xf16>, tensor<16x8xf16> -> tensor<16x8xf32>
  return
}

// -----

// C1 of dot: transposes count.
func.func @dot_k_transposed(%a: tensor<16x32xf16>, %b: tensor<16x8xf16>, %c: tensor<16x8xf32>) {
  // expected-error@+1 {{'tile.dot' op expected operands of one K, got 16 in a and 8 in b}}
  %d = tile.dot %a transpose_a, %b transpose_b, %c : tensor<16x32xf16>, tensor<16x8xf16> -> tensor<16x8xf32>
  return
}

// -----

// C1 of dot.
func.func @dot_accumulator(%a: tensor<16x32xf16>, %b: tensor<32x8xf16>, %c: tensor<8x16xf32>) {
  // expected-error@+1 {{'tile.dot' op expected an accumulator of 16 x 8 from a and b, got 'tensor<8x16xf32>'}}
  %d = tile.dot %a, %b, %c : tensor<16x32xf16>, tensor<32x8xf16> -> tensor<8x16xf32>
  return
}

// -----

// C2 of dot.
func.func @dot_types(%a: tensor<16x16xf16>, %b: tensor<16x16xbf16>, %c: tensor<16x16xf32>) {
  // expected-error@+1 {{'tile.dot' op no product of 'f16' and 'bf16' into 'f32'; legal: f16, bf16 and f32 pairs into f32, fp8 pairs into f32, i8 into i32, f64 into f64}}
  %d = tile.dot %a, %b, %c : tensor<16x16xf16>, tensor<16x16xbf16> -> tensor<16x16xf32>
  return
}

// -----

// C2 of dot.
func.func @dot_integer_accumulator(%a: tensor<16x16xi8>, %c: tensor<16x16xf32>) {
  // expected-error@+1 {{'tile.dot' op no product of 'i8' and 'i8' into 'f32'; legal:}}
  %d = tile.dot %a, %a, %c : tensor<16x16xi8>, tensor<16x16xi8> -> tensor<16x16xf32>
  return
}

// -----

// C3 of dot.
func.func @dot_precision(%a: tensor<16x16xf16>, %c: tensor<16x16xf32>) {
  // expected-error@+1 {{'tile.dot' op precision is for f32 operands, got 'f16'}}
  %d = tile.dot %a, %a, %c {precision = #tile.precision<tf32>} : tensor<16x16xf16>, tensor<16x16xf16> -> tensor<16x16xf32>
  return
}

// -----

func.func @expand_axis(%a: tensor<16xf16>) {
  // expected-error@+1 {{'tile.expand_dims' op expected axis 0 to 1 and a result of rank 2}}
  %b = tile.expand_dims %a axis 2 : tensor<16xf16> -> tensor<16x1xf16>
  return
}

// -----

func.func @expand_rank(%a: tensor<16xf16>) {
  // expected-error@+1 {{'tile.expand_dims' op expected axis 0 to 1 and a result of rank 2}}
  %b = tile.expand_dims %a axis 0 : tensor<16xf16> -> tensor<16xf16>
  return
}

// -----

func.func @expand_shape(%a: tensor<16xf16>) {
  // expected-error@+1 {{'tile.expand_dims' op expected the source's elements with an extent of 1 at axis 0, got 'tensor<16x1xf16>'}}
  %b = tile.expand_dims %a axis 0 : tensor<16xf16> -> tensor<16x1xf16>
  return
}

// -----

func.func @broadcast_type(%a: tensor<16xf16>) {
  // expected-error@+1 {{'tile.broadcast' op expected one rank and element type, got 'tensor<16xf16>' and 'tensor<16xf32>'}}
  %b = tile.broadcast %a : tensor<16xf16> -> tensor<16xf32>
  return
}

// -----

func.func @broadcast_shape(%a: tensor<2x16xf16>) {
  // expected-error@+1 {{'tile.broadcast' op expected each extent to stay or to grow from 1, got 'tensor<2x16xf16>' to 'tensor<4x16xf16>'}}
  %b = tile.broadcast %a : tensor<2x16xf16> -> tensor<4x16xf16>
  return
}
