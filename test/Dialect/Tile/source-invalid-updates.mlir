// RUN: headrace-opt %s --tile-plan --split-input-file --verify-diagnostics

// Atomic updates that a target cannot do.

module attributes {tile.target = "sm_75"} {
tile.kernel @reduce_store(%A: memref<?xbf16>, %x: bf16) {
  %c0 = arith.constant 0 : index
  %t = tensor.splat %x : tensor<64xbf16>
  // expected-error@+1 {{'tile.reduce_store' op combines bf16 atomically, which sm_80 and newer can, got sm_75}}
  tile.reduce_store #tile.combine<add> %t, %A[%c0] : tensor<64xbf16>, memref<?xbf16>
  tile.return
}
}

// -----

module attributes {tile.target = "sm_75"} {
tile.kernel @scatter(%A: memref<?xbf16>, %x: bf16) {
  %i = tile.iota axis 0 : tensor<64xi32>
  %t = tensor.splat %x : tensor<64xbf16>
  // expected-error@+1 {{'tile.scatter' op combines bf16 atomically, which sm_80 and newer can, got sm_75}}
  tile.scatter combine #tile.combine<max> %t, %A[%i] : tensor<64xbf16>, memref<?xbf16>, (tensor<64xi32>)
  tile.return
}
}

// -----

// Without combining, bf16 is moved like any other 16 bits; and sm_80 combines it.
module attributes {tile.target = "sm_75"} {
tile.kernel @plain_scatter(%A: memref<?xbf16>, %x: bf16) {
  %i = tile.iota axis 0 : tensor<64xi32>
  %t = tensor.splat %x : tensor<64xbf16>
  tile.scatter %t, %A[%i] : tensor<64xbf16>, memref<?xbf16>, (tensor<64xi32>)
  tile.return
}
}

// -----

module attributes {tile.target = "sm_80"} {
tile.kernel @newer(%A: memref<?xbf16>, %x: bf16) {
  %c0 = arith.constant 0 : index
  %t = tensor.splat %x : tensor<64xbf16>
  tile.reduce_store #tile.combine<add> %t, %A[%c0] : tensor<64xbf16>, memref<?xbf16>
  tile.return
}
}
