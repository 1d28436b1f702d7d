// RUN: headrace-opt %s --tile-plan --verify-diagnostics | FileCheck %s

// Why TMA cannot move a tile: one rule for each kernel. All loads are of a pipelined loop on sm_90a.

module attributes {tile.target = "sm_90a"} {

// CHECK-LABEL: tile.kernel @no_unit_stride
tile.kernel @no_unit_stride(%A: memref<?x?xf32, strided<[?, ?]>> {tile.align = 16 : i64}, %C: memref<?x?xf32, strided<[?, 1]>>, %n: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  tile.for %i = %c0 to %n step %c64 pipeline(stages = 3) {
    // CHECK: mechanism = #tile.mechanism<cp_async>
    // expected-remark@+1 {{copy by cp_async: tma: no dimension of the array has the constant stride 1; cp.async of 4 bytes: wider accesses are not known to be aligned}}
    %x = tile.load %A[%i, %c0] : memref<?x?xf32, strided<[?, ?]>> -> tensor<64x64xf32>
    tile.store %x, %C[%i, %c0] : tensor<64x64xf32>, memref<?x?xf32, strided<[?, 1]>>
  }
  tile.return
}

// CHECK-LABEL: tile.kernel @no_promise
tile.kernel @no_promise(%A: memref<?x?xf32, strided<[?, 1]>>, %C: memref<?x?xf32, strided<[?, 1]>>, %n: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  tile.for %i = %c0 to %n step %c64 pipeline(stages = 3) {
    // CHECK: mechanism = #tile.mechanism<cp_async>
    // expected-remark@+1 {{copy by cp_async: tma: the array's address and strides are only known to be multiples of 4 bytes, TMA needs 16 (promise it with tile.align); cp.async of 4 bytes: wider accesses are not known to be aligned}}
    %x = tile.load %A[%i, %c0] : memref<?x?xf32, strided<[?, 1]>> -> tensor<64x64xf32>
    tile.store %x, %C[%i, %c0] : tensor<64x64xf32>, memref<?x?xf32, strided<[?, 1]>>
  }
  tile.return
}

// Case T02: a pitch of 511 elements, known at compile time, breaks the promise.
// CHECK-LABEL: tile.kernel @odd_pitch
tile.kernel @odd_pitch(%A: memref<?x511xf32, strided<[511, 1]>> {tile.align = 16 : i64}, %C: memref<?x?xf32, strided<[?, 1]>>, %n: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  tile.for %i = %c0 to %n step %c64 pipeline(stages = 3) {
    // CHECK: mechanism = #tile.mechanism<cp_async>
    // expected-remark@+1 {{copy by cp_async: tma: the array's address and strides are only known to be multiples of 4 bytes, TMA needs 16 (promise it with tile.align); cp.async of 4 bytes: wider accesses are not known to be aligned}}
    %x = tile.load %A[%i, %c0] : memref<?x511xf32, strided<[511, 1]>> -> tensor<64x64xf32>
    tile.store %x, %C[%i, %c0] : tensor<64x64xf32>, memref<?x?xf32, strided<[?, 1]>>
  }
  tile.return
}

// CHECK-LABEL: tile.kernel @narrow_rows
tile.kernel @narrow_rows(%A: memref<?x?xf32, strided<[?, 1]>> {tile.align = 16 : i64}, %C: memref<?x?xf32, strided<[?, 1]>>, %n: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  tile.for %i = %c0 to %n step %c64 pipeline(stages = 3) {
    // CHECK: mechanism = #tile.mechanism<cp_async>
    // expected-remark@+1 {{copy by cp_async: tma: expected rows of a multiple of 16 bytes, got 24 bytes; cp.async of 8 bytes: wider accesses are not known to be aligned}}
    %x = tile.load %A[%i, %c0] : memref<?x?xf32, strided<[?, 1]>> -> tensor<64x6xf32>
    tile.store %x, %C[%i, %c0] : tensor<64x6xf32>, memref<?x?xf32, strided<[?, 1]>>
  }
  tile.return
}

// 296 = 8 * 37 rows of 16 bytes: only parts of 8 rows start at multiples of 128 bytes. Here and below, what is reshaped
// keeps its odd extents.
// CHECK-LABEL: tile.kernel @rows_without_boxes
tile.kernel @rows_without_boxes(%A: memref<?x?xf32, strided<[?, 1]>> {tile.align = 16 : i64}, %C: memref<?x?xf32, strided<[?, 1]>>, %n: index) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  tile.for %i = %c0 to %n step %c4 pipeline(stages = 3) {
    // CHECK: mechanism = #tile.mechanism<cp_async>
    // expected-remark@+1 {{copy by cp_async: tma: expected at most 256 rows, or a number of rows that splits into equal boxes at multiples of 128 bytes, got 296 rows of 16 bytes}}
    %x = tile.load %A[%c0, %i] : memref<?x?xf32, strided<[?, 1]>> -> tensor<296x4xf32>
    %y = tile.reshape %x : tensor<296x4xf32> -> tensor<1184xf32>
    tile.store %y, %C[%c0, %i] : tensor<1184xf32>, memref<?x?xf32, strided<[?, 1]>>
  }
  tile.return
}

