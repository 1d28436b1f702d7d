// The table of matmul instructions, built once from the shapes of each family.
#include "headrace/Target/MmaAtoms.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <tuple>

namespace headrace {
namespace {

using E = ElemType;
using F = Feature;

constexpr const char *kFmaIsa = "9.7.3.6";
constexpr const char *kMmaIsa = "9.7.14.5.14";
constexpr const char *kWgmmaIsa = "9.7.15.5.2";
constexpr const char *kTcgen05Isa = "9.7.16.10";

constexpr ElemType kFloat8[] = {E::E4M3, E::E5M2};

void addFma(std::vector<MmaAtom> &atoms) {
  auto add = [&](E in, E acc) {
    atoms.push_back({MmaFamily::Fma, 1, 1, 1, in, in, acc, F::Fma, true, true, 63, kFmaIsa});
  };
  add(E::F16, E::F16);
  add(E::F16, E::F32);
  add(E::BF16, E::F32);
  add(E::F32, E::F32);
  add(E::F64, E::F64);
  add(E::S8, E::S32);
}

void addMmaSync(std::vector<MmaAtom> &atoms) {
  // ldmatrix.trans turns an M- or N-contiguous tile of 16-bit elements as it reads it; other widths
  // it cannot.
  auto add = [&](int m, int k, E a, E b, E acc, F needs, int ptx) {
    bool turns = bitWidth(a) == 16;
    atoms.push_back({MmaFamily::MmaSync, m, 8, k, a, b, acc, needs, turns, turns, ptx, kMmaIsa});
  };
  for (E acc : {E::F32, E::F16}) {
    add(16, 8, E::F16, E::F16, acc, F::MmaF16, 65);
    add(16, 16, E::F16, E::F16, acc, F::MmaF16K16, 70);
  }
  add(16, 8, E::BF16, E::BF16, E::F32, F::MmaBf16, 70);
  add(16, 16, E::BF16, E::BF16, E::F32, F::MmaBf16, 70);
  add(16, 4, E::TF32, E::TF32, E::F32, F::MmaTf32, 70);
  add(16, 8, E::TF32, E::TF32, E::F32, F::MmaTf32, 70);
  add(8, 16, E::S8, E::S8, E::S32, F::MmaS8, 65);
  add(16, 16, E::S8, E::S8, E::S32, F::MmaS8K32, 70);
  add(16, 32, E::S8, E::S8, E::S32, F::MmaS8K32, 70);
  add(8, 4, E::F64, E::F64, E::F64, F::MmaF64, 70);
  for (int k : {4, 8, 16})
    add(16, k, E::F64, E::F64, E::F64, F::MmaF64M16, 78);
  for (E a : kFloat8)
    for (E b : kFloat8) {
      add(16, 32, a, b, E::F32, F::MmaF8, 84);
      add(16, 32, a, b, E::F16, F::MmaF8, 87);
      add(16, 16, a, b, E::F32, F::MmaF8, 87);
      add(16, 16, a, b, E::F16, F::MmaF8, 87);
    }
}

void addWgmma(std::vector<MmaAtom> &atoms) {
  auto add = [&](int k, E a, E b, E acc) {
    bool mnMajor = bitWidth(a) == 16;
    atoms.push_back({MmaFamily::Wgmma, 64, 256, k, a, b, acc, F::Wgmma, mnMajor, mnMajor, 80, kWgmmaIsa});
  };
  add(16, E::F16, E::F16, E::F32);
  add(16, E::F16, E::F16, E::F16);
  add(16, E::BF16, E::BF16, E::F32);
  add(8, E::TF32, E::TF32, E::F32);
  for (E a : kFloat8)
    for (E b : kFloat8)
      for (E acc : {E::F32, E::F16})
        add(32, a, b, acc);
  add(32, E::S8, E::S8, E::S32);
}

void addTcgen05(std::vector<MmaAtom> &atoms) {
  auto add = [&](int k, E a, E b, E acc, F needs) {
    bool mnMajor = bitWidth(a) <= 16;
    atoms.push_back({MmaFamily::Tcgen05, 128, 256, k, a, b, acc, needs, mnMajor, mnMajor, 86, kTcgen05Isa});
  };
  add(16, E::F16, E::F16, E::F32, F::Tcgen05);
  add(16, E::F16, E::F16, E::F16, F::Tcgen05);
  add(16, E::BF16, E::BF16, E::F32, F::Tcgen05);
  add(8, E::TF32, E::TF32, E::F32, F::Tcgen05);
  for (E a : kFloat8)
    for (E b : kFloat8)
      for (E acc : {E::F32, E::F16})
        add(32, a, b, acc, F::Tcgen05);
  add(32, E::S8, E::S8, E::S32, F::Tcgen05I8);
}

std::vector<MmaAtom> makeAtoms() {
  std::vector<MmaAtom> atoms;
  addFma(atoms);
  addMmaSync(atoms);
  addWgmma(atoms);
  addTcgen05(atoms);
  return atoms;
}

} // namespace

const std::vector<MmaAtom> &mmaAtoms() {
  static const std::vector<MmaAtom> atoms = makeAtoms();
  return atoms;
}

std::vector<const MmaAtom *> atomsFor(const TargetInfo &target, ElemType a, ElemType b, ElemType acc) {
  std::vector<const MmaAtom *> found;
  for (const MmaAtom &atom : mmaAtoms())
    if (atom.a == a && atom.b == b && atom.acc == acc && target.has(atom.needs))
      found.push_back(&atom);
  llvm::sort(found, [](const MmaAtom *l, const MmaAtom *r) {
    return std::make_tuple(l->family, l->k, l->m) > std::make_tuple(r->family, r->k, r->m);
  });
  return found;
}

bool acceptsN(const MmaAtom &atom, int n) {
  if (n <= 0 || n > atom.n)
    return false;
  switch (atom.family) {
  case MmaFamily::Fma:
  case MmaFamily::MmaSync:
    return n == atom.n;
  case MmaFamily::Wgmma:
    return n % (atom.a == ElemType::S8 && n > 24 ? 16 : 8) == 0;
  case MmaFamily::Tcgen05:
    return n % 16 == 0;
  }
  return false;
}

int largestN(const MmaAtom &atom, int limit) {
  for (int n = std::min(limit, atom.n); n > 0; --n)
    if (acceptsN(atom, n))
      return n;
  return 0;
}

llvm::StringRef familyName(MmaFamily family) {
  static constexpr const char *names[] = {"fma", "mma.sync", "wgmma", "tcgen05.mma"};
  return names[static_cast<int>(family)];
}

llvm::StringRef elemTypeName(ElemType type) {
  static constexpr const char *names[] = {"f16", "bf16", "tf32", "f32", "f64", "e4m3", "e5m2", "s8", "s32"};
  return names[static_cast<int>(type)];
}

int bitWidth(ElemType type) {
  static constexpr int bits[] = {16, 16, 32, 32, 64, 8, 8, 8, 32};
  return bits[static_cast<int>(type)];
}

} // namespace headrace
