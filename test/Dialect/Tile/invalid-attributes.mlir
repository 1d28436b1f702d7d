// RUN: headrace-opt %s --split-input-file --verify-diagnostics

// Layouts, shared layouts and pipelines: one constraint for each chunk.

// expected-error@+1 {{expected a layout of rank 1 to 4 with one repeat for each dimension}}
module attributes {a.b = #tile.layout<atom = [16, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [], groups = [], repeat = [1]>} {}

// -----

// expected-error@+1 {{expected a layout of rank 1 to 4 with one repeat for each dimension}}
module attributes {a.b = #tile.layout<atom = [], register = [], lane = [], warp = [], groups = [], repeat = []>} {}

// -----

// expected-error@+1 {{expected the atom's extents to be powers of two}}
module attributes {a.b = #tile.layout<atom = [24], register = [], lane = [[1], [2], [4], [8], [0]], warp = [], groups = [], repeat = [1]>} {}

// -----

// expected-error@+1 {{expected 2 coordinates, got 1}}
module attributes {a.b = #tile.layout<atom = [16, 8], register = [[1]], lane = [], warp = [], groups = [], repeat = [1, 1]>} {}

// -----

// expected-error@+1 {{expected each basis to be a power of two below the atom's extent, used once; got 3 in dimension 0}}
module attributes {a.b = #tile.layout<atom = [32], register = [], lane = [[3], [2], [4], [8], [16]], warp = [], groups = [], repeat = [1]>} {}

// -----

// expected-error@+1 {{expected each basis to be a power of two below the atom's extent, used once; got 32 in dimension 0}}
module attributes {a.b = #tile.layout<atom = [32], register = [], lane = [[32], [2], [4], [8], [16]], warp = [], groups = [], repeat = [1]>} {}

// -----

// expected-error@+1 {{expected each basis to be a power of two below the atom's extent, used once; got 4 in dimension 1}}
module attributes {a.b = #tile.layout<atom = [4, 8], register = [], lane = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0]], warp = [[0, 4]], groups = [], repeat = [1, 1]>} {}

// -----

// expected-error@+1 {{bases do not reach every element of the atom in dimension 0}}
module attributes {a.b = #tile.layout<atom = [64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [], groups = [], repeat = [1]>} {}

// -----

// expected-error@+1 {{expected 5 lane bases, got 4}}
module attributes {a.b = #tile.layout<atom = [16], register = [], lane = [[1], [2], [4], [8]], warp = [], groups = [], repeat = [1]>} {}

// -----

// expected-error@+1 {{expected groups of 1 to 64 parts on a dimension of the tile or on -1}}
module attributes {a.b = #tile.layout<atom = [32], register = [], lane = [[1], [2], [4], [8], [16]], warp = [], groups = [2 : 1], repeat = [1]>} {}

// -----

// expected-error@+1 {{expected groups of 1 to 64 parts on a dimension of the tile or on -1}}
module attributes {a.b = #tile.layout<atom = [32], register = [], lane = [[1], [2], [4], [8], [16]], warp = [], groups = [0 : 0], repeat = [1]>} {}

// -----

// expected-error@+1 {{expected at most 64 groups, got 128}}
module attributes {a.b = #tile.layout<atom = [32], register = [], lane = [[1], [2], [4], [8], [16]], warp = [], groups = [32 : 0, 4 : -1], repeat = [1]>} {}

// -----

// expected-error@+1 {{expected positive repeats, got 0}}
module attributes {a.b = #tile.layout<atom = [32], register = [], lane = [[1], [2], [4], [8], [16]], warp = [], groups = [], repeat = [0]>} {}

// -----

// expected-error@+1 {{expected major to be 0 to 3, got 4}}
module attributes {a.b = #tile.shared<major = 4, swizzle = 128>} {}

// -----

// expected-error@+1 {{expected swizzle to be 0, 16, 32, 64 or 128, got 48}}
module attributes {a.b = #tile.shared<major = 1, swizzle = 48>} {}

// -----

// expected-error@+1 {{expected stages to be auto or 0 to 64, got 65}}
module attributes {a.b = #tile.pipeline<(stages = 65)>} {}

// -----

// expected-error@+1 {{expected consumers to be auto or 1 to 8, got 0}}
module attributes {a.b = #tile.pipeline<(consumers = 0)>} {}

// -----

// expected-error@+1 {{expected auto or a number that is not negative, got -2}}
module attributes {a.b = #tile.pipeline<(stages = -2)>} {}

// -----

// expected-error@+1 {{unknown value 'maybe'; known: auto, on, off}}
module attributes {a.b = #tile.pipeline<(specialize = maybe)>} {}

// -----

// expected-error@+1 {{unknown order 'random'; known: auto, cooperative, pingpong}}
module attributes {a.b = #tile.pipeline<(order = random)>} {}

// -----

// expected-error@+1 {{unknown pipeline option 'depth'; known: stages, specialize, consumers, order}}
module attributes {a.b = #tile.pipeline<(depth = 3)>} {}

// -----

// expected-error@+1 {{pipeline option 'stages' is given twice}}
module attributes {a.b = #tile.pipeline<(stages = 3, stages = 4)>} {}
