// RUN: headrace-opt %s --tile-plan --split-input-file --verify-diagnostics | FileCheck %s

!array = memref<?x?xbf16, strided<[?, 1]>>
!vector = memref<?xf32>

module attributes {tile.target = "sm_80"} {

// Loads that nothing pipelines and no matmul reads stay loads into registers: nothing is decided about them.
// CHECK-LABEL: tile.kernel @outside_of_pipelines
// CHECK-SAME:  attributes {tile.specialize = false, warps = 4 : i64}
// CHECK: tile.load %{{.*}}[%{{.*}}] : memref<?xf32> -> tensor<128xf32>
// CHECK: tile.store {{.*}} {mechanism = #tile.mechanism<plain>}
tile.kernel @outside_of_pipelines(%v: !vector, %w: !vector) {
  %c0 = arith.constant 0 : index
  %x = tile.load %v[%c0] : !vector -> tensor<128xf32>
  tile.store %x, %w[%c0] : tensor<128xf32>, !vector
  tile.return
}

// Stages 0 and 1 are no pipeline.
// CHECK-LABEL: tile.kernel @one_stage
// CHECK-NOT: mechanism = #tile.mechanism<cp_async>
tile.kernel @one_stage(%v: !vector, %w: !vector, %n: index) {
  %c128 = arith.constant 128 : index
  %c0 = arith.constant 0 : index
  tile.for %i = %c0 to %n step %c128 pipeline(stages = 1) {
    %x = tile.load %v[%i] : !vector -> tensor<128xf32>
    tile.store %x, %w[%i] : tensor<128xf32>, !vector
  }
  tile.return
}

// Warps asked for are kept.
// CHECK-LABEL: tile.kernel @warps
// CHECK-SAME: warps = 2 : i64
tile.kernel @warps() attributes {warps = 2 : i64} {
  tile.return
}

}

// -----

