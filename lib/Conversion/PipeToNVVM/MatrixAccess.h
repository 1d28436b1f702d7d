// ldmatrix and stmatrix (PTX ISA 9.7.14.5.15, 9.7.14.5.16) of any words of a planned tile.
#pragma once

#include "SlotAddresses.h"

namespace headrace::lowering {

/// Moves 32-bit words of a tile between registers and a slot, up to four words (matrices) an
/// instruction. A word is a list of registers as in MatrixPlan; planMatrixAccess must have accepted
/// the layouts. What depends on the thread is computed once for all words.
class MatrixAccess {
public:
  MatrixAccess(const TileLayout &layout, const SharedLayout &shared, bool transposed, Value slot, Value lane,
               Value warp);

  using Word = std::vector<int64_t>;
  /// Whether the row addresses of every word are sums over the bits of the lane, as load and store
  /// need them.
  bool accepts(llvm::ArrayRef<Word> words) const;
  llvm::SmallVector<Value> load(OpBuilder &builder, Location loc, llvm::ArrayRef<Word> words);
  void store(OpBuilder &builder, Location loc, llvm::ArrayRef<Word> words, ValueRange values);

private:
  /// For each bit of the lane, what it adds to the coordinate.
  using LaneBases = std::vector<std::vector<int64_t>>;
  /// The bases of the row addresses of an instruction; nullopt if they are not a sum over the
  /// lane's bits.
  std::optional<LaneBases> laneBases(llvm::ArrayRef<Word> words) const;
  SlotAddresses &addressesFor(OpBuilder &builder, Location loc, const LaneBases &bases);
  /// How many of the first words go into the next instruction, and the address for it.
  std::pair<size_t, SlotAddresses::Address> next(OpBuilder &builder, Location loc, llvm::ArrayRef<Word> words);
  /// "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16"
  std::string mnemonic(llvm::StringRef name, size_t matrices) const;

  TileLayout layout;
  SharedLayout shared;
  bool transposed;
  Value slot, lane, warp;
  std::map<LaneBases, SlotAddresses> addresses;
};

} // namespace headrace::lowering
