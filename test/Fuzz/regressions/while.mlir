// RUN: headrace-compile %s --target=sm_80 --emit=ptx -o - 2>/dev/null | FileCheck %s

// A tile carried by scf.while has one layout at all its ends.

// CHECK-LABEL: .entry doubled_until
// CHECK: add.{{(rn.)?}}f32
tile.kernel @doubled_until(%A: memref<?x?xf32, strided<[?, 1]>>, %count: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid %count
  %a = tile.load %A[%c0, %c0] : memref<?x?xf32, strided<[?, 1]>> -> tensor<32x32xf32>
  %n, %r = scf.while (%i = %c0, %x = %a) : (index, tensor<32x32xf32>) -> (index, tensor<32x32xf32>) {
    %more = arith.cmpi slt, %i, %count : index
    scf.condition(%more) %i, %x : index, tensor<32x32xf32>
  } do {
  ^bb0(%i: index, %x: tensor<32x32xf32>):
    %next = arith.addi %i, %c1 : index
    %y = arith.addf %x, %x : tensor<32x32xf32>
    scf.yield %next, %y : index, tensor<32x32xf32>
  }
  tile.store %r, %A[%c0, %c0] : tensor<32x32xf32>, memref<?x?xf32, strided<[?, 1]>>
  tile.return
}

