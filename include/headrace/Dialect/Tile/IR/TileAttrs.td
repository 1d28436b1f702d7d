// Attributes of the tile dialect: layouts, the pipeline annotation, cache hints.
#ifndef HEADRACE_TILE_ATTRS
#define HEADRACE_TILE_ATTRS

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "headrace/Dialect/Tile/IR/TileBase.td"

class Tile_Attr<string name, string mnem> : AttrDef<Tile_Dialect, name> { let mnemonic = mnem; }

def Tile_LayoutAttr : Tile_Attr<"Layout", "layout"> {
  let summary = "How a tile is distributed over the registers of the compute warps";
  let description = [{
    A linear layout over GF(2) (`atom`, with one basis for each bit of register, lane and warp), times plain repetition;
    see `headrace/Layout/TileLayout.h`. `groups = [2 : 0, 4 : 1]` splits dimension 0 between 2 groups of warps and
    dimension 1 between 4; a group on dimension -1 holds a copy.

    ```mlir
    #tile.layout<atom = [16, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [],
                 groups = [2 : 0, 4 : 1], repeat = [4, 8]>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$atom, ArrayRefParameter<"int64_t">:$registerBases,
    ArrayRefParameter<"int64_t">:$laneBases, ArrayRefParameter<"int64_t">:$warpBases,
    ArrayRefParameter<"int64_t">:$groups, ArrayRefParameter<"int64_t">:$repeat);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The layout this attribute spells out.
    ::headrace::TileLayout getTileLayout() const;
    /// The attribute that spells out `layout`.
    static LayoutAttr get(::mlir::MLIRContext *context, const ::headrace::TileLayout &layout);
  }];
}

def Tile_SharedAttr : Tile_Attr<"Shared", "shared"> {
  let summary = "A tile in shared memory: panels of `swizzle` bytes, the dimension `major` contiguous";
  let description = [{
    The canonical layout of TMA, wgmma and tcgen05; see `headrace/Layout/SharedLayout.h`. `swizzle` is 128, 64, 32, 16
    (panels of 16 bytes, no exclusive-or) or 0 (dense rows).
  }];
  let parameters = (ins "int64_t":$major, "int64_t":$swizzle);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The byte layout of a tile of this shape. Requires: `type` is ranked and static.
    ::headrace::SharedLayout getSharedLayout(::llvm::ArrayRef<int64_t> shape, ::mlir::Type elementType) const;
  }];
}

def Tile_TmemAttr : Tile_Attr<"Tmem", "tmem"> {
  let summary = "A tile in tensor memory: row m in lane m, column n in 32-bit column n";
  let parameters = (ins);
}

def Tile_Tristate : I32EnumAttr<"Tristate", "auto, on or off", [
    I32EnumAttrCase<"Auto", 0, "auto">, I32EnumAttrCase<"On", 1, "on">, I32EnumAttrCase<"Off", 2, "off">]> {
  let cppNamespace = "::headrace::tile";
  let genSpecializedAttr = 0;
}
def Tile_Order : I32EnumAttr<"Order", "how several consumer groups share the work", [
    I32EnumAttrCase<"Auto", 0, "auto">, I32EnumAttrCase<"Cooperative", 1, "cooperative">,
    I32EnumAttrCase<"Pingpong", 2, "pingpong">]> {
  let cppNamespace = "::headrace::tile";
  let genSpecializedAttr = 0;
}

def Tile_PipelineAttr : Tile_Attr<"Pipeline", "pipeline"> {
  let summary = "What the user asks of a loop's pipeline";
  let description = [{
    `stages`: trips in flight (the depth of the rings of slots); -1 is `auto`, the largest that fits; 0 and 1 are no
    overlap.
    `specialize`: whether copies get warps of their own. `consumers`: groups of compute warps; -1 is `auto`.
    `order`: whether the groups share one output tile or take turns.
  }];
  let parameters = (ins DefaultValuedParameter<"int64_t", "-1">:$stages,
    DefaultValuedParameter<"::headrace::tile::Tristate", "::headrace::tile::Tristate::Auto">:$specialize,
    DefaultValuedParameter<"int64_t", "-1">:$consumers,
    DefaultValuedParameter<"::headrace::tile::Order", "::headrace::tile::Order::Auto">:$order);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Parses and prints `(stages = 4, specialize = on)`, which `tile.for` shares.
    static ::mlir::Attribute parseArguments(::mlir::AsmParser &parser);
    void printArguments(::mlir::AsmPrinter &printer) const;
  }];
}

def Tile_Cache : I32EnumAttr<"Cache", "cache hint of a global access", [
    I32EnumAttrCase<"All", 0, "ca">, I32EnumAttrCase<"Global", 1, "cg">,
    I32EnumAttrCase<"EvictFirst", 2, "evict_first">, I32EnumAttrCase<"EvictLast", 3, "evict_last">]> {
  let cppNamespace = "::headrace::tile";
  let genSpecializedAttr = 0;
}
def Tile_CacheAttr : EnumAttr<Tile_Dialect, Tile_Cache, "cache"> { let assemblyFormat = "`<` $value `>`"; }

def Tile_Combine : I32EnumAttr<"Combine", "how a stored element is combined with what is there", [
    I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Min", 1, "min">, I32EnumAttrCase<"Max", 2, "max">]> {
  let cppNamespace = "::headrace::tile";
  let genSpecializedAttr = 0;
}
def Tile_CombineAttr : EnumAttr<Tile_Dialect, Tile_Combine, "combine"> { let assemblyFormat = "`<` $value `>`"; }

def Tile_Precision : I32EnumAttr<"Precision", "what may stand for a float32 product", [
    I32EnumAttrCase<"Ieee", 0, "ieee">, I32EnumAttrCase<"Tf32", 1, "tf32">]> {
  let cppNamespace = "::headrace::tile";
  let genSpecializedAttr = 0;
}
def Tile_PrecisionAttr : EnumAttr<Tile_Dialect, Tile_Precision, "precision"> { let assemblyFormat = "`<` $value `>`"; }

def Tile_Mechanism : I32EnumAttr<"Mechanism", "how a tile moves between global and shared memory", [
    I32EnumAttrCase<"Plain", 0, "plain">, I32EnumAttrCase<"CpAsync", 1, "cp_async">, I32EnumAttrCase<"Tma", 2, "tma">]> {
  let cppNamespace = "::headrace::tile";
  let genSpecializedAttr = 0;
}
def Tile_MechanismAttr : EnumAttr<Tile_Dialect, Tile_Mechanism, "mechanism"> { let assemblyFormat = "`<` $value `>`"; }

def Tile_Family : I32EnumAttr<"Family", "the instruction family of a matmul", [
    I32EnumAttrCase<"Fma", 0, "fma">, I32EnumAttrCase<"MmaSync", 1, "mma_sync">,
    I32EnumAttrCase<"Wgmma", 2, "wgmma">, I32EnumAttrCase<"Tcgen05", 3, "tcgen05">]> {
  let cppNamespace = "::headrace::tile";
  let genSpecializedAttr = 0;
}
def Tile_AtomAttr : Tile_Attr<"Atom", "atom"> {
  let summary = "The matmul instruction chosen for a dot: family, m x n x k, and how warp groups split M and N";
  let parameters = (ins EnumParameter<Tile_Family>:$family, "int64_t":$m, "int64_t":$n, "int64_t":$k,
                        "int64_t":$groupsM, "int64_t":$groupsN);
  let assemblyFormat = "`<` $family $m `x` $n `x` $k `,` `groups` `=` $groupsM `x` $groupsN `>`";
}

#endif
