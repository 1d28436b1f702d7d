// RUN: headrace-opt %s --split-input-file --verify-diagnostics

// tile.dot_scaled: one constraint for each chunk.

tile.kernel @rank() {
  %a = arith.constant dense<0.0> : tensor<64xf8E4M3FN>
  %sa = arith.constant dense<0> : tensor<64x2xi8>
  %b = arith.constant dense<0.0> : tensor<64x64xf8E4M3FN>
  %sb = arith.constant dense<0> : tensor<64x2xi8>
  %acc = arith.constant dense<0.0> : tensor<64x64xf32>
  // expected-error@+1 {{'tile.dot_scaled' op expected operands of rank 2, got 'tensor<64xf8E4M3FN>'}}
  %d = tile.dot_scaled %a, %sa, %b, %sb, %acc : tensor<64xf8E4M3FN>, tensor<64x2xi8>, tensor<64x64xf8E4M3FN>, tensor<64x2xi8> -> tensor<64x64xf32>
  tile.return
}

// -----

tile.kernel @numbers() {
  %a = arith.constant dense<0.0> : tensor<64x64xf8E4M3FN>
  %sa = arith.constant dense<0> : tensor<64x2xi8>
  %b = arith.constant dense<0.0> : tensor<64x64xf16>
  %sb = arith.constant dense<0> : tensor<64x2xi8>
  %acc = arith.constant dense<0.0> : tensor<64x64xf32>
  // expected-error@+1 {{'tile.dot_scaled' op expected numbers of f8E4M3FN or f8E5M2, or pairs of 4 bits in i8, got 'f16'}}
  %d = tile.dot_scaled %a, %sa, %b, %sb, %acc : tensor<64x64xf8E4M3FN>, tensor<64x2xi8>, tensor<64x64xf16>, tensor<64x2xi8> -> tensor<64x64xf32>
  tile.return
}

// -----

tile.kernel @scales() {
  %a = arith.constant dense<0.0> : tensor<64x64xf8E4M3FN>
  %sa = arith.constant dense<0.0> : tensor<64x2xf32>
  %b = arith.constant dense<0.0> : tensor<64x64xf8E4M3FN>
  %sb = arith.constant dense<0.0> : tensor<64x2xf32>
  %acc = arith.constant dense<0.0> : tensor<64x64xf32>
  // expected-error@+1 {{'tile.dot_scaled' op expected scales of i8 (powers of two) or of f8E4M3FN for both operands, got 'f32' and 'f32'}}
  %d = tile.dot_scaled %a, %sa, %b, %sb, %acc : tensor<64x64xf8E4M3FN>, tensor<64x2xf32>, tensor<64x64xf8E4M3FN>, tensor<64x2xf32> -> tensor<64x64xf32>
  tile.return
}

// -----

tile.kernel @two_scales() {
  %a = arith.constant dense<0> : tensor<64x32xi8>
  %sa = arith.constant dense<0> : tensor<64x2xi8>
  %b = arith.constant dense<0> : tensor<64x32xi8>
  %sb = arith.constant dense<0.0> : tensor<64x4xf8E4M3FN>
  %acc = arith.constant dense<0.0> : tensor<64x64xf32>
  // expected-error@+1 {{'tile.dot_scaled' op expected scales of i8 (powers of two) or of f8E4M3FN for both operands, got 'i8' and 'f8E4M3FN'}}
  %d = tile.dot_scaled %a, %sa, %b, %sb, %acc : tensor<64x32xi8>, tensor<64x2xi8>, tensor<64x32xi8>, tensor<64x4xf8E4M3FN> -> tensor<64x64xf32>
  tile.return
}

// -----

tile.kernel @factors_of_8_bits() {
  %a = arith.constant dense<0.0> : tensor<64x64xf8E4M3FN>
  %sa = arith.constant dense<0.0> : tensor<64x4xf8E4M3FN>
  %b = arith.constant dense<0.0> : tensor<64x64xf8E4M3FN>
  %sb = arith.constant dense<0.0> : tensor<64x4xf8E4M3FN>
  %acc = arith.constant dense<0.0> : tensor<64x64xf32>
  // expected-error@+1 {{'tile.dot_scaled' op expected scales of i8 for numbers of 8 bits, got 'f8E4M3FN'}}
  %d = tile.dot_scaled %a, %sa, %b, %sb, %acc : tensor<64x64xf8E4M3FN>, tensor<64x4xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<64x4xf8E4M3FN> -> tensor<64x64xf32>
  tile.return
}

// -----

