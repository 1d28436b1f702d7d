// Passes on the pipe dialect, in the order in which they run.
#ifndef HEADRACE_PIPE_PASSES
#define HEADRACE_PIPE_PASSES
include "mlir/Pass/PassBase.td"

def PipeShareChannels : Pass<"pipe-share-channels", "::mlir::ModuleOp"> {
  let summary = "One ring for loops that follow each other";
  let description = [{
    Channels of the same tiles, filled the same way to the same depth by pipelined loops of which one ends before the other
    starts, become one: its cursors run on from loop to loop. Runs before depths are chosen, so that each loop has all the
    memory.

    Example: test/Examples/pipe-share-channels.mlir
  }];
}

def PipeChooseDepth : Pass<"pipe-choose-depth", "::mlir::ModuleOp"> {
  let summary = "Choose how many slots each channel has, within the target's memory";
  let description = [{
    A channel of a loop with `stages = N` gets N slots, and the kernel is refused with a table of its buffers and the
    largest N that fits if it needs too much; `auto` takes the largest depth that fits. Accumulators in tensor memory get
    two slots if the kernel is specialized and they fit, everything else one. Counts exactly what `pipe-allocate-memory`
    allocates: both ask planMemory. Reads `tile.target`.

    Example: test/Examples/pipe-choose-depth.mlir
  }];
}

def PipeCreateTensorMaps : Pass<"pipe-create-tensor-maps", "::mlir::ModuleOp"> {
  let summary = "Describe the tensor map of every TMA copy and store";
  let description = [{
    Copies of one array with one box share a map. The launcher encodes the maps from the launch record.

    Example: test/Examples/pipe-create-tensor-maps.mlir
  }];
}

def PipeThreadCursors : Pass<"pipe-thread-cursors", "::mlir::ModuleOp"> {
  let summary = "Carry the (index, phase) of every channel's two sides through all loops";
  let description = [{
    Protocol ops get their cursor; `pipe.advance` follows each commit and release. Loops and conditionals that contain
    protocol ops of a channel get its cursor as extra values, so that it is never reset: a loop of no trips hands it on as
    it is. Assumes that depths are chosen.

    Example: test/Examples/pipe-thread-cursors.mlir
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def PipeScheduleStages : Pass<"pipe-schedule-stages", "::mlir::ModuleOp"> {
  let summary = "Decide which trip each op of a pipelined loop works for, so that matmuls run under the computation";
  let description = [{
    Only asynchronous matmuls, and what hangs on them, are worth moving across trips: what reads a product may wait for the
    next trip, and so may a matmul for its operand in registers. Every combination of such cuts gives each op the earliest
    stage; a list schedule puts starts of matmuls first and waits last; the loop is played on the target's units to predict
    its cycles a trip (II). The combination with the least II that fits into the registers of a thread is written as
    `pipe.stage` and `pipe.order`, if it is faster than one stage, and checked by verifySchedule. `tile.stage` on an op
    fixes its stage. What was chosen and why is left in the kernel's `pipe.schedules` for the report. Reads `tile.target`.

    Example: test/Examples/pipe-schedule-stages.mlir
  }];
}

def PipePeelStages : Pass<"pipe-peel-stages", "::mlir::ModuleOp"> {
  let summary = "Rewrite loops whose ops have stages, with the first and last trips peeled";
  let description = [{
    In trip K of the new loop an op of stage s works for trip K - s of the old one. Nothing in the loop is predicated: a
    loop of fewer trips than stages takes a branch of its own, which for two stages is empty. Any lower bound, step and
    number of trips. Schedules written by hand are checked as those of `pipe-schedule-stages`. Works on the kernel before
    roles are split, so that each role gets its own part of the new loop.

    Example: test/Examples/pipe-peel-stages.mlir
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def PipeScheduleLoops : Pass<"pipe-schedule-loops", "::mlir::ModuleOp"> {
  let summary = "Give each op of a pipelined loop its stage and its place";
  let description = [{
    For kernels that are one role. Copies of a channel of depth d run d - 1 trips ahead of their consumers: producers get
    the stage that makes it so, everything else the last stage. In the new body waits come first, then producers (the
    barrier behind the waits also frees the slot that they fill), then the computation. The decision is printed as
    `pipe.stage` and `pipe.order`, which one can also write by hand; `pipe-expand-loops` obeys them.

    Example: test/Examples/pipe-schedule-loops.mlir
  }];
}

def PipeExpandLoops : Pass<"pipe-expand-loops", "::mlir::ModuleOp"> {
  let summary = "Rewrite scheduled loops so that stages of several trips overlap";
  let description = [{
    Uses upstream's scf::pipelineForLoop with a predicated epilogue: producers past the last trip are switched off by a
    predicate, their commit groups stay (empty), so that the number of groups in flight is constant. Any trip count,
    lower bound and step.

    Example: test/Examples/pipe-expand-loops.mlir
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def PipeSpecializeWarps : Pass<"pipe-specialize-warps", "::mlir::ModuleOp"> {
  let summary = "Split a kernel's whole body into roles with warps of their own";
  let description = [{
    For kernels with `pipe.specialize`. Copies and the producer side of their channels go to `load`, tcgen05 to `mma`,
    all else to `compute`. Each role gets a copy of the control flow with just what its ops need, cursors included.
    Registers are shared out by setmaxnreg where the target has it. Reads `tile.target`.

    Example: test/Examples/pipe-specialize-warps.mlir
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect"];
}

def PipeDeriveArrivals : Pass<"pipe-derive-arrivals", "::mlir::ModuleOp"> {
  let summary = "Derive arrive counts and transaction bytes of every mbarrier";
  let description = [{
    From who produces and who consumes: TMA is one arrival and the bytes of its boxes, generic writes one arrival for
    each warp, tcgen05.commit one, readers one for each warp.

    Example: test/Examples/pipe-derive-arrivals.mlir
  }];
}

def PipeInsertFences : Pass<"pipe-insert-fences", "::mlir::ModuleOp"> {
  let summary = "Insert barriers for channels without mbarriers, and proxy fences";
  let description = [{
    A wait of a `barrier` or `group` channel is followed by a barrier of the role; adjacent waits share one. An acquire is
    preceded by a barrier unless one lies between it and the last read. Generic writes that an asynchronous engine reads
    next get a proxy fence before that barrier, on every path, and so do generic reads of a slot that TMA writes next,
    before its release. Assumes loops are expanded and roles split.

    Example: test/Examples/pipe-insert-fences.mlir
  }];
}

def PipeAllocateMemory : Pass<"pipe-allocate-memory", "::mlir::ModuleOp"> {
  let summary = "Place channels and barriers in shared memory, accumulators in tensor memory";
  let description = [{
    Tensor memory is allocated once at the start and freed once at the end, after all roles. More than 512 columns is an
    error that lists the users. Sets `pipe.shared_bytes`. Reads `tile.target`.

    Example: test/Examples/pipe-allocate-memory.mlir
  }];
}

def PipeVerifyProtocol : Pass<"pipe-verify-protocol", "::mlir::ModuleOp"> {
  let summary = "Check the protocol of every channel";
  let description = [{
    Law 1: tiles of a slot are read only between its wait and its release, and written only between acquire and commit.
    Law 3: generic writes are fenced before asynchronous reads. Law 4: an accumulator in flight is waited for. Also:
    every mbarrier channel has counts, every acquire a commit and every wait a release. Changes nothing.

    Example: test/Examples/pipe-verify-protocol.mlir
  }];
}

#endif
