// Names of special registers. Which of them have a value here is the business of Sim/Instructions.
#include "SpecialRegisters.h"

#include <algorithm>

namespace headrace::sim::ptx {

namespace {

constexpr std::string_view kScalars[] = {
    "%laneid",
    "%warpid",
    "%nwarpid",
    "%smid",
    "%nsmid",
    "%gridid",
    "%is_explicit_cluster",
    "%cluster_ctarank",
    "%cluster_nctarank",
    "%lanemask_eq",
    "%lanemask_le",
    "%lanemask_lt",
    "%lanemask_ge",
    "%lanemask_gt",
    "%clock",
    "%clock_hi",
    "%clock64",
    "%globaltimer",
    "%globaltimer_lo",
    "%globaltimer_hi",
    "%total_smem_size",
    "%aggr_smem_size",
    "%dynamic_smem_size",
    "%current_graph_exec",
    "%reserved_smem_offset_begin",
    "%reserved_smem_offset_end",
    "%reserved_smem_offset_cap",
};

/// Those with members x, y and z.
constexpr std::string_view kVectors[] = {
    "%tid", "%ntid", "%ctaid", "%nctaid", "%clusterid", "%nclusterid", "%cluster_ctaid", "%cluster_nctaid",
};

} // namespace

bool isSpecialRegister(std::string_view name) {
  size_t dot = name.find('.');
  if (dot == std::string_view::npos)
    return std::find(std::begin(kScalars), std::end(kScalars), name) != std::end(kScalars);
  return std::find(std::begin(kVectors), std::end(kVectors), name.substr(0, dot)) != std::end(kVectors);
}

} // namespace headrace::sim::ptx
