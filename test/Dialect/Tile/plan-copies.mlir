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
    // expected-remark@+1 {{copy by cp_async: tma: rows of the tile are 24 bytes, TMA moves multiples of 16; cp.async of 8 bytes: wider accesses are not known to be aligned}}
    %x = tile.load %A[%i, %c0] : memref<?x?xf32, strided<[?, 1]>> -> tensor<64x6xf32>
    tile.store %x, %C[%i, %c0] : tensor<64x6xf32>, memref<?x?xf32, strided<[?, 1]>>
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
