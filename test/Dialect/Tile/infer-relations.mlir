// RUN: headrace-opt %s --tile-infer-layouts -o %t
// RUN: FileCheck %s < %t
// RUN: FileCheck %s --check-prefix=LAYOUT < %t

// Layouts that follow from others: of broadcasts, transposes, reshapes, positions; and what is made anew for each use.

// Places of columns, the same in all warps; a tile whose lanes follow the columns.
// LAYOUT-DAG: #[[$COLUMNS:.*]] = #tile.layout<atom = [32], register = [], lane = {{\[\[}}1], [2], [4], [8], [16]], warp = {{\[\[}}0], [0]], groups = [], repeat = [1]>
// LAYOUT-DAG: #[[$COALESCED:.*]] = #tile.layout<atom = [4, 32], register = [], lane = {{\[\[}}0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = {{\[\[}}1, 0], [2, 0]], groups = [], repeat = [16, 2]>

!vector = memref<?xf32>
!numbers = memref<?xi32>
!matrix = memref<?x?xf32, strided<[?, 1]>>

// A broadcast's source has in each thread just what its elements need.
// CHECK-LABEL: tile.kernel @broadcasts
// CHECK-DAG: %[[C:.*]] = tile.load %{{.*}} : memref<?xf32> -> tensor<64xf32, #[[$COLUMN:[^>]*]]>
// CHECK: tile.expand_dims %[[C]] axis 1 : tensor<64xf32, #[[$COLUMN]]> -> tensor<64x1xf32, #[[$EXPANDED:[^>]*]]>
// CHECK: tile.broadcast {{.*}} : tensor<64x1xf32, #[[$EXPANDED]]> -> tensor<64x32xf32, #[[$T:[^>]*]]>
// CHECK: arith.addf {{.*}} : tensor<64x32xf32, #[[$T]]>
// CHECK-NOT: tile.convert_layout
tile.kernel @broadcasts(%v: !vector, %A: !matrix) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c = tile.load %v[%c0] : !vector -> tensor<64xf32>
  %e = tile.expand_dims %c axis 1 : tensor<64xf32> -> tensor<64x1xf32>
  %b = tile.broadcast %e : tensor<64x1xf32> -> tensor<64x32xf32>
  %x = tile.load %A[%c0, %c0] : !matrix -> tensor<64x32xf32>
  %s = arith.addf %x, %b : tensor<64x32xf32>
  tile.store %s, %A[%c0, %c0] : tensor<64x32xf32>, !matrix
  tile.return
}

// One vector along the rows and along the columns of a tile lies in two places: it is converted once, while it is small.
// CHECK-LABEL: tile.kernel @both_ways
// CHECK: tile.load {{.*}} -> tensor<64xf32, #{{.*}}>
// CHECK-NOT: tile.convert_layout {{.*}}64x64x
// CHECK: tile.convert_layout {{.*}} -> tensor<{{(1x)?64(x1)?}}xf32, #{{.*}}>
// CHECK-NOT: tile.convert_layout
// CHECK: tile.return
tile.kernel @both_ways(%v: !vector, %A: !matrix) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c = tile.load %v[%c0] : !vector -> tensor<64xf32>
  %e = tile.expand_dims %c axis 1 : tensor<64xf32> -> tensor<64x1xf32>
  %f = tile.expand_dims %c axis 0 : tensor<64xf32> -> tensor<1x64xf32>
  %b = tile.broadcast %e : tensor<64x1xf32> -> tensor<64x64xf32>
  %d = tile.broadcast %f : tensor<1x64xf32> -> tensor<64x64xf32>
  %s = arith.addf %b, %d : tensor<64x64xf32>
  tile.store %s, %A[%c0, %c0] : tensor<64x64xf32>, !matrix
  tile.return
}

