// RUN: headrace-opt %s --split-input-file --verify-diagnostics

// Kernels and their arguments: one constraint for each chunk.

// expected-error@+1 {{'tile.kernel' op expected a body}}
tile.kernel private @no_body(index)

// -----

// expected-error@+1 {{'tile.kernel' op expected no results, got 1}}
tile.kernel @results(%n: index) -> index {
  tile.return
}

// -----

// expected-error@+1 {{'tile.kernel' op expected one block: control flow is tile.for and scf}}
tile.kernel @blocks() {
  cf.br ^next
^next:
  tile.return
}

// -----

// expected-error@+1 {{'tile.kernel' op expected tile.return at the end of the body}}
"tile.kernel"() <{function_type = () -> (), sym_name = "no_return"}> ({
  llvm.unreachable
}) : () -> ()

// -----

// expected-error@+1 {{'tile.kernel' op argument 1: expected an array or a scalar, got 'tensor<4xf32>'}}
tile.kernel @tensor_argument(%n: index, %t: tensor<4xf32>) {
  tile.return
}

// -----

// expected-error@+1 {{'tile.kernel' op argument 0: expected an array of rank 1 to 5, got 'memref<4x4x4x4x4x4xf32>'}}
tile.kernel @rank_3(%A: memref<4x4x4x4x4x4xf32>) {
  tile.return
}

// -----

// expected-error@+1 {{'tile.kernel' op argument 0: expected an array of rank 1 to 5, got 'memref<f32>'}}
tile.kernel @rank_0(%A: memref<f32>) {
  tile.return
}

// -----

// expected-error@+1 {{'tile.kernel' op argument 0: expected elements of whole bytes, got 'f4E2M1FN'}}
tile.kernel @half_bytes(%A: memref<?xf4E2M1FN>) {
  tile.return
}

// -----

// expected-error@+1 {{'tile.kernel' op argument 0: expected elements of whole bytes, got 'complex<f32>'}}
tile.kernel @complex_elements(%A: memref<?xcomplex<f32>>) {
  tile.return
}

// -----

// expected-error@+1 {{'tile.kernel' op argument 0: expected elements of whole bytes, got 'index'}}
tile.kernel @index_elements(%A: memref<?xindex>) {
  tile.return
}

// -----

// expected-error@+1 {{'tile.kernel' op argument 0: expected strides and no offset, got 'memref<?xf32, strided<[1], offset: 4>>'}}
tile.kernel @offset(%A: memref<?xf32, strided<[1], offset: 4>>) {
  tile.return
}

// -----

// expected-error@+1 {{'tile.kernel' op argument 0: expected strides and no offset, got 'memref<4x4xf32, affine_map<(d0, d1) -> (d0 floordiv 2, d1)>>'}}
tile.kernel @no_strides(%A: memref<4x4xf32, affine_map<(d0, d1) -> (d0 floordiv 2, d1)>>) {
  tile.return
}

// -----

// expected-error@+1 {{'tile.kernel' op argument 0: expected an array in global memory, got 'memref<?xf32, 3>'}}
tile.kernel @shared_memory(%A: memref<?xf32, 3>) {
  tile.return
}

// -----

// expected-error@+1 {{'tile.kernel' op argument 0: expected extents below 2^31, got 2147483648}}
tile.kernel @extent(%A: memref<2147483648xf32>) {
  tile.return
}

// -----

// expected-error@+1 {{'tile.kernel' op argument 0: expected strides that are not negative, got -1}}
tile.kernel @negative_stride(%A: memref<?xf32, strided<[-1]>>) {
  tile.return
}

// -----

// expected-error@+1 {{'tile.kernel' op argument 0: expected tile.align to be a power of two up to 1024, got 24 : i64}}
tile.kernel @align(%A: memref<?xf32> {tile.align = 24 : i64}) {
  tile.return
}

// -----

// expected-error@+1 {{'tile.kernel' op argument 0: expected tile.align to be a power of two up to 1024, got "16"}}
tile.kernel @align_type(%A: memref<?xf32> {tile.align = "16"}) {
  tile.return
}

// -----

// expected-error@+1 {{'tile.kernel' op argument 0: tile.align is for arrays}}
tile.kernel @align_scalar(%n: index {tile.align = 16 : i64}) {
  tile.return
}

// -----

// expected-error@+1 {{'tile.kernel' op expected at most 32 warps, got 33}}
tile.kernel @warps() attributes {warps = 33 : i64} {
  tile.return
}

// -----

// expected-error@+1 {{'tile.kernel' op attribute 'warps' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
tile.kernel @no_warps() attributes {warps = 0 : i64} {
  tile.return
}

// -----

// expected-error@+1 {{'tile.kernel' op attribute 'occupancy' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
tile.kernel @occupancy() attributes {occupancy = -1 : i64} {
  tile.return
}

// -----

// expected-error@+1 {{'tile.kernel' op expected an occupancy of at most 32, got 33}}
tile.kernel @high_occupancy() attributes {occupancy = 33 : i64} {
  tile.return
}

// -----

func.func @outside() {
  // expected-error@+1 {{'tile.return' op expects parent op 'tile.kernel'}}
  tile.return
}
