// Finding ptxas and asking its version, with stand-ins for it, and assembling with a real one if
// there is any.
#include "headrace/Target/Ptxas.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

#include <cstdlib>
#include <map>

using namespace headrace;

namespace {

/// Sets environment variables, and puts the old values back.
class Environment {
public:
  void set(const char *name, const std::string &value) {
    const char *old = std::getenv(name);
    before.try_emplace(name, old ? std::optional<std::string>(old) : std::nullopt);
    setenv(name, value.c_str(), 1);
  }
  ~Environment() {
    for (const auto &[name, value] : before)
      value ? setenv(name.c_str(), value->c_str(), 1) : unsetenv(name.c_str());
  }

private:
  std::map<std::string, std::optional<std::string>> before;
};

/// A folder of stand-ins for ptxas.
class PtxasSearch : public testing::Test {
protected:
  void SetUp() override {
    llvm::SmallString<128> created;
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("headrace-test", created));
    folder = created.str().str();
    for (const char *name : {"HEADRACE_PTXAS", "CUDA_HOME", "VIRTUAL_ENV", "CONDA_PREFIX", "PYENV_ROOT"})
      environment.set(name, "");
    environment.set("PATH", folder + "/nothing");
    environment.set("HOME", folder + "/home");
  }
  void TearDown() override { llvm::sys::fs::remove_directories(folder); }

  /// A program folder/place that runs `script`; its path.
  std::string program(const std::string &place, const std::string &script = "") {
    std::string path = folder + "/" + place;
    EXPECT_FALSE(llvm::sys::fs::create_directories(path.substr(0, path.rfind('/'))));
    std::error_code error;
    llvm::raw_fd_ostream(path, error) << "#!/bin/sh\n" << script << "\n";
    EXPECT_FALSE(error);
    EXPECT_FALSE(llvm::sys::fs::setPermissions(path, llvm::sys::fs::all_all));
    return path;
  }

  std::string folder, whyNot;
  Environment environment;
};

TEST_F(PtxasSearch, InTheOrderOfTheDocumentation) {
  std::string venv = program("venv/lib/python3.11/site-packages/nvidia/cu13/bin/ptxas");
  environment.set("VIRTUAL_ENV", folder + "/venv");
  EXPECT_EQ(findPtxas(whyNot), venv);
  std::string onPath = program("bin/ptxas");
  environment.set("PATH", folder + "/bin");
  EXPECT_EQ(findPtxas(whyNot), onPath);
  std::string cuda = program("cuda/bin/ptxas");
  environment.set("CUDA_HOME", folder + "/cuda");
  EXPECT_EQ(findPtxas(whyNot), cuda);
  std::string own = program("my-ptxas");
  environment.set("HEADRACE_PTXAS", own);
  EXPECT_EQ(findPtxas(whyNot), own);
}

TEST_F(PtxasSearch, PackageOfThePythonOnPath) {
  program("env/bin/python3");
  std::string package = program("env/lib/python3.12/site-packages/nvidia/cuda_nvcc/bin/ptxas");
  environment.set("PATH", folder + "/env/bin");
  EXPECT_EQ(findPtxas(whyNot), package);
}

TEST_F(PtxasSearch, NewestPythonFirst) {
  program("venv/lib/python3.9/site-packages/nvidia/cuda_nvcc/bin/ptxas");
  std::string newer = program("venv/lib/python3.10/site-packages/nvidia/cuda_nvcc/bin/ptxas");
  environment.set("VIRTUAL_ENV", folder + "/venv");
  EXPECT_EQ(findPtxas(whyNot), newer);
}

TEST_F(PtxasSearch, ExplicitPathIsNotSkipped) {
  program("bin/ptxas");
  environment.set("PATH", folder + "/bin");
  environment.set("HEADRACE_PTXAS", "/nowhere/ptxas");
  EXPECT_FALSE(findPtxas(whyNot));
  EXPECT_EQ(whyNot, "HEADRACE_PTXAS is '/nowhere/ptxas', which is not a program");
}

