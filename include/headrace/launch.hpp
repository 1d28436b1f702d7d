// Launches kernels of headrace-compile from C++17, with nlohmann/json (3.9 or later) and the CUDA driver (11.8 or
// later).
//
//   headrace::Kernel gemm("gemm.json");               // and gemm.cubin (or gemm.ptx) beside it
//   headrace::Array a{aPointer, "bf16", {m, k}}, b{bPointer, "bf16", {n, k}}, c{cPointer, "bf16", {m, n}};
//   gemm.launch(stream, {a, b, c});                   // asynchronous; checks the contract, then launches
//
// A context must be current. Everything that goes wrong is a headrace::LaunchError with one line of text. A Kernel may
// be used by one thread at a time, in one context. The launch record is described in docs/launch-record.md.
#ifndef HEADRACE_LAUNCH_HPP
#define HEADRACE_LAUNCH_HPP

#include "headrace/launch/arguments.hpp"
#include "headrace/launch/contract.hpp"
#include "headrace/launch/grid.hpp"
#include "headrace/launch/parameters.hpp"
#include "headrace/launch/tensor_map.hpp"
#include <fstream>
#include <iterator>

namespace headrace {

namespace detail {

inline std::string readFile(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream)
    fail("'", path, "': cannot read it");
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

} // namespace detail

/// A compiled kernel: its launch record and its code, loaded into the context that is current at the first launch.
class Kernel {
public:
  /// Reads the record at `path` (NAME.json) and the code beside it: NAME.cubin, and NAME.ptx for devices that do not
  /// run the cubin, either of which may be missing. Touches nothing of CUDA. Raises LaunchError for files that are
  /// missing or of another version.
  explicit Kernel(const std::string &path) {
    try {
      record = nlohmann::json::parse(detail::readFile(path));
      if (record.at("version") != 1)
        detail::fail("launch record '", path, "': expected version 1, got ", record.at("version"));
    } catch (const nlohmann::json::exception &error) {
      detail::fail("launch record '", path, "': ", error.what());
    }
    const std::string stem = path.substr(0, path.rfind(".json"));
    const bool hasCubin = std::ifstream(stem + ".cubin").good(), hasPtx = std::ifstream(stem + ".ptx").good();
    if (hasCubin)
      cubin = detail::readFile(stem + ".cubin");
    if (hasPtx || !hasCubin)
      ptx = detail::readFile(stem + ".ptx");
  }

  /// Launches on `stream`, asynchronously, with as many programs as the record says for these arguments, which are in
  /// the record's order. Raises LaunchError if they break the contract or CUDA refuses something; a launch of no
  /// programs is none.
  void launch(CUstream stream, const std::vector<Argument> &args) {
    guarded([&] {
      detail::checkArguments(record, args);
      load();
      start(stream, args, detail::gridOf(record, args, processors));
    });
  }

  /// The same with a grid of the caller's choice.
  void launch(CUstream stream, const std::vector<Argument> &args, const Grid &grid) {
    guarded([&] {
      detail::checkArguments(record, args);
      load();
      start(stream, args, grid);
    });
  }

  /// The launch record, see docs/launch-record.md.
  const nlohmann::json &getRecord() const { return record; }

private:
  /// Turns what the JSON library says of a broken record into a LaunchError.
  template <typename Work> void guarded(Work work) {
    try {
      work();
    } catch (const nlohmann::json::exception &error) {
      detail::fail("launch record of a kernel: ", error.what());
    } catch (const std::bad_variant_access &) {
      detail::fail("launch record of a kernel: expected references to arguments of the right kind");
    } catch (const std::out_of_range &) {
      detail::fail("launch record of a kernel: expected references to arguments and dimensions that exist");
    }
  }

  int attribute(CUdevice_attribute which, CUdevice device) const {
    int value = 0;
    detail::check(cuDeviceGetAttribute(&value, which, device), "asking for an attribute of the device");
    return value;
  }

