// The pipe dialect: includes only.
#ifndef HEADRACE_PIPE
#define HEADRACE_PIPE
include "headrace/Dialect/Pipe/IR/PipeBase.td"
include "headrace/Dialect/Pipe/IR/PipeTypes.td"
include "headrace/Dialect/Pipe/IR/PipeChannelOps.td"
include "headrace/Dialect/Pipe/IR/PipeDataOps.td"
#endif
