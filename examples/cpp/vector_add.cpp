// Launches a kernel z = x + y of float vectors, such as that of python/examples/tutorial/01_vector_add.py, from C++.
//
//   python3 -c "import sys; sys.path.insert(0, 'python/examples/tutorial')
//   import headrace as hr; v = hr.f32[::1]; add = __import__('01_vector_add').add
//   hr.compile(add, {'X': v, 'Y': v, 'Z': v}, 'sm_90a').save('.')"
//   vector-add add.json
#include "headrace/launch.hpp"
#include <iostream>

using headrace::detail::check;

namespace {
/// Floats in device memory.
class DeviceVector {
public:
  explicit DeviceVector(std::int64_t count) : count(count) {
    check(cuMemAlloc(&pointer, bytes()), "allocating a vector");
  }
  DeviceVector(const DeviceVector &) = delete;
  ~DeviceVector() { cuMemFree(pointer); }

  void write(const std::vector<float> &values) {
    check(cuMemcpyHtoD(pointer, values.data(), bytes()), "copying to the device");
  }
  std::vector<float> read() const {
    std::vector<float> values(static_cast<std::size_t>(count));
    check(cuMemcpyDtoH(values.data(), pointer, bytes()), "copying from the device");
    return values;
  }
  headrace::Array array() const { return {pointer, "f32", {count}}; }

private:
  std::size_t bytes() const { return static_cast<std::size_t>(count) * sizeof(float); }

  std::int64_t count;
  CUdeviceptr pointer = 0;
};
} // namespace

/// Runs the kernel of the record at `path` on vectors of `count` elements; the number of wrong ones.
static int run(const char *path, std::int64_t count) {
  headrace::Kernel add(path);
  DeviceVector x(count), y(count), z(count);
  std::vector<float> left(static_cast<std::size_t>(count)), right(left);
  for (std::size_t i = 0; i < left.size(); ++i) {
    left[i] = static_cast<float>(i % 1000);
    right[i] = static_cast<float>(i % 77) / 2;
  }
  x.write(left);
  y.write(right);
  add.launch(nullptr, {x.array(), y.array(), z.array()});
  check(cuCtxSynchronize(), "running the kernel");
  std::vector<float> result = z.read();
  int wrong = 0;
  for (std::size_t i = 0; i < result.size(); ++i)
    wrong += result[i] != left[i] + right[i];
  return wrong;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    std::cerr << "usage: vector-add KERNEL.json\n";
    return 2;
  }
  try {
    CUdevice device = 0;
    CUcontext context = nullptr;
    check(cuInit(0), "looking for a GPU");
    check(cuDeviceGet(&device, 0), "looking for a GPU");
    check(cuDevicePrimaryCtxRetain(&context, device), "making a context");
    check(cuCtxSetCurrent(context), "making a context");
    int wrong = run(argv[1], 1000003);
    std::cout << (wrong ? "wrong: " : "right: ") << wrong << " elements differ\n";
    return wrong ? 1 : 0;
  } catch (const headrace::LaunchError &error) {
    std::cerr << "error: " << error.what() << "\n";
    return 1;
  }
}
