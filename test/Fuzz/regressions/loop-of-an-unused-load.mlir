// RUN: headrace-compile %s --target=sm_75 --emit=ptx -o %t.ptx
// RUN: headrace-compile %s --target=sm_80 --emit=ptx -o %t.ptx
// RUN: headrace-compile %s --target=sm_90a --emit=ptx -o %t.ptx
// RUN: headrace-compile %s --target=sm_100a --emit=ptx -o %t.ptx
// RUN: headrace-compile %s --target=sm_120a --emit=ptx -o %t.ptx

// Nobody reads what the loop loads: no role was left with anything to do, and the kernel had no warps.

tile.kernel @loop_of_an_unused_load(%A: memref<?x?xf32, strided<[?, 1]>> {tile.name = "A"}, %B: memref<?x?xi8, strided<[?, 1]>> {tile.name = "B", tile.align = 8 : i64}, %n: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.index_cast %n : i32 to index
  tile.for %k = %c0 to %m step %c1 pipeline(stages = auto, specialize = on) {
    %x = tile.load %B[%c0, %k] : memref<?x?xi8, strided<[?, 1]>> -> tensor<8x8xi8>
  }
  tile.return
}
