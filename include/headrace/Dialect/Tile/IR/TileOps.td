// Operations of the tile dialect, except the kernel and the loop.
#ifndef HEADRACE_TILE_OPS
#define HEADRACE_TILE_OPS

include "headrace/Dialect/Tile/IR/TileAttrs.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"

def Tile_Axis : ConfinedAttr<I64Attr, [IntNonNegative, IntMaxValue<2>]>;

def Tile_ProgramIdOp : Tile_Op<"program_id", [Pure]> {
  let summary = "index of this program along an axis of the grid";
  let arguments = (ins Tile_Axis:$axis);
  let results = (outs Index:$result);
  let assemblyFormat = "$axis attr-dict";
}

def Tile_NumProgramsOp : Tile_Op<"num_programs", [Pure]> {
  let summary = "number of programs along an axis of the grid";
  let arguments = (ins Tile_Axis:$axis);
  let results = (outs Index:$result);
  let assemblyFormat = "$axis attr-dict";
}

def Tile_GridOp : Tile_Op<"grid", []> {
  let summary = "declares how many programs the kernel wants";
  let description = [{
    The operands must be computed from constants, array extents and scalar arguments only: the launch record carries
    them as expressions. With `persistent` the launcher starts at most as many programs as are resident at once, and
    the kernel loops with step `tile.num_programs`.

    ```mlir
    tile.grid %tiles persistent
    ```
  }];
  let arguments = (ins Variadic<Index>:$sizes, UnitAttr:$persistent);
  let assemblyFormat = "$sizes (`persistent` $persistent^)? attr-dict";
  let hasVerifier = 1;
}

def Tile_GroupedIndexOp : Tile_Op<"grouped_index", [Pure]> {
  let summary = "row and column of the i-th tile, in an order that keeps L2 busy with the same data";
  let description = [{
    Tiles are numbered down columns of `group` rows, then along the columns, then the next `group` rows. The last group
    may be shorter: every tile of `rows` x `columns` is named exactly once.
  }];
  let arguments = (ins Index:$index, Index:$rows, Index:$columns, ConfinedAttr<I64Attr, [IntPositive]>:$group);
  let results = (outs Index:$row, Index:$column);
  let assemblyFormat = "$index `of` $rows `x` $columns `group` $group attr-dict";
}

def Tile_LoadOp : Tile_Op<"load", []> {
  let summary = "reads a tile of an array";
  let description = [{
    Elements outside the array read as `fill` (default 0). C1: as many offsets as dimensions, and the tile has the rank
    of the array. C2: element types agree. C3: the fill has the element type.

    ```mlir
    %a = tile.load %A[%m, %k] : memref<?x?xbf16, strided<[?, 1]>> -> tensor<128x64xbf16>
    ```
  }];
  let arguments = (ins AnyStridedMemRef:$array, Variadic<Index>:$offsets, OptionalAttr<TypedAttrInterface>:$fill,
                       OptionalAttr<Tile_CacheAttr>:$cache, OptionalAttr<Tile_MechanismAttr>:$mechanism);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$array `[` $offsets `]` attr-dict `:` type($array) `->` type($result)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getTile() { return ::llvm::cast<::mlir::RankedTensorType>(getResult().getType()); }
  }];
}

def Tile_StoreOp : Tile_Op<"store", []> {
  let summary = "writes a tile to an array";
  let description = [{
    Elements outside the array are not written. C1: as many offsets as dimensions, and the tile has the rank of the
    array. C2: element types agree.
  }];
  let arguments = (ins AnyStaticShapeTensor:$tile, AnyStridedMemRef:$array, Variadic<Index>:$offsets,
                       OptionalAttr<Tile_CacheAttr>:$cache, OptionalAttr<Tile_MechanismAttr>:$mechanism);
  let assemblyFormat = "$tile `,` $array `[` $offsets `]` attr-dict `:` type($tile) `,` type($array)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getTileType() { return ::llvm::cast<::mlir::RankedTensorType>(getTile().getType()); }
  }];
}

def Tile_DotOp : Tile_Op<"dot", [Pure, AllTypesMatch<["acc", "result"]>]> {
  let summary = "matrix product of two tiles, added to an accumulator";
  let description = [{
    `a` is M x K (K x M with `transpose_a`), `b` is K x N (N x K with `transpose_b`), `acc` and the result M x N.
    C1: extents agree. C2: the types of `a`, `b` and `acc` are a legal triple. C3: `precision` only for float32 operands.
    Products of float32 operands are exact to float32 rounding unless `precision = tf32` allows the tensor core's
    19-bit format.
  }];
  let arguments = (ins AnyStaticShapeTensor:$a, UnitAttr:$transpose_a, AnyStaticShapeTensor:$b, UnitAttr:$transpose_b,
                       AnyStaticShapeTensor:$acc, OptionalAttr<Tile_PrecisionAttr>:$precision,
                       OptionalAttr<Tile_AtomAttr>:$atom);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = [{
    $a (`transpose_a` $transpose_a^)? `,` $b (`transpose_b` $transpose_b^)? `,` $acc attr-dict
    `:` type($a) `,` type($b) `->` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getAType() { return ::llvm::cast<::mlir::RankedTensorType>(getA().getType()); }
    ::mlir::RankedTensorType getBType() { return ::llvm::cast<::mlir::RankedTensorType>(getB().getType()); }
    ::mlir::RankedTensorType getAccType() { return ::llvm::cast<::mlir::RankedTensorType>(getAcc().getType()); }
    int64_t getM() { return getAccType().getDimSize(0); }
    int64_t getN() { return getAccType().getDimSize(1); }
    int64_t getK() { return getAType().getDimSize(getTransposeA() ? 0 : 1); }
  }];
}

def Tile_ExpandDimsOp : Tile_Op<"expand_dims", [Pure]> {
  let summary = "inserts a dimension of extent 1";
  let arguments = (ins AnyStaticShapeTensor:$source, ConfinedAttr<I64Attr, [IntNonNegative]>:$axis);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$source `axis` $axis attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_BroadcastOp : Tile_Op<"broadcast", [Pure]> {
  let summary = "repeats a tile along its dimensions of extent 1";
  let arguments = (ins AnyStaticShapeTensor:$source);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_ConvertLayoutOp : Tile_Op<"convert_layout", [Pure]> {
  let summary = "moves a tile to another layout, or between registers, shared and tensor memory";
  let description = [{ Inserted by `tile-infer-layouts`. Shape and element type stay. }];
  let arguments = (ins AnyStaticShapeTensor:$source);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_AssumeOp : Tile_Op<"assume", []> {
  let summary = "states that an index is a multiple of a number";
  let description = [{
    On a scalar argument or an array's extent the fact goes into the launch record and the launcher checks it.
    Elsewhere it is the writer's promise.
  }];
  let arguments = (ins Index:$value, ConfinedAttr<I64Attr, [IntPositive]>:$divisor);
  let results = (outs Index:$result);
  let assemblyFormat = "$value `multiple_of` $divisor attr-dict";
}

#endif
