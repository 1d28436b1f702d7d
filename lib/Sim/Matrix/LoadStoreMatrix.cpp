// ldmatrix, stmatrix and movmatrix (PTX ISA 9.7.14.5.15-17).
#include "Factories.h"

#include "headrace/Sim/Machine/Program.h"
#include "headrace/Sim/Matrix/MatrixRows.h"

#include <algorithm>
#include <cstdio>

namespace headrace::sim {

namespace {

constexpr int kRowBytes = 16;

/// What the opcode of ldmatrix or stmatrix says.
struct MoveForm {
  MatrixMove move = MatrixMove::Rows16;
  RowFormat format = RowFormat::Bytes;
  int matrices = 1;
  bool isGeneric = false; // the address

  int rows() const { return matrices * rowsOf(move); }
  int registers() const { return matrices * registersOf(move); }
};

/// Takes the parts that the two instructions share, .sync.aligned, .xN and .shared. Result: the others, joined by dots.
std::string readForm(Decoder &decode, MoveForm &form) {
  std::string rest;
  form.isGeneric = true;
  bool sync = false;
  for (size_t i = 1; i < decode.numParts(); ++i) {
    std::string part(decode.part(i));
    if (part == "x1" || part == "x2" || part == "x4")
      form.matrices = part[1] - '0';
    else if (part == "shared" || part == "shared::cta")
      form.isGeneric = false;
    else if (part == "sync")
      sync = true;
    else if (part != "aligned")
      rest += (rest.empty() ? "" : ".") + part;
  }
  if (!sync)
    decode.fail("expected .sync.aligned");
  return rest;
}

MoveForm readLoad(Decoder &decode) {
  MoveForm form;
  std::string rest = readForm(decode, form);
  if (rest == "m8n8.b16")
    form.move = MatrixMove::Rows16;
  else if (rest == "m8n8.trans.b16")
    form.move = MatrixMove::Transposed16;
  else if (rest.compare(0, 6, "m8n16.") == 0)
    form.move = MatrixMove::Rows8;
  else
    form.move = MatrixMove::Transposed8;
  if (decode.has("b6x16_p32"))
    form.format = RowFormat::Bits6;
  else if (decode.has("b4x16_p64"))
    form.format = RowFormat::Bits4;
  const char *packed = form.format == RowFormat::Bits6 ? "b8x16.b6x16_p32" : "b8x16.b4x16_p64";
  bool bytes = form.format == RowFormat::Bytes;
  bool known = form.move == MatrixMove::Rows8         ? !bytes && rest == std::string("m8n16.") + packed
               : form.move == MatrixMove::Transposed8 ? rest == std::string("m16n16.trans.") + (bytes ? "b8" : packed)
                                                      : bytes;
  if (!known)
    decode.fail("expected m8n8 of b16, m16n16.trans of b8, or either of m8n16 and m16n16.trans of b8x16 from b6x16_p32 "
                "or b4x16_p64, got '" +
                rest + "'");
  if (form.move == MatrixMove::Transposed8 && form.matrices == 4)
    decode.fail("expected .x1 or .x2 of m16n16, got .x4");
  return form;
}

MoveForm readStore(Decoder &decode) {
  MoveForm form;
  std::string rest = readForm(decode, form);
  if (rest == "m8n8.b16")
    form.move = MatrixMove::Rows16;
  else if (rest == "m8n8.trans.b16")
    form.move = MatrixMove::Transposed16;
  else if (rest == "m16n8.trans.b8")
    form.move = MatrixMove::StoredColumns8;
  else
    decode.fail("expected m8n8 of b16 or m16n8.trans of b8, got '" + rest + "'");
  return form;
}

void checkAlignment(const Lanes &lanes, int lane, uint64_t address) {
  if (address % kRowBytes == 0)
    return;
  char text[96];
  std::snprintf(text, sizeof text, "expected the address of a matrix row to be a multiple of 16, got 0x%llx",
                static_cast<unsigned long long>(address));
  lanes.report(lane, FindingKind::Misaligned, text);
}

/// On sm_75 all lanes must have an address, also those whose rows are not loaded (PTX ISA 9.7.14.5.15).
void checkUnusedAddresses(const Lanes &lanes, const AddressSource &address, const MoveForm &form) {
  constexpr int kLastToNeedThem = 75;
  if (lanes.cluster.program.architecture > kLastToNeedThem || form.isGeneric)
    return;
  for (int lane = form.rows(); lane < kLanes; ++lane) {
    uint64_t at = address(lanes, lane);
    uint32_t offset = 0;
    const Cta *owner = lanes.cluster.ownerOf(static_cast<uint32_t>(at), offset);
    if (!owner || offset + kRowBytes > owner->shared.size() || at % kRowBytes != 0)
      return lanes.report(lane, FindingKind::OutOfBounds,
                          "expected a valid address also in lane " + std::to_string(lane) +
                              ", whose row is not loaded: sm_75 reads it");
  }
}

MatrixRow loadRow(const Lanes &lanes, const MoveForm &form, const AddressSource &address, int lane) {
  uint64_t at = address(lanes, lane);
  checkAlignment(lanes, lane, at);
  MatrixRow row = {};
  if (form.isGeneric)
    lanes.loadGeneric(lane, at, bytesOf(form.format), row.data());
  else
    lanes.loadShared(lane, static_cast<uint32_t>(at), bytesOf(form.format), row.data());
  return expandRow(form.format, row);
}

void load(Lanes &lanes, const MoveForm &form, const std::vector<Dest> &registers, const AddressSource &address) {
  requireWholeWarp(lanes);
  checkUnusedAddresses(lanes, address, form);
  std::array<MatrixRow, kLanes> rows = {};
  for (int row = 0; row < form.rows(); ++row)
    if (lanes.active(row))
      rows[row] = loadRow(lanes, form, address, row);
  lanes.forEach([&](int lane) {
    for (int reg = 0; reg < form.registers(); ++reg) {
      uint32_t word = 0;
      for (int byte = 0; byte < 4; ++byte) {
        RowByte place = placeOfByte(form.move, reg, byte, lane);
        word |= static_cast<uint32_t>(rows[place.row][place.byte]) << (8 * byte);
      }
      registers[reg].set(lanes, lane, word);
    }
  });
}

void store(Lanes &lanes, const MoveForm &form, const AddressSource &address, const std::vector<Source> &registers) {
  requireWholeWarp(lanes);
  std::array<MatrixRow, kLanes> rows = {};
  for (int lane = 0; lane < kLanes; ++lane)
    for (int reg = 0; reg < form.registers(); ++reg)
      for (int byte = 0; byte < 4; ++byte) {
        RowByte place = placeOfByte(form.move, reg, byte, lane);
        rows[place.row][place.byte] = static_cast<uint8_t>(registers[reg](lanes, lane) >> (8 * byte));
      }
  for (int row = 0; row < form.rows(); ++row) {
    if (!lanes.active(row))
      continue;
    uint64_t at = address(lanes, row);
    checkAlignment(lanes, row, at);
    if (form.isGeneric)
      lanes.storeGeneric(row, at, kRowBytes, rows[row].data());
    else
      lanes.storeShared(row, static_cast<uint32_t>(at), kRowBytes, rows[row].data());
  }
}

} // namespace

Evaluator makeLdmatrix(Decoder &decode) {
  MoveForm form = readLoad(decode);
  if (decode.failed() || !expectRegisters(decode, 0, form.registers(), "the matrices"))
    return {};
  std::vector<Dest> registers = decode.dests(0);
  AddressSource address = decode.address(1);
  decode.executedBy(Scope::Warp);
  return [=](Lanes &lanes) {
    load(lanes, form, registers, address);
    return Step::Done;
  };
}

Evaluator makeStmatrix(Decoder &decode) {
  MoveForm form = readStore(decode);
  if (decode.failed() || !expectRegisters(decode, 1, form.registers(), "the matrices"))
    return {};
  AddressSource address = decode.address(0);
  std::vector<Source> registers = decode.sources(1);
  decode.executedBy(Scope::Warp);
  return [=](Lanes &lanes) {
    store(lanes, form, address, registers);
    return Step::Done;
  };
}

Evaluator makeMovmatrix(Decoder &decode) {
  if (decode.instruction.spelling() != "movmatrix.sync.aligned.m8n8.trans.b16") {
    decode.fail("expected movmatrix.sync.aligned.m8n8.trans.b16");
    return {};
  }
  Dest to = decode.dest(0);
  Source from = decode.source(1);
  decode.executedBy(Scope::Warp);
  return [=](Lanes &lanes) {
    requireWholeWarp(lanes);
    std::array<uint32_t, kLanes> words;
    for (int lane = 0; lane < kLanes; ++lane)
      words[lane] = static_cast<uint32_t>(from(lanes, lane));
    lanes.forEach([&](int lane) { to.set(lanes, lane, transposedWord(words, lane)); });
    return Step::Done;
  };
}

} // namespace headrace::sim
