// RUN: headrace-opt %s --split-input-file --verify-diagnostics

// The loop over tiles: one constraint for each chunk. C1 and C2 are those of its description.

// C1: initial values.
tile.kernel @inits(%n: index, %x: f32) {
  // expected-error@+1 {{'tile.for' op expected initial values of the results' types}}
  %r = "tile.for"(%n, %n, %n, %x) ({
  ^bb0(%i: index, %y: f64):
    tile.yield %y : f64
  }) : (index, index, index, f32) -> f64
  tile.return
}

// -----

// C1: body arguments.
tile.kernel @arguments(%n: index, %x: f32) {
  // expected-error@+1 {{'tile.for' op expected body arguments of the results' types}}
  %r = "tile.for"(%n, %n, %n, %x) ({
  ^bb0(%i: index):
    tile.yield %x : f32
  }) : (index, index, index, f32) -> f32
  tile.return
}

// -----

// C1: yielded values.
tile.kernel @yields(%n: index, %x: f32) {
  // expected-error@+1 {{'tile.for' op expected yielded values of the results' types}}
  %r = tile.for %i = %n to %n step %n iter_args(%y = %x) -> (f32) {
    tile.yield %i : index
  }
  tile.return
}

// -----

// C1: what is forgotten is not yielded.
tile.kernel @no_yield(%n: index, %x: f32) {
  // expected-error@+1 {{'tile.for' op expected yielded values of the results' types}}
  %r = tile.for %i = %n to %n step %n iter_args(%y = %x) -> (f32) {
  }
  tile.return
}

// -----

tile.kernel @induction(%n: index) {
  // expected-error@+1 {{'tile.for' op expected an index as the body's first argument}}
  "tile.for"(%n, %n, %n) ({
    tile.yield
  }) : (index, index, index) -> ()
  tile.return
}

// -----

tile.kernel @types(%n: index, %x: f32) {
  // expected-error@+1 {{expected as many types as iter_args, got 2 for 1}}
  %r:2 = tile.for %i = %n to %n step %n iter_args(%y = %x) -> (f32, f32) {
    tile.yield %y, %y : f32, f32
  }
  tile.return
}

// -----

// C2.
tile.kernel @step(%n: index) {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{'tile.for' op expected a positive step, got 0}}
  tile.for %i = %n to %n step %c0 {
  }
  tile.return
}

// -----

// C2.
tile.kernel @step_down(%n: index) {
  %c-1 = arith.constant -1 : index
  // expected-error@+1 {{'tile.for' op expected a positive step, got -1}}
  tile.for %i = %n to %n step %c-1 {
  }
  tile.return
}

// -----

tile.kernel @pipeline(%n: index) {
  // expected-error@+1 {{expected stages to be auto or 0 to 64, got 100}}
  tile.for %i = %n to %n step %n pipeline(stages = 100) {
  }
  tile.return
}

// -----

tile.kernel @outside(%n: index) {
  scf.for %i = %n to %n step %n {
    // expected-error@+1 {{'tile.yield' op expects parent op to be one of 'tile.for, tile.reduce, tile.scan'}}
    tile.yield
  }
  tile.return
}
