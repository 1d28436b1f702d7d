// RUN: headrace-opt %s --split-input-file --verify-diagnostics

// Reductions and scans: one constraint for each chunk.

func.func @no_sources() {
  // expected-error@+1 {{'tile.reduce' op expected sources, and as many results}}
  "tile.reduce"() <{axis = 0 : i64}> ({
    "tile.yield"() : () -> ()
  }) : () -> ()
  return
}

// -----

func.func @more_results(%x: tensor<8xf32>) {
  // expected-error@+1 {{'tile.reduce' op expected sources, and as many results}}
  %r:2 = tile.reduce %x axis 0 {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  } : (tensor<8xf32>) -> (f32, f32)
  return
}

// -----

func.func @scan_of_fewer_results(%x: tensor<8xf32>) {
  // expected-error@+1 {{'tile.scan' op expected sources, and as many results}}
  %r = tile.scan %x, %x axis 0 {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    tile.yield %a, %b : f32, f32
  } : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @source_rank(%x: tensor<2x2x2x2x2xf32>) {
  // expected-error@+1 {{'tile.reduce' op expected a tile of rank 1 to 4, got 'tensor<2x2x2x2x2xf32>'}}
  %r = tile.reduce %x axis 0 {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  } : (tensor<2x2x2x2x2xf32>) -> tensor<2x2x2x2xf32>
  return
}

// -----

func.func @source_shapes(%x: tensor<8x4xf32>, %y: tensor<4x8xf32>) {
  // expected-error@+1 {{'tile.reduce' op expected sources of one shape, got 'tensor<8x4xf32>' and 'tensor<4x8xf32>'}}
  %r:2 = tile.reduce %x, %y axis 0 {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    tile.yield %a, %b : f32, f32
  } : (tensor<8x4xf32>, tensor<4x8xf32>) -> (tensor<4xf32>, tensor<8xf32>)
  return
}

// -----

func.func @axis(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{'tile.reduce' op expected an axis below the rank 2, got 2}}
  %r = tile.reduce %x axis 2 {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  } : (tensor<8x4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @negative_axis(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{'tile.scan' op attribute 'axis' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  %r = tile.scan %x axis -1 {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  } : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @result_keeps_the_axis(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{'tile.reduce' op expected a result without dimension 1 of 'tensor<8x4xf32>', got 'tensor<8x1xf32>'}}
  %r = tile.reduce %x axis 1 {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  } : (tensor<8x4xf32>) -> tensor<8x1xf32>
  return
}

// -----

func.func @result_elements(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{'tile.reduce' op expected a result without dimension 0 of 'tensor<8x4xf32>', got 'tensor<4xf64>'}}
  %r = tile.reduce %x axis 0 {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  } : (tensor<8x4xf32>) -> tensor<4xf64>
  return
}

// -----

// A tile of one dimension leaves a scalar, not a tile without dimensions.
func.func @result_of_rank_0(%x: tensor<8xf32>) {
  // expected-error@+1 {{'tile.reduce' op expected a result without dimension 0 of 'tensor<8xf32>', got 'tensor<f32>'}}
  %r = tile.reduce %x axis 0 {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  } : (tensor<8xf32>) -> tensor<f32>
  return
}

// -----

func.func @scalar_of_another_type(%x: tensor<8xf32>) {
  // expected-error@+1 {{'tile.reduce' op expected a result without dimension 0 of 'tensor<8xf32>', got 'f64'}}
  %r = tile.reduce %x axis 0 {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  } : (tensor<8xf32>) -> f64
  return
}

// -----

// The second of two results.
func.func @second_result(%x: tensor<8x4xf32>, %i: tensor<8x4xi32>) {
  // expected-error@+1 {{'tile.reduce' op expected a result without dimension 1 of 'tensor<8x4xi32>', got 'tensor<4xi32>'}}
  %r:2 = tile.reduce %x, %i axis 1 {
  ^bb0(%a: f32, %b: i32, %c: f32, %d: i32):
    tile.yield %a, %b : f32, i32
  } : (tensor<8x4xf32>, tensor<8x4xi32>) -> (tensor<8xf32>, tensor<4xi32>)
  return
}

// -----

func.func @parts(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{'tile.reduce' op expected a result of the parts along dimension 1 of 'tensor<8x4xf32>', got 'tensor<8xf32>'}}
  %r = tile.reduce %x axis 1 attributes {parts = 2 : i64} {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  } : (tensor<8x4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @no_parts(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{'tile.reduce' op attribute 'parts' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  %r = tile.reduce %x axis 1 attributes {parts = 0 : i64} {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  } : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @scan_result(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{'tile.scan' op expected results of the sources' types, got 'tensor<8x4xf32>' and 'tensor<4x8xf32>'}}
  %r = tile.scan %x axis 0 {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  } : (tensor<8x4xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @scan_result_elements(%x: tensor<8xf32>) {
  // expected-error@+1 {{'tile.scan' op expected results of the sources' types, got 'tensor<8xf32>' and 'tensor<8xi32>'}}
  %r = tile.scan %x axis 0 {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  } : (tensor<8xf32>) -> tensor<8xi32>
  return
}

// -----

func.func @one_argument(%x: tensor<8xf32>) {
  // expected-error@+1 {{'tile.reduce' op expected a region with two scalars of each source's elements as arguments: the first partial results, then the second}}
  %r = tile.reduce %x axis 0 {
  ^bb0(%a: f32):
    tile.yield %a : f32
  } : (tensor<8xf32>) -> f32
  return
}

// -----

// Source by source is not the order.
func.func @arguments_in_pairs(%x: tensor<8xf32>, %i: tensor<8xi32>) {
  // expected-error@+1 {{'tile.scan' op expected a region with two scalars of each source's elements as arguments: the first partial results, then the second}}
  %r:2 = tile.scan %x, %i axis 0 {
  ^bb0(%a: f32, %b: f32, %c: i32, %d: i32):
    tile.yield %a, %c : f32, i32
  } : (tensor<8xf32>, tensor<8xi32>) -> (tensor<8xf32>, tensor<8xi32>)
  return
}

// -----

func.func @yields_nothing(%x: tensor<8xf32>) {
  // expected-error@+1 {{'tile.reduce' op expected a region that ends in tile.yield of one scalar of each source's elements}}
  %r = tile.reduce %x axis 0 {
  ^bb0(%a: f32, %b: f32):
    tile.yield
  } : (tensor<8xf32>) -> f32
  return
}

// -----

func.func @yields_another_type(%x: tensor<8xf32>) {
  // expected-error@+1 {{'tile.reduce' op expected a region that ends in tile.yield of one scalar of each source's elements}}
  %r = tile.reduce %x axis 0 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.cmpf olt, %a, %b : f32
    tile.yield %c : i1
  } : (tensor<8xf32>) -> f32
  return
}

// -----

func.func @other_terminator(%x: tensor<8xf32>) {
  // expected-error@+1 {{'tile.reduce' op expected a region that ends in tile.yield of one scalar of each source's elements}}
  %r = "tile.reduce"(%x) <{axis = 0 : i64}> ({
  ^bb0(%a: f32, %b: f32):
    "llvm.unreachable"() : () -> ()
  }) : (tensor<8xf32>) -> f32
  return
}

// -----

func.func @has_effects(%x: tensor<8xf32>) {
  %r = tile.reduce %x axis 0 {
  ^bb0(%a: f32, %b: f32):
    %n = arith.constant 1 : index
    // expected-error@+1 {{'tile.grid' op expected nothing but arithmetic in a combining region}}
    tile.grid %n
    tile.yield %a : f32
  } : (tensor<8xf32>) -> f32
  return
}

// -----

func.func @branches(%x: tensor<8xf32>) {
  %r = tile.scan %x axis 0 {
  ^bb0(%a: f32, %b: f32):
    %p = arith.cmpf olt, %a, %b : f32
    // expected-error@+1 {{'scf.if' op expected nothing but arithmetic in a combining region}}
    %c = scf.if %p -> (f32) {
      scf.yield %a : f32
    } else {
      scf.yield %b : f32
    }
    tile.yield %c : f32
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

// Regions see nothing of what is around them.
func.func @captures(%x: tensor<8xf32>, %s: f32) {
  // expected-note@+1 {{required by region isolation constraints}}
  %r = tile.reduce %x axis 0 {
  ^bb0(%a: f32, %b: f32):
    // expected-error@+1 {{'arith.addf' op using value defined outside the region}}
    %c = arith.addf %a, %s : f32
    tile.yield %c : f32
  } : (tensor<8xf32>) -> f32
  return
}
