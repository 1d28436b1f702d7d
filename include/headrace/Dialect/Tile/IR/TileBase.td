// The tile dialect itself.
#ifndef HEADRACE_TILE_BASE
#define HEADRACE_TILE_BASE

include "mlir/IR/OpBase.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::headrace::tile";
  let summary = "Kernels over whole tiles: no threads, no barriers";
  let description = [{
    Values are tiles: builtin ranked tensors with static extents, so arith and math operations work element by element
    as they are. Global arrays are builtin memrefs with dynamic sizes and strides. The loop over tiles carries a
    `pipeline(...)` annotation; everything asynchronous is made from it by the compiler.

    After `tile-infer-layouts` the encoding of each tile's type says where it lives: `#tile.layout` in the registers of
    the compute warps, `#tile.shared` in shared memory, `#tile.tmem` in tensor memory.
  }];
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{ void registerAttributes(); }];
}

class Tile_Op<string mnemonic, list<Trait> traits = []> : Op<Tile_Dialect, mnemonic, traits>;

#endif
