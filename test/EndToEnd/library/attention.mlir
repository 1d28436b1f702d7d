// O = softmax(scale Q K^T) V for Q and O [batch, heads, queries, D], K and V [batch, groups, keys, D], heads a multiple
// of groups. With CAUSAL, query i sees the keys up to i + keys - queries; a query that sees none gives zeros.
//
// A program has BM queries of a head and goes along the keys in blocks of BN with the online softmax, in powers of two.
// A block that all its queries see needs no mask; blocks that none sees are left out.
//
// param T = bf16
// param D = 128
// param BM = 128
// param BN = 64, sm_90a: 128, sm_100a: 128
// param CAUSAL = false
// param STAGES = 2
// param WARPS = 8, sm_80: 4
// param SPECIALIZE = auto
// param ALIGN = 16

!array = memref<?x?x?x?x${T}, strided<[?, ?, ?, 1]>>
!query = tensor<${BM}x${D}x${T}>
!block = tensor<${BN}x${D}x${T}>
!scores = tensor<${BM}x${BN}xf32>
!places = tensor<${BM}x${BN}xi32>
!rowPlaces = tensor<${BM}xi32>
!weights = tensor<${BM}x${BN}x${T}>
!sums = tensor<${BM}x${D}xf32>
!row = tensor<${BM}xf32>
!column = tensor<${BM}x1xf32>

