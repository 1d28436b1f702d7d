// RUN: headrace-opt %s --split-input-file --verify-diagnostics

// Coordinates, transposes and reshapes: one constraint for each chunk.

func.func @iota_axis() {
  // expected-error@+1 {{'tile.iota' op expected an axis below the rank 2, got 2}}
  %i = tile.iota axis 2 : tensor<16x8xi32>
  return
}

// -----

func.func @iota_negative_axis() {
  // expected-error@+1 {{'tile.iota' op attribute 'axis' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  %i = tile.iota axis -1 : tensor<16xi32>
  return
}

// -----

func.func @iota_of_floats() {
  // expected-error@+1 {{'tile.iota' op expected elements that are sized integers, got 'tensor<16xf32>'}}
  %i = tile.iota axis 0 : tensor<16xf32>
  return
}

// -----

func.func @iota_of_indices() {
  // expected-error@+1 {{'tile.iota' op expected elements that are sized integers, got 'tensor<16xindex>'}}
  %i = tile.iota axis 0 : tensor<16xindex>
  return
}

// -----

func.func @iota_beyond_its_elements() {
  // expected-error@+1 {{'tile.iota' op expected elements that hold 128, got 'tensor<129xi8>'}}
  %i = tile.iota axis 0 : tensor<129xi8>
  return
}

// -----

// A single bit with a sign holds 0 alone.
func.func @iota_of_bits() {
  // expected-error@+1 {{'tile.iota' op expected elements that hold 1, got 'tensor<2xi1>'}}
  %i = tile.iota axis 0 : tensor<2xi1>
  return
}

// -----

func.func @iota_rank() {
  // expected-error@+1 {{'tile.iota' op expected a tile of rank 1 to 4, got 'tensor<2x2x2x2x2xi32>'}}
  %i = tile.iota axis 0 : tensor<2x2x2x2x2xi32>
  return
}

// -----

func.func @iota_size() {
  // expected-error@+1 {{'tile.iota' op expected a tile of 1 to 16777216 elements, got 'tensor<4096x4097xi32>'}}
  %i = tile.iota axis 0 : tensor<4096x4097xi32>
  return
}

// -----

func.func @transpose_of_too_few(%a: tensor<16x8xf32>) {
  // expected-error@+1 {{'tile.transpose' op expected a permutation of the source's 2 dimensions}}
  %b = tile.transpose %a [0] : tensor<16x8xf32> -> tensor<16x8xf32>
  return
}

// -----

func.func @transpose_twice_the_same(%a: tensor<16x16xf32>) {
  // expected-error@+1 {{'tile.transpose' op expected a permutation of the source's 2 dimensions}}
  %b = tile.transpose %a [0, 0] : tensor<16x16xf32> -> tensor<16x16xf32>
  return
}

// -----

func.func @transpose_beyond_the_rank(%a: tensor<16x8xf32>) {
  // expected-error@+1 {{'tile.transpose' op expected a permutation of the source's 2 dimensions}}
  %b = tile.transpose %a [1, 2] : tensor<16x8xf32> -> tensor<8x16xf32>
  return
}

// -----

func.func @transpose_below_zero(%a: tensor<16x8xf32>) {
  // expected-error@+1 {{'tile.transpose' op expected a permutation of the source's 2 dimensions}}
  %b = tile.transpose %a [-1, 0] : tensor<16x8xf32> -> tensor<8x16xf32>
  return
}

// -----

func.func @transpose_extents(%a: tensor<16x8xf32>) {
  // expected-error@+1 {{'tile.transpose' op expected the source's elements with its extents permuted, got 'tensor<16x8xf32>'}}
  %b = tile.transpose %a [1, 0] : tensor<16x8xf32> -> tensor<16x8xf32>
  return
}

// -----

// Dimension 0 of the result is dimension 2 of the source, not the other way round.
func.func @transpose_the_other_way(%a: tensor<2x3x4xf32>) {
  // expected-error@+1 {{'tile.transpose' op expected the source's elements with its extents permuted, got 'tensor<3x4x2xf32>'}}
  %b = tile.transpose %a [2, 0, 1] : tensor<2x3x4xf32> -> tensor<3x4x2xf32>
  return
}

// -----

