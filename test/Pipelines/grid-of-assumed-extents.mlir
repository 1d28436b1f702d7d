// RUN: headrace-compile %s --target=sm_90a --emit=record | FileCheck %s

// A grid may be computed from an extent of which something is assumed.
// CHECK: "ceildiv",
// CHECK-NEXT: [
// CHECK-NEXT: "dim",
tile.kernel @k(%A: memref<?xf32>, %B: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %size = memref.dim %A, %c0 : memref<?xf32>
  %n = tile.assume %size multiple_of 16
  %programs = arith.ceildivui %n, %c128 : index
  tile.grid %programs
  %p = tile.program_id 0
  %i = arith.muli %p, %c128 : index
  %x = tile.load %A[%i] : memref<?xf32> -> tensor<128xf32>
  tile.store %x, %B[%i] : tensor<128xf32>, memref<?xf32>
  tile.return
}
