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
    the kernel loops with step `tile.num_programs`. `trips N` starts more where each would have more than N tiles: where
    memory is the limit, the later programs even out what it serves unevenly.

    ```mlir
    tile.grid %tiles persistent
    tile.grid %rows persistent trips 4
    ```
  }];
  let arguments = (ins Variadic<Index>:$sizes, UnitAttr:$persistent, OptionalAttr<I64Attr>:$trips);
  let assemblyFormat = "$sizes (`persistent` $persistent^ (`trips` $trips^)?)? attr-dict";
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

def Tile_LoadOp : Tile_Op<"load", [MemoryEffects<[MemRead]>]> {
  let summary = "reads a tile of an array";
  let description = [{
    Elements outside the array read as `fill` (default 0). C1: as many offsets as the array has dimensions; the tile has
    all of them, or the last ones, and then lies at one place along the others. C2: element types agree. C3: the fill has the element type.

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

def Tile_StoreOp : Tile_Op<"store", [MemoryEffects<[MemWrite]>]> {
  let summary = "writes a tile to an array";
  let description = [{
    Elements outside the array are not written. C1: offsets and dimensions as in `tile.load`. C2: element types agree.

    `valid` is the compiler's own, here and in what else writes tiles: elements from these extents on are padding, and
    are not written. C3: it has an extent of 1 to the tile's for each dimension.
  }];
  let arguments = (ins AnyStaticShapeTensor:$tile, AnyStridedMemRef:$array, Variadic<Index>:$offsets,
                       OptionalAttr<Tile_CacheAttr>:$cache, OptionalAttr<Tile_MechanismAttr>:$mechanism,
                       OptionalAttr<DenseI64ArrayAttr>:$valid);
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

def Tile_DotScaledOp : Tile_Op<"dot_scaled", [Pure, AllTypesMatch<["acc", "result"]>]> {
  let summary = "product of tiles whose blocks along K have scales (OCP microscaling formats, nvfp4), added to an accumulator";
  let description = [{
    `acc` and the result are M x N of f32; `a` has M rows, `b` has N rows, and K runs along the rows of both. Numbers are
    f8E4M3FN, f8E5M2, or in i8 two of 4 bits (e2m1) for each element, that of the even k in the low half. Scales have a
    row for each row of their operand and a column for each block: i8 holds an exponent of two (e8m0: 2^(x - 127), 255 is
    NaN) of 32 numbers, f8E4M3FN a factor of 16.

    C1: extents agree. C2: the numbers are of those types. C3: both scales are of one type, and f8E4M3FN scales numbers of
    4 bits only. C4: a whole number of blocks.

    ```mlir
    %d = tile.dot_scaled %a, %aScale, %b, %bScale, %acc
        : tensor<128x64xf8E4M3FN>, tensor<128x2xi8>, tensor<256x64xf8E4M3FN>, tensor<256x2xi8> -> tensor<128x256xf32>
    ```
  }];
  let arguments = (ins AnyStaticShapeTensor:$a, AnyStaticShapeTensor:$a_scale, AnyStaticShapeTensor:$b,
                       AnyStaticShapeTensor:$b_scale, AnyStaticShapeTensor:$acc);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = [{
    $a `,` $a_scale `,` $b `,` $b_scale `,` $acc attr-dict
    `:` type($a) `,` type($a_scale) `,` type($b) `,` type($b_scale) `->` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Numbers for each scale of this type.
    static int64_t blockOf(::mlir::Type scale) { return scale.isInteger(8) ? 32 : 16; }
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

//===- shape ---------------------------------------------------------------------------------------------------------===//

def Tile_IotaOp : Tile_Op<"iota", [Pure]> {
  let summary = "each element is its own coordinate along an axis";
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$axis);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "`axis` $axis attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tile_TransposeOp : Tile_Op<"transpose", [Pure]> {
  let summary = "dimension i of the result is dimension permutation[i] of the source";
  let arguments = (ins AnyStaticShapeTensor:$source, DenseI64ArrayAttr:$permutation);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$source $permutation attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_ReshapeOp : Tile_Op<"reshape", [Pure]> {
  let summary = "the same elements in row-major order, in other extents";
  let arguments = (ins AnyStaticShapeTensor:$source);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_SplitOp : Tile_Op<"split", [Pure, AllTypesMatch<["first", "second"]>]> {
  let summary = "the two halves of a tile along its last dimension, which has extent 2";
  let description = [{
    The results have the source's other dimensions. After a reshape of columns to pairs, it takes neighbours apart
    (of complex numbers, of two 4-bit weights in a byte); `tile.join` is its inverse. Where a thread holds both halves,
    both only rename registers.

    ```mlir
    %pairs = tile.reshape %x : tensor<8x128xf32> -> tensor<8x64x2xf32>
    %even, %odd = tile.split %pairs : tensor<8x64x2xf32> -> tensor<8x64xf32>
    ```
  }];
  let arguments = (ins AnyStaticShapeTensor:$source);
  let results = (outs AnyStaticShapeTensor:$first, AnyStaticShapeTensor:$second);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($first)";
  let hasVerifier = 1;
}

def Tile_JoinOp : Tile_Op<"join", [Pure, AllTypesMatch<["first", "second"]>]> {
  let summary = "two tiles side by side along a new last dimension of extent 2";
  let description = [{
    ```mlir
    %pairs = tile.join %even, %odd : tensor<8x64xf32> -> tensor<8x64x2xf32>
    ```
  }];
  let arguments = (ins AnyStaticShapeTensor:$first, AnyStaticShapeTensor:$second);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$first `,` $second attr-dict `:` type($first) `->` type($result)";
  let hasVerifier = 1;
}

//===- reductions ----------------------------------------------------------------------------------------------------===//

class Tile_CombineOp<string mnemonic> : Tile_Op<mnemonic, [IsolatedFromAbove, Pure, SingleBlock]> {
  let regions = (region SizedRegion<1>:$combine);
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let assemblyFormat = [{
    $sources `axis` $axis attr-dict-with-keyword $combine `:` functional-type($sources, $results)
  }];
}

def Tile_ReduceOp : Tile_CombineOp<"reduce"> {
  let summary = "combines all elements along an axis";
  let description = [{
    The region combines two partial results, one scalar for each source; it must be associative and commutative, since
    the order is the compiler's. Several sources are combined together (the largest value and its index). A tile of
    rank 1 reduces to a scalar. The order depends on the layout alone: repeated runs are equal bit for bit.

    ```mlir
    %max = tile.reduce %x axis 1 {
    ^bb0(%a: f32, %b: f32):
      %c = arith.maximumf %a, %b : f32
      tile.yield %c : f32
    } : (tensor<128x64xf32>) -> tensor<128xf32>
    ```

    `parts` is the compiler's own: the result keeps the axis, with one element for each of so many parts of it.
  }];
  let arguments = (ins Variadic<AnyStaticShapeTensor>:$sources, ConfinedAttr<I64Attr, [IntNonNegative]>:$axis,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$parts);
  let results = (outs Variadic<AnyType>:$results);
}

def Tile_ScanOp : Tile_CombineOp<"scan"> {
  let summary = "combines each element with all before it along an axis (inclusive)";
  let description = [{
    The region combines two partial results, the earlier first; it must be associative. With `reverse`, each element is
    combined with all after it.
  }];
  let arguments = (ins Variadic<AnyStaticShapeTensor>:$sources, ConfinedAttr<I64Attr, [IntNonNegative]>:$axis,
                       UnitAttr:$reverse);
  let results = (outs Variadic<AnyStaticShapeTensor>:$results);
}

//===- single elements and elements by index -------------------------------------------------------------------------===//

def Tile_LoadScalarOp : Tile_Op<"load_scalar", [MemoryEffects<[MemRead]>]> {
  let summary = "reads one element of an array; zero outside of it";
  let arguments = (ins AnyStridedMemRef:$array, Variadic<Index>:$offsets);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$array `[` $offsets `]` attr-dict `:` type($array) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_StoreScalarOp : Tile_Op<"store_scalar", [MemoryEffects<[MemWrite]>]> {
  let summary = "writes one element of an array; nothing outside of it";
  let arguments = (ins AnyType:$value, AnyStridedMemRef:$array, Variadic<Index>:$offsets);
  let assemblyFormat = "$value `,` $array `[` $offsets `]` attr-dict `:` type($value) `,` type($array)";
  let hasVerifier = 1;
}

// A position along one dimension: an index, from which on the tile's elements lie in a row; a tile of one dimension,
// which has the place of each slice; or a tile of the whole tile's extents, which has the place of each element.
def Tile_Position : AnyTypeOf<[Index, AnyStaticShapeTensor]>;

def Tile_GatherOp : Tile_Op<"gather", [MemoryEffects<[MemRead]>]> {
  let summary = "reads the elements of an array that index tiles name";
  let description = [{
    One position for each dimension of the array, dimensions as in `tile.load`: an index (as in `tile.load`); an i32 or i64 tile of rank 1 with the
    tile's extent along that dimension, the place of each slice; or one of the tile's extents, the place of each element.
    Elements outside the array read as `fill` (default 0). `vector`, the bytes of one access, is the compiler's own.

    ```mlir
    %rows = tile.gather %table[%ids, %column] : memref<?x?xbf16, strided<[?, 1]>>, (tensor<64xi32>, index) -> tensor<64x128xbf16>
    ```
  }];
  let arguments = (ins AnyStridedMemRef:$array, Variadic<Tile_Position>:$positions, OptionalAttr<TypedAttrInterface>:$fill,
                       OptionalAttr<Tile_CacheAttr>:$cache, OptionalAttr<I64Attr>:$vector);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = [{
    $array `[` $positions `]` attr-dict `:` type($array) `,` `(` type($positions) `)` `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_ScatterOp : Tile_Op<"scatter", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "writes elements of an array that index tiles name";
  let description = [{
    Positions as in `tile.gather`. Elements outside the array are not written. With `combine` each element is combined
    atomically with what is there (integers signed), in any order; without it, of several elements in one place any one
    stays.
  }];
  let arguments = (ins AnyStaticShapeTensor:$tile, AnyStridedMemRef:$array, Variadic<Tile_Position>:$positions,
                       OptionalAttr<Tile_CombineAttr>:$combine, OptionalAttr<DenseI64ArrayAttr>:$valid);
  let assemblyFormat = [{
    (`combine` $combine^)? $tile `,` $array `[` $positions `]` attr-dict
    `:` type($tile) `,` type($array) `,` `(` type($positions) `)`
  }];
  let hasVerifier = 1;
}

def Tile_ReduceStoreOp : Tile_Op<"reduce_store", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "combines a tile atomically with a tile of an array";
  let description = [{
    Elements outside the array are left alone. Sums of floating-point numbers depend on the order of programs.

    ```mlir
    tile.reduce_store <add> %partial, %C[%m, %n] : tensor<128x128xf32>, memref<?x?xf32, strided<[?, 1]>>
    ```
  }];
  let arguments = (ins Tile_CombineAttr:$combine, AnyStaticShapeTensor:$tile, AnyStridedMemRef:$array,
                       Variadic<Index>:$offsets, OptionalAttr<DenseI64ArrayAttr>:$valid);
  let assemblyFormat = "$combine $tile `,` $array `[` $offsets `]` attr-dict `:` type($tile) `,` type($array)";
  let hasVerifier = 1;
}

//===- checks and messages ----------------------------------------------------------------------------------------===//

def Tile_AssertOp : Tile_Op<"assert", [MemoryEffects<[MemWrite]>]> {
  let summary = "stops the kernel with a message where a condition is false";
  let description = [{
    Of a tile every element must be true. What stands after it in the program is written by no thread that has seen it
    fail; other threads and programs may be ahead. C1: the condition is an i1 or a tile of i1. C2: the message has one
    to 1000 bytes, none of them a control character.

    It stays in the order of other asserts, prints and stores. `valid` is the compiler's own, as in `tile.store`: padding
    does not fail.

    ```mlir
    tile.assert %inside, "index out of range" : tensor<64xi1>
    ```
  }];
  let arguments = (ins AnyTypeOf<[I1, AnyStaticShapeTensor]>:$condition, StrAttr:$message,
                       OptionalAttr<DenseI64ArrayAttr>:$valid);
  let assemblyFormat = "$condition `,` $message attr-dict `:` type($condition)";
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

def Tile_PrintOp : Tile_Op<"print", [MemoryEffects<[MemWrite]>]> {
  let summary = "writes a line of text and numbers, for each element of tiles";
  let description = [{
    A line has the program's indices, the text, the coordinates if there are tiles, and the values; scalars are repeated
    in each line. Lines of a program's threads come in any order.

    ```
    (0, 2, 0) row sum: 12.5, 3
    (0, 2, 0) x [5, 17]: 0.25
    ```

    Integers are signed, i1 is 0 or 1, and floats have as many digits as tell them apart. C1: the text has one to 1000
    bytes, none of them a control character. C2: at most 8 values, scalars and tiles of numbers. C3: all tiles have the
    same extents. `valid` as in `tile.store`.

    ```mlir
    tile.print "x", %x, %i : tensor<64x32xf32>, index
    ```
  }];
  let arguments = (ins StrAttr:$text, Variadic<AnyType>:$values, OptionalAttr<DenseI64ArrayAttr>:$valid);
  let assemblyFormat = "$text (`,` $values^)? attr-dict (`:` type($values)^)?";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The first tile among the values, whose layout the others take; null if all are scalars.
    ::mlir::Value getTile();
  }];
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
