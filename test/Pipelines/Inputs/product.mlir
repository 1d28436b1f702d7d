// One output tile of a product in the four orientations, named BLAS style: first A ("t": stored M x K, "n": K x M), then B
// ("n": stored N x K, "t": K x N).
//
// param T = bf16
// param ACC = f32
// param ZERO = 0.0
// param BM = 64
// param BN = 64
// param BK = 64
// param CONSUMERS = auto
// param ATTRS = {}

tile.kernel @tn(%A: memref<?x?x${T}, strided<[?, 1]>> {tile.name = "A", tile.align = 16 : i64},
                %B: memref<?x?x${T}, strided<[?, 1]>> {tile.name = "B", tile.align = 16 : i64},
                %C: memref<?x?x${ACC}, strided<[?, 1]>> {tile.name = "C", tile.align = 16 : i64}, %K: index) {
  %c0 = arith.constant 0 : index
  %bk = arith.constant ${BK} : index
  %zero = arith.constant dense<${ZERO}> : tensor<${BM}x${BN}x${ACC}>
  %sum = tile.for %k = %c0 to %K step %bk iter_args(%acc = %zero) -> (tensor<${BM}x${BN}x${ACC}>) pipeline(stages = 2, consumers = ${CONSUMERS}) {
    %a = tile.load %A[%c0, %k] : memref<?x?x${T}, strided<[?, 1]>> -> tensor<${BM}x${BK}x${T}>
    %b = tile.load %B[%c0, %k] : memref<?x?x${T}, strided<[?, 1]>> -> tensor<${BN}x${BK}x${T}>
    %s = tile.dot %a, %b transpose_b, %acc ${ATTRS} : tensor<${BM}x${BK}x${T}>, tensor<${BN}x${BK}x${T}> -> tensor<${BM}x${BN}x${ACC}>
    tile.yield %s : tensor<${BM}x${BN}x${ACC}>
  }
  tile.store %sum, %C[%c0, %c0] : tensor<${BM}x${BN}x${ACC}>, memref<?x?x${ACC}, strided<[?, 1]>>
  tile.return
}

tile.kernel @tt(%A: memref<?x?x${T}, strided<[?, 1]>> {tile.name = "A", tile.align = 16 : i64},
                %B: memref<?x?x${T}, strided<[?, 1]>> {tile.name = "B", tile.align = 16 : i64},
                %C: memref<?x?x${ACC}, strided<[?, 1]>> {tile.name = "C", tile.align = 16 : i64}, %K: index) {
  %c0 = arith.constant 0 : index
  %bk = arith.constant ${BK} : index
  %zero = arith.constant dense<${ZERO}> : tensor<${BM}x${BN}x${ACC}>
  %sum = tile.for %k = %c0 to %K step %bk iter_args(%acc = %zero) -> (tensor<${BM}x${BN}x${ACC}>) pipeline(stages = 2, consumers = ${CONSUMERS}) {
    %a = tile.load %A[%c0, %k] : memref<?x?x${T}, strided<[?, 1]>> -> tensor<${BM}x${BK}x${T}>
    %b = tile.load %B[%k, %c0] : memref<?x?x${T}, strided<[?, 1]>> -> tensor<${BK}x${BN}x${T}>
    %s = tile.dot %a, %b, %acc ${ATTRS} : tensor<${BM}x${BK}x${T}>, tensor<${BK}x${BN}x${T}> -> tensor<${BM}x${BN}x${ACC}>
    tile.yield %s : tensor<${BM}x${BN}x${ACC}>
  }
  tile.store %sum, %C[%c0, %c0] : tensor<${BM}x${BN}x${ACC}>, memref<?x?x${ACC}, strided<[?, 1]>>
  tile.return
}

tile.kernel @nn(%A: memref<?x?x${T}, strided<[?, 1]>> {tile.name = "A", tile.align = 16 : i64},
                %B: memref<?x?x${T}, strided<[?, 1]>> {tile.name = "B", tile.align = 16 : i64},
                %C: memref<?x?x${ACC}, strided<[?, 1]>> {tile.name = "C", tile.align = 16 : i64}, %K: index) {
  %c0 = arith.constant 0 : index
  %bk = arith.constant ${BK} : index
  %zero = arith.constant dense<${ZERO}> : tensor<${BM}x${BN}x${ACC}>
  %sum = tile.for %k = %c0 to %K step %bk iter_args(%acc = %zero) -> (tensor<${BM}x${BN}x${ACC}>) pipeline(stages = 2, consumers = ${CONSUMERS}) {
    %a = tile.load %A[%k, %c0] : memref<?x?x${T}, strided<[?, 1]>> -> tensor<${BK}x${BM}x${T}>
    %b = tile.load %B[%c0, %k] : memref<?x?x${T}, strided<[?, 1]>> -> tensor<${BN}x${BK}x${T}>
    %s = tile.dot %a transpose_a, %b transpose_b, %acc ${ATTRS} : tensor<${BK}x${BM}x${T}>, tensor<${BN}x${BK}x${T}> -> tensor<${BM}x${BN}x${ACC}>
    tile.yield %s : tensor<${BM}x${BN}x${ACC}>
  }
  tile.store %sum, %C[%c0, %c0] : tensor<${BM}x${BN}x${ACC}>, memref<?x?x${ACC}, strided<[?, 1]>>
  tile.return
}

tile.kernel @nt(%A: memref<?x?x${T}, strided<[?, 1]>> {tile.name = "A", tile.align = 16 : i64},
                %B: memref<?x?x${T}, strided<[?, 1]>> {tile.name = "B", tile.align = 16 : i64},
                %C: memref<?x?x${ACC}, strided<[?, 1]>> {tile.name = "C", tile.align = 16 : i64}, %K: index) {
  %c0 = arith.constant 0 : index
  %bk = arith.constant ${BK} : index
  %zero = arith.constant dense<${ZERO}> : tensor<${BM}x${BN}x${ACC}>
  %sum = tile.for %k = %c0 to %K step %bk iter_args(%acc = %zero) -> (tensor<${BM}x${BN}x${ACC}>) pipeline(stages = 2, consumers = ${CONSUMERS}) {
    %a = tile.load %A[%k, %c0] : memref<?x?x${T}, strided<[?, 1]>> -> tensor<${BK}x${BM}x${T}>
    %b = tile.load %B[%k, %c0] : memref<?x?x${T}, strided<[?, 1]>> -> tensor<${BK}x${BN}x${T}>
    %s = tile.dot %a transpose_a, %b, %acc ${ATTRS} : tensor<${BK}x${BM}x${T}>, tensor<${BK}x${BN}x${T}> -> tensor<${BM}x${BN}x${ACC}>
    tile.yield %s : tensor<${BM}x${BN}x${ACC}>
  }
  tile.store %sum, %C[%c0, %c0] : tensor<${BM}x${BN}x${ACC}>, memref<?x?x${ACC}, strided<[?, 1]>>
  tile.return
}
