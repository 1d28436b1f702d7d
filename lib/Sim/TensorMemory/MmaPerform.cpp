// The performance of a tcgen05.mma: PTX ISA 9.7.16.10.
#include "MmaRequest.h"

#include "headrace/Sim/TensorMemory/AccumulatorLayout.h"
#include "headrace/Sim/TensorMemory/MatrixProduct.h"

#include <cmath>

namespace headrace::sim::tcgen05 {

namespace {

class MmaPerformance {
public:
  MmaPerformance(AsyncContext &ctx, const MmaRequest &request)
      : ctx(ctx), request(request), form(request.form), shape(request.shape),
        runs(accumulatorRuns(form.ctaGroup, form.weightStationary, shape.m, shape.n)) {
    for (int i = 0; i < form.ctaGroup; ++i)
      tensors.emplace_back(ctx, *ctx.cluster.ctas[request.firstRank + i]);
  }

  void run() {
    if (!reachesColumns() || !readScaleFactors())
      return;
    const ColumnPanels b(readMatrix(request.sharedB, shape.b, shape.n), shape.n, shape.k);
    std::vector<double> a;
    if (!form.aInTensorMemory)
      a = readMatrix(request.sharedA, shape.a, shape.m);
    std::vector<double> row(shape.k);
    for (const AccumulatorRun &part : runs) {
      if (isDisabled(part))
        continue;
      if (form.aInTensorMemory)
        readTensorRow(tensors[part.cta], request.tensorA.lane + part.lane, request.tensorA.column, shape.a, form.kind,
                      row.data());
      update(part, form.aInTensorMemory ? row.data() : a.data() + part.row * shape.k, b);
    }
  }

private:
  bool reachesColumns() const {
    bool all = true;
    for (const TensorAccess &tensor : tensors) {
      all &= tensor.reaches(request.d.column, runs.front().count);
      if (form.aInTensorMemory)
        all &= tensor.reaches(request.tensorA.column, kRowWords);
    }
    return all;
  }

  /// Each CTA of a pair has half of the rows at the same place in its shared memory.
  std::vector<double> readMatrix(const SharedDescriptor &descriptor, const MmaOperandFields &operand, int rows) const {
    std::vector<double> result;
    for (int i = 0; i < form.ctaGroup; ++i)
      readSharedMatrix(ctx, request.firstRank + i, descriptor, operand, form.kind, rows / form.ctaGroup, result);
    return result;
  }

  /// Each CTA has the factors of its rows of A and of all columns of D.
  bool readScaleFactors() {
    if (form.scales == 0)
      return true;
    const bool split = form.ctaGroup == 2 && shape.m == 128;
    for (const TensorAccess &tensor : tensors) {
      scalesA.push_back(readScales(ctx, tensor,
                                   {"A", request.scalesA, shape.a.scaleByte, form.scales, shape.scalesAreUe8m0,
                                    shape.m / form.ctaGroup, /*split=*/false}));
      scalesB.push_back(readScales(
          ctx, tensor, {"B", request.scalesB, shape.b.scaleByte, form.scales, shape.scalesAreUe8m0, shape.n, split}));
      if (scalesA.back().empty() || scalesB.back().empty())
        return false;
    }
    return true;
  }

  BlockScales scalesOf(const AccumulatorRun &part) const {
    if (form.scales == 0)
      return {};
    const int rowInCta = part.row % (shape.m / form.ctaGroup);
    return {form.scales, scalesA[part.cta].data() + rowInCta * form.scales, scalesB[part.cta].data()};
  }

  bool isDisabled(const AccumulatorRun &part) const {
    const int lane = part.cta * Cta::kTensorLanes + request.d.lane + part.lane;
    return request.disabledLanes[lane / 32] >> lane % 32 & 1;
  }

  /// D = A B + D for one part of a row.
  void update(const AccumulatorRun &part, const double *a, const ColumnPanels &b) const {
    const TensorAccess &tensor = tensors[part.cta];
    const int lane = request.d.lane + part.lane;
    uint32_t words[kMaxColumns];
    double sums[kMaxColumns] = {};
    if (request.accumulate) {
      tensor.read(lane, request.d.column, part.count, words);
      for (int i = 0; i < part.count; ++i)
        sums[i] = std::ldexp(1.0, -request.inputShift) * accumulatorValue(shape.d, words[i]);
    }
    accumulateRow(a, b, shape.k, part.firstN, part.count, scalesOf(part), sums);
    for (int i = 0; i < part.count; ++i)
      words[i] = accumulatorWord(shape.d, sums[i], shape.saturate);
    tensor.write(lane, request.d.column, part.count, words);
  }

  static constexpr int kMaxColumns = 256; // PTX ISA 9.7.16.2.1

  AsyncContext &ctx;
  const MmaRequest &request;
  const MmaForm &form;
  const InstructionDescriptor &shape;
  const std::vector<AccumulatorRun> runs;
  std::vector<TensorAccess> tensors;                 // of the CTAs that take part
  std::vector<std::vector<double>> scalesA, scalesB; // of each of them
};

} // namespace

void performMma(AsyncContext &ctx, const MmaRequest &request) { MmaPerformance(ctx, request).run(); }

} // namespace headrace::sim::tcgen05
