// RUN: headrace-opt %s --split-input-file --verify-diagnostics

// Loads, stores, dots and changes of shape: one constraint for each chunk. C1.. are those of the op's description.

tile.kernel @axis() {
  // expected-error@+1 {{'tile.program_id' op attribute 'axis' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative whose maximum value is 2}}
  %i = tile.program_id 3
  tile.return
}

// -----

tile.kernel @grid_of_none() {
  // expected-error@+1 {{'tile.grid' op expected 1 to 3 sizes, got 0}}
  "tile.grid"() : () -> ()
  tile.return
}

// -----

tile.kernel @grid_of_four(%n: index) {
  // expected-error@+1 {{'tile.grid' op expected 1 to 3 sizes, got 4}}
  tile.grid %n, %n, %n, %n
  tile.return
}

// -----

tile.kernel @trips(%n: index) {
  // expected-error@+1 {{'tile.grid' op expected 1 to 2147483647 trips of a persistent grid, got 0}}
  tile.grid %n persistent trips 0
  tile.return
}

// -----

tile.kernel @trips_of_a_plain_grid(%n: index) {
  // expected-error@+1 {{'tile.grid' op expected 1 to 2147483647 trips of a persistent grid, got 2}}
  "tile.grid"(%n) {trips = 2 : i64} : (index) -> ()
  tile.return
}

// -----

tile.kernel @group(%n: index) {
  // expected-error@+1 {{'tile.grouped_index' op attribute 'group' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  %r, %c = tile.grouped_index %n of %n x %n group 0
  tile.return
}

// -----

tile.kernel @divisor(%n: index) {
  // expected-error@+1 {{'tile.assume' op attribute 'divisor' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  %m = tile.assume %n multiple_of 0
  tile.return
}

// -----

tile.kernel @tile_of_rank_5(%A: memref<?x?xf32>, %i: index) {
  // expected-error@+1 {{'tile.load' op expected a tile of rank 1 to 4, got 'tensor<4x4x4x4x4xf32>'}}
  %a = tile.load %A[%i, %i] : memref<?x?xf32> -> tensor<4x4x4x4x4xf32>
  tile.return
}

// -----

tile.kernel @empty_tile(%A: memref<?x?xf32>, %i: index) {
  // expected-error@+1 {{'tile.load' op expected a tile of 1 to 16777216 elements, got 'tensor<4x0xf32>'}}
  %a = tile.load %A[%i, %i] : memref<?x?xf32> -> tensor<4x0xf32>
  tile.return
}

// -----

tile.kernel @huge_tile(%A: memref<?x?xf32>, %i: index) {
  // expected-error@+1 {{'tile.load' op expected a tile of 1 to 16777216 elements, got 'tensor<4194304x4194304xf32>'}}
  %a = tile.load %A[%i, %i] : memref<?x?xf32> -> tensor<4194304x4194304xf32>
  tile.return
}

// -----

// C1 of load.
tile.kernel @load_offsets(%A: memref<?x?xf32>, %i: index) {
  // expected-error@+1 {{'tile.load' op expected one offset for each dimension of the array, got 1 for 2}}
  %a = tile.load %A[%i] : memref<?x?xf32> -> tensor<4x4xf32>
  tile.return
}

// -----

// C1 of load.
tile.kernel @load_rank(%A: memref<?x?xf32>, %i: index) {
  // expected-error@+1 {{'tile.load' op expected a tile of at most the array's rank 2, got 'tensor<4x4x4xf32>'}}
  %a = tile.load %A[%i, %i] : memref<?x?xf32> -> tensor<4x4x4xf32>
  tile.return
}

// -----

// C2 of load.
tile.kernel @load_type(%A: memref<?x?xf32>, %i: index) {
  // expected-error@+1 {{'tile.load' op expected elements of type 'f32', got 'tensor<4x4xf16>'}}
  %a = tile.load %A[%i, %i] : memref<?x?xf32> -> tensor<4x4xf16>
  tile.return
}

// -----

// C3 of load.
tile.kernel @load_fill(%A: memref<?x?xf32>, %i: index) {
  // expected-error@+1 {{'tile.load' op expected a fill of type 'f32', got 1 : i32}}
  %a = tile.load %A[%i, %i] {fill = 1 : i32} : memref<?x?xf32> -> tensor<4x4xf32>
  tile.return
}

// -----

tile.kernel @load_dynamic(%A: memref<?xf32>, %i: index) {
  // expected-error@+1 {{'tile.load' op result #0 must be statically shaped tensor of any type values, but got 'tensor<?xf32>'}}
  %a = tile.load %A[%i] : memref<?xf32> -> tensor<?xf32>
  tile.return
}

// -----

// C1 of store.
tile.kernel @store_offsets(%A: memref<?xf32>, %i: index) {
  %a = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error@+1 {{'tile.store' op expected one offset for each dimension of the array, got 2 for 1}}
  tile.store %a, %A[%i, %i] : tensor<4xf32>, memref<?xf32>
  tile.return
}

// -----

// C2 of store.
tile.kernel @store_type(%A: memref<?xf16>, %i: index) {
  %a = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error@+1 {{'tile.store' op expected elements of type 'f16', got 'tensor<4xf32>'}}
  tile.store %a, %A[%i] : tensor<4xf32>, memref<?xf16>
  tile.return
}

// -----

// C1 of convert_layout.
tile.kernel @convert(%i: index) {
  %a = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error@+1 {{'tile.convert_layout' op expected one shape and element type, got 'tensor<4xf32>' and 'tensor<8xf32>'}}
  %b = tile.convert_layout %a : tensor<4xf32> -> tensor<8xf32>
  tile.return
}
