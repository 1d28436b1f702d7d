// RUN: headrace-opt %s --pipe-verify-protocol --split-input-file --verify-diagnostics | FileCheck %s

// pipe-verify-protocol changes nothing. It refuses a kernel that reads a slot outside of wait and release, or writes one
// outside of acquire and commit: the race that such a kernel has shows once in a thousand runs. test/Dialect/Pipe has one
// program for each rule.

#row = #tile.layout<atom = [4, 32], register = [], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[1, 0], [2, 0]], groups = [], repeat = [16, 2]>
!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!ring = !pipe.channel<3, [!tile]>

// CHECK-LABEL: func.func @reads_before_release
func.func @reads_before_release(%i: i32, %x: tensor<64x64xbf16, #row>, %C: memref<64x64xbf16>, %c: index) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %ch = pipe.create_channel "A" <barrier> : !ring
  %a = pipe.producer_acquire %ch[%i, %i] : !ring -> !tile
  pipe.write %x, %a : tensor<64x64xbf16, #row>, !tile
  pipe.producer_commit %ch[%i, %i] : !ring
  %b = pipe.consumer_wait %ch[%i, %i] : !ring -> !tile
  // CHECK: pipe.read
  // CHECK-NEXT: pipe.consumer_release
  %y = pipe.read %b : !tile -> tensor<64x64xbf16, #row>
  pipe.consumer_release %ch[%i, %i] : !ring
  pipe.store %y, %C[%c, %c] : tensor<64x64xbf16, #row>, memref<64x64xbf16>
  return
}

// -----

#row = #tile.layout<atom = [4, 32], register = [], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[1, 0], [2, 0]], groups = [], repeat = [16, 2]>
!tile = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
!ring = !pipe.channel<3, [!tile]>

func.func @reads_after_release(%i: i32, %x: tensor<64x64xbf16, #row>, %C: memref<64x64xbf16>, %c: index) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  %ch = pipe.create_channel "A" <barrier> : !ring
  %a = pipe.producer_acquire %ch[%i, %i] : !ring -> !tile
  pipe.write %x, %a : tensor<64x64xbf16, #row>, !tile
  pipe.producer_commit %ch[%i, %i] : !ring
  %b = pipe.consumer_wait %ch[%i, %i] : !ring -> !tile
  // expected-note@+1 {{released here}}
  pipe.consumer_release %ch[%i, %i] : !ring
  // expected-error@+1 {{reads a slot of channel 'A' after its release}}
  %y = pipe.read %b : !tile -> tensor<64x64xbf16, #row>
  pipe.store %y, %C[%c, %c] : tensor<64x64xbf16, #row>, memref<64x64xbf16>
  return
}
