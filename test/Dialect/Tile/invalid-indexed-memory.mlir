// RUN: headrace-opt %s --split-input-file --verify-diagnostics

// Single elements, elements by index and atomic updates: one constraint for each chunk.

func.func @load_scalar_offsets(%A: memref<?x?xf32>, %i: index) {
  // expected-error@+1 {{'tile.load_scalar' op expected one offset for each dimension of the array, got 1 for 2}}
  %s = tile.load_scalar %A[%i] : memref<?x?xf32> -> f32
  return
}

// -----

func.func @load_scalar_type(%A: memref<?xf32>, %i: index) {
  // expected-error@+1 {{'tile.load_scalar' op expected a scalar of type 'f32', got 'i32'}}
  %s = tile.load_scalar %A[%i] : memref<?xf32> -> i32
  return
}

// -----

func.func @store_scalar_offsets(%A: memref<?xf32>, %i: index, %s: f32) {
  // expected-error@+1 {{'tile.store_scalar' op expected one offset for each dimension of the array, got 2 for 1}}
  tile.store_scalar %s, %A[%i, %i] : f32, memref<?xf32>
  return
}

// -----

func.func @store_scalar_type(%A: memref<?xf32>, %i: index, %t: tensor<1xf32>) {
  // expected-error@+1 {{'tile.store_scalar' op expected a scalar of type 'f32', got 'tensor<1xf32>'}}
  tile.store_scalar %t, %A[%i] : tensor<1xf32>, memref<?xf32>
  return
}

// -----

func.func @gather_positions(%A: memref<?x?xf32>, %p: tensor<8xi32>) {
  // expected-error@+1 {{'tile.gather' op expected one offset for each dimension of the array, got 1 for 2}}
  %g = tile.gather %A[%p] : memref<?x?xf32>, (tensor<8xi32>) -> tensor<8xf32>
  return
}

// -----

