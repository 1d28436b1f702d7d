// Cases T04, T05 and P08: copies through a pipelined loop that TMA or cp.async can or cannot take, on every generation. All
// assemble, and what goes a slower way says so.

// REQUIRES: ptxas

// RUN: headrace-compile %s --kernel=small_slots --target=sm_75 -o %t.cubin
// RUN: headrace-compile %s --kernel=from_element_1 --target=sm_75 -o %t.cubin
// RUN: headrace-compile %s --kernel=window --target=sm_75 -o %t.cubin
// RUN: headrace-compile %s --kernel=every_second --target=sm_75 -o %t.cubin
// RUN: headrace-compile %s --kernel=filled --target=sm_75 -o %t.cubin
// RUN: headrace-compile %s --kernel=small_slots --target=sm_80 -o %t.cubin
// RUN: headrace-compile %s --kernel=from_element_1 --target=sm_80 -o %t.cubin
// RUN: headrace-compile %s --kernel=window --target=sm_80 -o %t.cubin
// RUN: headrace-compile %s --kernel=every_second --target=sm_80 -o %t.cubin
// RUN: headrace-compile %s --kernel=filled --target=sm_80 -o %t.cubin
// RUN: headrace-compile %s --kernel=small_slots --target=sm_90a -o %t.cubin
// RUN: headrace-compile %s --kernel=from_element_1 --target=sm_90a -o %t.cubin
// RUN: headrace-compile %s --kernel=window --target=sm_90a -o %t.cubin
// RUN: headrace-compile %s --kernel=every_second --target=sm_90a -o %t.cubin
// RUN: headrace-compile %s --kernel=filled --target=sm_90a -o %t.cubin
// RUN: headrace-compile %s --kernel=small_slots --target=sm_100a -o %t.cubin
// RUN: headrace-compile %s --kernel=from_element_1 --target=sm_100a -o %t.cubin
// RUN: headrace-compile %s --kernel=window --target=sm_100a -o %t.cubin
// RUN: headrace-compile %s --kernel=every_second --target=sm_100a -o %t.cubin
// RUN: headrace-compile %s --kernel=filled --target=sm_100a -o %t.cubin
// RUN: headrace-compile %s --kernel=small_slots --target=sm_120a -o %t.cubin
// RUN: headrace-compile %s --kernel=from_element_1 --target=sm_120a -o %t.cubin
// RUN: headrace-compile %s --kernel=window --target=sm_120a -o %t.cubin
// RUN: headrace-compile %s --kernel=every_second --target=sm_120a -o %t.cubin
// RUN: headrace-compile %s --kernel=filled --target=sm_120a -o %t.cubin

// RUN: headrace-compile %s --kernel=small_slots --target=sm_90a -o %t.cubin 2>&1 | count 0
// RUN: headrace-compile %s --kernel=from_element_1 --target=sm_90a -o %t.cubin 2>&1 | FileCheck %s --check-prefix=OFFSET
// RUN: headrace-compile %s --kernel=window --target=sm_90a -o %t.cubin 2>&1 | FileCheck %s --check-prefix=OFFSET
// RUN: headrace-compile %s --kernel=every_second --target=sm_90a -o %t.cubin 2>&1 | FileCheck %s --check-prefix=SECOND
// RUN: headrace-compile %s --kernel=filled --target=sm_90a -o %t.cubin 2>&1 | FileCheck %s --check-prefix=FILLED --allow-empty

// Slots of 64 bytes.
tile.kernel @small_slots(%A: memref<?xf16> {tile.align = 16 : i64}, %C: memref<?xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  tile.for %i = %c0 to %n step %c32 pipeline(stages = 3) {
    %x = tile.load %A[%i] : memref<?xf16> -> tensor<32xf16>
    tile.store %x, %C[%i] : tensor<32xf16>, memref<?xf16>
  }
  tile.return
}

// A TMA box that starts inside a unit of 16 bytes is an illegal instruction on compute capability 9.0.
// OFFSET: remark: copy by cp_async: tma: the offset along the contiguous dimension is not known to be a multiple of 16 bytes
tile.kernel @from_element_1(%A: memref<?xf32> {tile.align = 16 : i64}, %C: memref<?xf32>, %n: index) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.for %i = %c1 to %n step %c64 pipeline(stages = 3) {
    %x = tile.load %A[%i] : memref<?xf32> -> tensor<64xf32>
    tile.store %x, %C[%i] : tensor<64xf32>, memref<?xf32>
  }
  tile.return
}

tile.kernel @window(%A: memref<?x?xi32, strided<[?, 1]>> {tile.align = 16 : i64}, %C: memref<?x?xi32, strided<[?, 1]>>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  tile.for %i = %c0 to %n step %c32 pipeline(stages = 2) {
    %x = tile.load %A[%i, %c1] : memref<?x?xi32, strided<[?, 1]>> -> tensor<32x32xi32>
    tile.store %x, %C[%i, %c0] : tensor<32x32xi32>, memref<?x?xi32, strided<[?, 1]>>
  }
  tile.return
}

// SECOND: remark: copy by {{.*}}: tma: no dimension of the array has the constant stride 1
tile.kernel @every_second(%A: memref<?xf32, strided<[2]>> {tile.align = 16 : i64}, %C: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  tile.for %i = %c0 to %n step %c64 pipeline(stages = 3) {
    %x = tile.load %A[%i] : memref<?xf32, strided<[2]>> -> tensor<64xf32>
    tile.store %x, %C[%i] : tensor<64xf32>, memref<?xf32>
  }
  tile.return
}

// Copied with zeros, which a select replaces: nothing to remark.
// FILLED-NOT: remark
tile.kernel @filled(%A: memref<?xf32> {tile.align = 16 : i64}, %C: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  tile.for %i = %c0 to %n step %c128 pipeline(stages = 3) {
    %x = tile.load %A[%i] {fill = -99.0 : f32} : memref<?xf32> -> tensor<128xf32>
    tile.store %x, %C[%i] : tensor<128xf32>, memref<?xf32>
  }
  tile.return
}
