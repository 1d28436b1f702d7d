// RUN: headrace-opt %s | headrace-opt | FileCheck %s

// Every attribute of the tile dialect, printed and parsed again. Layouts may print as aliases: hence the DAG.

// CHECK-DAG: #tile.layout<atom = [16, 8], register = {{\[\[}}0, 1], [8, 0]], lane = {{\[\[}}0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [], groups = [2 : 0, 4 : 1, 2 : -1], repeat = [4, 8]>
// CHECK-DAG: #tile.layout<atom = [128], register = [], lane = {{\[\[}}1], [2], [4], [8], [16]], warp = {{\[\[}}32], [64]], groups = [], repeat = [3]>
// CHECK-DAG: #tile.shared<major = 0, swizzle = 64>
// CHECK-DAG: #tile.tmem
module attributes {
  a.fragment = #tile.layout<atom = [16, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [], groups = [2 : 0, 4 : 1, 2 : -1], repeat = [4, 8]>,
  a.vector = #tile.layout<atom = [128], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]], groups = [], repeat = [3]>,
  a.shared = #tile.shared<major = 0, swizzle = 64>,
  a.tmem = #tile.tmem} {}

// CHECK: b.pipeline = [
// CHECK-SAME: #tile.pipeline<(stages = auto, specialize = auto, consumers = auto, order = auto)>
// CHECK-SAME: #tile.pipeline<(stages = 0, specialize = off, consumers = 8, order = cooperative)>
module attributes {b.pipeline = [#tile.pipeline<()>, #tile.pipeline<(stages = 0, specialize = off, consumers = 8, order = cooperative)>]} {}

// CHECK: c.cache = [#tile.cache<ca>, #tile.cache<cg>, #tile.cache<evict_first>, #tile.cache<evict_last>]
module attributes {c.cache = [#tile.cache<ca>, #tile.cache<cg>, #tile.cache<evict_first>, #tile.cache<evict_last>]} {}

// CHECK: d.precision = [#tile.precision<ieee>, #tile.precision<tf32>]
module attributes {d.precision = [#tile.precision<ieee>, #tile.precision<tf32>]} {}

// CHECK: e.mechanism = [#tile.mechanism<plain>, #tile.mechanism<cp_async>, #tile.mechanism<tma>]
module attributes {e.mechanism = [#tile.mechanism<plain>, #tile.mechanism<cp_async>, #tile.mechanism<tma>]} {}

// CHECK: f.atom = [#tile.atom<fma 1 x 1 x 1, groups = 4 x 1>, #tile.atom<wgmma 64 x 256 x 16, groups = 2 x 1>, #tile.atom<tcgen05 128 x 256 x 16, groups = 1 x 2>]
module attributes {f.atom = [#tile.atom<fma 1 x 1 x 1, groups = 4 x 1>, #tile.atom<wgmma 64 x 256 x 16, groups = 2 x 1>, #tile.atom<tcgen05 128 x 256 x 16, groups = 1 x 2>]} {}
