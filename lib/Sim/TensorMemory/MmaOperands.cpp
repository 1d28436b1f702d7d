// Operands of tcgen05.mma: matrices in shared memory (PTX ISA 9.7.16.5.1), A in tensor memory (9.7.16.10.4), scale
// factors (9.7.16.10.7).
#include "MmaRequest.h"

#include "headrace/Sim/Numerics/Float.h"
#include "headrace/Sim/TensorMemory/ScaleLayout.h"

namespace headrace::sim::tcgen05 {

namespace {

constexpr int kPiece = 16;    // bytes that are contiguous in every canonical layout
constexpr int kRowBytes = 32; // K of one instruction

ElementPlacing sharedPlacing(MatrixElement type, MmaKind kind) {
  return widthOf(type) < 8 && !isPackedFp4(kind) ? ElementPlacing::Slots : ElementPlacing::Dense;
}

ElementPlacing tensorPlacing(MatrixElement type, MmaKind kind) {
  return widthOf(type) < 8 && !isPackedFp4(kind) ? ElementPlacing::PerByte : ElementPlacing::Dense;
}

void readAlongK(AsyncContext &ctx, uint32_t rank, const SharedDescriptor &descriptor, MatrixElement type, MmaKind kind,
                int rows, double *out) {
  const int depth = depthOf(kind);
  for (int row = 0; row < rows; ++row) {
    uint8_t bytes[kRowBytes];
    for (int piece = 0; piece < kRowBytes / kPiece; ++piece)
      ctx.readShared(addressInCta(rank, descriptor.address(/*mnMajor=*/false, row, piece)), kPiece,
                     bytes + piece * kPiece);
    unpack(type, sharedPlacing(type, kind), bytes, depth, out + row * depth);
  }
}

void readAlongMn(AsyncContext &ctx, uint32_t rank, const SharedDescriptor &descriptor, MatrixElement type, MmaKind kind,
                 int rows, double *out) {
  const int depth = depthOf(kind), rowsPerPiece = kPiece * 8 / widthOf(type);
  for (int k = 0; k < depth; ++k) {
    for (int piece = 0; piece < rows / rowsPerPiece; ++piece) {
      uint8_t bytes[kPiece];
      double values[kPiece];
      ctx.readShared(addressInCta(rank, descriptor.address(/*mnMajor=*/true, k, piece)), kPiece, bytes);
      unpack(type, ElementPlacing::Dense, bytes, rowsPerPiece, values);
      for (int i = 0; i < rowsPerPiece; ++i)
        out[(piece * rowsPerPiece + i) * depth + k] = values[i];
    }
  }
}

void negate(double *values, size_t count) {
  for (size_t i = 0; i < count; ++i)
    values[i] = -values[i];
}

/// The word of a row's factors. All of its copies are read, and must agree.
uint32_t readReplicated(AsyncContext &ctx, const TensorAccess &access, const ScaleRequest &request, ScalePlace place) {
  constexpr int kGroup = 32;
  const int column = request.address.column + place.column;
  uint32_t word = 0;
  access.read(place.lane, column, 1, &word);
  for (int copy = 1; copy < place.copies; ++copy) {
    uint32_t other = 0;
    access.read(place.lane + copy * kGroup, column, 1, &other);
    if (other != word)
      ctx.report(FindingKind::Operand, std::string("scale factors of ") + request.matrix + " in column " +
                                           std::to_string(column) + ": lane " + std::to_string(place.lane) + " has " +
                                           hex(word) + ", its copy in lane " +
                                           std::to_string(place.lane + copy * kGroup) + " has " + hex(other));
  }
  return word;
}

ScalePlace placeOf(const ScaleRequest &request, int row) {
  return request.split ? splitScalePlace(row, request.rows) : scalePlace(row);
}

} // namespace

void readSharedMatrix(AsyncContext &ctx, uint32_t rank, const SharedDescriptor &descriptor,
                      const MmaOperandFields &operand, MmaKind kind, int rows, std::vector<double> &out) {
  const size_t first = out.size(), count = static_cast<size_t>(rows) * depthOf(kind);
  out.resize(first + count);
  auto read = operand.mnMajor ? readAlongMn : readAlongK;
  read(ctx, rank, descriptor, operand.type, kind, rows, out.data() + first);
  if (operand.negated)
    negate(out.data() + first, count);
}

void readTensorRow(const TensorAccess &access, int lane, int column, const MmaOperandFields &operand, MmaKind kind,
                   double *out) {
  uint32_t words[kRowWords];
  access.read(lane, column, kRowWords, words);
  unpack(operand.type, tensorPlacing(operand.type, kind), reinterpret_cast<const uint8_t *>(words), depthOf(kind), out);
  if (operand.negated)
    negate(out, depthOf(kind));
}

std::vector<double> readScales(AsyncContext &ctx, const TensorAccess &access, const ScaleRequest &request) {
  if (!access.reaches(request.address.column, placeOf(request, request.rows - 1).column + 1))
    return {};
  std::vector<double> result;
  result.reserve(static_cast<size_t>(request.rows) * request.scales);
  for (int row = 0; row < request.rows; ++row) {
    uint32_t word = readReplicated(ctx, access, request, placeOf(request, row));
    for (int s = 0; s < request.scales; ++s) {
      auto bits = static_cast<uint8_t>(word >> 8 * (request.scaleByte + s));
      result.push_back(request.areUe8m0 ? ue8m0ToFloat(bits) : ue4m3ToFloat(bits));
    }
  }
  return result;
}

} // namespace headrace::sim::tcgen05