module attributes {tile.target = "sm_80"} {

// cp.async and TMA can fill with zeros only: another fill is selected afterwards (case P08).
// CHECK-LABEL: tile.kernel @fill
// CHECK: %[[X:.*]] = tile.load {{.*}} {mechanism = #tile.mechanism<cp_async>}
// CHECK: scf.if
// CHECK-NEXT: scf.yield %[[X]]
// CHECK: arith.select %{{.*}}, %[[X]], %{{.*}} : tensor<128xi1>, tensor<128xf32>
// CHECK: tile.load {{.*}}fill = 0.000000e+00 : f32, mechanism = #tile.mechanism<cp_async>
tile.kernel @fill(%v: memref<?xf32> {tile.align = 16 : i64}, %w: memref<?xf32>, %n: index) {
  %c128 = arith.constant 128 : index
  %c0 = arith.constant 0 : index
  tile.for %i = %c0 to %n step %c128 pipeline(stages = 3) {
    %x = tile.load %v[%i] {fill = 1.0 : f32} : memref<?xf32> -> tensor<128xf32>
    %y = tile.load %v[%i] {fill = 0.0 : f32} : memref<?xf32> -> tensor<128xf32>
    %z = arith.addf %x, %y : tensor<128xf32>
    tile.store %z, %w[%i] : tensor<128xf32>, memref<?xf32>
  }
  tile.return
}

// An offset of one element leaves 4 bytes of alignment (case T05).
// CHECK-LABEL: tile.kernel @offset
// CHECK: mechanism = #tile.mechanism<cp_async>, tile.why_not_faster = "cp.async of 4 bytes: wider accesses are not known to be aligned"
tile.kernel @offset(%v: memref<?xf32> {tile.align = 16 : i64}, %w: memref<?xf32>, %n: index) {
  %c128 = arith.constant 128 : index
  %c1 = arith.constant 1 : index
  tile.for %i = %c1 to %n step %c128 pipeline(stages = 3) {
    // expected-remark@+1 {{copy by cp_async: cp.async of 4 bytes: wider accesses are not known to be aligned}}
    %x = tile.load %v[%i] : memref<?xf32> -> tensor<128xf32>
    tile.store %x, %w[%i] : tensor<128xf32>, memref<?xf32>
  }
  tile.return
}

// What the user asks for is not made faster.
// CHECK-LABEL: tile.kernel @asked_for
// CHECK: tile.load {{.*}} {mechanism = #tile.mechanism<plain>} : memref<?xf32>
// CHECK: tile.load {{.*}} {mechanism = #tile.mechanism<plain>, tile.why_not_faster = "asked for"} : memref<?x?xf16
tile.kernel @asked_for(%v: memref<?xf32> {tile.align = 16 : i64}, %A: memref<?x?xf16, strided<[?, 1]>> {tile.align = 16 : i64}, %w: memref<?xf32>, %n: index) {
  %c128 = arith.constant 128 : index
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  tile.for %i = %c0 to %n step %c128 pipeline(stages = 3) {
    %x = tile.load %v[%i] {mechanism = #tile.mechanism<plain>} : memref<?xf32> -> tensor<128xf32>
    // expected-remark@+1 {{copy by plain: asked for}}
    %a = tile.load %A[%i, %c0] {mechanism = #tile.mechanism<plain>} : memref<?x?xf16, strided<[?, 1]>> -> tensor<64x64xf16>
    %s = tile.dot %a, %a transpose_b, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    tile.store %x, %w[%i] : tensor<128xf32>, memref<?xf32>
  }
  tile.return
}

// CHECK-LABEL: tile.kernel @no_roles_here
// CHECK-SAME: tile.specialize = false
// expected-remark@+1 {{specialize = on has no effect: cp.async.bulk.tensor needs sm_90, sm_90a, sm_100, sm_100a, sm_100f, sm_103a, sm_110a, sm_120, sm_120a, sm_120f or sm_121a, the target is sm_80}}
tile.kernel @no_roles_here(%n: index) {
  tile.for %i = %n to %n step %n pipeline(stages = 3, specialize = on) {
  }
  tile.return
}

}

// -----

module attributes {tile.target = "sm_90a"} {

// A matmul fed by TMA alone gets roles, unless the user says no.
// CHECK-LABEL: tile.kernel @roles
// CHECK-SAME: tile.specialize = true
tile.kernel @roles(%A: memref<?x?xf16, strided<[?, 1]>> {tile.align = 16 : i64}, %n: index) {
  %c64 = arith.constant 64 : index
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = tile.for %i = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) pipeline(stages = 3) {
    %x = tile.load %A[%c0, %i] : memref<?x?xf16, strided<[?, 1]>> -> tensor<64x64xf16>
    %s = tile.dot %x, %x transpose_b, %acc : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    tile.yield %s : tensor<64x64xf32>
  }
  tile.return
}

// CHECK-LABEL: tile.kernel @roles_refused
// CHECK-SAME: tile.specialize = false
tile.kernel @roles_refused(%A: memref<?x?xf16, strided<[?, 1]>> {tile.align = 16 : i64}, %n: index) {
  %c64 = arith.constant 64 : index
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = tile.for %i = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) pipeline(stages = 3, specialize = off) {
    %x = tile.load %A[%c0, %i] : memref<?x?xf16, strided<[?, 1]>> -> tensor<64x64xf16>
    %s = tile.dot %x, %x transpose_b, %acc : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    tile.yield %s : tensor<64x64xf32>
  }
  tile.return
}

// Stores of what no matmul made are coalesced as they are; and a store whose offset may be negative is none of TMA's.
// CHECK-LABEL: tile.kernel @store_at_any_offset
// CHECK: tile.store {{.*}} {mechanism = #tile.mechanism<plain>, tile.why_not_faster = "tma: the offsets are not known to be non-negative"}
tile.kernel @store_at_any_offset(%A: memref<?x?xf16, strided<[?, 1]>> {tile.align = 16 : i64}, %C: memref<?x?xf32, strided<[?, 1]>> {tile.align = 16 : i64}, %i: index) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = tile.load %A[%c0, %c0] : memref<?x?xf16, strided<[?, 1]>> -> tensor<64x64xf16>
  %s = tile.dot %x, %x transpose_b, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  // expected-remark@+1 {{store by plain: tma: the offsets are not known to be non-negative}}
  tile.store %s, %C[%i, %c0] : tensor<64x64xf32>, memref<?x?xf32, strided<[?, 1]>>
  tile.return
}

}
