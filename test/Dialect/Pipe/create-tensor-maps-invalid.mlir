// RUN: headrace-opt %s --pipe-create-tensor-maps --split-input-file --verify-diagnostics

// What no tensor map describes, in kernels written by hand: one rule for each chunk.

!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!ring = !pipe.channel<1, [!tile]>
func.func @no_argument(%n: index, %i: i32) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %ch = pipe.create_channel "A" <mbarrier> : !ring
  %A = memref.alloc() : memref<64x64xbf16>
  %a = pipe.producer_acquire %ch[%i, %i] : !ring -> !tile
  // expected-error@+1 {{expected an array that is an argument of the kernel, for a tensor map}}
  pipe.copy <tma> %A[%n, %n] to %a in %ch[%i] : memref<64x64xbf16>, !tile, !ring
  return
}

// -----

!tile = !pipe.buffer<296x8xbf16, #tile.shared<major = 1, swizzle = 16>>
func.func @no_boxes(%C: memref<?x?xbf16, strided<[?, 1]>>, %n: index, %t: !tile) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  // expected-error@+1 {{TMA cannot move this tile: expected at most 256 rows, or a number of rows that splits into equal boxes at multiples of 128 bytes, got 296 rows of 16 bytes}}
  pipe.async_store %t, %C[%n, %n] : !tile, memref<?x?xbf16, strided<[?, 1]>>
  return
}

// -----

!tile = !pipe.buffer<64x64xbf16, #tile.tmem>
func.func @tensor_memory(%C: memref<?x?xbf16, strided<[?, 1]>>, %n: index, %t: !tile) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  // expected-error@+1 {{TMA cannot move this tile: expected a tile in shared memory}}
  pipe.async_store %t, %C[%n, %n] : !tile, memref<?x?xbf16, strided<[?, 1]>>
  return
}
