// RUN: headrace-opt %s --tile-infer-layouts | FileCheck %s

// Splits, joins and the reshapes around them: neighbours stay in one thread, and nothing is converted.

!matrix = memref<?x?xf32, strided<[?, 1]>>
!vector = memref<?xf32>

// What is loaded in vectors is taken apart in registers, and stored in vectors again.
// CHECK-LABEL: tile.kernel @interleaved_pairs
// CHECK: tile.load {{.*}} -> tensor<8x128xf32, #[[$WHOLE:[^>]*]]>
// CHECK: tile.reshape {{.*}} : tensor<8x128xf32, #[[$WHOLE]]> -> tensor<8x64x2xf32, #[[$PAIRS:[^>]*]]>
// CHECK: tile.split {{.*}} : tensor<8x64x2xf32, #[[$PAIRS]]> -> tensor<8x64xf32, #[[$HALF:[^>]*]]>
// CHECK: tile.load {{.*}} -> tensor<8x64xf32, #[[$HALF]]>
// CHECK: tile.join {{.*}} : tensor<8x64xf32, #[[$HALF]]> -> tensor<8x64x2xf32, #[[$PAIRS]]>
// CHECK: tile.reshape {{.*}} : tensor<8x64x2xf32, #[[$PAIRS]]> -> tensor<8x128xf32, #[[$WHOLE]]>
// CHECK-NOT: tile.convert_layout
// CHECK: tile.return
tile.kernel @interleaved_pairs(%A: !matrix {tile.align = 16 : i64}, %B: !matrix {tile.align = 16 : i64}) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %x = tile.load %A[%c0, %c0] : !matrix -> tensor<8x128xf32>
  %p = tile.reshape %x : tensor<8x128xf32> -> tensor<8x64x2xf32>
  %a, %b = tile.split %p : tensor<8x64x2xf32> -> tensor<8x64xf32>
  %c = tile.load %B[%c0, %c0] : !matrix -> tensor<8x64xf32>
  %d = arith.mulf %a, %c : tensor<8x64xf32>
  %j = tile.join %b, %d : tensor<8x64xf32> -> tensor<8x64x2xf32>
  %y = tile.reshape %j : tensor<8x64x2xf32> -> tensor<8x128xf32>
  tile.store %y, %B[%c0, %c0] : tensor<8x128xf32>, !matrix
  tile.return
}

// A transposed tile has its neighbours in different warps: it is converted once, to what the reshapes and the split leave in
// its place.
// CHECK-LABEL: tile.kernel @halves_in_other_threads
// CHECK: %[[T:.*]] = tile.transpose
// CHECK: %[[C:.*]] = tile.convert_layout %[[T]]
// CHECK-NOT: tile.convert_layout
// CHECK: %[[R:.*]] = tile.reshape %[[C]] : tensor<32x64xf32, #{{.*}}> -> tensor<2048xf32, #{{.*}}>
// CHECK: tile.reshape {{.*}} : tensor<2048xf32, #{{.*}}> -> tensor<1024x2xf32, #[[$PAIRS:[^>]*]]>
// CHECK: tile.split {{.*}} : tensor<1024x2xf32, #[[$PAIRS]]> -> tensor<1024xf32, #{{.*}}>
tile.kernel @halves_in_other_threads(%A: !matrix, %v: !vector) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %x = tile.load %A[%c0, %c0] : !matrix -> tensor<64x32xf32>
  %t = tile.transpose %x [1, 0] : tensor<64x32xf32> -> tensor<32x64xf32>
  %r = tile.reshape %t : tensor<32x64xf32> -> tensor<2048xf32>
  %p = tile.reshape %r : tensor<2048xf32> -> tensor<1024x2xf32>
  %a, %b = tile.split %p : tensor<1024x2xf32> -> tensor<1024xf32>
  %s = arith.addf %a, %b : tensor<1024xf32>
  tile.store %s, %v[%c0] : tensor<1024xf32>, !vector
  tile.return
}

// A scan wants neighbours in one thread, lanes and registers: the halves of its result are in neighbouring registers too.
// CHECK-LABEL: tile.kernel @halves_of_a_scan
// CHECK: tile.scan
// CHECK: tile.reshape
// CHECK: tile.split
// CHECK-NOT: tile.convert_layout
// CHECK: tile.store
tile.kernel @halves_of_a_scan(%A: !matrix, %v: !vector) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %x = tile.load %A[%c0, %c0] : !matrix -> tensor<16x64xf32>
  %s = tile.scan %x axis 1 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  } : (tensor<16x64xf32>) -> tensor<16x64xf32>
  %p = tile.reshape %s : tensor<16x64xf32> -> tensor<16x32x2xf32>
  %even, %odd = tile.split %p : tensor<16x32x2xf32> -> tensor<16x32xf32>
  %d = arith.subf %odd, %even : tensor<16x32xf32>
  tile.store %d, %A[%c0, %c0] : tensor<16x32xf32>, !matrix
  tile.return
}
