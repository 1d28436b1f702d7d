// RUN: headrace-opt %s --convert-pipe-to-nvvm --split-input-file --verify-diagnostics

// expected-error @+1 {{expected the attribute tile.target, for example "sm_90a"}}
module {
}

// -----

// expected-error-re @+1 {{unknown target{{.*}}sm_42}}
module attributes {tile.target = "sm_42"} {
}

// -----

module attributes {tile.target = "sm_90a"} {
// expected-error @+1 {{expected a kernel: a function with a body and the attribute pipe.kernel}}
func.func @helper() {
  return
}
}

// -----

module attributes {tile.target = "sm_90a"} {
// expected-error @+1 {{expected pipe.warps to be 1 to 32, got 0}}
func.func @no_warps() attributes {pipe.kernel} {
  return
}
}

// -----

module attributes {tile.target = "sm_90a"} {
// expected-error @+1 {{expected parameter 0 to be a scalar or an array that starts at its address, got 'memref<?xf32, strided<[1], offset: ?>>'}}
func.func @array_with_offset(%a: memref<?xf32, strided<[1], offset: ?>>) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  return
}
}

// -----

module attributes {tile.target = "sm_90a"} {
func.func @dynamic_dim(%a: memref<?xf32>, %d: index) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  // expected-error @+1 {{expected a constant dimension of the array}}
  %n = memref.dim %a, %d : memref<?xf32>
  return
}
}

// -----

!slot = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
module attributes {tile.target = "sm_90a"} {
func.func @not_placed() attributes {pipe.kernel, pipe.warps = 4 : i64, pipe.shared_bytes = 8192 : i64} {
  // expected-error @+1 {{expected pipe-allocate-memory to have placed the channel}}
  %channel = pipe.create_channel "A" <barrier> : !pipe.channel<1, [!slot]>
  return
}
}

// -----

!slot = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
module attributes {tile.target = "sm_90a"} {
func.func @beyond_the_end() attributes {pipe.kernel, pipe.warps = 4 : i64, pipe.shared_bytes = 8192 : i64} {
  // expected-error @+1 {{expected the channel to end within the kernel's shared memory of 8192 bytes, got 16384}}
  %channel = pipe.create_channel "A" <barrier> {offset = 0 : i64} : !pipe.channel<2, [!slot]>
  return
}
}

// -----

!slot = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
module attributes {tile.target = "sm_80"} {
func.func @mbarrier_on_ampere() attributes {pipe.kernel, pipe.warps = 4 : i64, pipe.shared_bytes = 8192 : i64} {
  // expected-error @+1 {{needs sm_90}}
  %channel = pipe.create_channel "A" <mbarrier> {offset = 0 : i64} : !pipe.channel<1, [!slot]>
  return
}
}

// -----

!slot = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
module attributes {tile.target = "sm_90a"} {
func.func @no_arrivals() attributes {pipe.kernel, pipe.warps = 4 : i64, pipe.shared_bytes = 8192 : i64} {
  // expected-error @+1 {{expected pipe-derive-arrivals to have counted the arrivals}}
  %channel = pipe.create_channel "A" <mbarrier> {offset = 0 : i64, barrier_offset = 0 : i64} : !pipe.channel<1, [!slot]>
  return
}
}

// -----

!slot = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
module attributes {tile.target = "sm_90a"} {
func.func @no_cursor() attributes {pipe.kernel, pipe.warps = 4 : i64, pipe.shared_bytes = 16384 : i64} {
  %channel = pipe.create_channel "A" <barrier> {offset = 0 : i64} : !pipe.channel<2, [!slot]>
  // expected-error @+1 {{expected a cursor: the channel A has barriers or several slots}}
  %a = pipe.producer_acquire %channel : !pipe.channel<2, [!slot]> -> !slot
  return
}
}

// -----

module attributes {tile.target = "sm_90a"} {
func.func @too_few_roles() attributes {pipe.kernel, pipe.warps = 8 : i64} {
  // expected-error @+1 {{expected the roles to share the kernel's 8 warps, got 4}}
  pipe.roles {
    role "compute" warps 4 active 4 registers 0 {
    }
  }
  return
}
}

// -----

module attributes {tile.target = "sm_80"} {
func.func @budget_on_ampere() attributes {pipe.kernel, pipe.warps = 4 : i64} {
  // expected-error @+1 {{setmaxnreg needs}}
  pipe.roles {
    role "compute" warps 4 active 4 registers 40 {
    }
  }
  return
}
}

// -----

!acc = !pipe.buffer<128x256xf32, #tile.tmem>
module attributes {tile.target = "sm_100a"} {
func.func @tmem_without_alloc() attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %channel = pipe.create_channel "C" <barrier> {offset = 0 : i64} : !pipe.channel<1, [!acc]>
  // expected-error @+1 {{expected pipe.tmem_alloc before it, in front of roles and loops}}
  %d = pipe.consumer_wait %channel : !pipe.channel<1, [!acc]> -> !acc
  return
}
}

// -----

module attributes {tile.target = "sm_90a"} {
func.func @tmem_on_hopper() attributes {pipe.kernel, pipe.warps = 4 : i64, pipe.shared_bytes = 1024 : i64} {
  // expected-error @+1 {{tcgen05 needs}}
  pipe.tmem_alloc 256 address_at 0
  return
}
}

// -----

module attributes {tile.target = "sm_100a"} {
func.func @columns() attributes {pipe.kernel, pipe.warps = 4 : i64, pipe.shared_bytes = 1024 : i64} {
  // expected-error @+1 {{expected 32, 64, 128, 256 or 512 columns, got 48}}
  pipe.tmem_alloc 48 address_at 0
  return
}
}

// -----

!slot = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
module attributes {tile.target = "sm_75"} {
func.func @cp_async_on_turing() attributes {pipe.kernel, pipe.warps = 4 : i64, pipe.shared_bytes = 8192 : i64} {
  // expected-error @+1 {{cp.async needs}}
  %channel = pipe.create_channel "A" <group> {offset = 0 : i64} : !pipe.channel<1, [!slot]>
  return
}
}

// -----

module attributes {tile.target = "sm_80"} {
func.func @fence_on_ampere() attributes {pipe.kernel, pipe.warps = 4 : i64} {
  // expected-error @+1 {{needs sm_90}}
  pipe.fence_async
  return
}
}

// -----

!slot = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
module attributes {tile.target = "sm_90a"} {
func.func @no_map(%a: memref<?x?xbf16, strided<[?, 1]>>, %i: index) attributes {pipe.kernel, pipe.warps = 4 : i64, pipe.shared_bytes = 8192 : i64} {
  %channel = pipe.create_channel "C" <bulk_store> {offset = 0 : i64} : !pipe.channel<1, [!slot]>
  %s = pipe.consumer_wait %channel : !pipe.channel<1, [!slot]> -> !slot
  // expected-error @+1 {{expected a tensor map of the kernel, which has 0}}
  pipe.async_store %s, %a[%i, %i] {map = 0 : i64} : !slot, memref<?x?xbf16, strided<[?, 1]>>
  return
}
}

// -----

// An op without a lowering: one error, not a chain.
module attributes {tile.target = "sm_90a"} {
func.func @no_lowering() attributes {pipe.kernel, pipe.warps = 4 : i64} {
  // expected-error @+1 {{no lowering for sm_90a of gpu.barrier}}
  gpu.barrier
  return
}
}
