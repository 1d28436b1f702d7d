// C = A * B^T for row-major A [M, K], B [N, K] and C [M, N]: one source for every generation.
//
//   headrace-compile examples/gemm.mlir --target=sm_90a -o gemm.cubin
//
// param T = bf16, sm_75: f16
// param BM = 128, sm_75: 64
// param BN = 128, sm_75: 64, sm_80: 256, sm_86: 128, sm_90a: 256, sm_100a: 256
// param BK = 64, sm_75: 32
// param STAGES = auto
// param SPECIALIZE = auto
// param ALIGN = 16

tile.kernel @gemm(%A: memref<?x?x${T}, strided<[?, 1]>> {tile.name = "A", tile.align = ${ALIGN} : i64},
                  %B: memref<?x?x${T}, strided<[?, 1]>> {tile.name = "B", tile.align = ${ALIGN} : i64},
                  %C: memref<?x?x${T}, strided<[?, 1]>> {tile.name = "C", tile.align = ${ALIGN} : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bm = arith.constant ${BM} : index
  %bn = arith.constant ${BN} : index
  %bk = arith.constant ${BK} : index
  %M = memref.dim %C, %c0 : memref<?x?x${T}, strided<[?, 1]>>
  %N = memref.dim %C, %c1 : memref<?x?x${T}, strided<[?, 1]>>
  %K = memref.dim %A, %c1 : memref<?x?x${T}, strided<[?, 1]>>
  %rows = arith.ceildivsi %M, %bm : index
  %columns = arith.ceildivsi %N, %bn : index
  %tiles = arith.muli %rows, %columns : index
  tile.grid %tiles persistent

  %first = tile.program_id 0
  %programs = tile.num_programs 0
  scf.for %t = %first to %tiles step %programs {
    %row, %column = tile.grouped_index %t of %rows x %columns group 16
    %m = arith.muli %row, %bm : index
    %n = arith.muli %column, %bn : index
    %zero = arith.constant dense<0.0> : tensor<${BM}x${BN}xf32>
    %sum = tile.for %k = %c0 to %K step %bk iter_args(%acc = %zero) -> (tensor<${BM}x${BN}xf32>)
        pipeline(stages = ${STAGES}, specialize = ${SPECIALIZE}) {
      %a = tile.load %A[%m, %k] : memref<?x?x${T}, strided<[?, 1]>> -> tensor<${BM}x${BK}x${T}>
      %b = tile.load %B[%n, %k] : memref<?x?x${T}, strided<[?, 1]>> -> tensor<${BN}x${BK}x${T}>
      %s = tile.dot %a, %b transpose_b, %acc : tensor<${BM}x${BK}x${T}>, tensor<${BN}x${BK}x${T}> -> tensor<${BM}x${BN}xf32>
      tile.yield %s : tensor<${BM}x${BN}xf32>
    }
    %c = arith.truncf %sum : tensor<${BM}x${BN}xf32> to tensor<${BM}x${BN}x${T}>
    tile.store %c, %C[%m, %n] : tensor<${BM}x${BN}x${T}>, memref<?x?x${T}, strided<[?, 1]>>
  }
  tile.return
}
