// C[r] = A[r] * B[g]^T for the rows r of each group g (the experts of a mixture): group g has the rows offsets[g] to
// below offsets[g + 1] of A [rows, K] and C [rows, N], and B [groups, N, K]. Groups may be empty.
//
// Persistent: program p takes tiles p, p + programs, ... of all groups; the group of a tile is found by walking on from
// the last one's, whose tiles begin at `base`.
//
// param T = bf16
// param BM = 128
// param BN = 128
// param BK = 64
// param STAGES = auto
// param SPECIALIZE = auto
// param ALIGN = 16

!matrix = memref<?x?x${T}, strided<[?, 1]>>
!weights = memref<?x?x?x${T}, strided<[?, ?, 1]>>
!table = memref<?xi32, strided<[1]>>
!sums = tensor<${BM}x${BN}xf32>

tile.kernel @gemm_grouped(%A: !matrix {tile.name = "A", tile.align = ${ALIGN} : i64},
                          %B: !weights {tile.name = "B", tile.align = ${ALIGN} : i64},
                          %offsets: !table {tile.name = "offsets"},
                          %C: !matrix {tile.name = "C", tile.align = ${ALIGN} : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bm = arith.constant ${BM} : index
  %bn = arith.constant ${BN} : index
  %bk = arith.constant ${BK} : index
  %M = memref.dim %C, %c0 : !matrix
  %N = memref.dim %C, %c1 : !matrix
  %K = memref.dim %A, %c1 : !matrix
  %groups = memref.dim %B, %c0 : !weights
  %columns = arith.ceildivsi %N, %bn : index
  // Every group adds at most one ragged block of rows.
  %fullRows = arith.ceildivsi %M, %bm : index
  %mostRows = arith.addi %fullRows, %groups : index
  %most = arith.muli %mostRows, %columns : index
  tile.grid %most persistent

  %first = tile.program_id 0
  %programs = tile.num_programs 0
  scf.for %t = %first to %most step %programs iter_args(%lastGroup = %c0, %lastBase = %c0) -> (index, index) {
    %g, %base = scf.while (%group = %lastGroup, %from = %lastBase) : (index, index) -> (index, index) {
      %isGroup = arith.cmpi slt, %group, %groups : index
      %after = arith.addi %group, %c1 : index
      %begin32 = tile.load_scalar %offsets[%group] : !table -> i32
      %end32 = tile.load_scalar %offsets[%after] : !table -> i32
      %count32 = arith.subi %end32, %begin32 : i32
      %count = arith.index_cast %count32 : i32 to index
      %blocks = arith.ceildivsi %count, %bm : index
      %tiles = arith.muli %blocks, %columns : index
      %to = arith.addi %from, %tiles : index
      %isBehind = arith.cmpi sge, %t, %to : index
      %goesOn = arith.andi %isGroup, %isBehind : i1
      %nextGroup = arith.select %goesOn, %after, %group : index
      %nextBase = arith.select %goesOn, %to, %from : index
      scf.condition(%goesOn) %nextGroup, %nextBase : index, index
    } do {
    ^bb0(%group: index, %from: index):
      scf.yield %group, %from : index, index
    }
    %isTile = arith.cmpi slt, %g, %groups : index
    scf.if %isTile {
      %after = arith.addi %g, %c1 : index
      %begin32 = tile.load_scalar %offsets[%g] : !table -> i32
      %end32 = tile.load_scalar %offsets[%after] : !table -> i32
      %begin = arith.index_cast %begin32 : i32 to index
      %end = arith.index_cast %end32 : i32 to index
      %count = arith.subi %end, %begin : index
      %blocks = arith.ceildivsi %count, %bm : index
      %inGroup = arith.subi %t, %base : index
      %row, %column = tile.grouped_index %inGroup of %blocks x %columns group 16
      %block = arith.muli %row, %bm : index
      %inRows = arith.addi %begin, %block : index
      %m = arith.maxsi %inRows, %c0 : index
      %n = arith.muli %column, %bn : index
      %zero = arith.constant dense<0.0> : !sums
      %sum = tile.for %k = %c0 to %K step %bk iter_args(%acc = %zero) -> (!sums)
          pipeline(stages = ${STAGES}, specialize = ${SPECIALIZE}) {
        %a = tile.load %A[%m, %k] : !matrix -> tensor<${BM}x${BK}x${T}>
        %b = tile.load %B[%g, %n, %k] : !weights -> tensor<${BN}x${BK}x${T}>
        %s = tile.dot %a, %b transpose_b, %acc : tensor<${BM}x${BK}x${T}>, tensor<${BN}x${BK}x${T}> -> !sums
        tile.yield %s : !sums
      }
      %c = arith.truncf %sum : !sums to tensor<${BM}x${BN}x${T}>
      %last = arith.addi %m, %bm : index
      %isWhole = arith.cmpi sle, %last, %end : index
      scf.if %isWhole {
        tile.store %c, %C[%m, %n] : tensor<${BM}x${BN}x${T}>, !matrix
      } else {
        // The rows behind the group's end are the next group's: they go to a place outside of C.
        %m32 = arith.index_cast %m : index to i32
        %M32 = arith.index_cast %M : index to i32
        %starts = tensor.splat %m32 : tensor<${BM}xi32>
        %ends = tensor.splat %end32 : tensor<${BM}xi32>
        %outside = tensor.splat %M32 : tensor<${BM}xi32>
        %steps = tile.iota axis 0 : tensor<${BM}xi32>
        %places = arith.addi %starts, %steps : tensor<${BM}xi32>
        %isOwn = arith.cmpi slt, %places, %ends : tensor<${BM}xi32>
        %kept = arith.select %isOwn, %places, %outside : tensor<${BM}xi1>, tensor<${BM}xi32>
        tile.scatter %c, %C[%kept, %n] : tensor<${BM}x${BN}x${T}>, !matrix, (tensor<${BM}xi32>, index)
      }
    }
    scf.yield %g, %base : index, index
  }
  tile.return
}
