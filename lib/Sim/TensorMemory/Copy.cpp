// tcgen05.cp and tcgen05.shift: PTX ISA 9.7.16.9.
#include "Families.h"
#include "OpcodeReader.h"
#include "TensorAccess.h"

#include "headrace/Sim/TensorMemory/CopyShapes.h"
#include "headrace/Sim/TensorMemory/SharedDescriptor.h"

namespace headrace::sim::tcgen05 {

namespace {

constexpr int kPiece = 16;       // bytes
constexpr int kGroup = 32;       // lanes
constexpr int kShiftColumns = 8; // elements of 32 bytes
constexpr int kMaxRowWords = 8;

/// Each CTA of a pair copies from its own shared memory.
void performCopy(AsyncContext &ctx, uint32_t rank, CopyShape shape, const SharedDescriptor &from, TensorAddress to) {
  TensorAccess access(ctx, *ctx.cluster.ctas[rank]);
  const int words = rowBytesOf(shape) / 4;
  if (!access.reaches(to.column, words))
    return;
  for (int row = 0; row < rowsOf(shape); ++row) {
    uint32_t buffer[kMaxRowWords];
    for (int piece = 0; piece * kPiece < rowBytesOf(shape); ++piece)
      ctx.readShared(addressInCta(rank, from.address(/*mnMajor=*/false, row, piece)), kPiece,
                     buffer + piece * kPiece / 4);
    for (int lane : lanesOf(shape, row))
      access.write(to.lane + lane, to.column, words, buffer);
  }
}

/// Rows move down by one within each 32 lanes; the last of them stays.
void performShift(AsyncContext &ctx, uint32_t rank, TensorAddress address) {
  TensorAccess access(ctx, *ctx.cluster.ctas[rank]);
  if (!access.reaches(address.column, kShiftColumns))
    return;
  for (int lane = address.lane; lane < Cta::kTensorLanes; ++lane) {
    if (lane % kGroup == kGroup - 1)
      continue;
    uint32_t buffer[kShiftColumns];
    access.read(lane + 1, address.column, kShiftColumns, buffer);
    access.write(lane, address.column, kShiftColumns, buffer);
  }
}

/// The shape, or Full256 after a failure.
CopyShape decodeShape(Decoder &decode, OpcodeReader &opcode) {
  std::string_view name = opcode.takeAny(), multicast, rest;
  if (opcode.takeAfter("warpx", rest))
    multicast = decode.part(4);
  std::optional<CopyShape> shape = copyShapeOf(name, multicast);
  if (opcode.takeAfter("b8x16", rest))
    decode.fail("decompression (.b8x16) is not modelled: the ISA does not say where in its byte an element is");
  opcode.finish(2, 2);
  if (!shape)
    decode.fail("expected a shape like .128x256b or .32x128b.warpx4, got ." + std::string(name) +
                (multicast.empty() ? "" : "." + std::string(multicast)));
  return shape.value_or(CopyShape::Full256);
}

/// What is wrong with a copy, or "".
std::string wrongCopy(CopyShape shape, const SharedDescriptor &from, TensorAddress to) {
  if (from.units32)
    return "expected a source contiguous along K, whose swizzle has no units of 32 bytes";
  const int lanes = shape == CopyShape::Four256 ? kGroup : 1;
  if (to.lane >= lanes)
    return "destination starts at lane " + std::to_string(to.lane) + ", expected " +
           (lanes == 1 ? "0" : "0 to " + std::to_string(lanes - 1));
  return "";
}

} // namespace

Evaluator decodeCopy(Decoder &decode) {
  OpcodeReader opcode(decode, 2);
  const int ctaGroup = opcode.ctaGroup();
  const CopyShape shape = decodeShape(decode, opcode);
  if (decode.failed())
    return {};
  AddressSource to = decode.address(0);
  Source from = decode.source(1);
  return [=](Lanes &lanes) {
    const int lane = singleIssuer(lanes), firstRank = firstRankOf(lanes, ctaGroup);
    if (firstRank < 0)
      return Step::Done;
    std::string error;
    const TensorAddress address(static_cast<uint32_t>(to(lanes, lane)));
    std::optional<SharedDescriptor> descriptor = decodeSharedDescriptor(from(lanes, lane), error);
    if (descriptor)
      error = wrongCopy(shape, *descriptor, address);
    if (!error.empty()) {
      lanes.report(lane, FindingKind::Operand, std::move(error));
      return Step::Done;
    }
    issueToTensorCore(lanes, lane, "tcgen05.cp", "tcgen05.cp onto column " + std::to_string(address.column),
                      [=, descriptor = *descriptor](AsyncContext &ctx) {
                        for (int i = 0; i < ctaGroup; ++i)
                          performCopy(ctx, static_cast<uint32_t>(firstRank + i), shape, descriptor, address);
                      });
    return Step::Done;
  };
}

Evaluator decodeShift(Decoder &decode) {
  OpcodeReader opcode(decode, 2);
  const int ctaGroup = opcode.ctaGroup();
  opcode.expect({"down"});
  opcode.finish(1, 1);
  if (decode.failed())
    return {};
  AddressSource source = decode.address(0);
  return [=](Lanes &lanes) {
    const int lane = singleIssuer(lanes), firstRank = firstRankOf(lanes, ctaGroup);
    const TensorAddress address(static_cast<uint32_t>(source(lanes, lane)));
    if (firstRank < 0)
      return Step::Done;
    if (address.lane % kGroup != 0 || address.lane >= Cta::kTensorLanes) {
      lanes.report(lane, FindingKind::Operand,
                   "starts at lane " + std::to_string(address.lane) + ", expected a multiple of 32 below 128");
      return Step::Done;
    }
    issueToTensorCore(lanes, lane, "tcgen05.shift", "tcgen05.shift of column " + std::to_string(address.column),
                      [=](AsyncContext &ctx) {
                        for (int i = 0; i < ctaGroup; ++i)
                          performShift(ctx, static_cast<uint32_t>(firstRank + i), address);
                      });
    return Step::Done;
  };
}

} // namespace headrace::sim::tcgen05
