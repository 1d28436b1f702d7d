// Choice of the matmul atom: walks the target's table from the fastest family down and takes the first whose rules hold.
#include "ChooseAtom.h"
#include "headrace/Dialect/Tile/Transforms/CopyMechanism.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;
using namespace headrace;
using namespace headrace::tile;

/// 32-bit registers of accumulator that a thread may hold: 255 less what addresses, descriptors and the epilogue need.
static constexpr int64_t kAccumulatorRegisters = 200;
/// The widest warp tile of mma.sync that keeps four mma to a ldmatrix: 64 x 64.
static constexpr int64_t kWarpTile = 64 * 64;

bool headrace::tile::isKMajor(Value operand, bool transposed, bool isA) {
  auto load = operand.getDefiningOp<LoadOp>();
  if (!load)
    return true;
  int64_t kDim = isA == transposed ? 0 : 1; // A is M x K, B is K x N unless transposed
  return contiguousTileDim(cast<MemRefType>(load.getArray().getType()), load.getTile().getRank()) == kDim;
}

/// Whether rows of the accumulator had better stay within a warp: they are reduced or multiplied on, or they belong to rows
/// of an operand that was computed so.
static bool wantsWholeRows(DotOp dot) {
  Operation *made = dot.getA().getDefiningOp();
  if (made && !isa<LoadOp>(made) && !dot.getTransposeA())
    return true;
  SmallVector<Value> worklist = {dot.getResult()};
  SmallPtrSet<Operation *, 8> seen;
  while (!worklist.empty())
    for (OpOperand &use : worklist.pop_back_val().getUses()) {
      Operation *user = use.getOwner();
      if (auto reduce = dyn_cast<ReduceOp>(user); reduce && reduce.getAxis() == 1)
        return true;
      if (auto next = dyn_cast<DotOp>(user); next && use.getOperandNumber() == 0 && !next.getTransposeA())
        return true;
      if (OpTrait::hasElementwiseMappableTraits(user) && seen.insert(user).second)
        llvm::append_range(worklist, user->getResults());
      // Out of a branch; what a loop carries is the next trip's.
      if (isa<scf::YieldOp>(user) && isa<scf::IfOp>(user->getParentOp()))
        worklist.push_back(user->getParentOp()->getResult(use.getOperandNumber()));
    }
  return false;
}

namespace {
/// The search for one dot. Each try* returns an empty string and fills `groupsM`, `groupsN`, `warps`, or the rule broken.
struct Search {
  DotOp dot;
  const TargetInfo &target;
  WarpRequest request;
  int64_t m, n, k;
  int64_t accBytes;
  bool kMajorA, kMajorB;
  int64_t groupsM = 1, groupsN = 1, warps = 1;

  Search(DotOp dot, const TargetInfo &target, WarpRequest request)
      : dot(dot), target(target), request(request), m(dot.getM()), n(dot.getN()), k(dot.getK()),
        accBytes(dot.getAccType().getElementTypeBitWidth() / 8),
        kMajorA(isKMajor(dot.getA(), dot.getTransposeA(), /*isA=*/true)),
        kMajorB(isKMajor(dot.getB(), dot.getTransposeB(), /*isA=*/false)) {}

  std::string tryAtom(const MmaAtom &atom);
  std::string tryMmaSync(const MmaAtom &atom);
  std::string tryWgmma(const MmaAtom &atom);
  std::string tryTcgen05(const MmaAtom &atom);
  void chooseFma();
  /// Columns of one instruction: the table's n is the largest of wgmma and tcgen05.
  int64_t columns(const MmaAtom &atom) const {
    if (atom.family == MmaFamily::Wgmma)
      return wgmmaColumns(atom, n / groupsN, groupsM * groupsN);
    return atom.family == MmaFamily::Tcgen05 ? n : atom.n;
  }
  /// Columns of one wgmma of `groups` warpgroups that have `columns` each: as many as have room, in equal parts. 0 if
  /// that is no legal number.
  int64_t wgmmaColumns(const MmaAtom &atom, int64_t columns, int64_t groups) const;
  int64_t accumulatorRegisters(int64_t threads) const { return m * n * accBytes / 4 / threads; }
  /// Panels narrower than 16 bytes have no matrix descriptor.
  std::string checkDescriptor(Value operand, bool isA);
  /// Whether `count` groups can start reading B where their columns do: an N-contiguous B lies in panels, and a
  /// descriptor starts at a panel or stays within a swizzled one.
  bool canSplitPanels(int64_t count);
};
} // namespace

