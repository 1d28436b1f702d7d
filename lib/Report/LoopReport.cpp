// The bound of each pipelined loop: cycles that one trip keeps every unit of a multiprocessor busy.
#include "headrace/Dialect/Pipe/IR/Pipe.h"
#include "headrace/Report/KernelReport.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace headrace;
namespace json = llvm::json;

namespace {
/// Throughputs of one multiprocessor, per cycle. Matmul: multiply-adds of 16-bit operands; 8-bit ones go twice as fast,
/// tf32 half as fast. Copies: bytes that the L2 delivers to one multiprocessor when all ask (64 B on every generation
/// since sm_80; CUDA programming guide, tuning guides).
struct Rates {
  double mma16, fma32, copyBytes, sharedBytes;
};

Rates ratesOf(const TargetInfo &target) {
  if (target.has(Feature::Tcgen05))
    return {4096, 128, 64, 128};
  if (target.has(Feature::Wgmma))
    return {2048, 128, 64, 128};
  if (target.has(Feature::CpAsync))
    return {1024, 64, 64, 128};
  return {512, 64, 64, 128};
}

/// Busy cycles of one trip.
struct Cycles {
  double matmul = 0, copy = 0, shared = 0;
};

/// Extents and elements of a matmul's operands.
struct Product {
  int64_t m, n, k, bytesA, bytesB;
};
} // namespace

static std::pair<ArrayRef<int64_t>, Type> shapeOf(Type type) {
  if (auto buffer = dyn_cast<pipe::BufferType>(type))
    return {buffer.getShape(), buffer.getElementType()};
  auto tile = cast<RankedTensorType>(type);
  return {tile.getShape(), tile.getElementType()};
}

static std::optional<Product> getProduct(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<Product>>(op)
      .Case<pipe::MmaOp, pipe::MmaAsyncOp, pipe::MmaTmemOp>([](auto mma) {
        auto [a, aType] = shapeOf(mma.getA().getType());
        auto [b, bType] = shapeOf(mma.getB().getType());
        return Product{a[mma.getTransposeA() ? 1 : 0], b[mma.getTransposeB() ? 0 : 1], a[mma.getTransposeA() ? 0 : 1],
                       aType.getIntOrFloatBitWidth() / 8, bType.getIntOrFloatBitWidth() / 8};
      })
      .Default(std::nullopt);
}

static tile::AtomAttr getAtom(Operation *op) { return op->getAttrOfType<tile::AtomAttr>("atom"); }

/// Bytes of shared memory that the operands of one product are read as: mma.sync reads A once for every group of
/// columns and B once for every group of rows, wgmma and tcgen05 once for each 64 (128) rows.
static double sharedTraffic(const Product &product, tile::AtomAttr atom) {
  double a = double(product.m) * product.k * product.bytesA, b = double(product.n) * product.k * product.bytesB;
  switch (atom.getFamily()) {
  case tile::Family::Tcgen05:
    return a + b;
  case tile::Family::Wgmma:
    return a * atom.getGroupsN() + b * (double(product.m) / 64);
  case tile::Family::MmaSync:
  case tile::Family::Fma:
    return a * atom.getGroupsN() + b * atom.getGroupsM();
  }
  return a + b;
}

static Cycles countTrip(scf::ForOp loop, const Rates &rates) {
  Cycles cycles;
  loop.getBody()->walk([&](Operation *op) {
    if (auto copy = dyn_cast<pipe::CopyOp>(op)) {
      double bytes = copy.getBuffer().getType().getSharedBytes();
      cycles.copy += bytes / rates.copyBytes;
      cycles.shared += bytes / rates.sharedBytes;
    }
    std::optional<Product> product = getProduct(op);
    if (!product)
      return;
    double work = double(product->m) * product->n * product->k;
    bool fma = getAtom(op).getFamily() == tile::Family::Fma;
    double rate = fma ? rates.fma32 : rates.mma16 * 2 / product->bytesA;
    cycles.matmul += work / rate;
    cycles.shared += sharedTraffic(*product, getAtom(op)) / rates.sharedBytes;
  });
  return cycles;
}

json::Array headrace::reportLoops(func::FuncOp kernel, const TargetInfo &target) {
  json::Array loops;
  Rates rates = ratesOf(target);
  kernel.walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
    auto pipeline = loop->getAttrOfType<tile::PipelineAttr>(pipe::kPipelineAttr);
    if (!pipeline)
      return;
    int64_t depth = 0;
    json::Array channels;
    for (auto wait : loop.getBody()->getOps<pipe::ConsumerWaitOp>()) {
      depth = std::max(depth, wait.getChannel().getType().getDepth());
      channels.push_back(pipe::getChannelOf(wait).getName());
    }
    Cycles cycles = countTrip(loop, rates);
    double bound = std::max({cycles.matmul, cycles.copy, cycles.shared});
    StringRef binds = bound == cycles.matmul ? "matmul" : bound == cycles.copy ? "copy" : "shared memory";
    json::Object entry{{"asked_stages", pipeline.getStages()},
                       {"stages", std::max<int64_t>(depth, 1)},
                       {"channels", std::move(channels)},
                       {"cycles", json::Object{{"matmul", cycles.matmul}, {"copy", cycles.copy}, {"shared", cycles.shared}}},
                       {"ii_bound", bound},
                       {"bound_by", binds}};
    if (auto loc = dyn_cast<FileLineColLoc>(loop.getLoc()))
      entry["line"] = int64_t(loc.getLine());
    if (depth <= 1)
      entry["not_pipelined"] = depth == 0 ? "no load in it goes through shared memory"
                               : pipeline.getStages() >= 0 && pipeline.getStages() <= 1
                                   ? "stages = 1 was asked for"
                                   : "shared memory has room for one stage only";
    loops.push_back(std::move(entry));
  });
  return loops;
}
