// What moves and multiplies: copies, reads and writes of slots, matmuls, fences and barriers.
#ifndef HEADRACE_PIPE_DATA_OPS
#define HEADRACE_PIPE_DATA_OPS

include "headrace/Dialect/Pipe/IR/PipeTypes.td"
include "headrace/Dialect/Tile/IR/TileAttrs.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Pipe_CopyOp : Pipe_Op<"copy", [AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "starts a copy of a tile of an array into an acquired slot";
  let description = [{
    Elements outside the array arrive as zeros. `vector` is the bytes that one instruction of a plain or cp.async copy
    moves; `map` numbers the tensor map of a TMA copy in the kernel's `pipe.tensor_maps`.
  }];
  let arguments = (ins AnyStridedMemRef:$array, Variadic<Index>:$offsets, Pipe_BufferType:$buffer,
                       Pipe_ChannelType:$channel, Optional<I32>:$index, Optional<I1>:$predicate,
                       Tile_MechanismAttr:$mechanism, OptionalAttr<Tile_CacheAttr>:$cache,
                       OptionalAttr<I64Attr>:$vector, OptionalAttr<I64Attr>:$map);
  let assemblyFormat = [{
    $mechanism $array `[` $offsets `]` `to` $buffer `in` $channel (`[` $index^ `]`)? (`if` $predicate^)? attr-dict
    `:` type($array) `,` type($buffer) `,` type($channel)
  }];
  let hasVerifier = 1;
}

def Pipe_AsyncStoreOp : Pipe_Op<"async_store", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "starts a TMA store of a slot into an array; elements outside are not written";
  let description = [{ `groups`: each of so many groups of the role's warps stores its share of the rows. }];
  let arguments = (ins Pipe_BufferType:$buffer, AnyStridedMemRef:$array, Variadic<Index>:$offsets,
                       OptionalAttr<Tile_CacheAttr>:$cache, OptionalAttr<I64Attr>:$map, OptionalAttr<I64Attr>:$groups);
  let extraClassDeclaration = [{
    /// The part of the slot that one group stores.
    ::headrace::pipe::BufferType getGroupBuffer();
  }];
  let hasVerifier = 1;
  let assemblyFormat = "$buffer `,` $array `[` $offsets `]` attr-dict `:` type($buffer) `,` type($array)";
}

def Pipe_LoadOp : Pipe_Op<"load", [MemoryEffects<[MemRead]>]> {
  let summary = "reads a tile of an array into registers";
  let description = [{ Elements outside read as `fill` (default 0). `vector`: bytes of one access. }];
  let arguments = (ins AnyStridedMemRef:$array, Variadic<Index>:$offsets, OptionalAttr<TypedAttrInterface>:$fill,
                       OptionalAttr<Tile_CacheAttr>:$cache, OptionalAttr<I64Attr>:$vector);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$array `[` $offsets `]` attr-dict `:` type($array) `->` type($result)";
}
def Pipe_StoreOp : Pipe_Op<"store", [MemoryEffects<[MemWrite]>]> {
  let summary = "writes a tile from registers to an array; elements outside are not written";
  let description = [{ `vector`: bytes of one access. Elements from the extents `valid` on are padding, not written. }];
  let arguments = (ins AnyStaticShapeTensor:$tile, AnyStridedMemRef:$array, Variadic<Index>:$offsets,
                       OptionalAttr<Tile_CacheAttr>:$cache, OptionalAttr<I64Attr>:$vector,
                       OptionalAttr<DenseI64ArrayAttr>:$valid);
  let hasVerifier = 1;
  let assemblyFormat = "$tile `,` $array `[` $offsets `]` attr-dict `:` type($tile) `,` type($array)";
}

def Pipe_ReadOp : Pipe_Op<"read", [MemoryEffects<[MemRead]>]> {
  let summary = "slot to registers: ldmatrix, vector loads, or tcgen05.ld";
  let arguments = (ins Pipe_BufferType:$buffer);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$buffer attr-dict `:` type($buffer) `->` type($result)";
}
def Pipe_WriteOp : Pipe_Op<"write", [MemoryEffects<[MemWrite]>]> {
  let summary = "registers to slot: stmatrix or vector stores";
  let arguments = (ins AnyStaticShapeTensor:$tile, Pipe_BufferType:$buffer);
  let assemblyFormat = "$tile `,` $buffer attr-dict `:` type($tile) `,` type($buffer)";
}
def Pipe_ViewOp : Pipe_Op<"view", [Pure]> {
  let summary = "the elements of a dense slot, in row-major order, as a tile of other extents";
  let arguments = (ins Pipe_BufferType:$buffer);
  let results = (outs Pipe_BufferType:$result);
  let hasVerifier = 1;
  let assemblyFormat = "$buffer attr-dict `:` type($buffer) `->` type($result)";
}
def Pipe_ConvertLayoutOp : Pipe_Op<"convert_layout", [Pure]> {
  let summary = "renames registers: the same elements of the same threads in another order";
  let arguments = (ins AnyStaticShapeTensor:$source);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
}

// a and b are slots (!pipe.buffer) or register tiles; the flags say that they are stored as K x M and N x K.
def Pipe_Operand : AnyTypeOf<[Pipe_BufferType, AnyStaticShapeTensor]>;

def Pipe_MmaOp : Pipe_Op<"mma", [MemoryEffects<[MemRead]>, AllTypesMatch<["acc", "result"]>]> {
  let summary = "synchronous matmul into registers: mma.sync or fma";
  let arguments = (ins Pipe_Operand:$a, UnitAttr:$transpose_a, Pipe_Operand:$b, UnitAttr:$transpose_b,
                       AnyStaticShapeTensor:$acc, Tile_AtomAttr:$atom, OptionalAttr<Tile_PrecisionAttr>:$precision);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = [{
    $atom $a (`transpose_a` $transpose_a^)? `,` $b (`transpose_b` $transpose_b^)? `,` $acc attr-dict
    `:` type($a) `,` type($b) `->` type($result)
  }];
}
def Pipe_MmaAsyncOp : Pipe_Op<"mma_async", [MemoryEffects<[MemRead]>]> {
  let summary = "starts a wgmma; the accumulator is in flight until pipe.mma_wait";
  let arguments = (ins Pipe_Operand:$a, UnitAttr:$transpose_a, Pipe_BufferType:$b, UnitAttr:$transpose_b,
                       AnyTypeOf<[AnyStaticShapeTensor, Pipe_InflightType]>:$acc, Tile_AtomAttr:$atom,
                       OptionalAttr<Tile_PrecisionAttr>:$precision);
  let results = (outs Pipe_InflightType:$result);
  let assemblyFormat = [{
    $atom $a (`transpose_a` $transpose_a^)? `,` $b (`transpose_b` $transpose_b^)? `,` $acc attr-dict
    `:` type($a) `,` type($b) `,` type($acc) `->` type($result)
  }];
}
def Pipe_MmaWaitOp : Pipe_Op<"mma_wait", [MemoryEffects<[MemRead]>]> {
  let summary = "waits until at most `pending` newer wgmma groups are in flight; the accumulator may then be used";
  let arguments = (ins Pipe_InflightType:$inflight, I64Attr:$pending);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$inflight `pending` $pending attr-dict `:` type($inflight) `->` type($result)";
}
def Pipe_MmaTmemOp : Pipe_Op<"mma_tmem", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "starts a tcgen05.mma into a slot of tensor memory";
  let description = [{ With `accumulate` false the product replaces what is there. }];
  let arguments = (ins Pipe_BufferType:$a, UnitAttr:$transpose_a, Pipe_BufferType:$b, UnitAttr:$transpose_b,
                       Pipe_BufferType:$acc, I1:$accumulate, Tile_AtomAttr:$atom,
                       OptionalAttr<Tile_PrecisionAttr>:$precision);
  let assemblyFormat = [{
    $atom $a (`transpose_a` $transpose_a^)? `,` $b (`transpose_b` $transpose_b^)? `into` $acc `accumulate` $accumulate
    attr-dict `:` type($a) `,` type($b) `,` type($acc)
  }];
}

