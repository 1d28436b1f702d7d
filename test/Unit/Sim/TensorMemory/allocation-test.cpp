// tcgen05.alloc and dealloc in kernels: what is freed, when, and what it is used for.
#include "TensorBench.h"

using namespace headrace::sim;

namespace {

/// Only the first warp runs `instructions`.
std::string byWarp0(const std::string &instructions) {
  return "setp.ge.u32 q, tid, 32; @q bra REST; " + instructions + " REST: ";
}
std::string alloc(int columns) {
  return "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [base+61472], " + std::to_string(columns) + "; ";
}
std::string free(const std::string &address, int columns) {
  return "tcgen05.dealloc.cta_group::1.sync.aligned.b32 " + address + ", " + std::to_string(columns) + "; ";
}

TensorBench bench(const std::string &body = "", const std::string &prologue = "") {
  TensorBench result;
  result.input.resize(16);
  result.body = body;
  result.prologue = prologue;
  return result;
}

TEST(Tcgen05Alloc, FreedAtTheEnd) { bench().expectClean(); }

TEST(Tcgen05Alloc, NeverFreed) {
  TensorBench leak = bench();
  leak.frees = false;
  leak.expectOnly(FindingKind::TensorMemory);
}

TEST(Tcgen05Alloc, FreedTwice) { bench(byWarp0(free("taddr", 128))).expectOnly(FindingKind::TensorMemory); }

TEST(Tcgen05Alloc, FreedInParts) { bench(byWarp0(free("taddr", 64))).expectOnly(FindingKind::TensorMemory); }

TEST(Tcgen05Alloc, AfterRelinquish) {
  bench(byWarp0("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned; " + alloc(32)))
      .expectOnly(FindingKind::TensorMemory);
}

TEST(Tcgen05Alloc, NumberOfColumns) {
  for (int columns : {0, 16, 48, 1024})
    bench(byWarp0("mov.b32 r0, " + std::to_string(columns) +
                  "; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [base+61472], r0; "))
        .expectOnly(FindingKind::TensorMemory);
}

TEST(Tcgen05Alloc, MustNotGrow) {
  bench(byWarp0(alloc(256) + "bar.warp.sync 0xffffffff; ld.shared.b32 r0, [base+61472]; " + free("r0", 256)))
      .expectOnly(FindingKind::TensorMemory);
}

TEST(Tcgen05Alloc, WaitsUntilColumnsAreFree) {
  // The second warp frees half of the memory, for which the first waits.
  TensorBench blocked = bench("setp.lt.u32 q, tid, 32; @q bra FIRST; setp.ge.u32 q, tid, 64; @q bra REST; " +
                              free("taddr", 256) + "bra REST; FIRST: " + alloc(256) + alloc(256) +
                              "REST: bar.sync 0; setp.ge.u32 q, tid, 32; @q bra DONE; mov.b32 r0, 256; " +
                              free("r0", 256) + "mov.b32 taddr, 0; DONE: ");
  blocked.columns = 256;
  blocked.expectClean();
}

TEST(Tcgen05Alloc, NeverGetsColumns) {
  TensorBench blocked = bench(byWarp0(alloc(512)));
  blocked.columns = 512;
  blocked.expectOnly(FindingKind::Deadlock);
}

TEST(Tcgen05Alloc, AccessOutsideTheAllocation) {
  const std::string rest = "tcgen05.wait::ld.sync.aligned;";
  bench("tcgen05.ld.sync.aligned.32x32b.x2.b32 {r0, r1}, [quarter+127];" + rest).expectOnly(FindingKind::TensorMemory);
  bench("tcgen05.ld.sync.aligned.32x32b.x2.b32 {r0, r1}, [quarter+511];" + rest).expectOnly(FindingKind::OutOfBounds);
  // What was never written may be loaded, but not used.
  const std::string load = "tcgen05.ld.sync.aligned.32x32b.x2.b32 {r0, r1}, [quarter];" + rest;
  bench(load + "add.u32 r0, r0, r1;").expectOnly(FindingKind::Uninitialised);
  bench(load + "setp.eq.u32 q, 0, 0; selp.b32 r0, 7, r0, q; add.u32 r0, r0, r0;").expectClean();
}

TEST(Tcgen05Alloc, WarpsReachTheirQuarterOnly) {
  bench("mov.b32 r0, 0; tcgen05.st.sync.aligned.32x32b.x1.b32 [taddr], {r0}; tcgen05.wait::st.sync.aligned;")
      .expectOnly(FindingKind::Operand);
}

TEST(Tcgen05Alloc, InUseAsItIsFreed) {
  // Freed while the warps' stores may be under way.
  TensorBench used = bench("mov.b32 r0, 0; tcgen05.st.sync.aligned.32x32b.x1.b32 [quarter], {r0}; bar.sync 0; " +
                           byWarp0(free("taddr", 128)) + "bar.sync 0; tcgen05.wait::st.sync.aligned; ");
  used.policy = Policy::Late;
  used.frees = false;
  used.expectOnly(FindingKind::TensorMemory);
}

} // namespace
