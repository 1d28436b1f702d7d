// Causal linear attention with a decay g < 1 of each stream (retention), in chunks of C rows: for rows i, j of one,
//   O_i = g^(i+1) q_i S + sum over j <= i of g^(i-j) (q_i k_j) v_j,   S = g^C S + sum over j of g^(C-1-j) k_j^T v_j,
// for Q, K [streams, length, D] and V, O [streams, length, E]; log2g [streams] has log2(g) in f32. Rows behind the last
// read as zero.
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
!wideKeys = tensor<${CHUNK}x${D}xf32>
!values = tensor<${CHUNK}x${E}x${T}>
!state = tensor<${D}x${E}xf32>
!sums = tensor<${CHUNK}x${E}xf32>
!scores = tensor<${CHUNK}x${CHUNK}xf32>
!places = tensor<${CHUNK}x${CHUNK}xi32>

tile.kernel @retention(%Q: !array {tile.name = "Q", tile.align = ${ALIGN} : i64},
                       %K: !array {tile.name = "K", tile.align = ${ALIGN} : i64},
                       %V: !array {tile.name = "V", tile.align = ${ALIGN} : i64}, %log2g: !vector {tile.name = "log2g"},
                       %O: !array {tile.name = "O", tile.align = ${ALIGN} : i64})
    attributes {warps = ${WARPS} : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %chunk = arith.constant ${CHUNK} : index
  %streams = memref.dim %Q, %c0 : !array
  %length = memref.dim %Q, %c1 : !array
  tile.grid %streams

  %i = tile.program_id 0
  %log = tile.load_scalar %log2g[%i] : !vector -> f32

  // g^(i-j) below the diagonal and on it.
  %rows = tile.iota axis 0 : !places
  %columns = tile.iota axis 1 : !places
  %apart = arith.subi %rows, %columns : !places
  %apartF = arith.sitofp %apart : !places to !scores
  %logs = tensor.splat %log : !scores
  %exponents = arith.mulf %apartF, %logs : !scores
  %powers = math.exp2 %exponents : !scores
  %isSeen = arith.cmpi sge, %rows, %columns : !places
  %zeroScores = arith.constant dense<0.0> : !scores
  %decays = arith.select %isSeen, %powers, %zeroScores : tensor<${CHUNK}x${CHUNK}xi1>, !scores

  // g^(i+1) of each output row, g^(C-1-j) of each key, g^C of the state.
  %row = tile.iota axis 0 : tensor<${CHUNK}xi32>
  %one = arith.constant dense<1> : tensor<${CHUNK}xi32>
  %end = arith.constant dense<${CHUNK}> : tensor<${CHUNK}xi32>
  %after = arith.addi %row, %one : tensor<${CHUNK}xi32>
  %left = arith.subi %end, %after : tensor<${CHUNK}xi32>
  %rowLogs = tensor.splat %log : tensor<${CHUNK}xf32>
  %afterF = arith.sitofp %after : tensor<${CHUNK}xi32> to tensor<${CHUNK}xf32>
  %leftF = arith.sitofp %left : tensor<${CHUNK}xi32> to tensor<${CHUNK}xf32>
  %afterLog = arith.mulf %afterF, %rowLogs : tensor<${CHUNK}xf32>
  %leftLog = arith.mulf %leftF, %rowLogs : tensor<${CHUNK}xf32>
  %ofOutput = math.exp2 %afterLog : tensor<${CHUNK}xf32>
  %ofKey = math.exp2 %leftLog : tensor<${CHUNK}xf32>
  %ofOutputUp = tile.expand_dims %ofOutput axis 1 : tensor<${CHUNK}xf32> -> tensor<${CHUNK}x1xf32>
  %ofOutputAll = tile.broadcast %ofOutputUp : tensor<${CHUNK}x1xf32> -> !sums
  %ofKeyUp = tile.expand_dims %ofKey axis 1 : tensor<${CHUNK}xf32> -> tensor<${CHUNK}x1xf32>
  %ofKeyAll = tile.broadcast %ofKeyUp : tensor<${CHUNK}x1xf32> -> !wideKeys
  %size = arith.constant ${CHUNK}.0 : f32
  %stateLog = arith.mulf %size, %log : f32
  %ofState = math.exp2 %stateLog : f32
  %ofStateAll = tensor.splat %ofState : !state

  %none = arith.constant dense<0.0> : !state
  %zero = arith.constant dense<0.0> : !sums
  %last = tile.for %n = %c0 to %length step %chunk iter_args(%state = %none) -> (!state)
      pipeline(stages = ${STAGES}, specialize = ${SPECIALIZE}) {
    %q = tile.load %Q[%i, %n, %c0] : !array -> !keys
    %k = tile.load %K[%i, %n, %c0] : !array -> !keys
    %v = tile.load %V[%i, %n, %c0] : !array -> !values
    %operand = arith.truncf %state : !state to tensor<${D}x${E}x${T}>
    %earlier = tile.dot %q, %operand, %zero : !keys, tensor<${D}x${E}x${T}> -> !sums
    %faded = arith.mulf %earlier, %ofOutputAll : !sums
    %s = tile.dot %q, %k transpose_b, %zeroScores : !keys, !keys -> !scores
    %weighted = arith.mulf %s, %decays : !scores
    %weights = arith.truncf %weighted : !scores to tensor<${CHUNK}x${CHUNK}x${T}>
    %o = tile.dot %weights, %v, %faded : tensor<${CHUNK}x${CHUNK}x${T}>, !values -> !sums
    %narrow = arith.truncf %o : !sums to !values
    tile.store %narrow, %O[%i, %n, %c0] : !values, !array
    %wide = arith.extf %k : !keys to !wideKeys
    %fadedKeys = arith.mulf %wide, %ofKeyAll : !wideKeys
    %keys = arith.truncf %fadedKeys : !wideKeys to !keys
    %older = arith.mulf %state, %ofStateAll : !state
    %next = tile.dot %keys transpose_a, %v, %older : !keys, !values -> !state
    tile.yield %next : !state
  }
  tile.return
}