func.func @gather_rank(%A: memref<?xf32>, %p: tensor<8xi32>) {
  // expected-error@+1 {{'tile.gather' op expected a tile of at most the array's rank 1, got 'tensor<8x8xf32>'}}
  %g = tile.gather %A[%p] : memref<?xf32>, (tensor<8xi32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @gather_elements(%A: memref<?xf32>, %p: tensor<8xi32>) {
  // expected-error@+1 {{'tile.gather' op expected elements of type 'f32', got 'tensor<8xf16>'}}
  %g = tile.gather %A[%p] : memref<?xf32>, (tensor<8xi32>) -> tensor<8xf16>
  return
}

// -----

func.func @gather_leading_position(%A: memref<?x?xf32>, %p: tensor<8xi32>, %i: index) {
  // expected-error@+1 {{'tile.gather' op expected position 0 to be an index: the tile has no such dimension}}
  %g = tile.gather %A[%p, %i] : memref<?x?xf32>, (tensor<8xi32>, index) -> tensor<8xf32>
  return
}

// -----

func.func @gather_extent(%A: memref<?x?xf32>, %p: tensor<16xi32>, %i: index) {
  // expected-error@+1 {{'tile.gather' op expected position 0 to be an index, or i32 or i64 places of 8 slices or of all elements, got 'tensor<16xi32>'}}
  %g = tile.gather %A[%p, %i] : memref<?x?xf32>, (tensor<16xi32>, index) -> tensor<8x16xf32>
  return
}

// -----

// Position 2 of the array is dimension 1 of the tile.
func.func @gather_extent_after_leading(%A: memref<?x?x?xf32>, %p: tensor<8xi32>, %i: index) {
  // expected-error@+1 {{'tile.gather' op expected position 2 to be an index, or i32 or i64 places of 16 slices or of all elements, got 'tensor<8xi32>'}}
  %g = tile.gather %A[%i, %i, %p] : memref<?x?x?xf32>, (index, index, tensor<8xi32>) -> tensor<8x16xf32>
  return
}

// -----

func.func @gather_place_type(%A: memref<?xf32>, %p: tensor<8xi16>) {
  // expected-error@+1 {{'tile.gather' op expected position 0 to be an index, or i32 or i64 places of 8 slices or of all elements, got 'tensor<8xi16>'}}
  %g = tile.gather %A[%p] : memref<?xf32>, (tensor<8xi16>) -> tensor<8xf32>
  return
}

// -----

func.func @gather_places_of_elements(%A: memref<?x?xf32>, %p: tensor<16x8xi32>, %i: index) {
  // expected-error@+1 {{'tile.gather' op expected position 1 to be an index, or i32 or i64 places of 16 slices or of all elements, got 'tensor<16x8xi32>'}}
  %g = tile.gather %A[%i, %p] : memref<?x?xf32>, (index, tensor<16x8xi32>) -> tensor<8x16xf32>
  return
}

// -----

func.func @gather_fill(%A: memref<?xf32>, %p: tensor<8xi32>) {
  // expected-error@+1 {{'tile.gather' op expected a fill of type 'f32', got 1 : i32}}
  %g = tile.gather %A[%p] {fill = 1 : i32} : memref<?xf32>, (tensor<8xi32>) -> tensor<8xf32>
  return
}

// -----

func.func @scatter_elements(%A: memref<?xf32>, %p: tensor<8xi32>, %t: tensor<8xf16>) {
  // expected-error@+1 {{'tile.scatter' op expected elements of type 'f32', got 'tensor<8xf16>'}}
  tile.scatter %t, %A[%p] : tensor<8xf16>, memref<?xf32>, (tensor<8xi32>)
  return
}

// -----

func.func @scatter_extent(%A: memref<?xf32>, %p: tensor<4xi64>, %t: tensor<8xf32>) {
  // expected-error@+1 {{'tile.scatter' op expected position 0 to be an index, or i32 or i64 places of 8 slices or of all elements, got 'tensor<4xi64>'}}
  tile.scatter %t, %A[%p] : tensor<8xf32>, memref<?xf32>, (tensor<4xi64>)
  return
}

// -----

func.func @scatter_combines_bytes(%A: memref<?xi8>, %p: tensor<8xi32>, %t: tensor<8xi8>) {
  // expected-error@+1 {{'tile.scatter' op expected elements of i32, i64, f16, bf16, f32 or f64 to combine atomically, got 'i8'}}
  tile.scatter combine #tile.combine<add> %t, %A[%p] : tensor<8xi8>, memref<?xi8>, (tensor<8xi32>)
  return
}

// -----

func.func @reduce_store_offsets(%A: memref<?x?xf32>, %i: index, %t: tensor<8xf32>) {
  // expected-error@+1 {{'tile.reduce_store' op expected one offset for each dimension of the array, got 1 for 2}}
  tile.reduce_store #tile.combine<add> %t, %A[%i] : tensor<8xf32>, memref<?x?xf32>
  return
}

// -----

func.func @reduce_store_rank(%A: memref<?xf32>, %i: index, %t: tensor<8x8xf32>) {
  // expected-error@+1 {{'tile.reduce_store' op expected a tile of at most the array's rank 1, got 'tensor<8x8xf32>'}}
  tile.reduce_store #tile.combine<max> %t, %A[%i] : tensor<8x8xf32>, memref<?xf32>
  return
}

// -----

func.func @reduce_store_elements(%A: memref<?xf8E5M2>, %i: index, %t: tensor<8xf8E5M2>) {
  // expected-error@+1 {{'tile.reduce_store' op expected elements of i32, i64, f16, bf16, f32 or f64 to combine atomically, got 'f8E5M2'}}
  tile.reduce_store #tile.combine<min> %t, %A[%i] : tensor<8xf8E5M2>, memref<?xf8E5M2>
  return
}

// -----

func.func @reduce_store_combine(%A: memref<?xf32>, %i: index, %t: tensor<8xf32>) {
  // expected-error@+2 {{expected ::headrace::tile::Combine to be one of: add, min, max}}
  // expected-error@+1 {{failed to parse Tile_CombineAttr parameter 'value' which is to be a `::headrace::tile::Combine`}}
  tile.reduce_store #tile.combine<mul> %t, %A[%i] : tensor<8xf32>, memref<?xf32>
  return
}

// -----

func.func @load_of_more_dimensions(%A: memref<?xf32>, %i: index) {
  // expected-error@+1 {{'tile.load' op expected a tile of at most the array's rank 1, got 'tensor<8x8xf32>'}}
  %a = tile.load %A[%i] : memref<?xf32> -> tensor<8x8xf32>
  return
}

// -----

func.func @store_of_more_dimensions(%A: memref<?xf32>, %i: index, %t: tensor<1x8xf32>) {
  // expected-error@+1 {{'tile.store' op expected a tile of at most the array's rank 1, got 'tensor<1x8xf32>'}}
  tile.store %t, %A[%i] : tensor<1x8xf32>, memref<?xf32>
  return
}

// -----

func.func @load_rank(%A: memref<?x?x?x?x?xf32>, %i: index) {
  // expected-error@+1 {{'tile.load' op expected a tile of rank 1 to 4, got 'tensor<1x1x1x1x1xf32>'}}
  %a = tile.load %A[%i, %i, %i, %i, %i] : memref<?x?x?x?x?xf32> -> tensor<1x1x1x1x1xf32>
  return
}