static std::string divides(StringRef what, int64_t extent, int64_t unit, StringRef of) {
  if (extent % unit == 0)
    return "";
  return llvm::formatv("{0} = {1} is not a multiple of {2}, the {0} of {3}", what, extent, unit, of);
}

std::string Search::checkDescriptor(Value operand, bool isA) {
  auto type = cast<RankedTensorType>(operand.getType());
  bool transposed = isA ? dot.getTransposeA() : dot.getTransposeB();
  int64_t kDim = isA == transposed ? 0 : 1;
  int64_t major = (isA ? kMajorA : kMajorB) ? kDim : 1 - kDim;
  int64_t bytes = type.getDimSize(major) * type.getElementTypeBitWidth() / 8;
  if (bytes % 16)
    return llvm::formatv("operand {0}: rows of {1} bytes are not a multiple of 16", isA ? "a" : "b", bytes);
  if (type.getDimSize(1 - major) % 8)
    return llvm::formatv("operand {0}: {1} rows are not a multiple of 8", isA ? "a" : "b", type.getDimSize(1 - major));
  return "";
}

bool Search::canSplitPanels(int64_t count) {
  if (kMajorB)
    return true;
  SharedAttr shared = chooseSharedLayout(dot.getBType(), /*major=*/dot.getTransposeB() ? 0 : 1);
  SharedLayout layout = shared.getSharedLayout(dot.getBType().getShape(), dot.getBType().getElementType());
  int64_t panel = layout.panelElements(), part = n / count;
  for (int64_t start = 0; start < n; start += part)
    if (start % panel && (start % panel + part > panel || layout.swizzle() <= 16))
      return false;
  return true;
}

std::string Search::tryAtom(const MmaAtom &atom) {
  std::string name = llvm::formatv("{0} m{1}n{2}k{3}", familyName(atom.family), atom.m, atom.n, atom.k).str();
  if (std::string why = divides("K", k, atom.k, name); !why.empty())
    return why;
  auto majorRule = [&](bool kMajor, bool allowed, StringRef operand) -> std::string {
    if (kMajor || allowed)
      return "";
    return llvm::formatv("operand {0} of {1}: {2} reads {3} only K-contiguous", operand, elemTypeName(atom.a),
                         familyName(atom.family), elemTypeName(atom.a));
  };
  if (atom.family == MmaFamily::MmaSync)
    return tryMmaSync(atom); // loads fragments itself, in any orientation
  for (std::string why : {majorRule(kMajorA, atom.mnMajorA, "a"), majorRule(kMajorB, atom.mnMajorB, "b"),
                          checkDescriptor(dot.getA(), true), checkDescriptor(dot.getB(), false)})
    if (!why.empty())
      return why;
  return atom.family == MmaFamily::Wgmma ? tryWgmma(atom) : tryTcgen05(atom);
}

std::string Search::tryMmaSync(const MmaAtom &atom) {
  std::string name = llvm::formatv("mma.sync m{0}n{1}k{2}", atom.m, atom.n, atom.k).str();
  for (std::string why : {divides("M", m, atom.m, name), divides("N", n, atom.n, name)})
    if (!why.empty())
      return why;
  int64_t wanted = request.warps > 0 ? request.warps : request.consumers > 0 ? 4 * request.consumers : -1;
  // The most nearly square warp tile among the ways to share the atoms; without a request the fewest warps (of 4, 8, 2,
  // 1, 16 in this order of preference) whose tiles are not wider than kWarpTile.
  bool wholeRows = wantsWholeRows(dot);
  auto split = [&](int64_t count) {
    int64_t best = -1;
    for (int64_t gm = 1; gm <= count; ++gm) {
      int64_t gn = count / gm;
      if (count % gm || m % (gm * atom.m) || n % (gn * atom.n))
        continue;
      int64_t perimeter = wholeRows ? gn : m / gm + n / gn;
      if (best >= 0 && perimeter >= best)
        continue;
      best = perimeter;
      groupsM = gm, groupsN = gn, warps = count;
    }
    return best >= 0;
  };
  if (wanted > 0) {
    if (!split(wanted))
      return llvm::formatv("{0} warps cannot share {1} x {2} in whole {3}", wanted, m, n, name);
  } else {
    bool found = false;
    for (int64_t count : {4, 8, 16, 2, 1})
      if ((!found || m * n / warps > kWarpTile) && (count > warps || !found))
        found |= split(count);
  }
  if (int64_t registers = accumulatorRegisters(32 * warps); registers > kAccumulatorRegisters)
    return llvm::formatv("the accumulator takes {0} registers of each of {1} threads, {2} fit", registers, 32 * warps,
                         kAccumulatorRegisters);
  return "";
}