def Pipe_FenceAsyncOp : Pipe_Op<"fence_async", []> {
  let summary = "orders this thread's earlier writes of shared memory before later reads by TMA, wgmma and tcgen05";
  let assemblyFormat = "attr-dict";
}
def Pipe_RoleBarrierOp : Pipe_Op<"role_barrier", []> {
  let summary = "waits for all threads of the role (or of the kernel, outside roles)";
  let description = [{ With `groups`, for the threads of one's own among so many equal groups of the role's warps. }];
  let arguments = (ins OptionalAttr<I64Attr>:$groups);
  let hasVerifier = 1;
  let assemblyFormat = "attr-dict";
}
def Pipe_DrainStoresOp : Pipe_Op<"drain_stores", []> {
  let summary = "waits until this role's TMA stores are done: shared memory must outlive them";
  let arguments = (ins OptionalAttr<I64Attr>:$groups);
  let hasVerifier = 1;
  let assemblyFormat = "attr-dict";
}
def Pipe_InitChannelsOp : Pipe_Op<"init_channels", []> {
  let summary = "initialises the mbarriers of all channels of the kernel; all threads may use them afterwards";
  let assemblyFormat = "attr-dict";
}
def Pipe_TmemAllocOp : Pipe_Op<"tmem_alloc", []> {
  let summary = "allocates tensor memory for the whole kernel and publishes its address to all warps";
  let arguments = (ins I64Attr:$columns, I64Attr:$address_offset);
  let assemblyFormat = "$columns `address_at` $address_offset attr-dict";
}
def Pipe_TmemDeallocOp : Pipe_Op<"tmem_dealloc", []> {
  let summary = "frees tensor memory once all warps are done with it";
  let arguments = (ins I64Attr:$columns, I64Attr:$address_offset);
  let assemblyFormat = "$columns `address_at` $address_offset attr-dict";
}

#endif
