// Canonicalisation of everything but the interfaces of structured control flow. After convert-pipe-to-nvvm a loop or a
// branch passes on one value for each register of a tile, and upstream's patterns for such ops compare all of these with
// each other: 100 ms for a branch with 128 results, where all other patterns take one. What they would find, equal and
// unused values, the canonicaliser finds among the block arguments that scf becomes.
#include "headrace/Conversion/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace headrace {
#define GEN_PASS_DEF_SIMPLIFYSCALARS
#include "headrace/Conversion/Passes.h.inc"
} // namespace headrace

using namespace mlir;

namespace {
struct SimplifyScalars : headrace::impl::SimplifyScalarsBase<SimplifyScalars> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet all(context);
    for (Dialect *dialect : context->getLoadedDialects())
      dialect->getCanonicalizationPatterns(all);
    StringRef structured = scf::SCFDialect::getDialectNamespace();
    for (RegisteredOperationName op : context->getRegisteredOperations())
      if (op.getDialectNamespace() != structured)
        op.getCanonicalizationPatterns(all, context);
    patterns = FrozenRewritePatternSet(std::move(all));
    return success();
  }

  void runOnOperation() override {
    GreedyRewriteConfig config;
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Normal);
    // Not converging is no fault: what is left is right, if not as small.
    (void)applyPatternsGreedily(getOperation(), patterns, config);
  }

  FrozenRewritePatternSet patterns;
};
} // namespace
