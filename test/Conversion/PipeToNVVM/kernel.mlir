// RUN: headrace-opt %s --convert-pipe-to-nvvm | FileCheck %s

!slot = !pipe.buffer<64x64xbf16, #tile.shared<major = 1, swizzle = 128>>
module attributes {tile.target = "sm_90a"} {

// CHECK: llvm.mlir.global external @headrace_shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

// An array is its address, its dynamic extents and its dynamic strides; tensor maps come last.
// CHECK-LABEL: llvm.func @parameters
// CHECK-SAME:  (%[[A:[^:]*]]: !llvm.ptr<1> {llvm.align = 16 : i64}, %[[ROWS:[^:]*]]: i32, %{{[^:]*}}: i32, %{{[^:]*}}: i64, %{{[^:]*}}: f32, %[[N:[^:]*]]: i32,
// CHECK-SAME:  %{{[^:]*}}: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant},
// CHECK-SAME:  %{{[^:]*}}: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant})
// CHECK-SAME:  nvvm.kernel, nvvm.minctasm = 2 : i32, nvvm.reqntid = array<i32: 128, 1, 1>
// CHECK-NOT:   pipe.
func.func @parameters(%a: memref<?x?xbf16, strided<[?, 1]>> {tile.align = 16 : i64}, %alpha: f32, %n: index)
    attributes {pipe.kernel, pipe.warps = 4 : i64, pipe.shared_bytes = 1024 : i64, pipe.tensor_maps = [{}, {}],
                pipe.occupancy = 2 : i64} {
  // CHECK:     arith.index_cast %[[ROWS]] : i32 to index
  // CHECK:     %[[INDEX:.*]] = arith.index_cast %[[N]] : i32 to index
  // CHECK:     scf.for %{{.*}} = %{{.*}} to %[[INDEX]]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    pipe.role_barrier
  }
  // CHECK:     llvm.return
  return
}

// CHECK-LABEL: llvm.func @static_array(%{{[^:]*}}: !llvm.ptr<1>)
// CHECK-SAME:  nvvm.minctasm = 1
func.func @static_array(%a: memref<64x32xf32>) attributes {pipe.kernel, pipe.warps = 1 : i64} {
  return
}

// CHECK-LABEL: llvm.func @grid_and_extents
// CHECK-SAME:  %[[EXTENT:[^:]*]]: i32
func.func @grid_and_extents(%a: memref<?x32xf32>) attributes {pipe.kernel, pipe.warps = 1 : i64} {
  // CHECK-DAG: %[[INDEX:.*]] = arith.index_cast %[[EXTENT]] : i32 to index
  // CHECK-DAG: nvvm.read.ptx.sreg.ctaid.x
  // CHECK-DAG: nvvm.read.ptx.sreg.ctaid.y
  // CHECK-DAG: nvvm.read.ptx.sreg.nctaid.z
  // CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
  // CHECK:     scf.for %{{.*}} to %[[INDEX]] step %[[C32]]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = gpu.block_id x
  %y = gpu.block_id y
  %z = gpu.grid_dim z
  %rows = memref.dim %a, %c0 : memref<?x32xf32>
  %columns = memref.dim %a, %c1 : memref<?x32xf32>
  %from = arith.addi %x, %y : index
  %start = arith.addi %from, %z : index
  scf.for %i = %start to %rows step %columns {
    pipe.role_barrier
  }
  return
}

// A slot carried by a loop is its address.
// CHECK-LABEL: llvm.func @slot_in_loop
func.func @slot_in_loop(%n: index) attributes {pipe.kernel, pipe.warps = 1 : i64, pipe.shared_bytes = 8192 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %channel = pipe.create_channel "A" <barrier> {offset = 0 : i64} : !pipe.channel<1, [!slot]>
  %first = pipe.producer_acquire %channel : !pipe.channel<1, [!slot]> -> !slot
  // CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}) -> (i32)
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%slot = %first) -> (!slot) {
    %next = pipe.producer_acquire %channel : !pipe.channel<1, [!slot]> -> !slot
    scf.yield %next : !slot
  }
  return
}
}
