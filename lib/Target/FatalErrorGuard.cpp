// Crash recovery around LLVM's code generation, on only while some thread needs it: its signal
// handlers are those of the whole process, which may be a user's Python.
#include "FatalErrorGuard.h"

#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"

#include <mutex>

namespace headrace {
namespace {

/// LLVM's words on this thread's failure.
thread_local std::string fatalReason;

/// Called by LLVM instead of printing; outside a guarded thread it returns, and LLVM ends the
/// process as usual.
void onFatalError(void *, const char *reason, bool) {
  llvm::CrashRecoveryContext *context = llvm::CrashRecoveryContext::GetCurrent();
  if (!context)
    return;
  fatalReason = reason;
  context->HandleExit(/*RetCode=*/1);
}

/// Crash recovery is enabled while at least one of these exists.
class ScopedRecovery {
public:
  ScopedRecovery() {
    std::lock_guard<std::mutex> lock(mutex());
    if (users()++ == 0) {
      llvm::CrashRecoveryContext::Enable();
      llvm::remove_fatal_error_handler();
      llvm::install_fatal_error_handler(onFatalError);
    }
  }
  ~ScopedRecovery() {
    std::lock_guard<std::mutex> lock(mutex());
    if (--users() == 0) {
      llvm::remove_fatal_error_handler();
      llvm::CrashRecoveryContext::Disable();
    }
  }

private:
  static std::mutex &mutex() {
    static std::mutex instance;
    return instance;
  }
  static int &users() {
    static int count = 0;
    return count;
  }
};

} // namespace

bool runGuarded(llvm::function_ref<void()> work, std::string &reason) {
  ScopedRecovery recovery;
  fatalReason.clear();
  llvm::CrashRecoveryContext context;
  if (context.RunSafely(work))
    return true;
  reason = fatalReason;
  return false;
}

} // namespace headrace
