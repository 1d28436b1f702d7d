// Tensor copies, reductions and prefetches: PTX ISA 9.7.9.27.1.
#include "Copies.h"
#include "Issue.h"

#include "headrace/Sim/Copies/TensorBox.h"
#include "headrace/Sim/Machine/Hex.h"
#include "headrace/Sim/Machine/Program.h"
#include "headrace/Sim/Numerics/Float.h"

#include <cstring>
#include <utility>

namespace headrace::sim {

namespace {

using Kind = BulkOpcode::Kind;

constexpr uint64_t kMapAlignment = 64;  // of a CUtensorMap: the CUDA driver API
constexpr uint64_t kBoxAlignment = 128; // of a box in shared memory: the CUDA Programming Guide on TMA
constexpr size_t kFourRowCoordinates = 5;

/// Rounds the f32 numbers of an array of tf32 to nearest even, as a load does on compute capability 9.0 (measured). A NaN
/// is left as it is.
void roundToTf32(std::vector<uint8_t> &dense) {
  for (size_t at = 0; at < dense.size(); at += sizeof(float)) {
    float value;
    std::memcpy(&value, &dense[at], sizeof value);
    uint32_t bits = value == value ? floatToTf32(value, Rounding::NearestEven) : bitsOfFloat(value);
    std::memcpy(&dense[at], &bits, sizeof bits);
  }
}

std::vector<uint8_t> readFromGlobal(AsyncContext &ctx, const TensorBox &box) {
  std::vector<uint8_t> dense = box.filled();
  for (const BoxRow &row : box.rows())
    if (row.inside)
      ctx.readGlobal(row.global, row.inside, dense.data() + row.start + row.before);
  if (box.map->type == ElementType::TF32)
    roundToTf32(dense);
  return dense;
}

void writeToShared(AsyncContext &ctx, const TensorBox &box, uint32_t address, const std::vector<uint8_t> &dense) {
  int64_t bytes = box.bytes();
  if (!box.isClosed(address))
    return box.forEachPiece(address, 0, bytes, [&](uint32_t to, int64_t offset, int64_t count) {
      ctx.writeShared(to, count, dense.data() + offset);
    });
  if (box.map->swizzle == 0)
    return ctx.writeShared(address, bytes, dense.data());
  std::vector<uint8_t> image(dense.size());
  swizzleBox(address, box.map->swizzle, dense.data(), image.data(), bytes);
  ctx.writeShared(address, bytes, image.data());
}

/// Bytes of a row that a copy to global memory touches. A store writes whole 16-byte units: the rest of the last one gets
/// the box's bytes (measured on compute capability 9.0). A reduction is taken to be exact.
int64_t touched(const TensorBox &box, const BoxRow &row, bool isStore) {
  int64_t whole = (row.inside + kCopyUnit - 1) / kCopyUnit * kCopyUnit;
  return isStore ? std::min(whole, box.rowBytes() - row.before) : row.inside;
}

/// The dense box, as far as its rows are touched.
std::vector<uint8_t> readFromShared(AsyncContext &ctx, const TensorBox &box, const std::vector<BoxRow> &rows,
                                    uint32_t address, bool isStore) {
  std::vector<uint8_t> dense(static_cast<size_t>(box.bytes()));
  bool isWhole = std::all_of(rows.begin(), rows.end(), [&](const BoxRow &row) { return row.inside == box.rowBytes(); });
  if (isWhole && box.isClosed(address)) {
    std::vector<uint8_t> image(dense.size());
    ctx.readShared(address, box.bytes(), image.data());
    swizzleBox(address, box.map->swizzle, image.data(), dense.data(), box.bytes());
    return dense;
  }
  for (const BoxRow &row : rows) {
    int64_t first = row.start + row.before;
    box.forEachPiece(
        address, first, first + touched(box, row, isStore),
        [&](uint32_t from, int64_t offset, int64_t count) { ctx.readShared(from, count, dense.data() + offset); });
  }
  return dense;
}

void copyToGlobal(AsyncContext &ctx, const TensorBox &box, uint32_t address, std::optional<Reduction> reduction) {
  std::vector<BoxRow> rows = box.rows();
  std::vector<uint8_t> dense = readFromShared(ctx, box, rows, address, !reduction);
  for (const BoxRow &row : rows) {
    const uint8_t *from = dense.data() + row.start + row.before;
    if (!row.inside)
      continue;
    if (reduction)
      reduceGlobal(ctx, row.global, row.inside, from, *reduction);
    else
      ctx.writeGlobal(row.global, touched(box, row, true), from);
  }
}

class TensorCopy {
public:
  TensorCopy(Decoder &decode, const BulkOpcode &opcode);

  Step operator()(Lanes &lanes) const {
    lanes.forEach([&](int lane) {
      std::optional<TensorBox> box = findBox(lanes, lane);
      if (box && opcode.kind == Kind::Load)
        issueLoad(lanes, lane, *box);
      if (box && opcode.kind == Kind::Store)
        issueStore(lanes, lane, *box);
    });
    return Step::Done;
  }

private:
  void decodeBox(Decoder &decode, size_t operand);
  const TensorMap *findMap(const Lanes &lanes, int lane) const;
  std::optional<TensorBox> findBox(const Lanes &lanes, int lane) const;
  bool isPlaced(const Lanes &lanes, int lane, const TensorBox &box, const char *what, uint32_t address) const;
  void issueLoad(const Lanes &lanes, int lane, const TensorBox &box) const;
  void issueStore(const Lanes &lanes, int lane, const TensorBox &box) const;