func.func @transpose_elements(%a: tensor<16x8xf32>) {
  // expected-error@+1 {{'tile.transpose' op expected the source's elements with its extents permuted, got 'tensor<8x16xi32>'}}
  %b = tile.transpose %a [1, 0] : tensor<16x8xf32> -> tensor<8x16xi32>
  return
}

// -----

func.func @transpose_source(%a: tensor<f32>) {
  // expected-error@+1 {{'tile.transpose' op expected a tile of rank 1 to 4, got 'tensor<f32>'}}
  %b = tile.transpose %a [] : tensor<f32> -> tensor<f32>
  return
}

// -----

func.func @reshape_count(%a: tensor<16x8xf32>) {
  // expected-error@+1 {{'tile.reshape' op expected as many elements of one type, got 'tensor<16x8xf32>' and 'tensor<64xf32>'}}
  %b = tile.reshape %a : tensor<16x8xf32> -> tensor<64xf32>
  return
}

// -----

func.func @reshape_elements(%a: tensor<16x8xf32>) {
  // expected-error@+1 {{'tile.reshape' op expected as many elements of one type, got 'tensor<16x8xf32>' and 'tensor<128xi32>'}}
  %b = tile.reshape %a : tensor<16x8xf32> -> tensor<128xi32>
  return
}

// -----

func.func @reshape_to_a_scalar(%a: tensor<1xf32>) {
  // expected-error@+1 {{'tile.reshape' op expected a tile of rank 1 to 4, got 'tensor<f32>'}}
  %b = tile.reshape %a : tensor<1xf32> -> tensor<f32>
  return
}

// -----

func.func @split_of_three(%a: tensor<16x3xf32>) {
  // expected-error@+1 {{'tile.split' op expected a last dimension of 2, which the halves lack, and one type of elements, got 'tensor<16x3xf32>' and halves 'tensor<16xf32>'}}
  %b, %c = tile.split %a : tensor<16x3xf32> -> tensor<16xf32>
  return
}

// -----

func.func @split_along_another_dimension(%a: tensor<2x16xf32>) {
  // expected-error@+1 {{'tile.split' op expected a last dimension of 2, which the halves lack, and one type of elements, got 'tensor<2x16xf32>' and halves 'tensor<16xf32>'}}
  %b, %c = tile.split %a : tensor<2x16xf32> -> tensor<16xf32>
  return
}

// -----

func.func @split_extents(%a: tensor<16x2xf32>) {
  // expected-error@+1 {{'tile.split' op expected a last dimension of 2, which the halves lack, and one type of elements, got 'tensor<16x2xf32>' and halves 'tensor<32xf32>'}}
  %b, %c = tile.split %a : tensor<16x2xf32> -> tensor<32xf32>
  return
}

// -----

func.func @split_elements(%a: tensor<16x2xf32>) {
  // expected-error@+1 {{'tile.split' op expected a last dimension of 2, which the halves lack, and one type of elements, got 'tensor<16x2xf32>' and halves 'tensor<16xi32>'}}
  %b, %c = tile.split %a : tensor<16x2xf32> -> tensor<16xi32>
  return
}

// -----

func.func @split_to_scalars(%a: tensor<2xf32>) {
  // expected-error@+1 {{'tile.split' op expected a tile of rank 1 to 4, got 'tensor<f32>'}}
  %b, %c = tile.split %a : tensor<2xf32> -> tensor<f32>
  return
}

// -----

func.func @join_extents(%a: tensor<16xf32>) {
  // expected-error@+1 {{'tile.join' op expected a last dimension of 2, which the halves lack, and one type of elements, got 'tensor<2x16xf32>' and halves 'tensor<16xf32>'}}
  %b = tile.join %a, %a : tensor<16xf32> -> tensor<2x16xf32>
  return
}

// -----

func.func @join_elements(%a: tensor<16xf32>) {
  // expected-error@+1 {{'tile.join' op expected a last dimension of 2, which the halves lack, and one type of elements, got 'tensor<16x2xf16>' and halves 'tensor<16xf32>'}}
  %b = tile.join %a, %a : tensor<16xf32> -> tensor<16x2xf16>
  return
}

// -----

func.func @join_rank(%a: tensor<2x2x2x2xf32>) {
  // expected-error@+1 {{'tile.join' op expected a tile of rank 1 to 4, got 'tensor<2x2x2x2x2xf32>'}}
  %b = tile.join %a, %a : tensor<2x2x2x2xf32> -> tensor<2x2x2x2x2xf32>
  return
}
