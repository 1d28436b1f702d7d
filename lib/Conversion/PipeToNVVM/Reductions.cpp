// tile.reduce and tile.scan: in the registers of a thread, then across the lanes of its warp by shuffles (PTX ISA 9.7.9.6).
// What warps have to exchange has been split off by tile-infer-layouts.
#include "TileRegisters.h"

#include "headrace/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/IRMapping.h"

#include <map>

using namespace mlir;
using namespace headrace;
using namespace headrace::lowering;

namespace {

using Registers = SmallVector<Value>;

/// One partial result: a scalar for each source of the op.
using Element = SmallVector<Value>;

/// What both ops need: their combining region on scalars, shuffles of them, and the lanes that share the axis.
class Combiner {
public:
  Combiner(OpBuilder &builder, Location loc, Block &combine) : builder(builder), loc(loc), combine(combine) {}

  /// The region's results for two partial results, the earlier first.
  Element apply(const Element &first, const Element &second) {
    IRMapping mapping;
    for (auto [argument, value] : llvm::zip_equal(combine.getArguments().take_front(first.size()), first))
      mapping.map(argument, value);
    for (auto [argument, value] : llvm::zip_equal(combine.getArguments().drop_front(first.size()), second))
      mapping.map(argument, value);
    for (Operation &op : combine.without_terminator())
      builder.clone(op, mapping);
    Element result;
    for (Value value : combine.getTerminator()->getOperands())
      result.push_back(mapping.lookup(value));
    return result;
  }

  /// The same elements of another lane: `mode` and the constant `operand` as in shfl.sync.
  std::vector<Element> shuffle(const std::vector<Element> &elements, StringRef mode, Value operand) {
    std::vector<Element> result(elements.size());
    for (size_t source = 0; source < elements.front().size(); ++source) {
      Registers values;
      for (const Element &element : elements)
        values.push_back(widen(element[source]));
      Type type = values.front().getType();
      Registers words;
      for (Value word : packWords(builder, loc, values))
        words.push_back(ptx1(builder, loc,
                             ("shfl.sync." + mode + ".b32 $0, $1, $2, " + (mode == "up" ? "0" : "31") + ", -1;").str(),
                             builder.getI32Type(), {word, operand}));
      for (auto [element, value, old] :
           llvm::zip_equal(result, unpackWords(builder, loc, words, type, values.size()), elements))
        element.push_back(narrow(value, old[source].getType()));
    }
    return result;
  }
  std::vector<Element> shuffle(const std::vector<Element> &elements, StringRef mode, int64_t operand) {
    return shuffle(elements, mode, constI32(builder, loc, operand));
  }

  /// `then` where `condition` holds, else `otherwise`.
  Element select(Value condition, const Element &then, const Element &otherwise) {
    Element result;
    for (auto [yes, no] : llvm::zip_equal(then, otherwise))
      result.push_back(arith::SelectOp::create(builder, loc, condition, yes, no));
    return result;
  }

private:
  /// Single bits travel in bytes.
  Value widen(Value value) {
    return value.getType().isInteger(1) ? arith::ExtUIOp::create(builder, loc, builder.getI8Type(), value) : value;
  }
  Value narrow(Value value, Type type) {
    return value.getType() == type ? value : arith::TruncIOp::create(builder, loc, type, value).getResult();
  }

  OpBuilder &builder;
  Location loc;
  Block &combine;
};

/// Register `reg` of every source.
Element elementAt(ArrayRef<ValueRange> sources, int64_t reg) {
  Element element;
  for (ValueRange source : sources)
    element.push_back(source[reg]);
  return element;
}

/// Registers by what their coordinates are without that along `axis`: the rows along which is combined.
std::vector<std::vector<int64_t>> rowsAlong(const TileLayout &layout, int64_t axis) {
  std::map<std::vector<int64_t>, size_t> rowOf;
  std::vector<std::vector<int64_t>> rows;
  for (int64_t reg = 0; reg < layout.numRegisters(); ++reg) {
    std::vector<int64_t> place = layout.registerOffset(reg);
    place.erase(place.begin() + axis);
    auto [found, isNew] = rowOf.try_emplace(place, rows.size());
    if (isNew)
      rows.emplace_back();
    rows[found->second].push_back(reg);
  }
  return rows;
}

/// The bits of the lane's number that go along `axis`.
SmallVector<int64_t> laneBitsAlong(const TileLayout &layout, int64_t axis) {
  SmallVector<int64_t> bits;
  for (auto [bit, basis] : llvm::enumerate(layout.atom().bases(InDim::Lane)))
    if (basis[axis])
      bits.push_back(bit);
  return bits;
}

/// Results as the conversion wants them: the registers of each.
template <typename Op> void replace(Op op, ConversionPatternRewriter &rewriter, const std::vector<Element> &elements) {
  SmallVector<SmallVector<Value>> results(op->getNumResults());
  for (const Element &element : elements)
    for (auto [result, value] : llvm::zip_equal(results, element))
      result.push_back(value);
  rewriter.replaceOpWithMultiple(op, std::move(results));
}

struct ReducePattern : OpConversionPattern<tile::ReduceOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tile::ReduceOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    FailureOr<TileLayout> layout = layoutOf(op, op.getSources()[0].getType());
    if (failed(layout))
      return failure();
    int64_t axis = op.getAxis();
    if (layout->partsAlong(axis) != int64_t(op.getParts().value_or(1)))
      return op.emitOpError("expected an axis within warps, or as many parts as warps share it, got ")
             << layout->toString();
    Combiner combiner(rewriter, op.getLoc(), op.getCombine().front());
    std::vector<Element> elements;
    for (const std::vector<int64_t> &row : rowsAlong(*layout, axis)) {
      // As a tree: short chains, and sums that round less.
      std::vector<Element> partial;
      for (int64_t reg : row)
        partial.push_back(elementAt(adaptor.getSources(), reg));
      for (size_t step = 1; step < partial.size(); step *= 2)
        for (size_t i = 0; i + step < partial.size(); i += 2 * step)
          partial[i] = combiner.apply(partial[i], partial[i + step]);
      elements.push_back(partial.front());
    }
    for (int64_t bit : laneBitsAlong(*layout, axis)) {
      std::vector<Element> others = combiner.shuffle(elements, "bfly", int64_t(1) << bit);
      for (auto [element, other] : llvm::zip_equal(elements, others))
        element = combiner.apply(element, other);
    }
    // The rows come in the order of the result's registers: repetitions, then registers of the atom.
    replace(op, rewriter, elements);
    return success();
  }
};

