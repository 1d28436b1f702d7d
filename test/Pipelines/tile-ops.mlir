// Reductions, scans, indexed and atomic accesses and changes of shape: small kernels that assemble on every generation, and
// need no remark. What they compute is compared in test/Python/test_tile_ops.py and test_tile_memory_ops.py.

// REQUIRES: ptxas

// RUN: headrace-compile %s --kernel=softmax --target=sm_75 -o %t.cubin 2>&1 | count 0
// RUN: headrace-compile %s --kernel=first_largest --target=sm_75 -o %t.cubin 2>&1 | count 0
// RUN: headrace-compile %s --kernel=prefix_sums --target=sm_75 -o %t.cubin 2>&1 | count 0
// RUN: headrace-compile %s --kernel=embedding --target=sm_75 -o %t.cubin 2>&1 | count 0
// RUN: headrace-compile %s --kernel=histogram --target=sm_75 -o %t.cubin 2>&1 | count 0
// RUN: headrace-compile %s --kernel=sums_of_halves --target=sm_75 -o %t.cubin 2>&1 | count 0
// RUN: headrace-compile %s --kernel=row_major_to_rows --target=sm_75 -o %t.cubin 2>&1 | count 0
// RUN: headrace-compile %s --kernel=of_a_stack --target=sm_75 -o %t.cubin 2>&1 | count 0
// RUN: headrace-compile %s --kernel=softmax --target=sm_80 -o %t.cubin 2>&1 | count 0
// RUN: headrace-compile %s --kernel=first_largest --target=sm_80 -o %t.cubin 2>&1 | count 0
// RUN: headrace-compile %s --kernel=prefix_sums --target=sm_80 -o %t.cubin 2>&1 | count 0
// RUN: headrace-compile %s --kernel=embedding --target=sm_80 -o %t.cubin 2>&1 | count 0
// RUN: headrace-compile %s --kernel=histogram --target=sm_80 -o %t.cubin 2>&1 | count 0
// RUN: headrace-compile %s --kernel=sums_of_halves --target=sm_80 -o %t.cubin 2>&1 | count 0
// RUN: headrace-compile %s --kernel=row_major_to_rows --target=sm_80 -o %t.cubin 2>&1 | count 0
// RUN: headrace-compile %s --kernel=of_a_stack --target=sm_80 -o %t.cubin 2>&1 | count 0
// RUN: headrace-compile %s --kernel=softmax --target=sm_90a -o %t.cubin 2>&1 | count 0
// RUN: headrace-compile %s --kernel=first_largest --target=sm_90a -o %t.cubin 2>&1 | count 0
// RUN: headrace-compile %s --kernel=prefix_sums --target=sm_90a -o %t.cubin 2>&1 | count 0
// RUN: headrace-compile %s --kernel=embedding --target=sm_90a -o %t.cubin 2>&1 | count 0
// RUN: headrace-compile %s --kernel=histogram --target=sm_90a -o %t.cubin 2>&1 | count 0
// RUN: headrace-compile %s --kernel=sums_of_halves --target=sm_90a -o %t.cubin 2>&1 | count 0
// RUN: headrace-compile %s --kernel=row_major_to_rows --target=sm_90a -o %t.cubin 2>&1 | count 0
// RUN: headrace-compile %s --kernel=of_a_stack --target=sm_90a -o %t.cubin 2>&1 | count 0
// RUN: headrace-compile %s --kernel=softmax --target=sm_100a -o %t.cubin 2>&1 | count 0
// RUN: headrace-compile %s --kernel=first_largest --target=sm_100a -o %t.cubin 2>&1 | count 0
// RUN: headrace-compile %s --kernel=prefix_sums --target=sm_100a -o %t.cubin 2>&1 | count 0
// RUN: headrace-compile %s --kernel=embedding --target=sm_100a -o %t.cubin 2>&1 | count 0
// RUN: headrace-compile %s --kernel=histogram --target=sm_100a -o %t.cubin 2>&1 | count 0
// RUN: headrace-compile %s --kernel=sums_of_halves --target=sm_100a -o %t.cubin 2>&1 | count 0
// RUN: headrace-compile %s --kernel=row_major_to_rows --target=sm_100a -o %t.cubin 2>&1 | count 0
// RUN: headrace-compile %s --kernel=of_a_stack --target=sm_100a -o %t.cubin 2>&1 | count 0
// RUN: headrace-compile %s --kernel=softmax --target=sm_120a -o %t.cubin 2>&1 | count 0
// RUN: headrace-compile %s --kernel=first_largest --target=sm_120a -o %t.cubin 2>&1 | count 0
// RUN: headrace-compile %s --kernel=prefix_sums --target=sm_120a -o %t.cubin 2>&1 | count 0
// RUN: headrace-compile %s --kernel=embedding --target=sm_120a -o %t.cubin 2>&1 | count 0
// RUN: headrace-compile %s --kernel=histogram --target=sm_120a -o %t.cubin 2>&1 | count 0
// RUN: headrace-compile %s --kernel=sums_of_halves --target=sm_120a -o %t.cubin 2>&1 | count 0
// RUN: headrace-compile %s --kernel=row_major_to_rows --target=sm_120a -o %t.cubin 2>&1 | count 0
// RUN: headrace-compile %s --kernel=of_a_stack --target=sm_120a -o %t.cubin 2>&1 | count 0

