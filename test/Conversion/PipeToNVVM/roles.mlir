// RUN: headrace-opt %s --convert-pipe-to-nvvm --split-input-file | FileCheck %s

module attributes {tile.target = "sm_90a"} {
// The launch gives 65536 / 384 registers, 168: 40 is less, 232 is more.
// CHECK-LABEL: llvm.func @two_roles
func.func @two_roles() attributes {pipe.kernel, pipe.warps = 12 : i64} {
  // CHECK:      %[[TID:.*]] = nvvm.read.ptx.sreg.tid.x
  // CHECK:      %[[RAW:.*]] = arith.shrui %[[TID]], %{{.*}}
  // CHECK:      %[[WARP:.*]] = nvvm.shfl.sync idx %{{.*}}, %[[RAW]]
  // CHECK:      %[[FOUR:.*]] = arith.constant 4 : i32
  // CHECK:      %[[LOAD:.*]] = arith.cmpi ult, %[[WARP]], %[[FOUR]]
  // CHECK:      scf.if %[[LOAD]] {
  // CHECK-NEXT:   "setmaxnreg.dec.sync.aligned.u32 40;"
  // CHECK:        %[[ONE:.*]] = arith.constant 1 : i32
  // CHECK:        %[[ACTIVE:.*]] = arith.cmpi ult, %[[WARP]], %[[ONE]]
  // CHECK:        scf.if %[[ACTIVE]] {
  // One warp needs no barrier of its own.
  // CHECK-NEXT:     "bar.warp.sync 0xffffffff;"
  // CHECK:        {{^ *[}]$}}
  // CHECK-NEXT: } else {
  // CHECK-NEXT:   "setmaxnreg.inc.sync.aligned.u32 232;"
  // CHECK-NEXT:   "bar.sync 2, 256;"
  // CHECK:      {{^ *[}]$}}
  // CHECK-NEXT: "bar.sync 0;"
  pipe.roles {
    role "load" warps 4 active 1 registers 40 {
      pipe.role_barrier
    }
    role "compute" warps 8 active 8 registers 232 {
      pipe.role_barrier
    }
  }
  pipe.role_barrier
  return
}

// CHECK-LABEL: llvm.func @three_roles
func.func @three_roles() attributes {pipe.kernel, pipe.warps = 12 : i64} {
  // CHECK-NOT: setmaxnreg
  // CHECK:     scf.if
  // CHECK:       "bar.sync 1, 64;"
  // CHECK:     } else {
  // CHECK:       %[[EIGHT:.*]] = arith.constant 8 : i32
  // CHECK:       %[[MMA:.*]] = arith.cmpi ult, %{{.*}}, %[[EIGHT]]
  // CHECK:       scf.if %[[MMA]] {
  // The warp within the role.
  // CHECK:         arith.subi
  // CHECK:         scf.if
  // CHECK:       } else {
  // CHECK:         "bar.sync 3, 128;"
  pipe.roles {
    role "load" warps 4 active 2 registers 0 {
      pipe.role_barrier
    }
    role "mma" warps 4 active 1 registers 0 {
      pipe.role_barrier
    }
    role "epilogue" warps 4 active 4 registers 0 {
      pipe.role_barrier
    }
  }
  return
}
}
