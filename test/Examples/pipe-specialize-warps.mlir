// RUN: headrace-opt %s --pipe-specialize-warps | FileCheck %s

// pipe-specialize-warps splits the whole body of a kernel into roles with warps of their own. Each role gets a copy of
// the loops with just the ops and the loop values that it needs: `load` the producer's cursor and the copies, `compute`
// the consumer's cursor and all else. One thread starts TMA copies, so `load` is one warp.

!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!ring = !pipe.channel<3, [!tile]>
!array = memref<?x?xbf16, strided<[?, 1]>>
#row = #tile.layout<atom = [4, 32], register = [], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[1, 0], [2, 0]], groups = [], repeat = [16, 2]>

module attributes {tile.target = "sm_90a"} {

// CHECK-LABEL: func.func @copies_and_computation
// CHECK-SAME:  pipe.warps = 5 : i64
func.func @copies_and_computation(%A: !array, %C: !array, %n: index) attributes {pipe.kernel, pipe.specialize, pipe.warps = 4 : i64} {
  // CHECK: %[[CH:.*]] = pipe.create_channel "A" <mbarrier>
  %ch = pipe.create_channel "A" <mbarrier> : !ring
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %r:4 = scf.for %i = %c0 to %n step %c64 iter_args(%pi = %zero, %pp = %one, %ci = %zero, %cp = %zero) -> (i32, i32, i32, i32) {
    %a = pipe.producer_acquire %ch[%pi, %pp] : !ring -> !tile
    pipe.copy <tma> %A[%i, %c0] to %a in %ch[%pi] : !array, !tile, !ring
    pipe.producer_commit %ch[%pi, %pp] : !ring
    %npi, %npp = pipe.advance [%pi, %pp] depth 3
    %b = pipe.consumer_wait %ch[%ci, %cp] : !ring -> !tile
    %x = pipe.read %b : !tile -> tensor<64x64xbf16, #row>
    pipe.consumer_release %ch[%ci, %cp] : !ring
    %nci, %ncp = pipe.advance [%ci, %cp] depth 3
    pipe.store %x, %C[%i, %c0] : tensor<64x64xbf16, #row>, !array
    scf.yield %npi, %npp, %nci, %ncp : i32, i32, i32, i32
  }
  // CHECK:      pipe.roles {
  // CHECK-NEXT:   role "compute" warps 4 active 4 registers 0 {
  // CHECK:          scf.for {{.*}} iter_args(%[[CI:.*]] = %{{.*}}, %[[CP:.*]] = %{{.*}}) -> (i32, i32) {
  // CHECK-NEXT:       pipe.consumer_wait %[[CH]][%[[CI]], %[[CP]]]
  // CHECK-NEXT:       pipe.read
  // CHECK-NEXT:       pipe.consumer_release %[[CH]][%[[CI]], %[[CP]]]
  // CHECK-NEXT:       pipe.advance[%[[CI]], %[[CP]]]
  // CHECK-NEXT:       pipe.store
  // CHECK-NEXT:       scf.yield
  // CHECK:        role "load" warps 1 active 1 registers 0 {
  // CHECK:          scf.for {{.*}} iter_args(%[[PI:.*]] = %{{.*}}, %[[PP:.*]] = %{{.*}}) -> (i32, i32) {
  // CHECK-NEXT:       pipe.producer_acquire %[[CH]][%[[PI]], %[[PP]]]
  // CHECK-NEXT:       pipe.copy <tma>
  // CHECK-NEXT:       pipe.producer_commit %[[CH]][%[[PI]], %[[PP]]]
  // CHECK-NEXT:       pipe.advance[%[[PI]], %[[PP]]]
  // CHECK-NEXT:       scf.yield
  // CHECK-NOT:  role
  return
}

}