// RUN: headrace-compile %s --kernel=softmax --target=sm_75 --emit=ptx -o %t.ptx && FileCheck %s --check-prefix=SOFTMAX < %t.ptx
// RUN: headrace-compile %s --kernel=prefix_sums --target=sm_80 --emit=ptx -o %t.ptx && FileCheck %s --check-prefix=SCAN < %t.ptx
// RUN: headrace-compile %s --kernel=embedding --target=sm_90a --emit=ptx -o %t.ptx && FileCheck %s --check-prefix=GATHER < %t.ptx
// RUN: headrace-compile %s --kernel=histogram --target=sm_100a --emit=ptx -o %t.ptx && FileCheck %s --check-prefix=ATOMIC < %t.ptx
// RUN: headrace-compile %s --kernel=sums_of_halves --target=sm_80 --emit=ptx -o %t.ptx && FileCheck %s --check-prefix=SWAP < %t.ptx
// RUN: headrace-compile %s --kernel=row_major_to_rows --target=sm_75 --emit=ptx -o %t.ptx && FileCheck %s --check-prefix=RESHAPE < %t.ptx

!vector = memref<?xf32>
!matrix = memref<?x?xf32, strided<[?, 1]>>

// Each warp has whole rows: shuffles within it, no barrier.
// SOFTMAX-LABEL: .entry softmax(
// SOFTMAX-NOT: bar.sync
// SOFTMAX: shfl.sync.bfly.b32
// SOFTMAX: ex2.approx
// SOFTMAX: shfl.sync.bfly.b32
// SOFTMAX-NOT: bar.sync
// SOFTMAX: ret;
tile.kernel @softmax(%X: !matrix, %Z: !matrix) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0, %c0] {fill = 0xFF800000 : f32} : !matrix -> tensor<16x96xf32>
  %max = tile.reduce %x axis 1 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.maximumf %a, %b : f32
    tile.yield %c : f32
  } : (tensor<16x96xf32>) -> tensor<16xf32>
  %m1 = tile.expand_dims %max axis 1 : tensor<16xf32> -> tensor<16x1xf32>
  %m = tile.broadcast %m1 : tensor<16x1xf32> -> tensor<16x96xf32>
  %d = arith.subf %x, %m : tensor<16x96xf32>
  %e = math.exp %d : tensor<16x96xf32>
  %sum = tile.reduce %e axis 1 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  } : (tensor<16x96xf32>) -> tensor<16xf32>
  %s1 = tile.expand_dims %sum axis 1 : tensor<16xf32> -> tensor<16x1xf32>
  %s = tile.broadcast %s1 : tensor<16x1xf32> -> tensor<16x96xf32>
  %z = arith.divf %e, %s : tensor<16x96xf32>
  tile.store %z, %Z[%c0, %c0] : tensor<16x96xf32>, !matrix
  tile.return
}

// Two sources, across warps: through shared memory.
tile.kernel @first_largest(%X: !matrix, %I: memref<?xi32>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0, %c0] : !matrix -> tensor<48x40xf32>
  %i = tile.iota axis 0 : tensor<48x40xi32>
  %r:2 = tile.reduce %x, %i axis 0 {
  ^bb0(%xa: f32, %ia: i32, %xb: f32, %ib: i32):
    %p = arith.cmpf ogt, %xa, %xb : f32
    %xm = arith.select %p, %xa, %xb : f32
    %im = arith.select %p, %ia, %ib : i32
    tile.yield %xm, %im : f32, i32
  } : (tensor<48x40xf32>, tensor<48x40xi32>) -> (tensor<40xf32>, tensor<40xi32>)
  tile.store %r#1, %I[%c0] : tensor<40xi32>, memref<?xi32>
  tile.return
}

