// Channels: creation and the four protocol steps.
#ifndef HEADRACE_PIPE_CHANNEL_OPS
#define HEADRACE_PIPE_CHANNEL_OPS

include "headrace/Dialect/Pipe/IR/PipeTypes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/BuiltinAttributes.td"

def Pipe_CreateChannelOp : Pipe_Op<"create_channel"> {
  let summary = "a ring of slots, made once at the start of the kernel";
  let description = [{
    `full_arrivals`, `empty_arrivals` and `tx_bytes` are derived by `pipe-derive-arrivals` from who produces and
    consumes. `offset` (bytes from the start of dynamic shared memory, or columns of tensor memory), and
    `barrier_offset` (bytes: the full barriers of all slots, then the empty ones) are set by `pipe-allocate-memory`.
    `async_release`: the consumer's reads are tracked by tcgen05.commit, which arrives on the empty barrier itself;
    `async_commit`: likewise for what the producer's tcgen05.mma writes. `groups`: of a `bulk_store` channel, the number
    of warp groups that stage and store their own rows, each with a barrier and a bulk group of its own; absent: one.
  }];
  let arguments = (ins StrAttr:$name, Pipe_SyncAttr:$sync, UnitAttr:$async_release, UnitAttr:$async_commit,
                       OptionalAttr<I64Attr>:$full_arrivals, OptionalAttr<I64Attr>:$empty_arrivals,
                       OptionalAttr<I64Attr>:$tx_bytes, OptionalAttr<I64Attr>:$offset,
                       OptionalAttr<I64Attr>:$barrier_offset, OptionalAttr<I64Attr>:$groups);
  // An allocation: unused, as in a loop that never runs, it is dropped.
  let results = (outs Res<Pipe_ChannelType, "", [MemAlloc]>:$channel);
  let assemblyFormat = "$name $sync attr-dict `:` type($channel)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Bytes from one slot to the next, and of one tile's place within a slot.
    int64_t getSlotPitch();
    int64_t getBufferOffset(unsigned buffer);
    /// Bytes of all slots, 0 in tensor memory; alignment they need.
    int64_t getSharedBytes();
    int64_t getAlignment();
    bool usesBarriers() { return getSync() == Sync::Mbarrier; }
  }];
}

class Pipe_ProtocolOp<string mnemonic> : Pipe_Op<mnemonic, [AttrSizedOperandSegments]> {
  let hasVerifier = 1;
}

def Pipe_ProducerAcquireOp : Pipe_ProtocolOp<"producer_acquire"> {
  let summary = "waits until the slot is empty; its tiles may then be written";
  let arguments = (ins Pipe_ChannelType:$channel, Optional<I32>:$index, Optional<I32>:$phase, Optional<I1>:$predicate);
  let results = (outs Variadic<Pipe_BufferType>:$buffers);
  let assemblyFormat = [{
    $channel (`[` $index^ `,` $phase `]`)? (`if` $predicate^)? attr-dict `:` type($channel) `->` type($buffers)
  }];
}
def Pipe_ProducerCommitOp : Pipe_ProtocolOp<"producer_commit"> {
  let summary = "the slot is full as soon as what was started into it has landed";
  let arguments = (ins Pipe_ChannelType:$channel, Optional<I32>:$index, Optional<I32>:$phase, Optional<I1>:$predicate);
  let assemblyFormat = "$channel (`[` $index^ `,` $phase `]`)? (`if` $predicate^)? attr-dict `:` type($channel)";
}
def Pipe_ConsumerWaitOp : Pipe_ProtocolOp<"consumer_wait"> {
  let summary = "waits until the slot is full; its tiles may then be read";
  let description = [{ `pending`: for `group` channels, the newer commit groups that may still be in flight. }];
  let arguments = (ins Pipe_ChannelType:$channel, Optional<I32>:$index, Optional<I32>:$phase, OptionalAttr<I64Attr>:$pending);
  let results = (outs Variadic<Pipe_BufferType>:$buffers);
  let assemblyFormat = "$channel (`[` $index^ `,` $phase `]`)? attr-dict `:` type($channel) `->` type($buffers)";
}
def Pipe_ConsumerReleaseOp : Pipe_ProtocolOp<"consumer_release"> {
  let summary = "this consumer reads the slot no more";
  let arguments = (ins Pipe_ChannelType:$channel, Optional<I32>:$index, Optional<I32>:$phase);
  let assemblyFormat = "$channel (`[` $index^ `,` $phase `]`)? attr-dict `:` type($channel)";
}

def Pipe_AdvanceOp : Pipe_Op<"advance", [Pure]> {
  let summary = "the cursor of the next slot: the index wraps at `depth`, and the phase flips there";
  let description = [{ Without a true predicate the cursor stays. }];
  let arguments = (ins I64Attr:$depth, I32:$index, I32:$phase, Optional<I1>:$predicate);
  let results = (outs I32:$next_index, I32:$next_phase);
  let assemblyFormat = "`[` $index `,` $phase `]` `depth` $depth (`if` $predicate^)? attr-dict";
}

def Pipe_RolesOp : Pipe_Op<"roles", [NoTerminator, RecursiveMemoryEffects, NoRegionArguments]> {
  let summary = "each region runs in warps of its own";
  let description = [{
    Region i is the role `names[i]` of `warps[i]` warps, in order from warp 0; `registers[i]` is its register budget
    (setmaxnreg; 0: none). A role of which only one warp has work lists it in `active`.
  }];
  let arguments = (ins StrArrayAttr:$names, DenseI64ArrayAttr:$warps, DenseI64ArrayAttr:$registers, DenseI64ArrayAttr:$active);
  let regions = (region VariadicRegion<SizedRegion<1>>:$bodies);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

#endif
