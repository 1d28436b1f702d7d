// Runs single passes and named pipelines on .mlir files.
#include "headrace/Pipelines/Pipelines.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  headrace::registerHeadraceDialects(registry);
  headrace::registerHeadracePasses();
  return mlir::failed(mlir::MlirOptMain(argc, argv, "Headrace optimizer driver\n", registry));
}
