// Case P13: loads under a condition of the trip, in a pipelined loop: C = A B over the first `limit` tiles of K, or over
// those that `mask` names.
//
// param BM = 64
// param STAGES = 2
// param SPECIALIZE = auto

!half = memref<?x?xf16, strided<[?, 1]>>
!result = memref<?x?xf32, strided<[?, 1]>>
!mask = memref<?xi32, strided<[1]>>
!sums = tensor<${BM}x64xf32>

tile.kernel @both(%A: !half {tile.name = "A", tile.align = 16 : i64}, %B: !half {tile.name = "B", tile.align = 16 : i64},
                  %C: !result {tile.name = "C", tile.align = 16 : i64}, %limit: index {tile.name = "limit"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bk = arith.constant 32 : index
  %K = memref.dim %A, %c1 : !half
  %end = arith.muli %limit, %bk : index
  %zero = arith.constant dense<0.0> : !sums
  %sum = tile.for %k = %c0 to %K step %bk iter_args(%acc = %zero) -> (!sums)
      pipeline(stages = ${STAGES}, specialize = ${SPECIALIZE}) {
    %isIn = arith.cmpi slt, %k, %end : index
    %next = scf.if %isIn -> (!sums) {
      %a = tile.load %A[%c0, %k] : !half -> tensor<${BM}x32xf16>
      %b = tile.load %B[%k, %c0] : !half -> tensor<32x64xf16>
      %s = tile.dot %a, %b, %acc : tensor<${BM}x32xf16>, tensor<32x64xf16> -> !sums
      scf.yield %s : !sums
    } else {
      scf.yield %acc : !sums
    }
    tile.yield %next : !sums
  }
  tile.store %sum, %C[%c0, %c0] : !sums, !result
  tile.return
}

tile.kernel @one(%A: !half {tile.name = "A", tile.align = 16 : i64}, %B: !half {tile.name = "B", tile.align = 16 : i64},
                 %C: !result {tile.name = "C", tile.align = 16 : i64}, %limit: index {tile.name = "limit"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bk = arith.constant 32 : index
  %K = memref.dim %A, %c1 : !half
  %end = arith.muli %limit, %bk : index
  %zero = arith.constant dense<0.0> : !sums
  %sum = tile.for %k = %c0 to %K step %bk iter_args(%acc = %zero) -> (!sums)
      pipeline(stages = ${STAGES}, specialize = ${SPECIALIZE}) {
    %isIn = arith.cmpi slt, %k, %end : index
    %b = tile.load %B[%k, %c0] : !half -> tensor<32x64xf16>
    %next = scf.if %isIn -> (!sums) {
      %a = tile.load %A[%c0, %k] : !half -> tensor<${BM}x32xf16>
      %s = tile.dot %a, %b, %acc : tensor<${BM}x32xf16>, tensor<32x64xf16> -> !sums
      scf.yield %s : !sums
    } else {
      scf.yield %acc : !sums
    }
    tile.yield %next : !sums
  }
  tile.store %sum, %C[%c0, %c0] : !sums, !result
  tile.return
}

tile.kernel @masked(%A: !half {tile.name = "A", tile.align = 16 : i64}, %B: !half {tile.name = "B", tile.align = 16 : i64},
                    %C: !result {tile.name = "C", tile.align = 16 : i64}, %mask: !mask {tile.name = "mask"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bk = arith.constant 32 : index
  %trips = memref.dim %mask, %c0 : !mask
  %none = arith.constant 0 : i32
  %zero = arith.constant dense<0.0> : !sums
  %sum = tile.for %i = %c0 to %trips step %c1 iter_args(%acc = %zero) -> (!sums)
      pipeline(stages = ${STAGES}, specialize = ${SPECIALIZE}) {
    %k = arith.muli %i, %bk : index
    %m = tile.load_scalar %mask[%i] : !mask -> i32
    %isIn = arith.cmpi ne, %m, %none : i32
    %next = scf.if %isIn -> (!sums) {
      %a = tile.load %A[%c0, %k] : !half -> tensor<${BM}x32xf16>
      %b = tile.load %B[%k, %c0] : !half -> tensor<32x64xf16>
      %s = tile.dot %a, %b, %acc : tensor<${BM}x32xf16>, tensor<32x64xf16> -> !sums
      scf.yield %s : !sums
    } else {
      scf.yield %acc : !sums
    }
    tile.yield %next : !sums
  }
  tile.store %sum, %C[%c0, %c0] : !sums, !result
  tile.return
}
