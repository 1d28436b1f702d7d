// RUN: headrace-opt %s --split-input-file --verify-diagnostics

// Types and ops of the pipe dialect: one constraint for each chunk.

// expected-error@+1 {{expected a tile of rank 1 to 4}}
func.func private @rank(!pipe.buffer<2x2x2x2x2xf32, #tile.shared<major = 1, swizzle = 0>>)

// -----

// expected-error@+1 {{expected a tile of rank 1 to 4}}
func.func private @rank_0(!pipe.buffer<f32, #tile.shared<major = 0, swizzle = 0>>)

// -----

// expected-error@+1 {{expected 1 to 2^24 elements}}
func.func private @huge(!pipe.buffer<8192x4096xf32, #tile.shared<major = 1, swizzle = 0>>)

// -----

// expected-error@+1 {{expected 1 to 2^24 elements}}
func.func private @empty(!pipe.buffer<0x16xf32, #tile.shared<major = 1, swizzle = 0>>)

// -----

// expected-error@+1 {{expected elements of 1 to 8 whole bytes, got 'i4'}}
func.func private @element(!pipe.buffer<32xi4, #tile.shared<major = 0, swizzle = 0>>)

// -----

// expected-error@+1 {{expected elements of 1 to 8 whole bytes, got 'i128'}}
func.func private @wide_element(!pipe.buffer<32xi128, #tile.shared<major = 0, swizzle = 0>>)

// -----

// expected-error@+1 {{expected a layout #tile.shared or #tile.tmem, got 3 : i64}}
func.func private @layout(!pipe.buffer<32xf32, 3>)

// -----

// expected-error@+1 {{expected major to be a dimension of the tile, got 1}}
func.func private @major(!pipe.buffer<32xf32, #tile.shared<major = 1, swizzle = 0>>)

// -----

// expected-error@+1 {{expected rows of a multiple of 128 bytes, got 96}}
func.func private @swizzle(!pipe.buffer<8x48xf16, #tile.shared<major = 1, swizzle = 128>>)

// -----

// expected-error@+1 {{expected a depth of 0 (not chosen) to 64, got 65}}
func.func private @depth(!pipe.channel<65, [!pipe.buffer<32xf32, #tile.tmem>]>)

// -----

// expected-error@+1 {{expected a depth of 0 (not chosen) to 64, got -1}}
func.func private @negative_depth(!pipe.channel<-1, [!pipe.buffer<32xf32, #tile.tmem>]>)

// -----

// expected-error@+1 {{expected all tiles of a slot in one memory}}
func.func private @memories(!pipe.channel<1, [!pipe.buffer<32xf32, #tile.tmem>, !pipe.buffer<32xf32, #tile.shared<major = 0, swizzle = 0>>]>)

// -----

!ring = !pipe.channel<1, [!pipe.buffer<32xf32, #tile.tmem>]>
func.func @foreign(%ch: !ring) {
  // expected-error@+1 {{'pipe.producer_commit' op expected a channel made by pipe.create_channel}}
  pipe.producer_commit %ch : !ring
  return
}

// -----

!ring = !pipe.channel<1, [!pipe.buffer<32xf32, #tile.tmem>]>
func.func @half_cursor(%i: i32) {
  %ch = pipe.create_channel "A" <mbarrier> : !ring
  // expected-error@+1 {{'pipe.consumer_release' op expected a cursor of index and phase}}
  "pipe.consumer_release"(%ch, %i) <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (!ring, i32) -> ()
  return
}

// -----

!ring = !pipe.channel<1, [!pipe.buffer<32xf32, #tile.tmem>]>
func.func @acquired_tiles() {
  %ch = pipe.create_channel "A" <mbarrier> : !ring
  // expected-error@+1 {{'pipe.producer_acquire' op expected the tiles of the channel's slots as results}}
  %a = pipe.producer_acquire %ch : !ring -> !pipe.buffer<64xf32, #tile.tmem>
  return
}

// -----

!ring = !pipe.channel<1, [!pipe.buffer<32xf32, #tile.tmem>]>
func.func @waited_tiles() {
  %ch = pipe.create_channel "A" <mbarrier> : !ring
  // expected-error@+1 {{'pipe.consumer_wait' op expected the tiles of the channel's slots as results}}
  %a:2 = pipe.consumer_wait %ch : !ring -> !pipe.buffer<32xf32, #tile.tmem>, !pipe.buffer<32xf32, #tile.tmem>
  return
}

// -----

func.func @no_roles() {
  // expected-error@+1 {{'pipe.roles' op expected a name, warps, active warps and registers for each role}}
  pipe.roles {
  }
  return
}

// -----

func.func @role_warps() {
  // expected-error@+1 {{'pipe.roles' op role "compute": expected 1 to 32 warps, and active warps among them}}
  pipe.roles {
    role "compute" warps 33 active 1 registers 0 {
    }
  }
  return
}

// -----

func.func @role_active() {
  // expected-error@+1 {{'pipe.roles' op role "load": expected 1 to 32 warps, and active warps among them}}
  pipe.roles {
    role "load" warps 1 active 4 registers 0 {
    }
  }
  return
}

// -----

func.func @role_registers() {
  // expected-error@+1 {{'pipe.roles' op role "load": expected registers to be 0 or a multiple of 8 from 24 to 256, got 20}}
  pipe.roles {
    role "load" warps 4 active 4 registers 20 {
    }
  }
  return
}