tile.kernel @attention(%Q: !array {tile.name = "Q", tile.align = ${ALIGN} : i64},
                       %K: !array {tile.name = "K", tile.align = ${ALIGN} : i64},
                       %V: !array {tile.name = "V", tile.align = ${ALIGN} : i64},
                       %O: !array {tile.name = "O", tile.align = ${ALIGN} : i64}, %scale: f32 {tile.name = "scale"})
    attributes {warps = ${WARPS} : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %bm = arith.constant ${BM} : index
  %bn = arith.constant ${BN} : index
  %batch = memref.dim %Q, %c0 : !array
  %heads = memref.dim %Q, %c1 : !array
  %queries = memref.dim %Q, %c2 : !array
  %groups = memref.dim %K, %c1 : !array
  %keys = memref.dim %K, %c2 : !array
  %blocks = arith.ceildivsi %queries, %bm : index
  %allHeads = arith.muli %batch, %heads : index
  tile.grid %blocks, %allHeads

  // The last queries see the most keys: they go first.
  %program = tile.program_id 0
  %behind = arith.subi %blocks, %program : index
  %last = arith.subi %behind, %c1 : index
  %row = arith.maxsi %last, %c0 : index
  %m = arith.muli %row, %bm : index
  %which = tile.program_id 1
  %b = arith.divsi %which, %heads : index
  %h = arith.remsi %which, %heads : index
  %perGroup = arith.divsi %heads, %groups : index
  %g = arith.divsi %h, %perGroup : index

  %causal = arith.constant ${CAUSAL}
  // Query i sees keys below i + shift; of this block the first query sees the fewest.
  %lag = arith.subi %keys, %queries : index
  %shift = arith.addi %lag, %c1 : index
  %fewest = arith.addi %m, %shift : index
  %lastSeen = arith.addi %m, %lag : index
  %most = arith.addi %lastSeen, %bm : index
  %mostKeys = arith.minsi %most, %keys : index
  %fewestKeys = arith.minsi %fewest, %keys : index
  %end = arith.select %causal, %mostKeys, %keys : index
  %seenByAll = arith.select %causal, %fewestKeys, %keys : index

  %log2e = arith.constant 1.44269504 : f32
  %scale2 = arith.mulf %scale, %log2e : f32
  %scales = tensor.splat %scale2 : !scores
  %rowScales = tensor.splat %scale2 : !row
  %lowest = arith.constant dense<0xFF800000> : !row
  %none = arith.constant dense<0.0> : !row
  %zero = arith.constant dense<0.0> : !sums
  %zeroScores = arith.constant dense<0.0> : !scores
  %q = tile.load %Q[%b, %h, %m, %c0] : !array -> !query

  // The end of what each query sees.
  %rows = tile.iota axis 0 : !rowPlaces
  %keys32 = arith.index_cast %keys : index to i32
  %allKeys = tensor.splat %keys32 : !rowPlaces
  %fewest32 = arith.index_cast %fewest : index to i32
  %fewestAll = tensor.splat %fewest32 : !rowPlaces
  %causalEnds = arith.addi %rows, %fewestAll : !rowPlaces
  %leastEnds = arith.minsi %causalEnds, %allKeys : !rowPlaces
  %rowEnds = arith.select %causal, %leastEnds, %allKeys : !rowPlaces
  %hidden = arith.constant dense<0xFF800000> : !scores
  %max1, %sum1, %out1 = tile.for %n = %c0 to %end step %bn iter_args(%max = %lowest, %sum = %none, %acc = %zero)
      -> (!row, !row, !sums) pipeline(stages = ${STAGES}, specialize = ${SPECIALIZE}) {
    %k = tile.load %K[%b, %g, %n, %c0] : !array -> !block
    %v = tile.load %V[%b, %g, %n, %c0] : !array -> !block
    %all = tile.dot %q, %k transpose_b, %zeroScores : !query, !block -> !scores
    %behindBlock = arith.addi %n, %bn : index
    %isWhole = arith.cmpi sle, %behindBlock, %seenByAll : index
    %s = scf.if %isWhole -> (!scores) {
      scf.yield %all : !scores
    } else {
      %n32 = arith.index_cast %n : index to i32
      %firsts = tensor.splat %n32 : !places
      %steps = tile.iota axis 1 : !places
      %place = arith.addi %steps, %firsts : !places
      %endsUp = tile.expand_dims %rowEnds axis 1 : !rowPlaces -> tensor<${BM}x1xi32>
      %ends = tile.broadcast %endsUp : tensor<${BM}x1xi32> -> !places
      %isSeen = arith.cmpi slt, %place, %ends : !places
      %some = arith.select %isSeen, %all, %hidden : tensor<${BM}x${BN}xi1>, !scores
      scf.yield %some : !scores
    }
    %own = tile.reduce %s axis 1 {
    ^bb0(%x: f32, %y: f32):
      %z = arith.maximumf %x, %y : f32
      tile.yield %z : f32
    } : (!scores) -> !row
    %top = arith.maximumf %max, %own : !row
    // A row that has seen no key yet has no maximum; anything finite keeps its exponentials zero.
    %isNone = arith.cmpf oeq, %top, %lowest : !row
    %base = arith.select %isNone, %none, %top : tensor<${BM}xi1>, !row
    %drop = arith.subf %max, %base : !row
    %drop2 = arith.mulf %drop, %rowScales : !row
    %decay = math.exp2 %drop2 : !row
    %top2 = arith.mulf %base, %rowScales : !row
    %topUp = tile.expand_dims %top2 axis 1 : !row -> !column
    %topAll = tile.broadcast %topUp : !column -> !scores
    %scaled = arith.mulf %s, %scales : !scores
    %below = arith.subf %scaled, %topAll : !scores
    %p = math.exp2 %below : !scores
    %ownSum = tile.reduce %p axis 1 {
    ^bb0(%x: f32, %y: f32):
      %z = arith.addf %x, %y : f32
      tile.yield %z : f32
    } : (!scores) -> !row
    %kept = arith.mulf %sum, %decay : !row
    %total = arith.addf %kept, %ownSum : !row
    %decayUp = tile.expand_dims %decay axis 1 : !row -> !column
    %decayAll = tile.broadcast %decayUp : !column -> !sums
    %faded = arith.mulf %acc, %decayAll : !sums
    %weights = arith.truncf %p : !scores to !weights
    %next = tile.dot %weights, %v, %faded : !weights, !block -> !sums
    tile.yield %top, %total, %next : !row, !row, !sums
  }

  %one = arith.constant dense<1.0> : !row
  %isEmpty = arith.cmpf oeq, %sum1, %none : !row
  %divisor = arith.select %isEmpty, %one, %sum1 : tensor<${BM}xi1>, !row
  %inverse = arith.divf %one, %divisor : !row
  %inverseUp = tile.expand_dims %inverse axis 1 : !row -> !column
  %inverseAll = tile.broadcast %inverseUp : !column -> !sums
  %o = arith.mulf %out1, %inverseAll : !sums
  %narrow = arith.truncf %o : !sums to !query
  tile.store %narrow, %O[%b, %h, %m, %c0] : !query, !array
  tile.return
}
