// The tile dialect: includes only.
#ifndef HEADRACE_TILE
#define HEADRACE_TILE
include "headrace/Dialect/Tile/IR/TileBase.td"
include "headrace/Dialect/Tile/IR/TileAttrs.td"
include "headrace/Dialect/Tile/IR/TileOps.td"
include "headrace/Dialect/Tile/IR/TileControl.td"
#endif
