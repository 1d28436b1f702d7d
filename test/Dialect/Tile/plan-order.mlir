// RUN: headrace-opt %s --tile-plan --split-input-file --verify-diagnostics | FileCheck %s

// An array that the kernel writes: its reads stay in order with the writes, so nothing prefetches them.

!array = memref<?x?xf16, strided<[?, 1]>>
!vector = memref<?xf32>

module attributes {tile.target = "sm_90a"} {

// CHECK-LABEL: tile.kernel @in_place
// CHECK: tile.load %{{.*}}[%{{.*}}] : memref<?xf32> -> tensor<64xf32>
tile.kernel @in_place(%v: !vector {tile.align = 16 : i64}, %n: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  tile.for %i = %c0 to %n step %c64 pipeline(stages = 3) {
    // expected-remark@+1 {{this load is not pipelined: the kernel writes its array}}
    %x = tile.load %v[%i] : !vector -> tensor<64xf32>
    %y = arith.addf %x, %x : tensor<64xf32>
    tile.store %y, %v[%i] : tensor<64xf32>, !vector
  }
  tile.return
}

// Single elements and updates are writes like any other.
// CHECK-LABEL: tile.kernel @written_by_scalars_and_updates
// CHECK-COUNT-2: tile.load %{{.*}}[%{{.*}}] : memref<?xf32> -> tensor<64xf32>
tile.kernel @written_by_scalars_and_updates(%v: !vector {tile.align = 16 : i64}, %w: !vector {tile.align = 16 : i64}, %s: f32, %n: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  tile.for %i = %c0 to %n step %c64 pipeline(stages = 3) {
    // expected-remark@+1 {{this load is not pipelined: the kernel writes its array}}
    %x = tile.load %v[%i] : !vector -> tensor<64xf32>
    // expected-remark@+1 {{this load is not pipelined: the kernel writes its array}}
    %y = tile.load %w[%i] : !vector -> tensor<64xf32>
    tile.store_scalar %s, %v[%i] : f32, !vector
    tile.reduce_store #tile.combine<add> %x, %w[%c0] : tensor<64xf32>, !vector
  }
  tile.return
}

// What a matmul reads passes through shared memory all the same, copied in its place in the order; and other warps would
// not keep that.
// CHECK-LABEL: tile.kernel @operand
// CHECK-SAME: tile.specialize = false
// CHECK: tile.load {{.*}} {mechanism = #tile.mechanism<plain>, tile.why_not_faster = "the kernel writes this array: reads and writes stay in order"}
// expected-remark@+1 {{specialize = on has no effect: an array is read and written}}
tile.kernel @operand(%A: !array {tile.align = 16 : i64}, %n: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  tile.for %k = %c0 to %n step %c64 pipeline(stages = 3, specialize = on) {
    // expected-remark@+2 {{copy by plain: the kernel writes this array: reads and writes stay in order}}
    // expected-note@+1 {{read here}}
    %a = tile.load %A[%c0, %k] : !array -> tensor<64x64xf16>
    %s = tile.dot %a, %a transpose_b, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %h = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xf16>
    tile.store %h, %A[%c0, %k] : tensor<64x64xf16>, !array
  }
  tile.return
}

// A store by TMA would not be seen by a read after it.
// CHECK-LABEL: tile.kernel @read_after_the_store
// CHECK: tile.store {{.*}} {mechanism = #tile.mechanism<plain>, tile.why_not_faster = "tma: other ops or trips may read or write the same elements, in order"}
tile.kernel @read_after_the_store(%A: !array {tile.align = 16 : i64}, %C: memref<?x512xf32, strided<[512, 1]>> {tile.align = 16 : i64}, %v: !vector) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = tile.load %A[%c0, %c0] : !array -> tensor<64x64xf16>
  %s = tile.dot %a, %a transpose_b, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  // expected-remark@+1 {{store by plain: tma: other ops or trips may read or write the same elements, in order}}
  tile.store %s, %C[%c0, %c0] : tensor<64x64xf32>, memref<?x512xf32, strided<[512, 1]>>
  %x = tile.load_scalar %C[%c0, %c0] : memref<?x512xf32, strided<[512, 1]>> -> f32
  tile.return
}

}

// -----

!stack = memref<?x?x?xf16, strided<[?, ?, 1]>>
!turned = memref<?x?x?xf16, strided<[1, ?, ?]>>

module attributes {tile.target = "sm_90a"} {

// Tiles of an array of more dimensions: TMA, unless the contiguous dimension is one that the tile has not.
// CHECK-LABEL: tile.kernel @fewer_dimensions
// CHECK: tile.load {{.*}} {mechanism = #tile.mechanism<tma>} : {{.*}} -> tensor<64x64xf16>
// CHECK: tile.load {{.*}} {mechanism = #tile.mechanism<plain>, tile.why_not_faster = "tma: the array's contiguous dimension is none of the tile's;
tile.kernel @fewer_dimensions(%S: !stack {tile.align = 16 : i64}, %T: !turned {tile.align = 16 : i64}, %i: index) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = tile.load %S[%i, %c0, %c0] : !stack -> tensor<64x64xf16>
  // expected-remark@+1 {{copy by plain: tma: the array's contiguous dimension is none of the tile's; cp.async: accesses are only known to be aligned to 2 bytes, it needs 4}}
  %b = tile.load %T[%i, %c0, %c0] : !turned -> tensor<64x64xf16>
  %s = tile.dot %a, %b transpose_b, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  tile.return
}

}
