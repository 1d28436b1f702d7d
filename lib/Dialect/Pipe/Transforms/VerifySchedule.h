// Whether the stages and places of a loop's ops keep what the program means, whoever chose them.
#pragma once

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace headrace::pipe {

/// Checks the `pipe.stage` and `pipe.order` of all ops of the loop's body. An op of stage s at place p works, in trip K of
/// the new loop, for trip K - s of the old one, after those at places below p. Emits an error at the first op that
///
///   C1  shares its place with another,
///   C2  is before what makes a value that it uses, in its own trip or a later one,
///   C3  uses a slot outside of its wait and release (acquire and commit), or in another stage than they,
///   C4  waits for a slot before it is filled, or fills it before it is released: what would wait forever, even if each
///       role did its ops in just this order,
///   C5  hands on an accumulator in flight to another stage, or lets a matmul run when what it reads is released,
///   C6  changes the order of effects that are none of a channel's,
///
/// and, where the target is known, if C7 what trips hand on does not fit into the registers of a thread.
/// Requires: all ops of the body have both attributes.
mlir::LogicalResult verifySchedule(mlir::scf::ForOp loop);

} // namespace headrace::pipe
