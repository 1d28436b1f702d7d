// C = A * W^T for A [M, K] of T and 4-bit signed weights of an N x K matrix, two in a byte: of 2 H weights of a row (a
// group, and a trip), byte i has weight i in its low and weight H + i in its high half, so that unpacking moves nothing
// between threads. W [N, H ceil(K/2H)], zeros behind the last weight; scales S [ceil(K/2H), N] of T. C [M, N].
//
// The weights are the product's left operand, C^T = W * A^T: unpacked in registers, they need not go to shared memory.
//
// param T = bf16
// param BM = 64
// param BN = 128
// param H = 32
// param STAGES = auto
// param SPECIALIZE = auto
// param ALIGN = 16

!matrix = memref<?x?x${T}, strided<[?, 1]>>
!packed = memref<?x?xi8, strided<[?, 1]>>
!bytes = tensor<${BN}x${H}xi8>
!half = tensor<${BN}x${H}x${T}>
!sums = tensor<${BN}x${BM}xf32>

tile.kernel @gemm_int4_weights(%A: !matrix {tile.name = "A", tile.align = ${ALIGN} : i64},
                               %W: !packed {tile.name = "W", tile.align = ${ALIGN} : i64},
                               %S: !matrix {tile.name = "S", tile.align = ${ALIGN} : i64},
                               %C: !matrix {tile.name = "C", tile.align = ${ALIGN} : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %bm = arith.constant ${BM} : index
  %bn = arith.constant ${BN} : index
  %h = arith.constant ${H} : index
  %M = memref.dim %C, %c0 : !matrix
  %N = memref.dim %C, %c1 : !matrix
  %K = memref.dim %A, %c1 : !matrix
  %rows = arith.ceildivsi %M, %bm : index
  %columns = arith.ceildivsi %N, %bn : index
  %size = arith.muli %h, %c2 : index
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
    %four = arith.constant dense<4> : !bytes
    %sum = tile.for %g = %c0 to %groups step %c1 iter_args(%acc = %zero) -> (!sums)
        pipeline(stages = ${STAGES}, specialize = ${SPECIALIZE}) {
      %at = arith.muli %g, %h : index
      %k = arith.muli %g, %size : index
      %kHigh = arith.addi %k, %h : index
      %q = tile.load %W[%n, %at] : !packed -> !bytes
      %a = tile.load %A[%m, %k] : !matrix -> tensor<${BM}x${H}x${T}>
      %aHigh = tile.load %A[%m, %kHigh] : !matrix -> tensor<${BM}x${H}x${T}>
      %scale = tile.load %S[%g, %n] : !matrix -> tensor<${BN}x${T}>
      %scaleUp = tile.expand_dims %scale axis 1 : tensor<${BN}x${T}> -> tensor<${BN}x1x${T}>
      %scaleAll = tile.broadcast %scaleUp : tensor<${BN}x1x${T}> -> !half
      %lifted = arith.shli %q, %four : !bytes
      %low = arith.shrsi %lifted, %four : !bytes
      %high = arith.shrsi %q, %four : !bytes
      %wholeLow = arith.sitofp %low : !bytes to !half
      %wholeHigh = arith.sitofp %high : !bytes to !half
      %w = arith.mulf %wholeLow, %scaleAll : !half
      %wHigh = arith.mulf %wholeHigh, %scaleAll : !half
      %s = tile.dot %w, %a transpose_b, %acc : !half, tensor<${BM}x${H}x${T}> -> !sums
      %s2 = tile.dot %wHigh, %aHigh transpose_b, %s : !half, tensor<${BM}x${H}x${T}> -> !sums
      tile.yield %s2 : !sums
    }
    %narrow = arith.truncf %sum : !sums to tensor<${BN}x${BM}x${T}>
    %c = tile.transpose %narrow [1, 0] : tensor<${BN}x${BM}x${T}> -> tensor<${BM}x${BN}x${T}>
    tile.store %c, %C[%m, %n] : tensor<${BM}x${BN}x${T}>, !matrix
  }
  tile.return
}
