// PTX and LLVM IR from small modules, and what becomes of those that LLVM cannot handle.
#include "headrace/Target/PtxEmitter.h"
#include "headrace/Target/Ptxas.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <thread>

using namespace headrace;

namespace {

class PtxEmitter : public testing::Test {
protected:
  PtxEmitter() {
    context.loadDialect<mlir::func::FuncDialect, mlir::LLVM::LLVMDialect, mlir::NVVM::NVVMDialect>();
    context.getDiagEngine().registerHandler(
        [this](mlir::Diagnostic &diagnostic) { llvm::raw_string_ostream(diagnostics) << diagnostic << "\n"; });
  }

  /// PTX of the module, empty on failure.
  std::string ptx(llvm::StringRef text, llvm::StringRef name = "sm_90a", int version = 86) {
    std::string whyNot;
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module) << diagnostics;
    auto emitted = emitPtx(*module, *parseTarget(name, whyNot), version, &raw);
    return mlir::succeeded(emitted) ? *emitted : "";
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string diagnostics, raw;
};

bool contains(llvm::StringRef text, llvm::StringRef part) { return text.contains(part); }

constexpr const char *kScale = R"mlir(
llvm.func @scale(%p: !llvm.ptr<1>, %a: f32, %b: f32) attributes {
    nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>, nvvm.minctasm = 1 : i32} {
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %q = llvm.getelementptr %p[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i64
  %x = llvm.load %q : !llvm.ptr<1> -> i64
  llvm.store %x, %p : i64, !llvm.ptr<1>
  %y = llvm.fmul %a, %b : f32
  %z = llvm.fadd %y, %b : f32
  llvm.inline_asm has_side_effects "bar.sync 1, $0;", "r" %tid : (i32) -> ()
  llvm.store %z, %q : f32, !llvm.ptr<1>
  llvm.return
})mlir";

TEST_F(PtxEmitter, DeclaresVersionTargetAndLaunchBounds) {
  std::string text = ptx(kScale);
  EXPECT_EQ(diagnostics, "");
  EXPECT_TRUE(contains(text, ".version 8.6\n.target sm_90a\n")) << text;
  EXPECT_TRUE(contains(text, ".visible .entry scale(")) << text;
  EXPECT_TRUE(contains(text, ".reqntid 128, 1, 1")) << text;
  EXPECT_TRUE(contains(text, ".minnctapersm 1")) << text;
}

// The default alignment of an i64 is 8 only if the data layout is known during the translation.
TEST_F(PtxEmitter, LoadsWithoutAlignmentAreWhole) {
  std::string text = ptx(kScale);
  EXPECT_TRUE(contains(text, "ld.global.b64")) << text;
}

TEST_F(PtxEmitter, MultiplyAndAddStaySeparate) {
  std::string text = ptx(kScale);
  EXPECT_TRUE(contains(text, "mul.rn.f32") && contains(text, "add.rn.f32")) << text;
  EXPECT_FALSE(contains(text, "fma.rn")) << text;
}

TEST_F(PtxEmitter, FunctionsAndInlineAssemblyAreConvergent) {
  std::string whyNot;
  module = mlir::parseSourceString<mlir::ModuleOp>(kScale, &context);
  auto text = emitLlvm(*module, *parseTarget("sm_90a", whyNot), 86);
  ASSERT_TRUE(mlir::succeeded(text));
  EXPECT_TRUE(contains(*text, "target triple = \"nvptx64-nvidia-cuda\"")) << *text;
  EXPECT_TRUE(contains(*text, "target datalayout = \"e-p6:32:32")) << *text;
  // The call's attribute group, "#1".
  std::string group = llvm::StringRef(*text).split("bar.sync").second.split('\n').first.rsplit(' ').second.str();
  EXPECT_TRUE(contains(*text, "attributes " + group + " = { convergent")) << group << *text;
  EXPECT_TRUE(contains(*text, "attributes #0 = { convergent nounwind")) << *text;
  // The module is as it was.
  EXPECT_FALSE((*module)->hasAttr("llvm.data_layout"));
}

TEST_F(PtxEmitter, AssemblesForEveryTarget) {
  std::string whyNot;
  std::optional<std::string> path = findPtxas(whyNot);
  for (const TargetInfo &target : allTargets()) {
    std::string text = ptx(kScale, target.name, target.ptxVersion);
    EXPECT_TRUE(contains(text, ".target " + target.name + "\n")) << text << diagnostics << raw;
    if (path && ptxasIsaVersion(*path, whyNot).value_or(0) >= target.ptxVersion) {
      EXPECT_TRUE(assemble(text, target).ok) << target.name << assemble(text, target).raw;
    }
  }
}

constexpr const char *kSetMaxNReg = R"mlir(
llvm.func @registers() attributes {nvvm.kernel} {
  nvvm.setmaxregister increase 232
  llvm.return
})mlir";

