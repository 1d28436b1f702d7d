// RUN: headrace-opt %s --split-input-file --verify-diagnostics

// Asserts and prints: one constraint for each chunk.

func.func @assert_condition(%x: tensor<4xf32>) {
  // expected-error@+1 {{'tile.assert' op expected a condition of i1, or a tile of them, got 'tensor<4xf32>'}}
  tile.assert %x, "x" : tensor<4xf32>
  return
}

// -----

func.func @assert_scalar_condition(%x: i32) {
  // expected-error@+1 {{'tile.assert' op operand #0 must be 1-bit signless integer or statically shaped tensor of any type values, but got 'i32'}}
  tile.assert %x, "x" : i32
  return
}

// -----

func.func @assert_empty_message(%c: i1) {
  // expected-error@+1 {{'tile.assert' op expected a message of 1 to 1000 bytes, got 0}}
  tile.assert %c, "" : i1
  return
}

// -----

func.func @assert_two_lines(%c: i1) {
  // expected-error@+1 {{'tile.assert' op expected a message of one line, without control characters, got character 10 at byte 3}}
  tile.assert %c, "two\nlines" : i1
  return
}

// -----

func.func @assert_valid(%c: tensor<4xi1>) {
  // expected-error@+1 {{'tile.assert' op expected valid extents of 1 to the tile's, one for each dimension of 'tensor<4xi1>'}}
  tile.assert %c, "c" {valid = array<i64: 5>} : tensor<4xi1>
  return
}

// -----

func.func @print_text(%x: f32) {
  // expected-error@+1 {{'tile.print' op expected a text of 1 to 1000 bytes, got 0}}
  tile.print "", %x : f32
  return
}

// -----

func.func @print_values(%x: vector<4xf32>) {
  // expected-error@+1 {{'tile.print' op expected values that are numbers or tiles of them, got 'vector<4xf32>'}}
  tile.print "x", %x : vector<4xf32>
  return
}

// -----

func.func @print_many(%x: f32) {
  // expected-error@+1 {{'tile.print' op expected at most 8 values, got 9}}
  tile.print "x", %x, %x, %x, %x, %x, %x, %x, %x, %x : f32, f32, f32, f32, f32, f32, f32, f32, f32
  return
}

// -----

func.func @print_shapes(%x: tensor<4xf32>, %y: tensor<8xf32>) {
  // expected-error@+1 {{'tile.print' op expected tiles of one shape, got 'tensor<4xf32>' and 'tensor<8xf32>'}}
  tile.print "x", %x, %y : tensor<4xf32>, tensor<8xf32>
  return
}

// -----

func.func @print_valid(%x: f32) {
  // expected-error@+1 {{'tile.print' op expected a tile beside valid extents}}
  tile.print "x", %x {valid = array<i64: 4>} : f32
  return
}