int64_t Search::wgmmaColumns(const MmaAtom &atom, int64_t columns, int64_t groups) const {
  // ptxas (C7602) wants the sums of an instruction and some 30 registers more within what a thread starts with, whatever
  // setmaxnreg gives it later. Where that is used, a warpgroup for copies starts with as many, else perhaps a warp.
  constexpr int64_t kBesideSums = 32;
  std::optional<int64_t> occupancy = dot->getParentOfType<KernelOp>().getOccupancy();
  int64_t threads = (128 * groups + (groups > 1 && !occupancy ? 128 : 32)) * occupancy.value_or(1);
  int64_t registers = std::min<int64_t>(target.registersPerSM / threads, 255) / 8 * 8;
  int64_t widest = std::min<int64_t>(256, 2 * (registers - kBesideSums));
  if (columns <= widest)
    return acceptsN(atom, columns) ? columns : 0;
  // A further instruction starts at a panel of B, if those lie along N.
  int64_t unit = kMajorB ? 8 : 64;
  for (int64_t part = widest / unit * unit; part > 0; part -= unit)
    if (columns % part == 0 && acceptsN(atom, part))
      return part;
  return 0;
}

std::string Search::tryWgmma(const MmaAtom &atom) {
  if (std::string why = divides("M", m, 64, "wgmma"); !why.empty())
    return why;
  if (request.warps > 0 && request.warps % 4)
    return llvm::formatv("{0} warps are not whole warpgroups of 4", request.warps);
  auto split = [&](int64_t count) {
    if (m % (64 * count) == 0 && wgmmaColumns(atom, n, count)) {
      groupsM = count, groupsN = 1;
    } else if (n % count == 0 && wgmmaColumns(atom, n / count, count) && canSplitPanels(count)) {
      groupsM = 1, groupsN = count;
    } else {
      return false;
    }
    warps = 4 * count;
    return true;
  };
  int64_t wanted = request.warps > 0 ? request.warps / 4 : request.consumers;
  if (wanted > 0) {
    if (!split(wanted))
      return llvm::formatv("{0} warpgroups cannot share {1} x {2} in rows of 64 or in legal N", wanted, m, n);
  } else if (!(m >= 128 && split(m == 192 ? 3 : 2)) && !split(1)) {
    return llvm::formatv("N = {0} is not a legal N of wgmma with {1}", n, elemTypeName(atom.a));
  }
  if (int64_t registers = accumulatorRegisters(32 * warps); registers > kAccumulatorRegisters)
    return llvm::formatv("the accumulator takes {0} registers of each of {1} threads, {2} fit", registers, 32 * warps,
                         kAccumulatorRegisters);
  return "";
}

std::string Search::tryTcgen05(const MmaAtom &atom) {
  if (m != atom.m)
    return llvm::formatv("M = {0} is not {1}, the M of tcgen05.mma", m, atom.m);
  if (n > 256 || !acceptsN(atom, n))
    return llvm::formatv("N = {0} is not a multiple of 16 up to 256", n);
  // The epilogue's warps read the accumulator: four for each set of columns, at most kAccumulatorRegisters a thread.
  int64_t wanted = request.warps > 0 ? request.warps / 4 : request.consumers;
  if (request.warps > 0 && request.warps % 4)
    return llvm::formatv("{0} warps are not whole warpgroups of 4", request.warps);
  groupsM = 1;
  groupsN = wanted > 0 ? wanted : n > 128 ? 2 : 1;
  if (n % (groupsN * 8))
    return llvm::formatv("{0} warpgroups cannot share N = {1} in columns of 8", groupsN, n);
  warps = 4 * groupsN;
  return "";
}

void Search::chooseFma() {
  warps = request.warps > 0 ? request.warps : request.consumers > 0 ? 4 * request.consumers : 4;
  groupsM = warps, groupsN = 1;
}

