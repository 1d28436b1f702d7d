// Editor support for .mlir files of the tile and pipe dialects: diagnostics, definitions, hover, completion.
#include "headrace/Pipelines/Pipelines.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  headrace::registerHeadraceDialects(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
