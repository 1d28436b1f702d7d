// A CUDA driver that launches nothing and writes each call as a line of JSON to the file that $STUB_CUDA_LOG names.
// $STUB_CUDA_SIZES has the bytes of each kernel parameter, separated by commas; $STUB_CUDA_FAIL the name of a call to
// refuse; $STUB_CUDA_DEVICE the device's shared memory and multiprocessors.
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <fstream>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <sstream>

using nlohmann::json;

/// The variable's value, "" without one.
static std::string variable(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

static CUresult record(const char *name, json arguments) {
  std::ofstream(variable("STUB_CUDA_LOG"), std::ios::app) << json{{"call", name}, {"args", arguments}} << "\n";
  return variable("STUB_CUDA_FAIL") == name ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

static std::string hex(const void *data, std::size_t count) {
  std::ostringstream text;
  for (std::size_t i = 0; i < count; ++i)
    text << std::hex << std::setw(2) << std::setfill('0') << int(static_cast<const unsigned char *>(data)[i]);
  return text.str();
}

template <typename T> static json list(const T *values, std::size_t count) {
  return json(std::vector<T>(values, values + count));
}

extern "C" {

CUresult CUDAAPI cuGetErrorName(CUresult, const char **name) {
  *name = "CUDA_ERROR_INVALID_VALUE";
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGetErrorString(CUresult, const char **text) {
  *text = "invalid argument";
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxGetDevice(CUdevice *device) {
  *device = 0;
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice) {
  int shared = 232448, processors = 132;
  std::sscanf(variable("STUB_CUDA_DEVICE").c_str(), "%d,%d", &shared, &processors);
  *value = attribute == CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN ? shared : processors;
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuModuleLoadData(CUmodule *module, const void *image) {
  *module = reinterpret_cast<CUmodule>(1);
  std::string start(static_cast<const char *>(image), 4);
  CUresult status = record("cuModuleLoadData", {start});
  return start == "othr" ? CUDA_ERROR_NO_BINARY_FOR_GPU : status;
}

CUresult CUDAAPI cuModuleGetFunction(CUfunction *function, CUmodule, const char *name) {
  *function = reinterpret_cast<CUfunction>(2);
  return record("cuModuleGetFunction", {name});
}

CUresult CUDAAPI cuFuncSetAttribute(CUfunction, CUfunction_attribute attribute, int value) {
  return record("cuFuncSetAttribute", {int(attribute), value});
}

CUresult CUDAAPI cuMemAlloc(CUdeviceptr *pointer, size_t bytes) {
  static CUdeviceptr next = 0x500000;
  *pointer = next;
  next += 0x1000;
  return record("cuMemAlloc", {bytes});
}

CUresult CUDAAPI cuMemsetD8Async(CUdeviceptr pointer, unsigned char value, size_t count, CUstream stream) {
  return record("cuMemsetD8Async", {pointer, int(value), count, reinterpret_cast<std::uintptr_t>(stream)});
}

CUresult CUDAAPI cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address,
                                        const cuuint64_t *dims, const cuuint64_t *strides, const cuuint32_t *box,
                                        const cuuint32_t *steps, CUtensorMapInterleave interleave,
                                        CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                        CUtensorMapFloatOOBfill fill) {
  // Its number, so that the launch shows which map it was given.
  static unsigned char number = 0;
  std::memset(map, ++number, sizeof *map);
  return record("cuTensorMapEncodeTiled",
                {int(type), reinterpret_cast<std::uintptr_t>(address), list(dims, rank), list(strides, rank - 1),
                 list(box, rank), list(steps, rank), int(interleave), int(swizzle), int(promotion), int(fill)});
}

CUresult CUDAAPI cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction, void **params, void **) {
  json values = json::array(), attributes = json::array();
  std::istringstream sizes(variable("STUB_CUDA_SIZES"));
  std::string size;
  for (std::size_t i = 0; std::getline(sizes, size, ','); ++i)
    values.push_back(hex(params[i], std::stoul(size)));
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const auto &cluster = config->attrs[i].value.clusterDim;
    attributes.push_back({int(config->attrs[i].id), cluster.x, cluster.y, cluster.z});
  }
  return record("cuLaunchKernelEx", {{config->gridDimX, config->gridDimY, config->gridDimZ},
                                     {config->blockDimX, config->blockDimY, config->blockDimZ},
                                     config->sharedMemBytes,
                                     reinterpret_cast<std::uintptr_t>(config->hStream),
                                     attributes,
                                     values});
}

} // extern "C"