static Family toFamily(MmaFamily family) {
  switch (family) {
  case MmaFamily::Fma:
    return Family::Fma;
  case MmaFamily::MmaSync:
    return Family::MmaSync;
  case MmaFamily::Wgmma:
    return Family::Wgmma;
  case MmaFamily::Tcgen05:
    return Family::Tcgen05;
  }
  llvm_unreachable("all families are listed");
}

/// Why families faster than `chosen` are not to be had for these types: only what is close at hand, that is, another
/// variant of the chip, other types, or, where nothing multiplies on tensor cores, the oldest that does.
static SmallVector<std::string> getMissing(ElemType a, ElemType b, ElemType acc, const TargetInfo &target,
                                           MmaFamily chosen) {
  SmallVector<std::string> reasons;
  bool onTensorCores =
      llvm::any_of(atomsFor(target, a, b, acc), [](const MmaAtom *atom) { return atom->family != MmaFamily::Fma; });
  for (const MmaAtom &atom : mmaAtoms()) {
    if (atom.a != a || atom.b != b || atom.acc != acc || atom.family <= chosen || target.has(atom.needs))
      continue;
    bool sibling = llvm::any_of(
        allTargets(), [&](const TargetInfo &other) { return other.sm == target.sm && other.has(atom.needs); });
    bool otherTypes = atom.family == MmaFamily::Tcgen05 && target.has(Feature::Tcgen05);
    bool oldest = !onTensorCores && atom.family == MmaFamily::MmaSync && reasons.empty();
    std::string reason = missingFeature(atom.needs, target);
    if ((sibling || otherTypes || oldest) && !llvm::is_contained(reasons, reason))
      reasons.push_back(reason);
  }
  return reasons;
}

std::optional<AtomChoice> headrace::tile::chooseAtom(DotOp dot, const TargetInfo &target, WarpRequest request,
                                                     std::string &error) {
  bool tf32 = dot.getPrecision() == Precision::Tf32;
  std::optional<ElemType> a = getElemType(dot.getAType().getElementType(), tf32),
                          b = getElemType(dot.getBType().getElementType(), tf32),
                          acc = getElemType(dot.getAccType().getElementType());
  if (!a || !b || !acc) {
    error = "no instruction multiplies these element types";
    return std::nullopt;
  }
  Search search(dot, target, request);
  MLIRContext *context = dot.getContext();
  SmallVector<std::string> broken;
  auto whyNotFaster = [&](MmaFamily chosen) {
    SmallVector<std::string> reasons = getMissing(*a, *b, *acc, target, chosen);
    reasons.append(broken);
    return llvm::join(reasons, "; ");
  };
  for (const MmaAtom *atom : atomsFor(target, *a, *b, *acc)) {
    if (atom->family == MmaFamily::Fma)
      continue;
    std::string why = search.tryAtom(*atom);
    if (why.empty())
      return AtomChoice{AtomAttr::get(context, toFamily(atom->family), atom->m, search.columns(*atom), atom->k,
                                      search.groupsM, search.groupsN),
                        search.warps, whyNotFaster(atom->family)};
    if (!llvm::is_contained(broken, why))
      broken.push_back(why);
  }
  // The CUDA cores multiply what they can read exactly: 8-bit floats have no exact path before sm_89.
  bool isF8 = *a == ElemType::E4M3 || *a == ElemType::E5M2;
  if (isF8 && !target.has(Feature::F8Convert)) {
    error = llvm::formatv("operand a of {0}: {1}", elemTypeName(*a), missingFeature(Feature::F8Convert, target));
    return std::nullopt;
  }
  search.chooseFma();
  std::string why = whyNotFaster(MmaFamily::Fma);
  if (search.accumulatorRegisters(32 * search.warps) > kAccumulatorRegisters) {
    error = why;
    error +=
        llvm::formatv("{0}the accumulator of fused multiply-adds takes {1} registers of each of {2} threads, {3} fit",
                      error.empty() ? "" : "; ", search.accumulatorRegisters(32 * search.warps), 32 * search.warps,
                      kAccumulatorRegisters);
    return std::nullopt;
  }
  return AtomChoice{AtomAttr::get(context, Family::Fma, 1, 1, 1, search.groupsM, search.groupsN), search.warps, why};
}
