// RUN: headrace-opt %s --convert-tile-to-pipe --split-input-file --verify-diagnostics

// Accumulators in tensor memory, operands and tensor maps written by hand: one rule for each chunk.

#umma = #tile.atom<tcgen05 128 x 64 x 16, groups = 1 x 1>
#shared = #tile.shared<major = 1, swizzle = 128>
#acc = #tile.layout<atom = [16, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [], groups = [4 : 0], repeat = [2, 8]>
tile.kernel @accumulator_in_registers(%A: memref<?x?xf16, strided<[?, 1]>> {tile.align = 16 : i64}) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<128x64xf32, #acc>
  %a = tile.load %A[%c0, %c0] {mechanism = #tile.mechanism<tma>} : memref<?x?xf16, strided<[?, 1]>> -> tensor<128x64xf16, #shared>
  %b = tile.load %A[%c0, %c0] {mechanism = #tile.mechanism<tma>} : memref<?x?xf16, strided<[?, 1]>> -> tensor<64x64xf16, #shared>
  // expected-error@+1 {{expected tcgen05 operands in shared and an accumulator in tensor memory}}
  %s = tile.dot %a, %b transpose_b, %zero {atom = #umma} : tensor<128x64xf16, #shared>, tensor<64x64xf16, #shared> -> tensor<128x64xf32, #acc>
  tile.return
}

// -----

#wgmma = #tile.atom<wgmma 64 x 64 x 16, groups = 1 x 1>
#shared = #tile.shared<major = 1, swizzle = 128>
tile.kernel @accumulator_in_tensor_memory(%A: memref<?x?xf16, strided<[?, 1]>> {tile.align = 16 : i64}) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #tile.tmem>
  %a = tile.load %A[%c0, %c0] {mechanism = #tile.mechanism<tma>} : memref<?x?xf16, strided<[?, 1]>> -> tensor<64x64xf16, #shared>
  // expected-error@+1 {{expected wgmma operand b in shared memory and an accumulator in registers}}
  %s = tile.dot %a, %a transpose_b, %zero {atom = #wgmma} : tensor<64x64xf16, #shared>, tensor<64x64xf16, #shared> -> tensor<64x64xf32, #tile.tmem>
  tile.return
}

// -----

#shared = #tile.shared<major = 1, swizzle = 128>
tile.kernel @shared_operand(%A: memref<?x?xf32, strided<[?, 1]>> {tile.align = 16 : i64}) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %a = tile.load %A[%c0, %c0] {mechanism = #tile.mechanism<tma>} : memref<?x?xf32, strided<[?, 1]>> -> tensor<64x64xf32, #shared>
  // expected-error@+1 {{expected a tile in registers as operand 0}}
  tile.store %a, %A[%c0, %c0] {mechanism = #tile.mechanism<plain>} : tensor<64x64xf32, #shared>, memref<?x?xf32, strided<[?, 1]>>
  tile.return
}

// -----

tile.kernel @tensor_memory_operand(%A: memref<?x?xf32, strided<[?, 1]>>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<128x64xf32, #tile.tmem>
  // expected-error@+1 {{expected tiles in registers as operands}}
  tile.store %zero, %A[%c0, %c0] {mechanism = #tile.mechanism<plain>} : tensor<128x64xf32, #tile.tmem>, memref<?x?xf32, strided<[?, 1]>>
  tile.return
}

// -----

#lanes = #tile.layout<atom = [128, 1], register = [], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], groups = [], repeat = [1, 64]>
tile.kernel @nothing_to_wait_for(%n: index) attributes {warps = 4 : i64} {
  %zero = arith.constant dense<0.0> : tensor<128x64xf32, #tile.tmem>
  // expected-error@+1 {{expected the accumulator of a whole loop, or of one matmul that starts from zero}}
  %x = tile.convert_layout %zero : tensor<128x64xf32, #tile.tmem> -> tensor<128x64xf32, #lanes>
  tile.return
}

// -----

#shared = #tile.shared<major = 1, swizzle = 128>
#row = #tile.layout<atom = [4, 32], register = [], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[1, 0], [2, 0]], groups = [], repeat = [16, 2]>
tile.kernel @no_reader(%A: memref<?x?xf32, strided<[?, 1]>>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %x = tile.load %A[%c0, %c0] : memref<?x?xf32, strided<[?, 1]>> -> tensor<64x64xf32, #row>
  // expected-error@+1 {{expected a reader of this tile in shared memory}}
  %s = tile.convert_layout %x : tensor<64x64xf32, #row> -> tensor<64x64xf32, #shared>
  tile.return
}

// -----

#umma = #tile.atom<tcgen05 128 x 64 x 16, groups = 1 x 1>
#shared = #tile.shared<major = 1, swizzle = 128>
tile.kernel @another_loops_accumulator(%A: memref<?x?xf16, strided<[?, 1]>> {tile.align = 16 : i64}, %n: index) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<128x64xf32, #tile.tmem>
  %s = tile.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x64xf32, #tile.tmem>) {
    scf.for %j = %c0 to %n step %c1 {
      %a = tile.load %A[%c0, %c0] {mechanism = #tile.mechanism<tma>} : memref<?x?xf16, strided<[?, 1]>> -> tensor<128x64xf16, #shared>
      %b = tile.load %A[%c0, %c0] {mechanism = #tile.mechanism<tma>} : memref<?x?xf16, strided<[?, 1]>> -> tensor<64x64xf16, #shared>
      // expected-error@+1 {{expected an accumulator in tensor memory that this loop carries, or zero}}
      %t = tile.dot %a, %b transpose_b, %acc {atom = #umma} : tensor<128x64xf16, #shared>, tensor<64x64xf16, #shared> -> tensor<128x64xf32, #tile.tmem>
    }
    tile.yield %acc : tensor<128x64xf32, #tile.tmem>
  }
  tile.return
}

// -----

#row = #tile.layout<atom = [4, 32], register = [], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[1, 0], [2, 0]], groups = [], repeat = [16, 2]>
tile.kernel @fma_operands(%n: index) attributes {warps = 4 : i64} {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #row>
  // expected-error@+1 {{expected fma operands in shared memory and an accumulator in registers}}
  %s = tile.dot %zero, %zero, %zero {atom = #tile.atom<fma 1 x 1 x 1, groups = 1 x 1>}
      : tensor<64x64xf32, #row>, tensor<64x64xf32, #row> -> tensor<64x64xf32, #row>
  tile.return
}

// -----

#shared = #tile.shared<major = 1, swizzle = 128>
tile.kernel @mma_sync_accumulator(%A: memref<?x?xf16, strided<[?, 1]>> {tile.align = 16 : i64}) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #tile.tmem>
  %a = tile.load %A[%c0, %c0] {mechanism = #tile.mechanism<tma>} : memref<?x?xf16, strided<[?, 1]>> -> tensor<64x64xf16, #shared>
  // expected-error@+1 {{expected mma_sync operands with an accumulator in registers}}
  %s = tile.dot %a, %a, %zero {atom = #tile.atom<mma_sync 16 x 8 x 16, groups = 1 x 1>}
      : tensor<64x64xf16, #shared>, tensor<64x64xf16, #shared> -> tensor<64x64xf32, #tile.tmem>
  tile.return
}
