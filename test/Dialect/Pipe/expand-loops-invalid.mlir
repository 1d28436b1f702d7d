// RUN: headrace-opt %s --pipe-expand-loops --split-input-file --verify-diagnostics

// A store would run in trips that do not exist.
func.func @effect_ahead(%C: memref<?xf32>, %x: f32, %n: index) attributes {pipe.kernel, pipe.warps = 4 : i64} {
  // expected-error@+1 {{this schedule cannot be expanded: an op before the last stage cannot be predicated}}
  scf.for %i = %n to %n step %n {
    memref.store %x, %C[%i] {pipe.stage = 0 : i64, pipe.order = 0 : i64} : memref<?xf32>
    %b = arith.muli %i, %n {pipe.stage = 1 : i64, pipe.order = 1 : i64} : index
  }
  return
}