TEST_F(PtxEmitter, WhatCannotBeSelectedIsOneMessage) {
  EXPECT_EQ(ptx(kSetMaxNReg, "sm_90"), "");
  EXPECT_EQ(diagnostics, "internal error: 'llvm.nvvm.setmaxnreg.inc.sync.aligned.u32' cannot be "
                         "generated for sm_90 with PTX ISA 8.6\n");
  EXPECT_TRUE(contains(raw, "Cannot select")) << raw;
  // And the next module is none the worse for it.
  diagnostics.clear();
  EXPECT_NE(ptx(kSetMaxNReg, "sm_90a"), "");
  EXPECT_EQ(diagnostics, "");
}

TEST_F(PtxEmitter, WhatCannotBeTranslatedIsAnError) {
  EXPECT_EQ(ptx("func.func @f() { return }", "sm_90a"), "");
  EXPECT_NE(diagnostics, "");
}

TEST_F(PtxEmitter, VersionTooLowForTheTarget) {
  EXPECT_EQ(ptx(kScale, "sm_100a", 80), "");
  EXPECT_EQ(diagnostics, "internal error: code cannot be generated for sm_100a with PTX ISA 8.0\n");
}

TEST_F(PtxEmitter, MisspeltIntrinsicIsAnError) {
  EXPECT_EQ(ptx(R"mlir(
llvm.func @k() attributes {nvvm.kernel} {
  llvm.call_intrinsic "llvm.nvvm.fence.proxy.asink"() : () -> ()
  llvm.return
})mlir"),
            "");
  EXPECT_TRUE(contains(diagnostics, "fence.proxy.asink")) << diagnostics;
}

TEST_F(PtxEmitter, UndefinedFunctionIsAnErrorExceptTheRunTimes) {
  EXPECT_EQ(ptx(R"mlir(
llvm.func @helper(i32) -> i32
llvm.func @k(%x: i32) attributes {nvvm.kernel} {
  %y = llvm.call @helper(%x) : (i32) -> i32
  llvm.return
})mlir"),
            "");
  EXPECT_EQ(diagnostics, "internal error: the PTX calls 'helper', which nothing defines\n");
  diagnostics.clear();
  EXPECT_NE(ptx(R"mlir(
llvm.func @vprintf(!llvm.ptr, !llvm.ptr) -> i32
llvm.func @k(%p: !llvm.ptr) attributes {nvvm.kernel} {
  %y = llvm.call @vprintf(%p, %p) : (!llvm.ptr, !llvm.ptr) -> i32
  llvm.return
})mlir"),
            "");
  EXPECT_EQ(diagnostics, "");
}

TEST_F(PtxEmitter, FailuresOnSeveralThreads) {
  auto work = [](const char *name, bool works) {
    std::string whyNot;
    for (int i = 0; i < 8; ++i) {
      mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
      context.loadDialect<mlir::LLVM::LLVMDialect, mlir::NVVM::NVVMDialect>();
      mlir::ScopedDiagnosticHandler quiet(&context, [](mlir::Diagnostic &) {});
      auto module = mlir::parseSourceString<mlir::ModuleOp>(kSetMaxNReg, &context);
      EXPECT_EQ(mlir::succeeded(emitPtx(*module, *parseTarget(name, whyNot), 86)), works);
    }
  };
  std::thread failing(work, "sm_90", false), working(work, "sm_90a", true);
  failing.join();
  working.join();
}

} // namespace
