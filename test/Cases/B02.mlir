// Case B02: products over parts of K, some of them empty: C[g] = A[:, ends[g] : ends[g + 1]] B[ends[g] : ends[g + 1], :].
//
// param T = bf16, sm_75: f16
// param STAGES = 2
// param SPECIALIZE = auto
// param BK = 16

!matrix = memref<?x?x${T}, strided<[?, 1]>>
!results = memref<?x?x?xf32, strided<[?, ?, 1]>>
!table = memref<?xi32, strided<[1]>>
!left = tensor<16x${BK}x${T}>
!places = tensor<16x${BK}xi32>

tile.kernel @grouped(%A: !matrix {tile.name = "A", tile.align = 16 : i64}, %B: !matrix {tile.name = "B", tile.align = 16 : i64},
                     %ends: !table {tile.name = "ends"}, %C: !results {tile.name = "C", tile.align = 16 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bk = arith.constant ${BK} : index
  %groups = memref.dim %C, %c0 : !results
  tile.grid %groups
  %g = tile.program_id 0
  %after = arith.addi %g, %c1 : index
  %lower32 = tile.load_scalar %ends[%g] : !table -> i32
  %upper32 = tile.load_scalar %ends[%after] : !table -> i32
  %lower = arith.index_cast %lower32 : i32 to index
  %upper = arith.index_cast %upper32 : i32 to index
  %none = arith.constant dense<0.0> : !left
  %upperAll = tensor.splat %upper32 : !places
  %steps = tile.iota axis 1 : !places
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %sum = tile.for %k = %lower to %upper step %bk iter_args(%acc = %zero) -> (tensor<16x16xf32>)
      pipeline(stages = ${STAGES}, specialize = ${SPECIALIZE}) {
    %a = tile.load %A[%c0, %k] : !matrix -> !left
    %b = tile.load %B[%k, %c0] : !matrix -> tensor<${BK}x16x${T}>
    // The columns behind the end are the next group's.
    %k32 = arith.index_cast %k : index to i32
    %kAll = tensor.splat %k32 : !places
    %places = arith.addi %kAll, %steps : !places
    %isOwn = arith.cmpi slt, %places, %upperAll : !places
    %own = arith.select %isOwn, %a, %none : tensor<16x${BK}xi1>, !left
    %s = tile.dot %own, %b, %acc : !left, tensor<${BK}x16x${T}> -> tensor<16x16xf32>
    tile.yield %s : tensor<16x16xf32>
  }
  tile.store %sum, %C[%g, %c0, %c0] : tensor<16x16xf32>, !results
  tile.return
}
