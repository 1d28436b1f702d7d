// The pipe dialect itself.
#ifndef HEADRACE_PIPE_BASE
#define HEADRACE_PIPE_BASE

include "mlir/IR/OpBase.td"

def Pipe_Dialect : Dialect {
  let name = "pipe";
  let cppNamespace = "::headrace::pipe";
  // Its ops and types have attributes of the tile dialect.
  let dependentDialects = ["::headrace::tile::TileDialect"];
  let summary = "Channels (rings of slots), asynchronous copies and matmuls, roles of warps";
  let description = [{
    A *channel* is a ring of `depth` slots in shared or tensor memory. Each slot goes round

    ```
                producer_acquire            data lands, producer_commit
      empty  ----------------------> acquired ----------------------> full
        ^                                                              |
        |            consumer_release                 consumer_wait    |
        +--------------------------- being read <----------------------+
    ```

    Both sides walk the ring with a cursor `[index, phase]` of two i32 values that is carried through every enclosing
    loop and never reset. A producer's cursor starts at [0, 1], a consumer's at [0, 0]; `pipe.advance` moves it.

    Kernels are `func.func` with the attribute `pipe.kernel`. See `Rationale.md` beside this file.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = [{ void registerTypes(); }];
}

class Pipe_Op<string mnemonic, list<Trait> traits = []> : Op<Pipe_Dialect, mnemonic, traits>;

#endif
