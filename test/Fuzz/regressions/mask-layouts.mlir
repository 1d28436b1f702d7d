// RUN: headrace-compile %s --target=sm_80 --emit=pipe -o - 2>/dev/null | FileCheck %s
// RUN: headrace-compile %s --target=sm_80 --emit=ptx -o %t.ptx

// A mask needed along rows and along columns, in two layouts: it crosses shared memory as bytes.

// CHECK-LABEL: func.func @both_ways
// CHECK: pipe.create_channel "conversion" {{.*}}<{{(1x)?64(x1)?}}xi8
// CHECK: arith.extui {{.*}}xi1, {{.*}}xi8
// CHECK: arith.trunci {{.*}}xi8, {{.*}}xi1
tile.kernel @both_ways(%X: memref<?xf32>, %C: memref<?x?xf32, strided<[?, 1]>>, %count: index) {
  %c0 = arith.constant 0 : index
  tile.grid %count
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %square = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = tile.load %X[%c0] : memref<?xf32> -> tensor<64xf32>
  %mask = arith.cmpf ogt, %x, %zero : tensor<64xf32>
  %row = tile.expand_dims %mask axis 0 : tensor<64xi1> -> tensor<1x64xi1>
  %column = tile.expand_dims %mask axis 1 : tensor<64xi1> -> tensor<64x1xi1>
  %rows = tile.broadcast %row : tensor<1x64xi1> -> tensor<64x64xi1>
  %columns = tile.broadcast %column : tensor<64x1xi1> -> tensor<64x64xi1>
  %both = arith.andi %rows, %columns : tensor<64x64xi1>
  %c = tile.load %C[%c0, %c0] : memref<?x?xf32, strided<[?, 1]>> -> tensor<64x64xf32>
  %s = arith.select %both, %c, %square : tensor<64x64xi1>, tensor<64x64xf32>
  tile.store %s, %C[%c0, %c0] : tensor<64x64xf32>, memref<?x?xf32, strided<[?, 1]>>
  tile.return
}