tile.kernel @k() {
  %a = arith.constant dense<0.0> : tensor<64x64xf8E4M3FN>
  %sa = arith.constant dense<0> : tensor<64x2xi8>
  %b = arith.constant dense<0.0> : tensor<64x128xf8E4M3FN>
  %sb = arith.constant dense<0> : tensor<64x4xi8>
  %acc = arith.constant dense<0.0> : tensor<64x64xf32>
  // expected-error@+1 {{'tile.dot_scaled' op expected operands of one K, got 64 numbers in a and 128 in b}}
  %d = tile.dot_scaled %a, %sa, %b, %sb, %acc : tensor<64x64xf8E4M3FN>, tensor<64x2xi8>, tensor<64x128xf8E4M3FN>, tensor<64x4xi8> -> tensor<64x64xf32>
  tile.return
}

// -----

tile.kernel @accumulator() {
  %a = arith.constant dense<0.0> : tensor<64x64xf8E4M3FN>
  %sa = arith.constant dense<0> : tensor<64x2xi8>
  %b = arith.constant dense<0.0> : tensor<64x64xf8E4M3FN>
  %sb = arith.constant dense<0> : tensor<64x2xi8>
  %acc = arith.constant dense<0.0> : tensor<64x32xf32>
  // expected-error@+1 {{'tile.dot_scaled' op expected an accumulator of 64 x 64 of f32 from a and b, got 'tensor<64x32xf32>'}}
  %d = tile.dot_scaled %a, %sa, %b, %sb, %acc : tensor<64x64xf8E4M3FN>, tensor<64x2xi8>, tensor<64x64xf8E4M3FN>, tensor<64x2xi8> -> tensor<64x32xf32>
  tile.return
}

// -----

tile.kernel @accumulator_of_f16() {
  %a = arith.constant dense<0.0> : tensor<64x64xf8E4M3FN>
  %sa = arith.constant dense<0> : tensor<64x2xi8>
  %b = arith.constant dense<0.0> : tensor<64x64xf8E4M3FN>
  %sb = arith.constant dense<0> : tensor<64x2xi8>
  %acc = arith.constant dense<0.0> : tensor<64x64xf16>
  // expected-error@+1 {{'tile.dot_scaled' op expected an accumulator of 64 x 64 of f32 from a and b, got 'tensor<64x64xf16>'}}
  %d = tile.dot_scaled %a, %sa, %b, %sb, %acc : tensor<64x64xf8E4M3FN>, tensor<64x2xi8>, tensor<64x64xf8E4M3FN>, tensor<64x2xi8> -> tensor<64x64xf16>
  tile.return
}

// -----

tile.kernel @blocks() {
  %a = arith.constant dense<0.0> : tensor<64x48xf8E4M3FN>
  %sa = arith.constant dense<0> : tensor<64x1xi8>
  %b = arith.constant dense<0.0> : tensor<64x48xf8E4M3FN>
  %sb = arith.constant dense<0> : tensor<64x1xi8>
  %acc = arith.constant dense<0.0> : tensor<64x64xf32>
  // expected-error@+1 {{'tile.dot_scaled' op expected K to be a multiple of 32, the numbers of a scale, got 48}}
  %d = tile.dot_scaled %a, %sa, %b, %sb, %acc : tensor<64x48xf8E4M3FN>, tensor<64x1xi8>, tensor<64x48xf8E4M3FN>, tensor<64x1xi8> -> tensor<64x64xf32>
  tile.return
}

// -----

tile.kernel @scales_of_a() {
  %a = arith.constant dense<0.0> : tensor<64x64xf8E4M3FN>
  %sa = arith.constant dense<0> : tensor<64x4xi8>
  %b = arith.constant dense<0.0> : tensor<64x64xf8E4M3FN>
  %sb = arith.constant dense<0> : tensor<64x2xi8>
  %acc = arith.constant dense<0.0> : tensor<64x64xf32>
  // expected-error@+1 {{'tile.dot_scaled' op expected scales of 64 x 2, one for 32 numbers, got 'tensor<64x4xi8>'}}
  %d = tile.dot_scaled %a, %sa, %b, %sb, %acc : tensor<64x64xf8E4M3FN>, tensor<64x4xi8>, tensor<64x64xf8E4M3FN>, tensor<64x2xi8> -> tensor<64x64xf32>
  tile.return
}

// -----

tile.kernel @scales_of_b() {
  %a = arith.constant dense<0> : tensor<64x32xi8>
  %sa = arith.constant dense<0.0> : tensor<64x4xf8E4M3FN>
  %b = arith.constant dense<0> : tensor<64x32xi8>
  %sb = arith.constant dense<0.0> : tensor<32x4xf8E4M3FN>
  %acc = arith.constant dense<0.0> : tensor<64x64xf32>
  // expected-error@+1 {{'tile.dot_scaled' op expected scales of 64 x 4, one for 16 numbers, got 'tensor<32x4xf8E4M3FN>'}}
  %d = tile.dot_scaled %a, %sa, %b, %sb, %acc : tensor<64x32xi8>, tensor<64x4xf8E4M3FN>, tensor<64x32xi8>, tensor<32x4xf8E4M3FN> -> tensor<64x64xf32>
  tile.return
}
