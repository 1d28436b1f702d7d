// tcgen05.mma and tcgen05.mma.ws, dense: decoding and issue (PTX ISA 9.7.16.10.9).
#include "Families.h"
#include "MmaRequest.h"
#include "OpcodeReader.h"

#include "headrace/Sim/TensorMemory/AccumulatorLayout.h"

namespace headrace::sim::tcgen05 {

namespace {

struct Mma {
  MmaForm form;
  AddressSource d, tensorA, scalesA, scalesB;
  Source sharedA, sharedB, descriptor, accumulate;
  std::vector<Source> disabledLanes;
  int inputShift = 0;
};

/// `.block16`, `.block32` and `.scale_vec::NX`, or what the kind means without one (PTX ISA 9.7.16.10.7). Result: scale
/// factors of a row; 0 after a failure.
int decodeScaleVector(Decoder &decode, OpcodeReader &opcode, MmaKind kind) {
  std::string_view count;
  int scales = 0;
  if (opcode.take("block16"))
    scales = 4;
  else if (opcode.take("block32"))
    scales = kind == MmaKind::Mxf8f6f4 ? 1 : 2;
  else if (opcode.takeAfter("scale_vec::", count))
    scales = count == "1X" ? 1 : count == "2X" ? 2 : count == "4X" ? 4 : 0;
  else if (kind != MmaKind::Mxf4nvf4)
    scales = kind == MmaKind::Mxf8f6f4 ? 1 : 2;
  if (kind == MmaKind::Mxf8f6f4 ? scales == 1 : scales == 2 || (scales == 4 && kind == MmaKind::Mxf4nvf4))
    return scales;
  decode.fail(std::string("expected .block16 or .block32 as kind::") + nameOf(kind) + " has it, got " +
              (scales ? std::to_string(scales) + " scale factors per row" : "neither"));
  return 0;
}

/// `.collector::a::fill` and the like promise that a buffer is reused; results do not depend on it.
void skipCollector(Decoder &decode, OpcodeReader &opcode, bool weightStationary) {
  std::string_view rest;
  if (!opcode.takeAfter("collector::", rest))
    return;
  std::string_view buffer = rest.substr(0, rest.find("::")),
                   use = rest.substr(std::min(rest.size(), buffer.size() + 2));
  const bool knownBuffer =
      weightStationary ? buffer.size() == 2 && buffer[0] == 'b' && buffer[1] >= '0' && buffer[1] <= '3' : buffer == "a";
  if (!knownBuffer || (use != "fill" && use != "use" && use != "lastuse" && use != "discard"))
    decode.fail(".collector::" + std::string(rest) + " is not known here");
}

void decodeForm(Decoder &decode, MmaForm &form) {
  OpcodeReader opcode(decode, 2);
  if (opcode.take("sp"))
    return decode.fail("sparse matrices (.sp) are not modelled");
  form.weightStationary = opcode.take("ws");
  if (opcode.take("sp"))
    return decode.fail("sparse matrices (.sp) are not modelled");
  form.ctaGroup = opcode.ctaGroup();
  std::string_view name;
  std::optional<MmaKind> kind;
  if (opcode.takeAfter("kind::", name))
    kind = mmaKindOf(name);
  if (!kind)
    return decode.fail("expected .kind:: f16, tf32, f8f6f4, i8, mxf8f6f4, mxf4 or mxf4nvf4, got '" + std::string(name) +
                       "'");
  form.kind = *kind;
  if (isBlockScaled(form.kind)) {
    opcode.expect({"block_scale"});
    form.scales = decodeScaleVector(decode, opcode, form.kind);
  }
  if (opcode.take("ashift"))
    return decode.fail("shifted rows of A (.ashift) are not modelled");
  skipCollector(decode, opcode, form.weightStationary);
  if (form.weightStationary && (isBlockScaled(form.kind) || form.ctaGroup != 1))
    return decode.fail("expected a kind without block scaling and cta_group::1 with .ws");
  opcode.finish(isBlockScaled(form.kind) ? 7 : 5, 7);
}

/// A in shared memory is a descriptor, A in tensor memory an address.
void decodeMatrices(Decoder &decode, Mma &mma) {
  mma.d = decode.address(0);
  mma.form.aInTensorMemory = decode.instruction.operands[1].kind == ptx::Operand::Kind::Address;
  if (mma.form.aInTensorMemory)
    mma.tensorA = decode.address(1);
  else
    mma.sharedA = decode.source(1);
  mma.sharedB = decode.source(2);
  mma.descriptor = decode.source(3);
}

/// What follows the instruction descriptor: `[sfa], [sfb], p` or `[{lanes},] p [, shift]`.
void decodeTail(Decoder &decode, Mma &mma) {
  if (isBlockScaled(mma.form.kind)) {
    mma.scalesA = decode.address(4);
    mma.scalesB = decode.address(5);
    mma.accumulate = decode.source(6);
    return;
  }
  size_t next = 4;
  if (decode.instruction.operands[next].kind == ptx::Operand::Kind::Vector) {
    mma.disabledLanes = decode.sources(next++);
    const size_t words = 4 * static_cast<size_t>(mma.form.ctaGroup);
    if (mma.disabledLanes.size() != words || mma.form.weightStationary)
      return decode.fail("expected a mask of output lanes of " + std::to_string(words) + " registers and no .ws, got " +
                         std::to_string(mma.disabledLanes.size()));
  }
  if (next >= decode.numOperands())
    return decode.fail("expected enable-input-d behind the mask of output lanes");
  mma.accumulate = decode.source(next++);
  if (next == decode.numOperands())
    return;
  if (mma.form.weightStationary)
    return decode.fail("a mask of zero columns of B is not modelled");
  const int64_t shift = decode.integer(next);
  if (shift < 0 || shift > 15 || (mma.form.kind != MmaKind::F16 && mma.form.kind != MmaKind::Tf32))
    return decode.fail("expected scale-input-d of 0 to 15 and kind::f16 or tf32, got " + std::to_string(shift));
  mma.inputShift = static_cast<int>(shift);
  if (next + 1 != decode.numOperands())
    decode.fail("expected nothing behind scale-input-d");
}

/// Which swizzles an operand may have (PTX ISA 9.7.16.5.1): in units of 32 bytes only 32-bit elements that are
/// contiguous along M or N, and those no other way.
bool fits(const SharedDescriptor &descriptor, const MmaOperandFields &operand) {
  const bool needsUnits32 = operand.mnMajor && widthOf(operand.type) == 32;
  return descriptor.units32 == needsUnits32;
}

std::optional<SharedDescriptor> sharedOperand(const char *matrix, uint64_t bits, const MmaOperandFields &operand,
                                              std::string &error) {
  std::optional<SharedDescriptor> descriptor = decodeSharedDescriptor(bits, error);
  if (descriptor && !fits(*descriptor, operand)) {
    error = std::string("matrix ") + matrix + " of " + nameOf(operand.type) + " is contiguous along " +
            (operand.mnMajor ? "M or N" : "K") + ", which its swizzle does not go with";
    return std::nullopt;
  }
  if (!descriptor)
    error = std::string("matrix ") + matrix + ": " + error;
  return descriptor;
}

/// What is wrong with the tensor memory addresses, or "".
std::string wrongLane(const MmaRequest &request) {
  const MmaForm &form = request.form;
  const InstructionDescriptor &shape = request.shape;
  const bool may16 = mayStartAtLane16(form.ctaGroup, form.weightStationary, shape.m);
  if (request.d.lane != 0 && !(may16 && request.d.lane == 16))
    return "D starts at lane " + std::to_string(request.d.lane) + ", expected 0" + (may16 ? " or 16" : "");
  if (form.scales && (request.scalesA.lane || request.scalesB.lane))
    return "scale factors start at lane " +
           std::to_string(request.scalesA.lane ? request.scalesA.lane : request.scalesB.lane) + ", expected 0";
  if (!form.aInTensorMemory)
    return "";
  if (request.tensorA.lane != request.d.lane)
    return "A starts at lane " + std::to_string(request.tensorA.lane) + " and D at lane " +
           std::to_string(request.d.lane) + ", expected the same";
  if (form.weightStationary && shape.m != 128)
    return "A in tensor memory with .ws and M = " + std::to_string(shape.m) + " is not modelled, expected M = 128";
  if (shape.a.type == MatrixElement::E2m1 && !isPackedFp4(form.kind))
    return "e2m1 A in tensor memory is not modelled: the ISA does not say where in its byte an element is";
  return "";
}

uint32_t word(uint64_t value) { return static_cast<uint32_t>(value); }

/// Reads the operands that say where A and B are. Result: whether `error` is still empty.
bool readMatrices(const Lanes &lanes, int lane, const Mma &mma, MmaRequest &request, std::string &error) {
  auto sharedB = sharedOperand("B", mma.sharedB(lanes, lane), request.shape.b, error);
  if (!sharedB)
    return false;
  request.sharedB = *sharedB;
  if (mma.form.aInTensorMemory) {
    request.tensorA = TensorAddress(word(mma.tensorA(lanes, lane)));
    return true;
  }
  auto sharedA = sharedOperand("A", mma.sharedA(lanes, lane), request.shape.a, error);
  if (sharedA)
    request.sharedA = *sharedA;
  return sharedA.has_value();
}

/// Reads the operands of the lane. Ensures: without a value, `error` says what is wrong with them.
std::optional<MmaRequest> requestOf(const Lanes &lanes, int lane, const Mma &mma, std::string &error) {
  MmaRequest request;
  request.form = mma.form;
  auto shape = decodeInstructionDescriptor(mma.form, word(mma.descriptor(lanes, lane)), error);
  if (!shape)
    return std::nullopt;
  request.shape = *shape;
  if (!readMatrices(lanes, lane, mma, request, error))
    return std::nullopt;
  request.d = TensorAddress(word(mma.d(lanes, lane)));
  if (mma.form.scales) {
    request.scalesA = TensorAddress(word(mma.scalesA(lanes, lane)));
    request.scalesB = TensorAddress(word(mma.scalesB(lanes, lane)));
  }
  request.accumulate = mma.accumulate(lanes, lane) & 1;
  request.inputShift = mma.inputShift;
  for (size_t i = 0; i < mma.disabledLanes.size(); ++i)
    request.disabledLanes[i] = word(mma.disabledLanes[i](lanes, lane));
  error = wrongLane(request);
  return error.empty() ? std::optional(request) : std::nullopt;
}

void issueMma(const Lanes &lanes, const Mma &mma) {
  const int lane = singleIssuer(lanes), firstRank = firstRankOf(lanes, mma.form.ctaGroup);
  if (firstRank < 0)
    return;
  std::string error;
  std::optional<MmaRequest> request = requestOf(lanes, lane, mma, error);
  if (!request)
    return lanes.report(lane, FindingKind::Operand, std::move(error));
  request->firstRank = static_cast<uint32_t>(firstRank);
  const InstructionDescriptor &shape = request->shape;
  std::string description = "tcgen05.mma of " + std::to_string(shape.m) + " x " + std::to_string(shape.n) + " x " +
                            std::to_string(shape.k) + " onto column " + std::to_string(request->d.column);
  issueToTensorCore(lanes, lane, "tcgen05.mma", std::move(description),
                    [request = *request](AsyncContext &ctx) { performMma(ctx, request); });
}

} // namespace

Evaluator decodeMma(Decoder &decode) {
  Mma mma;
  decodeForm(decode, mma.form);
  if (decode.failed())
    return {};
  decodeMatrices(decode, mma);
  decodeTail(decode, mma);
  return [mma](Lanes &lanes) {
    issueMma(lanes, mma);
    return Step::Done;
  };
}

} // namespace headrace::sim::tcgen05
