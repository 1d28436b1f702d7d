// C = act(A * B^T + bias) for row-major A [M, K], B [N, K] and C [M, N], bias [N] in f32.
// ACT is 0 for relu, 1 for gelu (the tanh form), 2 for silu; the branches not taken fold away.
//
// param T = bf16
// param BM = 128
// param BN = 128, sm_90a: 256, sm_100a: 256
// param BK = 64
// param STAGES = auto
// param ACT = 0
// param SPECIALIZE = auto
// param ALIGN = 16

!matrix = memref<?x?x${T}, strided<[?, 1]>>
!vector = memref<?xf32, strided<[1]>>
!sums = tensor<${BM}x${BN}xf32>

tile.kernel @gemm_bias_activation(%A: !matrix {tile.name = "A", tile.align = ${ALIGN} : i64},
                                  %B: !matrix {tile.name = "B", tile.align = ${ALIGN} : i64},
                                  %bias: !vector {tile.name = "bias", tile.align = ${ALIGN} : i64},
                                  %C: !matrix {tile.name = "C", tile.align = ${ALIGN} : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bm = arith.constant ${BM} : index
  %bn = arith.constant ${BN} : index
  %bk = arith.constant ${BK} : index
  %M = memref.dim %C, %c0 : !matrix
  %N = memref.dim %C, %c1 : !matrix
  %K = memref.dim %A, %c1 : !matrix
  %rows = arith.ceildivsi %M, %bm : index
  %columns = arith.ceildivsi %N, %bn : index
  %tiles = arith.muli %rows, %columns : index
  tile.grid %tiles persistent

  %act = arith.constant ${ACT} : i32
  %gelu = arith.constant 1 : i32
  %silu = arith.constant 2 : i32
  %isGelu = arith.cmpi eq, %act, %gelu : i32
  %isSilu = arith.cmpi eq, %act, %silu : i32

  %first = tile.program_id 0
  %programs = tile.num_programs 0
  scf.for %t = %first to %tiles step %programs {
    %row, %column = tile.grouped_index %t of %rows x %columns group 16
    %m = arith.muli %row, %bm : index
    %n = arith.muli %column, %bn : index
    %zero = arith.constant dense<0.0> : !sums
    %sum = tile.for %k = %c0 to %K step %bk iter_args(%acc = %zero) -> (!sums)
        pipeline(stages = ${STAGES}, specialize = ${SPECIALIZE}) {
      %a = tile.load %A[%m, %k] : !matrix -> tensor<${BM}x${BK}x${T}>
      %b = tile.load %B[%n, %k] : !matrix -> tensor<${BN}x${BK}x${T}>
      %s = tile.dot %a, %b transpose_b, %acc : tensor<${BM}x${BK}x${T}>, tensor<${BN}x${BK}x${T}> -> !sums
      tile.yield %s : !sums
    }
    %biasTile = tile.load %bias[%n] : !vector -> tensor<${BN}xf32>
    %biasRow = tile.expand_dims %biasTile axis 0 : tensor<${BN}xf32> -> tensor<1x${BN}xf32>
    %biasAll = tile.broadcast %biasRow : tensor<1x${BN}xf32> -> !sums
    %x = arith.addf %sum, %biasAll : !sums

    %one = arith.constant dense<1.0> : !sums
    %y = scf.if %isGelu -> (!sums) {
      // x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
      %half = arith.constant dense<0.5> : !sums
      %cubic = arith.constant dense<0.044715> : !sums
      %factor = arith.constant dense<0.7978845608> : !sums
      %square = arith.mulf %x, %x : !sums
      %bent = arith.mulf %square, %cubic : !sums
      %bent1 = arith.addf %bent, %one : !sums
      %inner = arith.mulf %bent1, %x : !sums
      %scaled = arith.mulf %inner, %factor : !sums
      %tanh = math.tanh %scaled : !sums
      %tanh1 = arith.addf %tanh, %one : !sums
      %halfX = arith.mulf %x, %half : !sums
      %g = arith.mulf %halfX, %tanh1 : !sums
      scf.yield %g : !sums
    } else {
      %other = scf.if %isSilu -> (!sums) {
        %negative = arith.negf %x : !sums
        %e = math.exp %negative : !sums
        %e1 = arith.addf %e, %one : !sums
        %g = arith.divf %x, %e1 : !sums
        scf.yield %g : !sums
      } else {
        %g = arith.maximumf %x, %zero : !sums
        scf.yield %g : !sums
      }
      scf.yield %other : !sums
    }
    %c = arith.truncf %y : !sums to tensor<${BM}x${BN}x${T}>
    tile.store %c, %C[%m, %n] : tensor<${BM}x${BN}x${T}>, !matrix
  }
  tile.return
}