  BulkOpcode opcode;
  AddressSource map;
  std::vector<Source> coordinates;
  AddressSource shared; // destination of a load, source of a store
  AddressSource mbarrier;
  Source mask; // of a multicast
};

/// A load: [shared], [map, {coordinates}], [mbarrier] {, mask} {, policy}. A store: [map, {coordinates}], [shared]
/// {, policy}. A prefetch: [map, {coordinates}] {, policy}.
TensorCopy::TensorCopy(Decoder &decode, const BulkOpcode &opcode) : opcode(opcode) {
  size_t next = 0;
  if (opcode.kind == Kind::Load)
    shared = decode.address(next++);
  decodeBox(decode, next++);
  if (opcode.kind == Kind::Store)
    shared = decode.address(next++);
  if (opcode.kind == Kind::Load)
    mbarrier = decode.address(next++);
  if (opcode.multicast)
    mask = decode.source(next++);
  if (opcode.cacheHint)
    decode.source(next++);
  if (decode.numOperands() != next)
    decode.fail("expected " + std::to_string(next) + " operands, got " + std::to_string(decode.numOperands()));
}

void TensorCopy::decodeBox(Decoder &decode, size_t operand) {
  map = decode.address(operand);
  const std::vector<ptx::Operand> &inside = decode.insideAddress(operand);
  if (inside.size() != 2 || inside[1].kind != ptx::Operand::Kind::Vector)
    return decode.fail("expected [map, {coordinates}] as operand " + std::to_string(operand + 1));
  size_t expected = opcode.fourRows ? kFourRowCoordinates : static_cast<size_t>(opcode.rank);
  if (inside[1].elements.size() != expected)
    return decode.fail("expected " + std::to_string(expected) + " coordinates, got " +
                       std::to_string(inside[1].elements.size()));
  for (const ptx::Operand &element : inside[1].elements)
    coordinates.push_back(decode.source(element));
}

const TensorMap *TensorCopy::findMap(const Lanes &lanes, int lane) const {
  uint64_t address = map(lanes, lane), offset = address & ~kWindowMask;
  const std::map<uint64_t, TensorMap> &maps = lanes.cluster.launch.tensorMaps;
  auto it = maps.find(offset);
  if ((address & kWindowMask) != kParamWindow || it == maps.end()) {
    lanes.report(lane, FindingKind::Operand,
                 "expected the generic address of a tensor map among the kernel's parameters, got " + hexText(address));
    return nullptr;
  }
  checkAlignment(lanes, lane, "tensor map", offset, kMapAlignment);
  return &it->second;
}

std::optional<TensorBox> TensorCopy::findBox(const Lanes &lanes, int lane) const {
  TensorBox box;
  box.map = findMap(lanes, lane);
  if (!box.map)
    return std::nullopt;
  box.fourRows = opcode.fourRows;
  for (const Source &coordinate : coordinates)
    box.start.push_back(static_cast<int32_t>(coordinate(lanes, lane)));
  if (std::string why = box.malformed(); !why.empty()) {
    lanes.report(lane, FindingKind::Operand, why);
    return std::nullopt;
  }
  if (std::string why = box.whyNotStart(opcode.kind == Kind::Store); !why.empty())
    lanes.report(lane, FindingKind::Operand, why);
  return box;
}

/// Checks the box's place in shared memory. Result: whether the copy can go on.
bool TensorCopy::isPlaced(const Lanes &lanes, int lane, const TensorBox &box, const char *what,
                          uint32_t address) const {
  checkAlignment(lanes, lane, what, address, kBoxAlignment);
  return fitsShared(lanes, lane, box.sharedBytes());
}

void TensorCopy::issueLoad(const Lanes &lanes, int lane, const TensorBox &box) const {
  auto address = static_cast<uint32_t>(shared(lanes, lane));
  if (!isPlaced(lanes, lane, box, "destination", address))
    return;
  MbarrierCopy copy;
  copy.what = "TMA load";
  copy.bytes = box.bytes();
  copy.destinations = findDestinations(lanes, lane, opcode, address, static_cast<uint32_t>(mbarrier(lanes, lane)),
                                       opcode.multicast ? static_cast<uint16_t>(mask(lanes, lane)) : uint16_t(0));
  if (copy.destinations.empty())
    return;
  copy.read = [box](AsyncContext &ctx) { return readFromGlobal(ctx, box); };
  copy.write = [box](AsyncContext &ctx, uint32_t to, const std::vector<uint8_t> &dense) {
    writeToShared(ctx, box, to, dense);
  };
  issueOntoMbarriers(lanes, lane, std::move(copy));
}

void TensorCopy::issueStore(const Lanes &lanes, int lane, const TensorBox &box) const {
  auto address = static_cast<uint32_t>(shared(lanes, lane));
  if (!isPlaced(lanes, lane, box, "source", address) || !isOwnShared(lanes, lane, "source", address))
    return;
  std::optional<Reduction> reduction;
  if (opcode.reduction) {
    reduction = tensorReduction(*opcode.reduction, box.map->type);
    if (!reduction)
      return lanes.report(lane, FindingKind::Operand,
                          "the elements of '" + box.map->name +
                              "' have no such reduction by tensor map (PTX ISA 9.7.9.27.1.3)");
  }
  issueIntoBulkGroup(lanes, lane, reduction ? "TMA reduction" : "TMA store", box.bytes(),
                     [=](AsyncContext &ctx) { copyToGlobal(ctx, box, address, reduction); });
}

} // namespace

Evaluator makeTensorCopy(Decoder &decode, const BulkOpcode &opcode) { return TensorCopy(decode, opcode); }

} // namespace headrace::sim