// A thread has the places of its rows; the same rows serve what is written.
// CHECK-LABEL: tile.kernel @positions
// CHECK: %[[R:.*]] = tile.load {{.*}} -> tensor<64xi32, #[[$ROWS:[^>]*]]>
// CHECK: %[[X:.*]] = tile.gather %{{.*}}[%[[R]], %{{.*}}] {{.*}}(tensor<64xi32, #[[$ROWS]]>, index) -> tensor<64x32xf32, #[[$T:[^>]*]]>
// CHECK: tile.scatter %[[X]], %{{.*}}[%[[R]], %{{.*}}] : tensor<64x32xf32, #[[$T]]>, {{.*}}(tensor<64xi32, #[[$ROWS]]>, index)
// CHECK-NOT: tile.convert_layout
tile.kernel @positions(%v: !numbers, %A: !matrix, %B: !matrix) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %rows = tile.load %v[%c0] : !numbers -> tensor<64xi32>
  %x = tile.gather %A[%rows, %c0] : !matrix, (tensor<64xi32>, index) -> tensor<64x32xf32>
  tile.scatter %x, %B[%rows, %c0] : tensor<64x32xf32>, !matrix, (tensor<64xi32>, index)
  tile.return
}

// Places of each element lie where the elements do; those of columns where the columns do, after leading positions too.
// LAYOUT-LABEL: tile.kernel @places_of_elements_and_columns
// LAYOUT: tile.gather {{.*}}tensor<32xi64, #[[$COLUMNS]]>)
// CHECK-LABEL: tile.kernel @places_of_elements_and_columns
// CHECK: tile.gather {{.*}}(index, tensor<64x32xi32, #[[$T:[^>]*]]>, tensor<32xi64, #[[$COLUMNS:[^>]*]]>) -> tensor<64x32xf32, #[[$T]]>
tile.kernel @places_of_elements_and_columns(%S: memref<?x?x?xf32, strided<[?, ?, 1]>>, %A: !matrix) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %each = tile.iota axis 1 : tensor<64x32xi32>
  %columns = tile.iota axis 0 : tensor<32xi64>
  %x = tile.gather %S[%c0, %each, %columns] : memref<?x?x?xf32, strided<[?, ?, 1]>>, (index, tensor<64x32xi32>, tensor<32xi64>) -> tensor<64x32xf32>
  tile.store %x, %A[%c0, %c0] : tensor<64x32xf32>, !matrix
  tile.return
}

// A transpose keeps every element in its thread: reading along rows means writing along columns.
// CHECK-LABEL: tile.kernel @transposes
// CHECK: %[[X:.*]] = tile.load {{.*}} -> tensor<64x32xf32, #[[$FROM:[^>]*]]>
// CHECK: %[[Y:.*]] = tile.transpose %[[X]] [1, 0] : tensor<64x32xf32, #[[$FROM]]> -> tensor<32x64xf32, #[[$TO:[^>]*]]>
// CHECK: arith.negf %[[Y]] : tensor<32x64xf32, #[[$TO]]>
tile.kernel @transposes(%A: !matrix, %B: !matrix) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %x = tile.load %A[%c0, %c0] : !matrix -> tensor<64x32xf32>
  %y = tile.transpose %x [1, 0] : tensor<64x32xf32> -> tensor<32x64xf32>
  %z = arith.negf %y : tensor<32x64xf32>
  tile.store %z, %B[%c0, %c0] : tensor<32x64xf32>, !matrix
  tile.return
}

