// RUN: headrace-opt %s --split-input-file --verify-diagnostics | FileCheck %s

#dense = #tile.shared<major = 1, swizzle = 0>
#row = #tile.shared<major = 0, swizzle = 0>
#four = #tile.shared<major = 3, swizzle = 0>

// CHECK-LABEL: func.func @views
// CHECK: pipe.view %{{.*}} : <16x32xf32, #{{.*}}> -> <512xf32, #{{.*}}>
// CHECK: pipe.view %{{.*}} : <512xf32, #{{.*}}> -> <2x4x8x8xf32, #{{.*}}>
func.func @views(%b: !pipe.buffer<16x32xf32, #dense>) {
  %v = pipe.view %b : !pipe.buffer<16x32xf32, #dense> -> !pipe.buffer<512xf32, #row>
  %w = pipe.view %v : !pipe.buffer<512xf32, #row> -> !pipe.buffer<2x4x8x8xf32, #four>
  return
}

// -----

func.func @swizzled(%b: !pipe.buffer<16x32xf32, #tile.shared<major = 1, swizzle = 128>>) {
  // expected-error@+1 {{'pipe.view' op expected dense tiles of as many elements of one type, got}}
  %v = pipe.view %b : !pipe.buffer<16x32xf32, #tile.shared<major = 1, swizzle = 128>> -> !pipe.buffer<512xf32, #tile.shared<major = 0, swizzle = 0>>
  return
}

// -----

// Rows follow each other, columns do not.
func.func @columns(%b: !pipe.buffer<16x32xf32, #tile.shared<major = 0, swizzle = 0>>) {
  // expected-error@+1 {{'pipe.view' op expected dense tiles of as many elements of one type, got}}
  %v = pipe.view %b : !pipe.buffer<16x32xf32, #tile.shared<major = 0, swizzle = 0>> -> !pipe.buffer<512xf32, #tile.shared<major = 0, swizzle = 0>>
  return
}

// -----

func.func @count(%b: !pipe.buffer<16x32xf32, #tile.shared<major = 1, swizzle = 0>>) {
  // expected-error@+1 {{'pipe.view' op expected dense tiles of as many elements of one type, got}}
  %v = pipe.view %b : !pipe.buffer<16x32xf32, #tile.shared<major = 1, swizzle = 0>> -> !pipe.buffer<256xf32, #tile.shared<major = 0, swizzle = 0>>
  return
}

// -----

func.func @elements(%b: !pipe.buffer<16x32xf32, #tile.shared<major = 1, swizzle = 0>>) {
  // expected-error@+1 {{'pipe.view' op expected dense tiles of as many elements of one type, got}}
  %v = pipe.view %b : !pipe.buffer<16x32xf32, #tile.shared<major = 1, swizzle = 0>> -> !pipe.buffer<512xi32, #tile.shared<major = 0, swizzle = 0>>
  return
}

// -----

func.func @tensor_memory(%b: !pipe.buffer<128x32xf32, #tile.tmem>) {
  // expected-error@+1 {{'pipe.view' op expected dense tiles of as many elements of one type, got}}
  %v = pipe.view %b : !pipe.buffer<128x32xf32, #tile.tmem> -> !pipe.buffer<32x128xf32, #tile.tmem>
  return
}
