// Types and attributes of the pipe dialect.
#ifndef HEADRACE_PIPE_TYPES
#define HEADRACE_PIPE_TYPES

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "headrace/Dialect/Pipe/IR/PipeBase.td"

class Pipe_Type<string name, string mnem> : TypeDef<Pipe_Dialect, name> { let mnemonic = mnem; }

def Pipe_BufferType : Pipe_Type<"Buffer", "buffer"> {
  let summary = "one tile in one slot of a channel";
  let description = [{
    `layout` is `#tile.shared<...>` or `#tile.tmem`.

    ```mlir
    !pipe.buffer<128x64xbf16, #tile.shared<major = 1, swizzle = 128>>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType, "::mlir::Attribute":$layout);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool isShared() const;
    bool isTmem() const { return !isShared(); }
    /// Byte layout. Requires: isShared().
    ::headrace::SharedLayout getSharedLayout() const;
    /// Bytes of shared memory, 0 in tensor memory.
    int64_t getSharedBytes() const;
    /// 32-bit columns of tensor memory, 0 in shared memory.
    int64_t getTmemColumns() const;
  }];
}

def Pipe_ChannelType : Pipe_Type<"Channel", "channel"> {
  let summary = "a ring of `depth` slots, each holding one tile of every listed kind";
  let description = [{ Depth 0 means not chosen yet; `pipe-choose-depth` chooses. }];
  let parameters = (ins "int64_t":$depth, ArrayRefParameter<"::headrace::pipe::BufferType">:$buffers);
  let assemblyFormat = "`<` $depth `,` `[` $buffers `]` `>`";
  let genVerifyDecl = 1;
}

def Pipe_InflightType : Pipe_Type<"Inflight", "inflight"> {
  let summary = "an accumulator that an asynchronous matmul still writes";
  let description = [{ Only `pipe.mma_async` (as accumulator), `pipe.mma_wait` and loops accept it: law 4 by typing. }];
  let parameters = (ins "::mlir::RankedTensorType":$tile);
  let assemblyFormat = "`<` $tile `>`";
}

def Pipe_Sync : I32EnumAttr<"Sync", "what makes a slot of a channel full and empty", [
    I32EnumAttrCase<"Barrier", 0, "barrier">,      // plain copies, bar.sync
    I32EnumAttrCase<"Group", 1, "group">,          // cp.async commit_group / wait_group, bar.sync
    I32EnumAttrCase<"Mbarrier", 2, "mbarrier">,    // a pair of mbarriers for each slot
    I32EnumAttrCase<"BulkStore", 3, "bulk_store"> // shared memory that TMA stores read: bulk groups, bar.sync
  ]> {
  let cppNamespace = "::headrace::pipe";
  let genSpecializedAttr = 0;
}
def Pipe_SyncAttr : EnumAttr<Pipe_Dialect, Pipe_Sync, "sync"> { let assemblyFormat = "`<` $value `>`"; }

#endif
