// Where ptxas is, and which PTX it takes.
#include "ProgramRun.h"
#include "headrace/Target/Ptxas.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

namespace headrace {
namespace {

/// Value of an environment variable, empty if unset.
std::string environment(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

bool isProgram(llvm::StringRef path) {
  return llvm::sys::fs::is_regular_file(path) && llvm::sys::fs::can_execute(path);
}

/// Entries of a folder whose name starts with `prefix`, last in version order first; none if it is
/// not a folder.
std::vector<std::string> entries(const llvm::Twine &folder, llvm::StringRef prefix = "") {
  std::vector<std::string> found;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(folder, error), end; it != end && !error; it.increment(error))
    if (llvm::sys::path::filename(it->path()).starts_with(prefix))
      found.push_back(it->path());
  std::sort(found.begin(), found.end(), [](llvm::StringRef a, llvm::StringRef b) { return a.compare_numeric(b) > 0; });
  return found;
}

/// ptxas of the pip packages below a Python prefix:
/// PREFIX/lib/python3.N/{site,dist}-packages/nvidia/*/bin/ptxas.
std::optional<std::string> findInPrefix(const std::string &prefix) {
  for (const std::string &python : entries(prefix + "/lib", "python3"))
    for (const char *packages : {"/site-packages", "/dist-packages"})
      for (const std::string &package : entries(python + packages + "/nvidia"))
        if (isProgram(package + "/bin/ptxas"))
          return package + "/bin/ptxas";
  return std::nullopt;
}

/// Prefixes under which Python packages may lie, most specific first. The one of the `python3` on
/// PATH is guessed from its place: asking it would take longer than assembling.
std::vector<std::string> pythonPrefixes() {
  std::vector<std::string> prefixes = {environment("VIRTUAL_ENV"), environment("CONDA_PREFIX")};
  for (const char *name : {"python3", "python"}) {
    llvm::ErrorOr<std::string> python = llvm::sys::findProgramByName(name);
    if (!python)
      continue;
    // Of a virtual environment, before its link is followed to the interpreter that it was made
    // from.
    prefixes.push_back(llvm::sys::path::parent_path(llvm::sys::path::parent_path(*python)).str());
    llvm::SmallString<128> real;
    if (!llvm::sys::fs::real_path(*python, real))
      prefixes.push_back(llvm::sys::path::parent_path(llvm::sys::path::parent_path(real)).str());
  }
  std::string home = environment("HOME");
  prefixes.push_back(home + "/.local");
  std::string pyenv = environment("PYENV_ROOT");
  for (const std::string &version : entries((pyenv.empty() ? home + "/.pyenv" : pyenv) + "/versions"))
    prefixes.push_back(version);
  prefixes.push_back("/usr/local");
  prefixes.push_back("/usr");
  llvm::erase(prefixes, "");
  return prefixes;
}

struct Release {
  int cuda; ///< 100 * major + minor
  int isa;
};

// CUDA release -> PTX ISA. No formula: 12.5 and 12.6 share 8.5. PTX ISA, "Release Notes", table of
// release history.
constexpr Release kReleases[] = {{1000, 63}, {1001, 64}, {1002, 65}, {1100, 70}, {1101, 71}, {1102, 72},
                                 {1103, 73}, {1104, 74}, {1105, 75}, {1106, 76}, {1107, 77}, {1108, 78},
                                 {1200, 80}, {1201, 81}, {1202, 82}, {1203, 83}, {1204, 84}, {1205, 85},
                                 {1206, 85}, {1207, 86}, {1208, 87}, {1209, 88}, {1300, 90}, {1301, 91}};

/// The oldest CUDA release that takes `isa`, "12.8"; empty if none is known.
std::string releaseFor(int isa) {
  for (const Release &release : kReleases)
    if (release.isa >= isa)
      return std::to_string(release.cuda / 100) + "." + std::to_string(release.cuda % 100);
  return "";
}

} // namespace

std::optional<std::string> findPtxas(std::string &whyNot) {
  if (std::string path = environment("HEADRACE_PTXAS"); !path.empty()) {
    if (isProgram(path))
      return path;
    whyNot = "HEADRACE_PTXAS is '" + path + "', which is not a program";
    return std::nullopt;
  }
  if (std::string home = environment("CUDA_HOME"); !home.empty() && isProgram(home + "/bin/ptxas"))
    return home + "/bin/ptxas";
  if (llvm::ErrorOr<std::string> path = llvm::sys::findProgramByName("ptxas"))
    return *path;
  for (const std::string &prefix : pythonPrefixes())
    if (std::optional<std::string> path = findInPrefix(prefix))
      return path;
  whyNot = "ptxas not found in $HEADRACE_PTXAS, $CUDA_HOME/bin, PATH or the Python packages; get "
           "it with "
           "'pip install nvidia-cuda-nvcc'";
  return std::nullopt;
}

std::optional<int> isaVersionFromVersionText(llvm::StringRef text) {
  // "Cuda compilation tools, release 13.0, V13.0.88"
  size_t at = text.find("release ");
  if (at == llvm::StringRef::npos)
    return std::nullopt;
  text = text.drop_front(at + strlen("release "));
  int major = 0, minor = 0;
  if (text.consumeInteger(10, major) || !text.consume_front(".") || text.consumeInteger(10, minor))
    return std::nullopt;
  std::optional<int> isa;
  for (const Release &release : kReleases)
    if (release.cuda <= 100 * major + minor)
      isa = release.isa;
  return isa;
}

std::optional<int> ptxasIsaVersion(llvm::StringRef path, std::string &whyNot) {
  static std::mutex mutex;
  static std::map<std::string, int> known;
  std::lock_guard<std::mutex> lock(mutex);
  if (auto it = known.find(path.str()); it != known.end())
    return it->second;
  ProgramRun run = runProgram(path, {"--version"});
  if (!run.problem.empty()) {
    whyNot = run.problem;
    return std::nullopt;
  }
  std::optional<int> isa = isaVersionFromVersionText(run.output);
  if (!isa) {
    whyNot = "'" + path.str() + " --version' names no CUDA release from 10.0 on";
    return std::nullopt;
  }
  known[path.str()] = *isa;
  return isa;
}

std::optional<int> choosePtxVersion(const TargetInfo &target, int ptxasIsa, std::string &whyNot, int needed,
                                    int llvmMax) {
  int version = std::max(target.ptxVersion, needed);
  std::string rule = target.name + " code needs PTX ISA " + formatPtxVersion(version);
  if (version > ptxasIsa) {
    whyNot = rule + ", ptxas takes up to " + formatPtxVersion(ptxasIsa);
    if (std::string release = releaseFor(version); !release.empty())
      whyNot += "; CUDA " + release + " or newer has it";
    return std::nullopt;
  }
  if (version > llvmMax) {
    whyNot = rule + ", LLVM writes up to " + formatPtxVersion(llvmMax);
    return std::nullopt;
  }
  return version;
}

} // namespace headrace