struct ScanPattern : OpConversionPattern<tile::ScanOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tile::ScanOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    FailureOr<TileLayout> layout = layoutOf(op, op.getSources()[0].getType());
    if (failed(layout))
      return failure();
    int64_t axis = op.getAxis();
    SmallVector<int64_t> bits = laneBitsAlong(*layout, axis);
    bool lowLanes = llvm::equal(bits, llvm::seq<int64_t>(0, bits.size()));
    if (layout->partsAlong(axis) != 1 || !lowLanes)
      return op.emitOpError("expected an axis that lies in registers, then the low lanes, got ") << layout->toString();

    Location loc = op.getLoc();
    Combiner combiner(rewriter, loc, op.getCombine().front());
    bool reverse = op.getReverse();
    auto combine = [&](const Element &nearer, const Element &farther) {
      return reverse ? combiner.apply(farther, nearer) : combiner.apply(nearer, farther);
    };
    int64_t lanes = int64_t(1) << bits.size(), repetitions = layout->repeat()[axis];
    Value lane = arith::AndIOp::create(rewriter, loc, getThread(rewriter, op).lane, constI32(rewriter, loc, lanes - 1));
    if (reverse) // counted from the far end
      lane = arith::SubIOp::create(rewriter, loc, constI32(rewriter, loc, lanes - 1), lane);
    auto atLeast = [&](int64_t count) -> Value {
      return arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::uge, lane, constI32(rewriter, loc, count));
    };

    std::vector<std::vector<int64_t>> rows = rowsAlong(*layout, axis);
    for (std::vector<int64_t> &row : rows) {
      llvm::sort(row, [&](int64_t lhs, int64_t rhs) {
        return layout->registerOffset(lhs)[axis] < layout->registerOffset(rhs)[axis];
      });
      if (reverse)
        std::reverse(row.begin(), row.end());
    }
    int64_t run = rows.front().size() / repetitions;
    std::vector<Element> elements(layout->numRegisters()), carry;
    StringRef mode = reverse ? "down" : "up";
    for (int64_t repetition = 0; repetition < repetitions; ++repetition) {
      std::vector<Element> totals;
      for (const std::vector<int64_t> &row : rows) {
        Element sum;
        for (int64_t i = repetition * run; i < (repetition + 1) * run; ++i) {
          Element own = elementAt(adaptor.getSources(), row[i]);
          sum = i == repetition * run ? own : combine(sum, own);
          elements[row[i]] = sum;
        }
        totals.push_back(sum);
      }
      // Inclusive over lanes, then what lies before each lane.
      for (int64_t distance = 1; distance < lanes; distance *= 2) {
        std::vector<Element> before = combiner.shuffle(totals, mode, distance);
        for (auto [total, nearer] : llvm::zip_equal(totals, before))
          total = combiner.select(atLeast(distance), combine(nearer, total), total);
      }
      std::vector<Element> before;
      if (lanes > 1)
        before = combiner.shuffle(totals, mode, 1);
      for (auto [number, row] : llvm::enumerate(rows))
        for (int64_t i = repetition * run; i < (repetition + 1) * run; ++i) {
          Element &element = elements[row[i]];
          if (lanes > 1)
            element = combiner.select(atLeast(1), combine(before[number], element), element);
          if (repetition > 0)
            element = combine(carry[number], element);
        }
      if (repetition + 1 == repetitions)
        break;
      // The last lane's total is that of all lanes.
      if (lanes > 1) {
        Value own =
            arith::AndIOp::create(rewriter, loc, getThread(rewriter, op).lane, constI32(rewriter, loc, 32 - lanes));
        Value last = arith::OrIOp::create(rewriter, loc, own, constI32(rewriter, loc, reverse ? 0 : lanes - 1));
        totals = combiner.shuffle(totals, "idx", last);
      }
      for (size_t number = 0; repetition > 0 && number < totals.size(); ++number)
        totals[number] = combine(carry[number], totals[number]);
      carry = std::move(totals);
    }
    replace(op, rewriter, elements);
    return success();
  }
};

} // namespace

void lowering::populateReductions(lowering::TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<ReducePattern, ScanPattern>(types, patterns.getContext());
}
