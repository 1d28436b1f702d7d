// Paged attention for one new query of each head: O = softmax(scale Q K^T) V over the first lengths[b] keys of request
// b. Its i-th page of PAGE keys and values is page table[b, i] of K and V [pages, PAGE, groups D], which hold the
// groups' rows of D side by side. Q and O [requests, groups, heads of a group, D].
//
// A program has all heads of a group (at most BH: they share the keys) and goes along the request's pages.
//
// param T = bf16
// param D = 128
// param PAGE = 64
// param BH = 16
// param STAGES = 3
// param WARPS = 4
// param SPECIALIZE = auto
// param ALIGN = 16

!heads = memref<?x?x?x?x${T}, strided<[?, ?, ?, 1]>>
!pages = memref<?x?x?x${T}, strided<[?, ?, 1]>>
!table = memref<?x?xi32, strided<[?, 1]>>
!lengths = memref<?xi32, strided<[1]>>
!query = tensor<${BH}x${D}x${T}>
!block = tensor<${PAGE}x${D}x${T}>
!scores = tensor<${BH}x${PAGE}xf32>
!places = tensor<${BH}x${PAGE}xi32>
!weights = tensor<${BH}x${PAGE}x${T}>
!sums = tensor<${BH}x${D}xf32>
!row = tensor<${BH}xf32>
!column = tensor<${BH}x1xf32>

tile.kernel @attention_decode(%Q: !heads {tile.name = "Q", tile.align = ${ALIGN} : i64},
                              %K: !pages {tile.name = "K", tile.align = ${ALIGN} : i64},
                              %V: !pages {tile.name = "V", tile.align = ${ALIGN} : i64},
                              %table: !table {tile.name = "table"}, %lengths: !lengths {tile.name = "lengths"},
                              %O: !heads {tile.name = "O", tile.align = ${ALIGN} : i64},
                              %scale: f32 {tile.name = "scale"})
    attributes {warps = ${WARPS} : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %page = arith.constant ${PAGE} : index
  %d = arith.constant ${D} : index
  %requests = memref.dim %Q, %c0 : !heads
  %groups = memref.dim %Q, %c1 : !heads
  tile.grid %groups, %requests

  %g = tile.program_id 0
  %r = tile.program_id 1
  %length32 = tile.load_scalar %lengths[%r] : !lengths -> i32
  %length = arith.index_cast %length32 : i32 to index
  %count = arith.ceildivsi %length, %page : index
  %at = arith.muli %g, %d : index
  %lengthsAll = tensor.splat %length32 : !places
  %places = tile.iota axis 1 : !places

  %log2e = arith.constant 1.44269504 : f32
  %scale2 = arith.mulf %scale, %log2e : f32
  %scales = tensor.splat %scale2 : !scores
  %lowest = arith.constant dense<0xFF800000> : !row
  %hidden = arith.constant dense<0xFF800000> : !scores
  %none = arith.constant dense<0.0> : !row
  %zero = arith.constant dense<0.0> : !sums
  %zeroScores = arith.constant dense<0.0> : !scores
  %q = tile.load %Q[%r, %g, %c0, %c0] : !heads -> !query

  // Every page has a key of the request, so the maximum is finite from the first trip on.
  %max1, %sum1, %out1 = tile.for %i = %c0 to %count step %c1 iter_args(%max = %lowest, %sum = %none, %acc = %zero)
      -> (!row, !row, !sums) pipeline(stages = ${STAGES}, specialize = ${SPECIALIZE}) {
    %number32 = tile.load_scalar %table[%r, %i] : !table -> i32
    %number = arith.index_cast %number32 : i32 to index
    %k = tile.load %K[%number, %c0, %at] : !pages -> !block
    %v = tile.load %V[%number, %c0, %at] : !pages -> !block
    %all = tile.dot %q, %k transpose_b, %zeroScores : !query, !block -> !scores
    %n = arith.muli %i, %page : index
    %n32 = arith.index_cast %n : index to i32
    %firsts = tensor.splat %n32 : !places
    %place = arith.addi %places, %firsts : !places
    %isSeen = arith.cmpi slt, %place, %lengthsAll : !places
    %scaled = arith.mulf %all, %scales : !scores
    %s = arith.select %isSeen, %scaled, %hidden : tensor<${BH}x${PAGE}xi1>, !scores
    %own = tile.reduce %s axis 1 {
    ^bb0(%x: f32, %y: f32):
      %z = arith.maximumf %x, %y : f32
      tile.yield %z : f32
    } : (!scores) -> !row
    %top = arith.maximumf %max, %own : !row
    %drop = arith.subf %max, %top : !row
    %decay = math.exp2 %drop : !row
    %topUp = tile.expand_dims %top axis 1 : !row -> !column
    %topAll = tile.broadcast %topUp : !column -> !scores
    %below = arith.subf %s, %topAll : !scores
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

  // A request without keys gives zeros.
  %one = arith.constant dense<1.0> : !row
  %isEmpty = arith.cmpf oeq, %sum1, %none : !row
  %divisor = arith.select %isEmpty, %one, %sum1 : tensor<${BH}xi1>, !row
  %inverse = arith.divf %one, %divisor : !row
  %inverseUp = tile.expand_dims %inverse axis 1 : !row -> !column
  %inverseAll = tile.broadcast %inverseUp : !column -> !sums
  %o = arith.mulf %out1, %inverseAll : !sums
  %narrow = arith.truncf %o : !sums to !query
  tile.store %narrow, %O[%r, %g, %c0, %c0] : !query, !heads
  tile.return
}
