// Launches the kernel of RECORD.json with the arguments in ARGUMENTS.json, `repeat` times (by default once), on stream
// 9. An error goes to standard error, and the exit code is 1.
#include "headrace/launch.hpp"
#include <iostream>

using nlohmann::json;

static headrace::Argument argument(const json &info) {
  if (info.is_number_integer())
    return info.get<std::int64_t>();
  if (info.is_number())
    return info.get<double>();
  return headrace::Array(info.at("ptr").get<CUdeviceptr>(), info.at("dtype").get<std::string>(),
                         info.at("shape").get<std::vector<std::int64_t>>(),
                         info.at("strides").get<std::vector<std::int64_t>>());
}

int main(int, char **argv) {
  try {
    headrace::Kernel kernel(argv[1]);
    const json call = json::parse(headrace::detail::readFile(argv[2]));
    std::vector<headrace::Argument> args;
    for (const json &info : call.at("args"))
      args.push_back(argument(info));
    auto *stream = reinterpret_cast<CUstream>(std::uintptr_t(9));
    for (int i = 0; i < call.value("repeat", 1); ++i) {
      if (call.contains("grid"))
        kernel.launch(stream, args, call["grid"].get<headrace::Grid>());
      else
        kernel.launch(stream, args);
    }
  } catch (const headrace::LaunchError &error) {
    std::cerr << error.what();
    return 1;
  }
}
