// Y[m, n] = X[m, 0] + ... + X[m, n]: a program for each row, chunk after chunk with the sum so far carried on.
//
// param T = f32
// param ADD = arith.addf
// param ZERO = 0.0
// param BC = 1024
// param STAGES = 3
// param WARPS = 4
// param SPECIALIZE = auto
// param ALIGN = 16

!matrix = memref<?x?x${T}, strided<[?, 1]>>
!part = tensor<${BC}x${T}>

tile.kernel @prefix_sum(%X: !matrix {tile.name = "X", tile.align = ${ALIGN} : i64},
                        %Y: !matrix {tile.name = "Y", tile.align = ${ALIGN} : i64})
    attributes {warps = ${WARPS} : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bc = arith.constant ${BC} : index
  %M = memref.dim %X, %c0 : !matrix
  %N = memref.dim %X, %c1 : !matrix
  tile.grid %M

  %m = tile.program_id 0
  %none = arith.constant ${ZERO} : ${T}
  %total = tile.for %n = %c0 to %N step %bc iter_args(%before = %none) -> (${T})
      pipeline(stages = ${STAGES}, specialize = ${SPECIALIZE}) {
    %x = tile.load %X[%m, %n] : !matrix -> !part
    %own = tile.scan %x axis 0 {
    ^bb0(%a: ${T}, %b: ${T}):
      %c = ${ADD} %a, %b : ${T}
      tile.yield %c : ${T}
    } : (!part) -> !part
    %sum = tile.reduce %x axis 0 {
    ^bb0(%a: ${T}, %b: ${T}):
      %c = ${ADD} %a, %b : ${T}
      tile.yield %c : ${T}
    } : (!part) -> ${T}
    %befores = tensor.splat %before : !part
    %y = ${ADD} %own, %befores : !part
    tile.store %y, %Y[%m, %n] : !part, !matrix
    %next = ${ADD} %before, %sum : ${T}
    tile.yield %next : ${T}
  }
  tile.return
}
