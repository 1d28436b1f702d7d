// Case R02: attention over a window of keys, with masks alone: query i sees the keys from i + first on and up to i + last,
// so that whole blocks, the first ones too, may have no key for a row. A row without any key gives zeros. The blocks go
// from `begin` to below `end` keys, which may be below `begin`.
//
// param STAGES = 2
// param SPECIALIZE = auto
// param BM = 64, sm_100a: 128

!half = memref<?x?xf16, strided<[?, 1]>>
!result = memref<?x?xf32, strided<[?, 1]>>
!query = tensor<${BM}x64xf16>
!block = tensor<32x64xf16>
!scores = tensor<${BM}x32xf32>
!places = tensor<${BM}x32xi32>
!sums = tensor<${BM}x64xf32>
!row = tensor<${BM}xf32>
!column = tensor<${BM}x1xf32>

tile.kernel @attention(%Q: !half {tile.name = "Q", tile.align = 16 : i64}, %K: !half {tile.name = "K", tile.align = 16 : i64},
                       %V: !half {tile.name = "V", tile.align = 16 : i64}, %O: !result {tile.name = "O", tile.align = 16 : i64},
                       %scale: f32 {tile.name = "scale"}, %first: i32 {tile.name = "first"}, %last: i32 {tile.name = "last"},
                       %begin: index {tile.name = "begin"}, %end: index {tile.name = "end"}) {
  %c0 = arith.constant 0 : index
  %bm = arith.constant ${BM} : index
  %bn = arith.constant 32 : index
  %queries = memref.dim %Q, %c0 : !half
  %keys = memref.dim %K, %c0 : !half
  %blocks = arith.ceildivsi %queries, %bm : index
  tile.grid %blocks
  %p = tile.program_id 0
  %m = arith.muli %p, %bm : index
  %q = tile.load %Q[%m, %c0] : !half -> !query

  %m32 = arith.index_cast %m : index to i32
  %keys32 = arith.index_cast %keys : index to i32
  %ms = tensor.splat %m32 : !places
  %rows = tile.iota axis 0 : !places
  %columns = tile.iota axis 1 : !places
  %i = arith.addi %ms, %rows : !places
  %firsts = tensor.splat %first : !places
  %lasts = tensor.splat %last : !places
  %from = arith.addi %i, %firsts : !places
  %to = arith.addi %i, %lasts : !places
  %keyCount = tensor.splat %keys32 : !places
  %scales = tensor.splat %scale : !scores

  %lowestAll = arith.constant dense<0xFF800000> : !scores
  %lowest = arith.constant dense<0xFF800000> : !row
  %none = arith.constant dense<0.0> : !row
  %ones = arith.constant dense<1.0> : !row
  %zero = arith.constant dense<0.0> : !sums
  %noScores = arith.constant dense<0.0> : !scores
  %r:3 = tile.for %j = %begin to %end step %bn iter_args(%acc = %zero, %most = %lowest, %total = %none)
      -> (!sums, !row, !row) pipeline(stages = ${STAGES}, specialize = ${SPECIALIZE}) {
    %k = tile.load %K[%j, %c0] : !half -> !block
    %product = tile.dot %q, %k transpose_b, %noScores : !query, !block -> !scores
    %scaled = arith.mulf %product, %scales : !scores
    %j32 = arith.index_cast %j : index to i32
    %js = tensor.splat %j32 : !places
    %key = arith.addi %js, %columns : !places
    %isBehindFirst = arith.cmpi sge, %key, %from : !places
    %isBeforeLast = arith.cmpi sle, %key, %to : !places
    %isKey = arith.cmpi slt, %key, %keyCount : !places
    %isInWindow = arith.andi %isBehindFirst, %isBeforeLast : tensor<${BM}x32xi1>
    %isSeen = arith.andi %isInWindow, %isKey : tensor<${BM}x32xi1>
    %scores = arith.select %isSeen, %scaled, %lowestAll : tensor<${BM}x32xi1>, !scores
    %blockMost = tile.reduce %scores axis 1 {
    ^bb0(%x: f32, %y: f32):
      %z = arith.maximumf %x, %y : f32
      tile.yield %z : f32
    } : (!scores) -> !row
    %newMost = arith.maximumf %most, %blockMost : !row
    // What is subtracted from -inf is 0 where no key was seen yet.
    %isEmpty = arith.cmpf oeq, %newMost, %lowest : !row
    %reference = arith.select %isEmpty, %none, %newMost : tensor<${BM}xi1>, !row
    %referenceUp = tile.expand_dims %reference axis 1 : !row -> !column
    %referenceAll = tile.broadcast %referenceUp : !column -> !scores
    %shifted = arith.subf %scores, %referenceAll : !scores
    %weights = math.exp %shifted : !scores
    %blockTotal = tile.reduce %weights axis 1 {
    ^bb0(%x: f32, %y: f32):
      %z = arith.addf %x, %y : f32
      tile.yield %z : f32
    } : (!scores) -> !row
    %lower = arith.subf %most, %reference : !row
    %fading = math.exp %lower : !row
    %faded = arith.mulf %total, %fading : !row
    %newTotal = arith.addf %faded, %blockTotal : !row
    %fadingUp = tile.expand_dims %fading axis 1 : !row -> !column
    %fadingAll = tile.broadcast %fadingUp : !column -> !sums
    %fadedAcc = arith.mulf %acc, %fadingAll : !sums
    %narrow = arith.truncf %weights : !scores to tensor<${BM}x32xf16>
    %v = tile.load %V[%j, %c0] : !half -> !block
    %o = tile.dot %narrow, %v, %fadedAcc : tensor<${BM}x32xf16>, !block -> !sums
    tile.yield %o, %newMost, %newTotal : !sums, !row, !row
  }
  %isEmpty = arith.cmpf oeq, %r#2, %none : !row
  %divisor = arith.select %isEmpty, %ones, %r#2 : tensor<${BM}xi1>, !row
  %divisorUp = tile.expand_dims %divisor axis 1 : !row -> !column
  %divisorAll = tile.broadcast %divisorUp : !column -> !sums
  %out = arith.divf %r#0, %divisorAll : !sums
  tile.store %out, %O[%m, %c0] : !sums, !result
  tile.return
}
