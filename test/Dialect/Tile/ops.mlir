// RUN: headrace-opt %s | headrace-opt | FileCheck %s
// RUN: headrace-opt %s --mlir-print-op-generic | headrace-opt | FileCheck %s

// Every op of the tile dialect, printed and parsed again.

// CHECK-LABEL: tile.kernel @knobs
// CHECK-SAME:  (%{{.*}}: memref<?x?xbf16, strided<[?, 1]>> {tile.align = 16 : i64, tile.name = "A"}, %{{.*}}: memref<?xf32>, %{{.*}}: i32, %{{.*}}: f32, %{{.*}}: index)
// CHECK-SAME:  attributes {occupancy = 2 : i64, warps = 8 : i64}
tile.kernel @knobs(%A: memref<?x?xbf16, strided<[?, 1]>> {tile.name = "A", tile.align = 16 : i64}, %v: memref<?xf32>,
                   %n: i32, %scale: f32, %size: index) attributes {warps = 8 : i64, occupancy = 2 : i64} {
  tile.return
}

// CHECK-LABEL: tile.kernel @programs
tile.kernel @programs(%n: index) {
  // CHECK: tile.program_id 0
  // CHECK: tile.num_programs 2
  // CHECK: tile.grid %{{.*}}, %{{.*}}, %{{.*}}{{$}}
  // CHECK: tile.grid %{{.*}} persistent{{$}}
  // CHECK: tile.grid %{{.*}} persistent trips 4
  // CHECK: %{{.*}}, %{{.*}} = tile.grouped_index %{{.*}} of %{{.*}} x %{{.*}} group 8
  // CHECK: tile.assume %{{.*}} multiple_of 16
  %i = tile.program_id 0
  %count = tile.num_programs 2
  tile.grid %n, %n, %n
  tile.grid %n persistent
  tile.grid %n persistent trips 4
  %row, %column = tile.grouped_index %i of %n x %count group 8
  %m = tile.assume %n multiple_of 16
  tile.return
}

// CHECK-LABEL: tile.kernel @global_memory
tile.kernel @global_memory(%A: memref<?x?xf16, strided<[?, 1]>>, %v: memref<?xf32>, %i: index) {
  // CHECK: tile.load %{{.*}}[%{{.*}}, %{{.*}}] {cache = #tile.cache<cg>, fill = 1.000000e+00 : f16, mechanism = #tile.mechanism<cp_async>} : memref<?x?xf16, strided<[?, 1]>> -> tensor<16x8xf16>
  // CHECK: tile.load %{{.*}}[%{{.*}}] : memref<?xf32> -> tensor<40xf32>
  // CHECK: tile.store %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] {cache = #tile.cache<evict_first>} : tensor<16x8xf16>, memref<?x?xf16, strided<[?, 1]>>
  %a = tile.load %A[%i, %i] {fill = 1.0 : f16, cache = #tile.cache<cg>, mechanism = #tile.mechanism<cp_async>} : memref<?x?xf16, strided<[?, 1]>> -> tensor<16x8xf16>
  %b = tile.load %v[%i] : memref<?xf32> -> tensor<40xf32>
  tile.store %a, %A[%i, %i] {cache = #tile.cache<evict_first>} : tensor<16x8xf16>, memref<?x?xf16, strided<[?, 1]>>
  tile.return
}

// CHECK-LABEL: tile.kernel @tiles
tile.kernel @tiles() {
  %a = arith.constant dense<1.0> : tensor<32x16xf32>
  %b = arith.constant dense<1.0> : tensor<32x8xf32>
  %acc = arith.constant dense<0.0> : tensor<16x8xf32>
  %at = arith.constant dense<1.0> : tensor<16x32xf16>
  %bt = arith.constant dense<1.0> : tensor<8x32xf16>
  %row = arith.constant dense<1.0> : tensor<8xf32>
  // CHECK: tile.dot %{{.*}} transpose_a, %{{.*}}, %{{.*}} {precision = #tile.precision<tf32>} : tensor<32x16xf32>, tensor<32x8xf32> -> tensor<16x8xf32>
  // CHECK: tile.dot %{{.*}}, %{{.*}} transpose_b, %{{.*}} {atom = #tile.atom<mma_sync 16 x 8 x 16, groups = 1 x 1>} : tensor<16x32xf16>, tensor<8x32xf16> -> tensor<16x8xf32>
  // CHECK: tile.expand_dims %{{.*}} axis 0 : tensor<8xf32> -> tensor<1x8xf32>
  // CHECK: tile.broadcast %{{.*}} : tensor<1x8xf32> -> tensor<16x8xf32>
  // CHECK: tile.convert_layout %{{.*}} : tensor<16x8xf32> -> tensor<16x8xf32, #{{.*}}shared{{.*}}>
  %p = tile.dot %a transpose_a, %b, %acc {precision = #tile.precision<tf32>} : tensor<32x16xf32>, tensor<32x8xf32> -> tensor<16x8xf32>
  %q = tile.dot %at, %bt transpose_b, %p {atom = #tile.atom<mma_sync 16 x 8 x 16, groups = 1 x 1>} : tensor<16x32xf16>, tensor<8x32xf16> -> tensor<16x8xf32>
  %e = tile.expand_dims %row axis 0 : tensor<8xf32> -> tensor<1x8xf32>
  %w = tile.broadcast %e : tensor<1x8xf32> -> tensor<16x8xf32>
  %s = tile.convert_layout %w : tensor<16x8xf32> -> tensor<16x8xf32, #tile.shared<major = 1, swizzle = 32>>
  tile.return
}

// CHECK-LABEL: tile.kernel @loops
tile.kernel @loops(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  // Nothing carried, nothing asked.
  // CHECK: tile.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} {
  // CHECK-NEXT: }
  tile.for %i = %c0 to %n step %c1 {
  }
  // CHECK: %{{.*}}:2 = tile.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[X:.*]] = %{{.*}}, %[[K:.*]] = %{{.*}}) -> (tensor<8xf32>, index) pipeline(stages = 4, specialize = on, consumers = 2, order = pingpong) {
  // CHECK-NEXT: tile.yield %[[X]], %[[K]] : tensor<8xf32>, index
  // CHECK-NEXT: } {note = "kept"}
  %r:2 = tile.for %i = %c0 to %n step %c1 iter_args(%x = %zero, %k = %c0) -> (tensor<8xf32>, index)
      pipeline(order = pingpong, consumers = 2, specialize = on, stages = 4) {
    tile.yield %x, %k : tensor<8xf32>, index
  } {note = "kept"}
  // Options left out are auto.
  // CHECK: pipeline(stages = auto, specialize = auto, consumers = auto, order = auto)
  tile.for %i = %c0 to %n step %c1 pipeline() {
  }
  tile.return
}
