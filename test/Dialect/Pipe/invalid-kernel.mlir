// RUN: headrace-opt %s --split-input-file --verify-diagnostics

// Kernels of the pipe dialect, their attributes, copies and stores: one constraint for each chunk.

// expected-error@+1 {{expected a kernel: a function with a body and the attribute pipe.kernel}}
func.func private @no_body() attributes {pipe.kernel}

// -----

// expected-error@+1 {{expected a kernel of one block: control flow is scf.for, scf.if and scf.while}}
func.func @blocks() attributes {pipe.kernel} {
  cf.br ^next
^next:
  return
}

// -----

// expected-error@+1 {{expected func.return at the end of a kernel}}
func.func @no_return() attributes {pipe.kernel} {
  llvm.unreachable
}

// -----

!ring = !pipe.channel<1, [!pipe.buffer<32xf32, #tile.tmem>]>
func.func @late_channel(%p: i1) attributes {pipe.kernel} {
  scf.if %p {
    // expected-error@+1 {{'pipe.create_channel' op expected channels to be made in the outermost block of a kernel}}
    %ch = pipe.create_channel "A" <mbarrier> : !ring
  }
  return
}

// -----

func.func @control() attributes {pipe.kernel} {
  // expected-error@+1 {{expected no control flow but scf.for, scf.if, scf.while and pipe.roles, got scf.execute_region}}
  scf.execute_region {
    scf.yield
  }
  return
}

// -----

func.func @nested_roles(%p: i1) attributes {pipe.kernel} {
  scf.if %p {
    // expected-error@+1 {{'pipe.roles' op expected roles in the outermost block of a kernel}}
    pipe.roles {
      role "compute" warps 4 active 4 registers 0 {
      }
    }
  }
  return
}

// -----

// expected-error@+1 {{expected pipe.warps to be 1 to 32, got 0}}
func.func @warps() attributes {pipe.kernel, pipe.warps = 0 : i64} {
  return
}

// -----

// expected-error@+1 {{expected pipe.warps to be 1 to 32, got "four"}}
func.func @warps_type() attributes {pipe.kernel, pipe.warps = "four"} {
  return
}

// -----

func.func @stage(%n: index) {
  // expected-error@+1 {{expected pipe.stage to be 0 to 64, got -1}}
  %m = arith.addi %n, %n {pipe.stage = -1 : i64} : index
  return
}

// -----

// expected-error@+1 {{expected pipe.tensor_maps to be an array of dictionaries, got 3 : i64}}
func.func @maps() attributes {pipe.kernel, pipe.tensor_maps = 3 : i64} {
  return
}

// -----

!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!ring = !pipe.channel<1, [!tile]>
func.func @copy_channel(%A: memref<?x?xbf16, strided<[?, 1]>>, %n: index, %ch: !ring, %t: !tile) {
  // expected-error@+1 {{'pipe.copy' op expected a channel made by pipe.create_channel}}
  pipe.copy <tma> %A[%n, %n] to %t in %ch : memref<?x?xbf16, strided<[?, 1]>>, !tile, !ring
  return
}

// -----

!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!ring = !pipe.channel<1, [!pipe.buffer<64x64xf16, #tile.shared<major = 1, swizzle = 128>>]>
func.func @copy_tile(%A: memref<?x?xbf16, strided<[?, 1]>>, %n: index, %t: !tile) {
  %ch = pipe.create_channel "A" <mbarrier> : !ring
  // expected-error@+1 {{'pipe.copy' op expected a tile of the channel's slots, got '!pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>'}}
  pipe.copy <tma> %A[%n, %n] to %t in %ch : memref<?x?xbf16, strided<[?, 1]>>, !tile, !ring
  return
}

// -----

!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!ring = !pipe.channel<1, [!tile]>
func.func @copy_offsets(%A: memref<?x?xbf16, strided<[?, 1]>>, %n: index, %t: !tile) {
  %ch = pipe.create_channel "A" <mbarrier> : !ring
  // expected-error@+1 {{'pipe.copy' op expected one offset for each dimension of the array, got 1}}
  pipe.copy <tma> %A[%n] to %t in %ch : memref<?x?xbf16, strided<[?, 1]>>, !tile, !ring
  return
}

// -----

!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
func.func @store_offsets(%A: memref<?x?xbf16, strided<[?, 1]>>, %n: index, %t: !tile) {
  // expected-error@+1 {{'pipe.async_store' op expected one offset for each dimension of the array, got 3}}
  pipe.async_store %t, %A[%n, %n, %n] : !tile, memref<?x?xbf16, strided<[?, 1]>>
  return
}

// -----

!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
func.func @store_groups(%A: memref<?x?xbf16, strided<[?, 1]>>, %n: index, %t: !tile) {
  // expected-error@+1 {{'pipe.async_store' op expected 1 to 32 groups that share the rows equally, got 3}}
  pipe.async_store %t, %A[%n, %n] {groups = 3 : i64} : !tile, memref<?x?xbf16, strided<[?, 1]>>
  return
}

// -----

func.func @barrier_groups() {
  // expected-error@+1 {{'pipe.role_barrier' op expected 1 to 32 groups that share the rows equally, got 0}}
  pipe.role_barrier {groups = 0 : i64}
  return
}

// -----

func.func @order(%n: index) {
  // expected-error@+1 {{expected pipe.order to be 0 to 1048576, got -1}}
  %m = arith.addi %n, %n {pipe.order = -1 : i64} : index
  return
}

// -----

// expected-error@+1 {{expected pipe.shared_bytes to be 0 to 1048576, got 1048577}}
func.func @shared_bytes() attributes {pipe.kernel, pipe.shared_bytes = 1048577 : i64} {
  return
}

// -----

// expected-error@+1 {{expected pipe.occupancy to be 1 to 64, got 0}}
func.func @occupancy() attributes {pipe.kernel, pipe.occupancy = 0 : i64} {
  return
}

// -----

func.func @pipeline(%n: index) {
  // expected-error@+1 {{expected pipe.pipeline to be #tile.pipeline<(...)>, got 3 : i64}}
  %m = arith.addi %n, %n {pipe.pipeline = 3 : i64} : index
  return
}

// -----

func.func @blocks_of_a_role() attributes {pipe.kernel} {
  // expected-error@+1 {{'pipe.roles' op expected regions of one block}}
  pipe.roles {
    role "compute" warps 4 active 4 registers 0 {
      cf.br ^next
    ^next:
      pipe.role_barrier
    }
  }
  return
}