// CHECK-LABEL: tile.kernel @vector_without_boxes
tile.kernel @vector_without_boxes(%A: memref<?xf16> {tile.align = 16 : i64}, %C: memref<?x?xf16, strided<[?, 1]>>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1000 = arith.constant 1000 : index
  tile.for %i = %c0 to %n step %c1000 pipeline(stages = 3) {
    // CHECK: mechanism = #tile.mechanism<cp_async>
    // expected-remark@+1 {{copy by cp_async: tma: expected at most 256 elements, or a number of them that splits into equal boxes at multiples of 128 bytes, got 1000 elements of 2 bytes}}
    %x = tile.load %A[%i] : memref<?xf16> -> tensor<1000xf16>
    %y = tile.reshape %x : tensor<1000xf16> -> tensor<8x125xf16>
    tile.store %y, %C[%c0, %i] : tensor<8x125xf16>, memref<?x?xf16, strided<[?, 1]>>
  }
  tile.return
}

// CHECK-LABEL: tile.kernel @parts_of_264_columns
tile.kernel @parts_of_264_columns(%A: memref<?x?xf16, strided<[?, 1]>> {tile.align = 16 : i64}, %C: memref<?x?xf16, strided<[?, 1]>>, %n: index) {
  %c0 = arith.constant 0 : index
  %c264 = arith.constant 264 : index
  tile.for %i = %c0 to %n step %c264 pipeline(stages = 3) {
    // CHECK: mechanism = #tile.mechanism<cp_async>
    // expected-remark@+1 {{copy by cp_async: tma: expected panels of a multiple of 128 bytes of shared memory, got 5 rows of 16 bytes}}
    %x = tile.load %A[%c0, %i] : memref<?x?xf16, strided<[?, 1]>> -> tensor<5x264xf16>
    %y = tile.reshape %x : tensor<5x264xf16> -> tensor<1320xf16>
    tile.store %y, %C[%c0, %i] : tensor<1320xf16>, memref<?x?xf16, strided<[?, 1]>>
  }
  tile.return
}

// Every row is the same one: no tensor map has a stride of 0.
// CHECK-LABEL: tile.kernel @stride_0
tile.kernel @stride_0(%A: memref<?x?xf16, strided<[0, 1]>> {tile.align = 16 : i64}, %C: memref<?x?xf16, strided<[?, 1]>>, %n: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  tile.for %i = %c0 to %n step %c64 pipeline(stages = 3) {
    // CHECK: mechanism = #tile.mechanism<cp_async>
    // expected-remark@+1 {{copy by cp_async: tma: expected the stride of dimension 0 of the array to be a positive multiple of 16 bytes below 2^40, got 0 bytes}}
    %x = tile.load %A[%c0, %i] : memref<?x?xf16, strided<[0, 1]>> -> tensor<64x64xf16>
    tile.store %x, %C[%c0, %i] : tensor<64x64xf16>, memref<?x?xf16, strided<[?, 1]>>
  }
  tile.return
}

// Contiguous along the first dimension is as good as along the last.
// CHECK-LABEL: tile.kernel @columns
tile.kernel @columns(%A: memref<?x?xf32, strided<[1, ?]>> {tile.align = 16 : i64}, %C: memref<?x?xf32, strided<[?, 1]>>, %n: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  tile.for %i = %c0 to %n step %c64 pipeline(stages = 3) {
    // CHECK: mechanism = #tile.mechanism<tma>}
    %x = tile.load %A[%i, %c0] : memref<?x?xf32, strided<[1, ?]>> -> tensor<64x64xf32>
    tile.store %x, %C[%i, %c0] : tensor<64x64xf32>, memref<?x?xf32, strided<[?, 1]>>
  }
  tile.return
}

}