// SCAN-LABEL: .entry prefix_sums(
// SCAN: shfl.sync.up.b32
// SCAN: shfl.sync.idx.b32
// SCAN: ret;
tile.kernel @prefix_sums(%v: !vector, %w: !vector) attributes {warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  %x = tile.load %v[%c0] : !vector -> tensor<640xf32>
  %y = tile.scan %x axis 0 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  } : (tensor<640xf32>) -> tensor<640xf32>
  tile.store %y, %w[%c0] : tensor<640xf32>, !vector
  tile.return
}

// GATHER-LABEL: .entry embedding(
// GATHER: @{{.*}} ld.global
// GATHER: @{{.*}} st.global
// GATHER: ret;
tile.kernel @embedding(%T: memref<?x?xbf16, strided<[?, 1]>>, %ids: memref<?xi64>, %Z: memref<?x?xbf16, strided<[?, 1]>>) {
  %c0 = arith.constant 0 : index
  %p = tile.load %ids[%c0] {fill = -1 : i64} : memref<?xi64> -> tensor<40xi64>
  %x = tile.gather %T[%p, %c0] : memref<?x?xbf16, strided<[?, 1]>>, (tensor<40xi64>, index) -> tensor<40x64xbf16>
  tile.store %x, %Z[%c0, %c0] : tensor<40x64xbf16>, memref<?x?xbf16, strided<[?, 1]>>
  tile.return
}

// ATOMIC-LABEL: .entry histogram(
// ATOMIC: @{{.*}} red.global.add.u32
// ATOMIC: ret;
tile.kernel @histogram(%v: memref<?xi32>, %counts: memref<?xi32>, %last: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1> : tensor<229xi32>
  %bins = tile.load %v[%c0] {fill = -1 : i32} : memref<?xi32> -> tensor<229xi32>
  tile.scatter combine #tile.combine<add> %one, %counts[%bins] : tensor<229xi32>, memref<?xi32>, (tensor<229xi32>)
  %n = tile.load_scalar %v[%c0] : memref<?xi32> -> i32
  tile.store_scalar %n, %last[%c0] : i32, memref<?xi32>
  tile.return
}

// SWAP-LABEL: .entry sums_of_halves(
// SWAP: atom.global.cas.b32
// SWAP: @{{.*}} red.global.add.noftz.f16
tile.kernel @sums_of_halves(%X: memref<?xf16>, %v: !vector, %w: memref<?xf16>) {
  %c0 = arith.constant 0 : index
  %x = tile.load %X[%c0] : memref<?xf16> -> tensor<96xf16>
  %y = arith.extf %x : tensor<96xf16> to tensor<96xf32>
  tile.reduce_store #tile.combine<max> %y, %v[%c0] : tensor<96xf32>, !vector
  tile.reduce_store #tile.combine<add> %x, %w[%c0] : tensor<96xf16>, memref<?xf16>
  tile.return
}

// RESHAPE-LABEL: .entry row_major_to_rows(
// RESHAPE: st.shared
// RESHAPE: bar.sync
// RESHAPE: ld.shared
// RESHAPE: ret;
tile.kernel @row_major_to_rows(%v: !vector, %Z: !matrix) attributes {warps = 3 : i64} {
  %c0 = arith.constant 0 : index
  %x = tile.load %v[%c0] : !vector -> tensor<960xf32>
  %y = tile.reshape %x : tensor<960xf32> -> tensor<24x40xf32>
  %z = tile.transpose %y [1, 0] : tensor<24x40xf32> -> tensor<40x24xf32>
  tile.store %z, %Z[%c0, %c0] : tensor<40x24xf32>, !matrix
  tile.return
}

// One matrix of many, as a tile of two dimensions; one of four dimensions from all of an array.
tile.kernel @of_a_stack(%S: memref<?x?x?xf32, strided<[?, ?, 1]>>, %F: memref<?x?x?x?x?xf32, strided<[?, ?, ?, ?, 1]>>, %Z: !matrix, %i: index) {
  %c0 = arith.constant 0 : index
  %x = tile.load %S[%i, %c0, %c0] : memref<?x?x?xf32, strided<[?, ?, 1]>> -> tensor<24x48xf32>
  %f = tile.load %F[%i, %c0, %c0, %c0, %c0] : memref<?x?x?x?x?xf32, strided<[?, ?, ?, ?, 1]>> -> tensor<2x3x4x48xf32>
  %g = tile.reshape %f : tensor<2x3x4x48xf32> -> tensor<24x48xf32>
  %s = arith.addf %x, %g : tensor<24x48xf32>
  tile.store %s, %Z[%c0, %c0] : tensor<24x48xf32>, !matrix
  tile.return
}
