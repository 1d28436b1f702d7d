// C = A * W^T for A [M, K] of T and int8 weights W [N, K], of which G elements of K (a group, and a trip) share a
// scale: S [ceil(K/G), N] of T. Weights become T in the loop.
//
// param T = bf16
// param BM = 64
// param BN = 128
// param G = 64
// param STAGES = auto
// param SPECIALIZE = auto
// param ALIGN = 16

!matrix = memref<?x?x${T}, strided<[?, 1]>>
!weights = memref<?x?xi8, strided<[?, 1]>>
!sums = tensor<${BM}x${BN}xf32>

tile.kernel @gemm_int8_weights(%A: !matrix {tile.name = "A", tile.align = ${ALIGN} : i64},
                               %W: !weights {tile.name = "W", tile.align = ${ALIGN} : i64},
                               %S: !matrix {tile.name = "S", tile.align = ${ALIGN} : i64},
                               %C: !matrix {tile.name = "C", tile.align = ${ALIGN} : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bm = arith.constant ${BM} : index
  %bn = arith.constant ${BN} : index
  %size = arith.constant ${G} : index
  %M = memref.dim %C, %c0 : !matrix
  %N = memref.dim %C, %c1 : !matrix
  %K = memref.dim %A, %c1 : !matrix
  %rows = arith.ceildivsi %M, %bm : index
  %columns = arith.ceildivsi %N, %bn : index
  %groups = arith.ceildivsi %K, %size : index
  %tiles = arith.muli %rows, %columns : index
  tile.grid %tiles persistent

  %first = tile.program_id 0
  %programs = tile.num_programs 0
  scf.for %t = %first to %tiles step %programs {
    %row, %column = tile.grouped_index %t of %rows x %columns group 16
    %m = arith.muli %row, %bm : index
    %n = arith.muli %column, %bn : index
    %zero = arith.constant dense<0.0> : !sums
    %sum = tile.for %g = %c0 to %groups step %c1 iter_args(%acc = %zero) -> (!sums)
        pipeline(stages = ${STAGES}, specialize = ${SPECIALIZE}) {
      %k = arith.muli %g, %size : index
      %a = tile.load %A[%m, %k] : !matrix -> tensor<${BM}x${G}x${T}>
      %q = tile.load %W[%n, %k] : !weights -> tensor<${BN}x${G}xi8>
      %scale = tile.load %S[%g, %n] : !matrix -> tensor<${BN}x${T}>
      %scaleUp = tile.expand_dims %scale axis 1 : tensor<${BN}x${T}> -> tensor<${BN}x1x${T}>
      %scaleAll = tile.broadcast %scaleUp : tensor<${BN}x1x${T}> -> tensor<${BN}x${G}x${T}>
      %whole = arith.sitofp %q : tensor<${BN}x${G}xi8> to tensor<${BN}x${G}x${T}>
      %w = arith.mulf %whole, %scaleAll : tensor<${BN}x${G}x${T}>
      %s = tile.dot %a, %w transpose_b, %acc : tensor<${BM}x${G}x${T}>, tensor<${BN}x${G}x${T}> -> !sums
      tile.yield %s : !sums
    }
    %c = arith.truncf %sum : !sums to tensor<${BM}x${BN}x${T}>
    tile.store %c, %C[%m, %n] : tensor<${BM}x${BN}x${T}>, !matrix
  }
  tile.return
}
