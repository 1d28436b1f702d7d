// RUN: headrace-opt %s --tile-place-tiles | FileCheck %s

#tma = #tile.mechanism<tma>
#cp = #tile.mechanism<cp_async>
#plain = #tile.mechanism<plain>
#umma = #tile.atom<tcgen05 128 x 64 x 16, groups = 1 x 1>
!array = memref<?x?xbf16, strided<[?, 1]>>
!result = memref<?x?xf32, strided<[?, 1]>>
!a = tensor<128x64xbf16>
!b = tensor<64x64xbf16>
!sum = tensor<128x64xf32>

// Nothing moves through shared memory: nothing changes.
// CHECK-LABEL: tile.kernel @registers_only
// CHECK-NOT: convert_layout
// CHECK: tile.load %{{.*}} : memref<?xf32> -> tensor<128xf32>{{$}}
// CHECK: tile.store %{{.*}} : tensor<128xf32>, memref<?xf32>
tile.kernel @registers_only(%v: memref<?xf32>) attributes {warps = 4 : i64, tile.specialize = false} {
  %c0 = arith.constant 0 : index
  %x = tile.load %v[%c0] : memref<?xf32> -> tensor<128xf32>
  tile.store %x, %v[%c0] {mechanism = #plain} : tensor<128xf32>, memref<?xf32>
  tile.return
}

// A pipelined tile that no matmul reads is copied to registers once, for all its readers.
// CHECK-LABEL: tile.kernel @pipelined_tile
// CHECK: %[[S:.*]] = tile.load {{.*}} -> tensor<128xf32, #{{.*}}shared{{.*}}>
// CHECK-NEXT: %[[R:.*]] = tile.convert_layout %[[S]] : {{.*}} -> tensor<128xf32>
// CHECK-NEXT: arith.addf %[[R]], %[[R]]
tile.kernel @pipelined_tile(%v: memref<?xf32>, %w: memref<?xf32>, %n: index) attributes {warps = 4 : i64, tile.specialize = false} {
  %c128 = arith.constant 128 : index
  tile.for %i = %n to %n step %c128 pipeline(stages = 3) {
    %x = tile.load %v[%i] {mechanism = #cp} : memref<?xf32> -> tensor<128xf32>
    %y = arith.addf %x, %x : tensor<128xf32>
    tile.store %y, %w[%i] {mechanism = #plain} : tensor<128xf32>, memref<?xf32>
  }
  tile.return
}

// A sum that starts from something else is added to it in registers, once.
// CHECK-LABEL: tile.kernel @start_from_a_tile
// CHECK: %[[START:.*]] = tile.load {{.*}} -> tensor<128x64xf32>
// CHECK: %[[SUM:.*]] = tile.for {{.*}} -> (tensor<128x64xf32, #tile.tmem>)
// CHECK: %[[R:.*]] = tile.convert_layout %[[SUM]]
// CHECK: %[[RAN:.*]] = arith.cmpi slt
// CHECK: %[[PRODUCT:.*]] = arith.select %[[RAN]], %[[R]],
// CHECK: %[[TOTAL:.*]] = arith.addf %[[PRODUCT]], %[[START]]
// CHECK: tile.store %[[TOTAL]]
tile.kernel @start_from_a_tile(%A: !array, %C: !result, %n: index) attributes {warps = 4 : i64, tile.specialize = true} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %start = tile.load %C[%c0, %c0] : !result -> !sum
  %r = tile.for %k = %c0 to %n step %c64 iter_args(%acc = %start) -> (!sum) pipeline(stages = 2) {
    %a = tile.load %A[%c0, %k] {mechanism = #tma} : !array -> !a
    %b = tile.load %A[%c64, %k] {mechanism = #tma} : !array -> !b
    %s = tile.dot %a, %b transpose_b, %acc {atom = #umma} : !a, !b -> !sum
    tile.yield %s : !sum
  }
  tile.store %r, %C[%c0, %c0] {mechanism = #plain} : !sum, !result
  tile.return
}

// An accumulator that is used within the loop is a fresh product in every trip, added up in registers.
// CHECK-LABEL: tile.kernel @scaled_accumulator
// CHECK: tile.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}) -> (tensor<128x64xf32>)
// CHECK: %[[SCALED:.*]] = arith.mulf %[[ACC]], %{{.*}} : tensor<128x64xf32>
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<128x64xf32, #tile.tmem>
// CHECK: %[[P:.*]] = tile.dot %{{.*}}, %{{.*}} transpose_b, %[[ZERO]] {{.*}} -> tensor<128x64xf32, #tile.tmem>
// CHECK: %[[R:.*]] = tile.convert_layout %[[P]] : {{.*}} -> tensor<128x64xf32>
// CHECK: %[[SUM:.*]] = arith.addf %[[SCALED]], %[[R]]
// CHECK: tile.yield %[[SUM]]
tile.kernel @scaled_accumulator(%A: !array, %C: !result, %n: index) attributes {warps = 4 : i64, tile.specialize = true} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : !sum
  %half = arith.constant dense<0.5> : !sum
  %r = tile.for %k = %c0 to %n step %c64 iter_args(%acc = %zero) -> (!sum) pipeline(stages = 2) {
    %a = tile.load %A[%c0, %k] {mechanism = #tma} : !array -> !a
    %b = tile.load %A[%c64, %k] {mechanism = #tma} : !array -> !b
    %scaled = arith.mulf %acc, %half : !sum
    %s = tile.dot %a, %b transpose_b, %scaled {atom = #umma} : !a, !b -> !sum
    tile.yield %s : !sum
  }
  tile.store %r, %C[%c0, %c0] {mechanism = #plain} : !sum, !result
  tile.return
}

// An operand computed in registers: wgmma reads A from there, B only from shared memory.
// CHECK-LABEL: tile.kernel @computed_operands
// CHECK: %[[X:.*]] = arith.addf {{.*}} : tensor<64x64xbf16>
// CHECK: %[[S:.*]] = tile.convert_layout %[[X]] : tensor<64x64xbf16> -> tensor<64x64xbf16, #{{.*}}shared{{.*}}>
// CHECK: tile.dot %[[X]], %[[S]] transpose_b,
tile.kernel @computed_operands(%A: !array, %C: !result) attributes {warps = 4 : i64, tile.specialize = false} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = tile.load %A[%c0, %c0] : !array -> !b
  %x = arith.addf %a, %a : !b
  %s = tile.dot %x, %x transpose_b, %zero {atom = #tile.atom<wgmma 64 x 64 x 16, groups = 1 x 1>} : !b, !b -> tensor<64x64xf32>
  tile.store %s, %C[%c0, %c0] {mechanism = #plain} : tensor<64x64xf32>, !result
  tile.return
}

// TMA stores write whole units of 16 bytes: where a row may end within one, the kernel asks at run time.
// CHECK-LABEL: tile.kernel @row_may_end_within_a_unit
// CHECK: %[[WHOLE:.*]] = arith.cmpi eq
// CHECK: scf.if %[[WHOLE]] {
// CHECK:   tile.store {{.*}}mechanism = #tile.mechanism<tma>
// CHECK: } else {
// CHECK:   tile.store {{.*}}mechanism = #tile.mechanism<plain>, tile.why_not_faster = "tma: only where the array's rows are whole units of 16 bytes"
tile.kernel @row_may_end_within_a_unit(%C: !result) attributes {warps = 4 : i64, tile.specialize = false} {
  %c0 = arith.constant 0 : index
  %x = arith.constant dense<0.0> : tensor<64x64xf32>
  tile.store %x, %C[%c0, %c0] {mechanism = #tma} : tensor<64x64xf32>, !result
  tile.return
}
