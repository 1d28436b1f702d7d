// Where in a source an op came from, for messages that outlive the compiler.
#pragma once

#include "mlir/IR/Location.h"

namespace headrace::tile {

struct SourcePlace {
  llvm::StringRef file; ///< as the source was named; "" if that is not known
  unsigned line = 0, column = 0;
};

/// The first place in a file within the location.
inline SourcePlace findPlace(mlir::Location loc) {
  SourcePlace result;
  loc->walk([&](mlir::Location inner) {
    auto place = llvm::dyn_cast<mlir::FileLineColLoc>(inner);
    if (!place)
      return mlir::WalkResult::advance();
    result = {place.getFilename().getValue(), place.getLine(), place.getColumn()};
    return mlir::WalkResult::interrupt();
  });
  return result;
}

} // namespace headrace::tile
