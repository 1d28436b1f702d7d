// Checks arguments against the launch record before anything reaches the driver.
#ifndef HEADRACE_LAUNCH_CONTRACT_HPP
#define HEADRACE_LAUNCH_CONTRACT_HPP

#include "headrace/launch/arguments.hpp"

namespace headrace {

namespace detail {

template <typename Expected, typename Got>
[[noreturn]] void refuse(const Json &arg, const Expected &expected, const Got &got, const std::string &because) {
  fail("argument '", arg.at("name").get<std::string>(), "': expected ", expected, ", got ", got, ", because ", because);
}

/// A stride that no element's address depends on.
inline bool isFree(const Array &array, std::size_t dim) { return array.shape[dim] <= 1 || array.empty(); }

inline void checkArray(const Json &arg, const Array &array) {
  constexpr std::int64_t limit = std::int64_t(1) << 31;
  const std::string dtype = arg.at("dtype").get<std::string>();
  const Json &shape = arg.at("shape"), &strides = arg.at("strides");
  if (array.dtype != dtype)
    refuse(arg, dtype, array.dtype, "the kernel was compiled for that dtype");
  if (array.shape.size() != shape.size() || array.strides.size() != shape.size())
    refuse(arg, text(shape.size(), " dimensions"), array.shape.size(), "the kernel was compiled for that rank");
  for (std::size_t d = 0; d < shape.size(); ++d) {
    std::int64_t extent = array.shape[d];
    if (extent < 0 || extent >= limit)
      refuse(arg, text("dimension ", d, " from 0 to ", limit - 1), extent, "the kernel indexes with 32 bits");
    if (!shape[d].is_null() && extent != shape[d].get<std::int64_t>())
      refuse(arg, text("dimension ", d, " to be ", shape[d]), extent, "the kernel was compiled for that size");
  }
  if (!array.pointer && !array.empty())
    refuse(arg, "a device pointer", "null", "the array has elements");
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (isFree(array, d))
      continue;
    if (array.strides[d] < 0)
      refuse(arg, text("stride ", d, " of at least 0"), array.strides[d], "kernels address forward only");
    if (!strides[d].is_null() && array.strides[d] != strides[d].get<std::int64_t>())
      refuse(arg, text("stride ", d, " to be ", strides[d]), array.strides[d],
             "the kernel was compiled for that stride");
  }
}

inline void checkRequirement(const Json &requirement, const Json &arg, const Argument &argument) {
  const std::string what = requirement.at("what").get<std::string>();
  const std::string because = requirement.at("because").get<std::string>();
  const std::int64_t of = requirement.at(requirement.count("bytes") ? "bytes" : "of").get<std::int64_t>();
  if (what == "scalar_multiple") {
    std::int64_t value = std::get<std::int64_t>(argument.value);
    if (value % of)
      refuse(arg, text("a multiple of ", of), value, because);
    return;
  }
  const Array &array = std::get<Array>(argument.value);
  const std::size_t dim = requirement.value("dim", std::size_t(0));
  if (what == "pointer_multiple") {
    if (!array.empty() && array.pointer % static_cast<CUdeviceptr>(of))
      refuse(arg, text("a pointer that is a multiple of ", of, " bytes"), hexadecimal(array.pointer), because);
  } else if (what == "stride_multiple") {
    std::int64_t bytes = array.strides.at(dim) * bytesOf(array.dtype);
    if (!isFree(array, dim) && bytes % of)
      refuse(arg, text("stride ", dim, " to be a multiple of ", of, " bytes"),
             text(array.strides[dim], " elements, ", bytes, " bytes"), because);
  } else if (what == "dim_multiple") {
    if (array.shape.at(dim) % of)
      refuse(arg, text("dimension ", dim, " to be a multiple of ", of), array.shape[dim], because);
  } else {
    fail("launch record: expected a known requirement, got ", what);
  }
}

/// Checks the arguments against the record. Raises LaunchError for the first that does not fit.
inline void checkArguments(const Json &record, const Arguments &args) {
  const Json &infos = record.at("args");
  if (args.size() != infos.size())
    fail("kernel '", record.at("kernel").get<std::string>(), "': expected ", infos.size(), " arguments, got ",
         args.size());
  for (std::size_t i = 0; i < args.size(); ++i) {
    bool isArray = std::holds_alternative<Array>(args[i].value);
    bool wantsArray = infos[i].at("kind") == "array";
    if (isArray != wantsArray)
      refuse(infos[i], wantsArray ? "an array" : "a number", isArray ? "an array" : "a number", "the kernel takes one");
    if (isArray)
      checkArray(infos[i], std::get<Array>(args[i].value));
    else if (infos[i].at("dtype").get<std::string>()[0] == 'i' && !std::holds_alternative<std::int64_t>(args[i].value))
      refuse(infos[i], infos[i].at("dtype").get<std::string>(), "a floating-point number",
             "the kernel takes an integer");
  }
  for (const Json &requirement : record.at("contract")) {
    std::size_t index = requirement.at("arg").get<std::size_t>();
    checkRequirement(requirement, infos.at(index), args.at(index));
  }
}

} // namespace detail

} // namespace headrace

#endif // HEADRACE_LAUNCH_CONTRACT_HPP
