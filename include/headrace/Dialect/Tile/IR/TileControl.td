// The kernel and the loop over tiles.
#ifndef HEADRACE_TILE_CONTROL
#define HEADRACE_TILE_CONTROL

include "headrace/Dialect/Tile/IR/TileAttrs.td"
include "mlir/Interfaces/CallInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/LoopLikeInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/RegionKindInterface.td"

def Tile_KernelOp : Tile_Op<"kernel", [FunctionOpInterface, IsolatedFromAbove, AffineScope, AutomaticAllocationScope]> {
  let summary = "a kernel: what one program of the grid does";
  let description = [{
    Arguments are arrays (memrefs of rank 1 to 5 with strides) and scalars. `tile.align = 16` on an array promises that
    its address and its strides are multiples of 16 bytes; the launch record carries the promise and the launcher
    checks it. Arrays that are different arguments may overlap only where none of them is written. Knobs: `warps` (compute warps), `occupancy` (programs resident on one multiprocessor).

    ```mlir
    tile.kernel @copy(%A: memref<?x?xf32, strided<[?, 1]>> {tile.align = 16 : i64}, %n: i32) attributes {warps = 4} {
      tile.return
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<StrAttr>:$sym_visibility, OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$warps,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$occupancy);
  let regions = (region AnyRegion:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
  }];
}

def Tile_ReturnOp : Tile_Op<"return", [Pure, HasParent<"KernelOp">, Terminator]> {
  let summary = "end of a kernel";
  let assemblyFormat = "attr-dict";
}

def Tile_YieldOp : Tile_Op<"yield", [Pure, ParentOneOf<["ForOp", "ReduceOp", "ScanOp"]>, ReturnLike, Terminator]> {
  let summary = "values of the next trip, of the loop's results, or of a combining region";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
  let builders = [OpBuilder<(ins)>];
}

def Tile_ForOp : Tile_Op<"for", [SingleBlockImplicitTerminator<"YieldOp">, RecursiveMemoryEffects, AutomaticAllocationScope]> {
  let summary = "the loop over tiles";
  let description = [{
    Runs from `lower` to below `upper` (signed) by `step` (positive). C1: initial values, body arguments, yielded values
    and results have the same types. C2: a constant step is positive.

    ```mlir
    %sum = tile.for %k = %c0 to %K step %c64 iter_args(%acc = %zero) -> (tensor<128x256xf32>) pipeline(stages = 4) {
      ...
      tile.yield %s : tensor<128x256xf32>
    }
    ```
  }];
  let arguments = (ins Index:$lower, Index:$upper, Index:$step, Variadic<AnyType>:$inits,
                       OptionalAttr<Tile_PipelineAttr>:$pipeline);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$region);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Value getInductionVar() { return getRegion().front().getArgument(0); }
    ::mlir::Block::BlockArgListType getIterArgs() { return getRegion().front().getArguments().drop_front(); }
    ::mlir::Block *getBody() { return &getRegion().front(); }
  }];
}

#endif