TEST_F(PtxasSearch, VersionOfEachRelease) {
  std::pair<const char *, int> releases[] = {{"12.4", 84}, {"12.6", 85}, {"12.8", 87},
                                             {"13.0", 90}, {"13.1", 91}, {"14.2", 91}};
  for (auto [release, isa] : releases) {
    std::string path = program(std::string("ptxas-") + release,
                               std::string("echo Cuda compilation tools, release ") + release + ", V1.2.3");
    EXPECT_EQ(ptxasIsaVersion(path, whyNot), isa) << whyNot;
  }
}

TEST_F(PtxasSearch, NoVersion) {
  std::string silent = program("silent");
  EXPECT_FALSE(ptxasIsaVersion(silent, whyNot));
  EXPECT_EQ(whyNot, "'" + silent + " --version' names no CUDA release from 10.0 on");
  EXPECT_FALSE(ptxasIsaVersion(folder + "/absent", whyNot));
  EXPECT_NE(whyNot.find("cannot be started"), std::string::npos) << whyNot;
}

/// D02: every ptxas either takes the version that is chosen, or the message has both numbers.
TEST_F(PtxasSearch, ChosenVersionIsTaken) {
  for (const char *release : {"12.4", "12.6", "12.8", "13.0", "13.1"})
    for (const TargetInfo &target : allTargets()) {
      int isa = *isaVersionFromVersionText(std::string("release ") + release + ",");
      std::optional<int> version = choosePtxVersion(target, isa, whyNot);
      if (version) {
        EXPECT_LE(*version, isa);
        continue;
      }
      EXPECT_NE(whyNot.find(formatPtxVersion(isa)), std::string::npos) << whyNot;
      EXPECT_NE(whyNot.find(formatPtxVersion(target.ptxVersion)), std::string::npos) << whyNot;
    }
}

TEST_F(PtxasSearch, AssemblerThatCrashesIsReported) {
  PtxasOptions options;
  options.path = program("crashing", "kill -SEGV $$");
  PtxasResult result = assemble("", allTargets().front(), options);
  EXPECT_FALSE(result.ok);
  EXPECT_NE(result.error.find("was stopped"), std::string::npos) << result.error;
  options.path = program("quiet", "exit 3");
  EXPECT_EQ(assemble("", allTargets().front(), options).error, "internal error: ptxas ended with code 3 and no cubin");
}

TEST_F(PtxasSearch, AssemblerThatHangsIsStopped) {
  PtxasOptions options;
  options.path = program("hanging", "exec /bin/sleep 20");
  options.timeoutSeconds = 1;
  PtxasResult result = assemble("", allTargets().front(), options);
  EXPECT_FALSE(result.ok);
  EXPECT_NE(result.error.find("was stopped"), std::string::npos) << result.error;
}

constexpr const char *kPtx = R"(
.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 p) {
 .reg .b64 %rd<2>;
 .shared .align 8 .b8 sm[1024];
 setmaxnreg.dec.sync.aligned.u32 40;
 ld.param.u64 %rd1, [p];
 st.global.b32 [%rd1], 5;
 ret;
}
)";

/// Assembles with the ptxas of this machine, or skips the test.
#define ASSEMBLE(result, text)                                                                                         \
  std::string whyNot;                                                                                                  \
  std::optional<std::string> path = findPtxas(whyNot);                                                                 \
  if (!path || ptxasIsaVersion(*path, whyNot).value_or(0) < 86)                                                        \
    GTEST_SKIP() << "no ptxas for PTX ISA 8.6: " << whyNot;                                                            \
  PtxasResult result = assemble(text, *parseTarget("sm_90a", whyNot))

TEST(Assemble, MakesACubin) {
  ASSEMBLE(result, kPtx);
  ASSERT_TRUE(result.ok) << result.error << result.raw;
  EXPECT_EQ(llvm::StringRef(result.cubin.data(), 4), "\177ELF");
  EXPECT_GT(result.registers, 0);
  EXPECT_EQ(result.sharedBytes, 1024);
  ASSERT_EQ(result.performance.size(), 1u);
  EXPECT_EQ(result.performance[0].code, "C7508");
}

TEST(Assemble, RefusesWhatIsNotPtx) {
  ASSEMBLE(result, "hello");
  EXPECT_FALSE(result.ok);
  EXPECT_TRUE(result.cubin.empty());
  EXPECT_EQ(result.error.rfind("internal error: ptxas refuses the PTX for sm_90a", 0), 0u) << result.error;
  EXPECT_NE(result.raw, "");
}

} // namespace
