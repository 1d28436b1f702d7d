// Chunked linear attention without the terms inside a chunk: for each chunk of CHUNK rows of Q, K [streams, length, D]
// and V, O [streams, length, E]: O = Q S, then S = decay S + K^T V, from S = 0. The state S stays in registers in f32
// and is rounded to T as an operand. decay [streams] in f32.
//
// param T = bf16
// param D = 64
// param E = 64
// param CHUNK = 64
// param STAGES = 2
// param WARPS = 4
// param SPECIALIZE = auto
// param ALIGN = 16

!array = memref<?x?x?x${T}, strided<[?, ?, 1]>>
!vector = memref<?xf32, strided<[1]>>
!keys = tensor<${CHUNK}x${D}x${T}>
!values = tensor<${CHUNK}x${E}x${T}>
!state = tensor<${D}x${E}xf32>
!sums = tensor<${CHUNK}x${E}xf32>

tile.kernel @linear_attention(%Q: !array {tile.name = "Q", tile.align = ${ALIGN} : i64},
                              %K: !array {tile.name = "K", tile.align = ${ALIGN} : i64},
                              %V: !array {tile.name = "V", tile.align = ${ALIGN} : i64},
                              %decay: !vector {tile.name = "decay"},
                              %O: !array {tile.name = "O", tile.align = ${ALIGN} : i64})
    attributes {warps = ${WARPS} : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %chunk = arith.constant ${CHUNK} : index
  %streams = memref.dim %Q, %c0 : !array
  %length = memref.dim %Q, %c1 : !array
  tile.grid %streams

  %i = tile.program_id 0
  %factor = tile.load_scalar %decay[%i] : !vector -> f32
  %factors = tensor.splat %factor : !state
  %none = arith.constant dense<0.0> : !state
  %zero = arith.constant dense<0.0> : !sums
  %last = tile.for %n = %c0 to %length step %chunk iter_args(%state = %none) -> (!state)
      pipeline(stages = ${STAGES}, specialize = ${SPECIALIZE}) {
    %q = tile.load %Q[%i, %n, %c0] : !array -> !keys
    %k = tile.load %K[%i, %n, %c0] : !array -> !keys
    %v = tile.load %V[%i, %n, %c0] : !array -> !values
    %operand = arith.truncf %state : !state to tensor<${D}x${E}x${T}>
    %o = tile.dot %q, %operand, %zero : !keys, tensor<${D}x${E}x${T}> -> !sums
    %narrow = arith.truncf %o : !sums to !values
    tile.store %narrow, %O[%i, %n, %c0] : !values, !array
    %faded = arith.mulf %state, %factors : !state
    %next = tile.dot %k transpose_a, %v, %faded : !keys, !values -> !state
    tile.yield %next : !state
  }
  tile.return
}