// A reshape that moves dimensions of extent 1 moves no element; any other leaves both sides free.
// CHECK-LABEL: tile.kernel @reshapes
// CHECK: tile.reshape {{.*}} : tensor<64x32xf32, #[[$FROM:[^>]*]]> -> tensor<1x64x1x32xf32, #[[$TO:[^>]*]]>
// CHECK: tile.reshape {{.*}} : tensor<1x64x1x32xf32, #[[$TO]]> -> tensor<64x1x32xf32, #{{.*}}>
// CHECK: tile.reshape {{.*}} : tensor<64x1x32xf32, #{{.*}}> -> tensor<2048xf32, #[[$LINE:[^>]*]]>
// CHECK: tile.store {{.*}} : tensor<2048xf32, #[[$LINE]]>
// CHECK-NOT: tile.convert_layout
tile.kernel @reshapes(%A: !matrix, %v: !vector) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %x = tile.load %A[%c0, %c0] : !matrix -> tensor<64x32xf32>
  %y = tile.reshape %x : tensor<64x32xf32> -> tensor<1x64x1x32xf32>
  %z = tile.reshape %y : tensor<1x64x1x32xf32> -> tensor<64x1x32xf32>
  %w = tile.reshape %z : tensor<64x1x32xf32> -> tensor<2048xf32>
  tile.store %w, %v[%c0] : tensor<2048xf32>, !vector
  tile.return
}

// Coordinates cost nothing: made for each use, in whatever layout it wants, instead of converted.
// CHECK-LABEL: tile.kernel @coordinates
// CHECK-DAG: %[[I:.*]] = tile.iota axis 0 : tensor<64xi32, #[[$WIDE:[^>]*]]>
// CHECK-DAG: %[[J:.*]] = tile.iota axis 0 : tensor<64xi32, #[[$LINE:[^>]*]]>
// CHECK-DAG: tile.expand_dims %[[I]]
// CHECK-DAG: tile.store %[[J]], {{.*}} : tensor<64xi32, #[[$LINE]]>
// CHECK-NOT: tile.convert_layout
// CHECK: tile.return
tile.kernel @coordinates(%A: memref<?x?xi32, strided<[?, 1]>>, %v: !numbers) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %i = tile.iota axis 0 : tensor<64xi32>
  %e = tile.expand_dims %i axis 1 : tensor<64xi32> -> tensor<64x1xi32>
  %b = tile.broadcast %e : tensor<64x1xi32> -> tensor<64x64xi32>
  tile.store %b, %A[%c0, %c0] : tensor<64x64xi32>, memref<?x?xi32, strided<[?, 1]>>
  tile.store %i, %v[%c0] : tensor<64xi32>, !numbers
  tile.return
}

// So are tiles of one scalar.
// CHECK-LABEL: tile.kernel @scalars
// CHECK-SAME: %[[S:.*]]: f32
// CHECK-COUNT-2: tensor.splat %[[S]] : tensor<64x32xf32, #{{.*}}>
// CHECK-NOT: tile.convert_layout
// CHECK: tile.return
tile.kernel @scalars(%s: f32, %A: !matrix, %B: memref<?x?xf32, strided<[1, ?]>>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %x = tensor.splat %s : tensor<64x32xf32>
  tile.store %x, %A[%c0, %c0] : tensor<64x32xf32>, !matrix
  tile.store %x, %B[%c0, %c0] : tensor<64x32xf32>, memref<?x?xf32, strided<[1, ?]>>
  tile.return
}

// A tile of one scalar decides about nothing: what is loaded and stored stays coalesced, its lanes along the columns.
// LAYOUT-LABEL: tile.kernel @scalars_decide_nothing
// LAYOUT: tile.load {{.*}} -> tensor<64x64xf32, #[[$COALESCED]]>
// CHECK-LABEL: tile.kernel @scalars_decide_nothing
// CHECK: tile.load {{.*}} -> tensor<64x64xf32, #[[$T:[^>]*]]>
// CHECK: tile.store {{.*}} : tensor<64x64xf32, #[[$T]]>
tile.kernel @scalars_decide_nothing(%s: f32, %A: !matrix, %B: !matrix) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %x = tile.load %A[%c0, %c0] : !matrix -> tensor<64x64xf32>
  %q = tensor.splat %s : tensor<64x64xf32>
  %t = tile.transpose %q [1, 0] : tensor<64x64xf32> -> tensor<64x64xf32>
  %z = arith.addf %x, %t : tensor<64x64xf32>
  tile.store %z, %B[%c0, %c0] : tensor<64x64xf32>, !matrix
  tile.return
}