  void load() {
    if (function)
      return;
    const std::string name = record.at("kernel").get<std::string>();
    const int shared = record.at("shared_bytes").get<int>();
    CUdevice device = 0;
    detail::check(cuCtxGetDevice(&device), "asking for the current context's device");
    if (int limit = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, device); shared > limit)
      detail::fail("kernel '", name, "': expected at least ", shared, " bytes of shared memory, the device has ",
                   limit);
    processors = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
    CUmodule module = nullptr;
    CUfunction loaded = nullptr;
    CUresult status = cubin.empty() ? CUDA_ERROR_NO_BINARY_FOR_GPU : cuModuleLoadData(&module, cubin.data());
    if (status == CUDA_ERROR_NO_BINARY_FOR_GPU && !ptx.empty())
      status = cuModuleLoadData(&module, ptx.c_str());
    detail::check(status, "loading kernel '", name, "' for ", record.at("target").get<std::string>());
    detail::check(cuModuleGetFunction(&loaded, module, name.c_str()), "finding kernel '", name, "' in its code");
    // More than this must be asked for (CUDA programming guide, 16.7.3); 8 is the largest cluster that all devices run.
    if (shared > 48 * 1024)
      detail::check(cuFuncSetAttribute(loaded, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared), "asking for ",
                    shared, " bytes of shared memory");
    if (clusterSize() > 8)
      detail::check(cuFuncSetAttribute(loaded, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1),
                    "asking for a cluster of ", clusterSize());
    function = loaded;
  }

  int clusterSize() const {
    const auto cluster = record.at("cluster").get<std::array<int, 3>>();
    return cluster[0] * cluster[1] * cluster[2];
  }

  /// The stand-in for an array without elements, one for each tensor map: a store to one cannot spoil another. Lives as
  /// long as the context.
  CUdeviceptr zeroBuffer(std::size_t map, CUstream stream) {
    CUdeviceptr &buffer = zeros[map];
    if (!buffer)
      detail::check(cuMemAlloc(&buffer, detail::kZeroBytes), "allocating a buffer of zeros");
    detail::check(cuMemsetD8Async(buffer, 0, detail::kZeroBytes, stream), "clearing a buffer of zeros");
    return buffer;
  }

  void start(CUstream stream, const std::vector<Argument> &args, const Grid &grid) {
    detail::checkGrid(record, grid);
    if (std::find(grid.begin(), grid.end(), 0) != grid.end())
      return;
    const nlohmann::json &infos = record.at("params");
    std::vector<detail::Parameter> parameters(infos.size());
    std::vector<void *> pointers(infos.size());
    for (std::size_t i = 0; i < infos.size(); ++i) {
      pointers[i] = parameters[i].bytes;
      if (infos[i].at("kind") == "tensor_map")
        parameters[i].set(tensorMap(infos[i].at("map").get<std::size_t>(), args, stream));
      else
        detail::setParameter(parameters[i], infos[i], record, args);
    }
    start(stream, grid, pointers.data());
  }

  CUtensorMap tensorMap(std::size_t index, const std::vector<Argument> &args, CUstream stream) {
    const nlohmann::json &map = record.at("tensor_maps").at(index);
    const std::size_t arg = map.at("arg").get<std::size_t>();
    const Array &array = detail::arrayOf(args, arg);
    CUdeviceptr stand = detail::needsZeros(array) ? zeroBuffer(index, stream) : 0;
    return detail::encode(map, array, stand, record.at("args").at(arg).at("name").get<std::string>());
  }

  void start(CUstream stream, const Grid &grid, void **pointers) {
    const auto cluster = record.at("cluster").get<std::array<unsigned, 3>>();
    CUlaunchAttribute attribute{};
    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute.value.clusterDim.x = cluster[0];
    attribute.value.clusterDim.y = cluster[1];
    attribute.value.clusterDim.z = cluster[2];
    CUlaunchConfig config{};
    config.gridDimX = static_cast<unsigned>(grid[0]);
    config.gridDimY = static_cast<unsigned>(grid[1]);
    config.gridDimZ = static_cast<unsigned>(grid[2]);
    config.blockDimX = record.at("threads").get<unsigned>();
    config.blockDimY = config.blockDimZ = 1;
    config.sharedMemBytes = record.at("shared_bytes").get<unsigned>();
    config.hStream = stream;
    // Without clusters nothing is asked of devices that have none.
    config.attrs = &attribute;
    config.numAttrs = clusterSize() > 1 ? 1 : 0;
    detail::check(cuLaunchKernelEx(&config, function, pointers, nullptr), "launching kernel '",
                  record.at("kernel").get<std::string>(), "'");
  }

  nlohmann::json record;
  std::string cubin, ptx;
  CUfunction function = nullptr;
  std::int64_t processors = 0;
  std::map<std::size_t, CUdeviceptr> zeros;
};

} // namespace headrace

#endif // HEADRACE_LAUNCH_HPP
