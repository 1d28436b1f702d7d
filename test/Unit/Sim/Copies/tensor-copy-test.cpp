// Tensor copies: boxes between an array and shared memory, on a machine.
#include "Bench.h"

#include "headrace/Sim/Copies/TensorBox.h"

using namespace headrace::sim;

namespace {

constexpr uint64_t kColumns = 72, kRows = 20; // of u16, rows of 160 bytes
constexpr uint64_t kPitch = 160;

/// CTA 0 and 1, and the array A[r][c] = 256 r + c.
struct TensorCopyTest : testing::Test {
  TensorCopyTest() : bench(Policy::Late, 2), array(kPitch * kRows) {
    for (uint64_t r = 0; r < kRows; ++r)
      for (uint64_t c = 0; c < kColumns; ++c)
        setElement(r, c, static_cast<uint16_t>(256 * r + c));
    TensorMap map;
    map.name = "A";
    map.type = ElementType::U16;
    map.address = address = bench.memory.map("A", array.data(), static_cast<int64_t>(array.size()));
    map.sizes = {kColumns, kRows};
    map.strides = {kPitch};
    map.box = {32, 8};
    map.elementStrides = {1, 1};
    map.swizzle = 64;
    bench.launch.tensorMaps[64] = map;
    barrier = &bench.addMbarrier(1024);
    peer = &bench.addMbarrier(1024, 1, 1);
  }

  uint16_t element(uint64_t r, uint64_t c) const {
    return static_cast<uint16_t>(array[r * kPitch + 2 * c] | array[r * kPitch + 2 * c + 1] << 8);
  }
  void setElement(uint64_t r, uint64_t c, uint16_t value) {
    array[r * kPitch + 2 * c] = static_cast<uint8_t>(value);
    array[r * kPitch + 2 * c + 1] = static_cast<uint8_t>(value >> 8);
  }
  TensorMap &map() { return bench.launch.tensorMaps[64]; }

  std::string coordinates(const std::vector<int64_t> &at) const {
    std::string text = "[" + std::to_string(kParamWindow + 64) + ", {";
    for (size_t i = 0; i < at.size(); ++i)
      text += (i ? ", " : "") + std::to_string(at[i]);
    return text + "}]";
  }
  std::string load(const std::vector<int64_t> &at, uint32_t to = 2048, const std::string &mode = "tile") const {
    return "cp.async.bulk.tensor.2d.shared::cta.global." + mode + ".mbarrier::complete_tx::bytes [" +
           std::to_string(to) + "], " + coordinates(at) + ", [1024]";
  }
  std::string store(const std::vector<int64_t> &at, uint32_t from = 2048, const std::string &mode = "tile") const {
    return "cp.async.bulk.tensor.2d.global.shared::cta." + mode + ".bulk_group " + coordinates(at) + ", [" +
           std::to_string(from) + "]";
  }

  /// Element (r, c) of a box of 64-byte rows at `offset` in shared memory.
  uint16_t boxElement(uint32_t offset, uint32_t r, uint32_t c, uint32_t rank = 0) {
    const uint8_t *at = bench.shared(swizzled(offset + r * 64 + c * 2, map().swizzle), rank);
    return static_cast<uint16_t>(at[0] | at[1] << 8);
  }
  /// Writes a box of 64-byte rows, element (r, c) = 1000 + 32 r + c, as one who stages it for a store.
  void stage(uint32_t offset, uint32_t rows = 8) {
    for (uint32_t r = 0; r < rows; ++r)
      for (uint32_t c = 0; c < 32; ++c) {
        uint32_t value = 1000 + 32 * r + c;
        bench.store(swizzled(offset + r * 64 + c * 2, map().swizzle),
                    {static_cast<uint8_t>(value), static_cast<uint8_t>(value >> 8)});
      }
    bench.fenceProxy();
  }

  Bench bench;
  std::vector<uint8_t> array;
  uint64_t address = 0;
  Mbarrier *barrier = nullptr, *peer = nullptr;
};

TEST_F(TensorCopyTest, LoadsBoxesInsideAndAcrossTheEdges) {
  for (int swizzle : {0, 64})
    for (int64_t x : {-16, 0, 24, 56, 80})
      for (int64_t y : {-3, 0, 5, 15, 30}) {
        map().swizzle = swizzle;
        bench.cluster->ctas[0]->shared.forget(2176, 512); // in one phase, nothing orders one box after another
        int64_t before = barrier->pendingBytes();
        bench.run(load({x, y}, 2176));
        bench.finish();
        EXPECT_EQ(barrier->pendingBytes(), before - 512); // of the whole box, wherever it is
        for (uint32_t r = 0; r < 8; ++r)
          for (uint32_t c = 0; c < 32; ++c) {
            int64_t row = y + r, column = x + c;
            bool inside = row >= 0 && row < int64_t(kRows) && column >= 0 && column < int64_t(kColumns);
            ASSERT_EQ(boxElement(2176, r, c), inside ? 256 * row + column : 0);
          }
      }
  EXPECT_TRUE(bench.findings.empty());
}

TEST_F(TensorCopyTest, NarrowBoxesLeaveThePaddingAlone) {
  map().swizzle = 128; // rows of 64 bytes
  std::vector<uint8_t> old(bench.shared(2048), bench.shared(2048) + 1024);
  int64_t before = barrier->pendingBytes();
  bench.run(load({0, 0}));
  bench.finish();
  EXPECT_EQ(barrier->pendingBytes(), before - 512); // without the padding
  for (uint32_t r = 0; r < 8; ++r)
    for (uint32_t c = 0; c < 64; ++c) {
      uint32_t place = swizzled(2048 + r * 128 + c * 2, 128);
      const uint8_t *at = bench.shared(place), *padding = &old[place - 2048];
      ASSERT_EQ(at[0] | at[1] << 8, c < 32 ? 256 * r + c : padding[0] | padding[1] << 8);
    }
  EXPECT_TRUE(bench.findings.empty());
}

TEST_F(TensorCopyTest, LoadsRoundToTf32) {
  map().type = ElementType::TF32;
  map().sizes = {kColumns / 2, kRows};
  map().box = {16, 8};
  const uint32_t from[] = {0x3F801000, 0x3F803000, 0x3F800FFF, 0x3F801001, 0xBF803000, 0x7F7FFFFF, 0x7F800001};
  const uint32_t to[] = {0x3F800000, 0x3F804000, 0x3F800000, 0x3F802000, 0xBF804000, 0x7F800000, 0x7F800001};
  for (uint64_t i = 0; i < std::size(from); ++i) {
    setElement(0, 2 * i, static_cast<uint16_t>(from[i]));
    setElement(0, 2 * i + 1, static_cast<uint16_t>(from[i] >> 16));
  }
  bench.run(load({0, 0}));
  bench.finish();
  for (uint32_t i = 0; i < std::size(to); ++i)
    EXPECT_EQ(boxElement(2048, 0, 2 * i) | uint32_t(boxElement(2048, 0, 2 * i + 1)) << 16, to[i]);
}

TEST_F(TensorCopyTest, NarrowBoxesAreStoredFromTheirPaddedRows) {
  map().swizzle = 128;
  bench.run(load({0, 0}));
  bench.finish();
  bench.run(store({32, 8}));
  bench.finish();
  for (uint64_t r = 0; r < 8; ++r)
    for (uint64_t c = 0; c < 32; ++c)
      ASSERT_EQ(element(8 + r, 32 + c), 256 * r + c);
}

TEST_F(TensorCopyTest, FillsWithNan) {
  map().type = ElementType::BF16;
  map().nanFill = true;
  bench.run(load({64, 0}));
  bench.finish();
  EXPECT_EQ(boxElement(2048, 0, 7), 71);
  EXPECT_EQ(boxElement(2048, 0, 8), 0x7FFF);
}

TEST_F(TensorCopyTest, GathersFourRows) {
  map().box = {32, 1};
  bench.run(load({8, 3, 19, -1, 3}, 2048, "tile::gather4"));
  bench.finish();
  EXPECT_EQ(barrier->pendingBytes(), -256);
  for (uint32_t c = 0; c < 32; ++c) {
    EXPECT_EQ(boxElement(2048, 0, c), element(3, 8 + c));
    EXPECT_EQ(boxElement(2048, 1, c), element(19, 8 + c));
    EXPECT_EQ(boxElement(2048, 2, c), 0);
    EXPECT_EQ(boxElement(2048, 3, c), element(3, 8 + c));
  }
  EXPECT_TRUE(bench.findings.empty());
}

TEST_F(TensorCopyTest, MulticastsToBothCtas) {
  bench.run("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
            "[2048], " +
            coordinates({0, 2}) + ", [1024], 3");
  bench.finish();
  EXPECT_EQ(barrier->pendingBytes(), -512);
  EXPECT_EQ(peer->pendingBytes(), -512);
  for (uint32_t rank : {0u, 1u})
    EXPECT_EQ(boxElement(2048, 7, 31, rank), element(9, 31));
  EXPECT_TRUE(bench.findings.empty());
}

/// Both CTAs of a pair load their halves and signal the even one's mbarrier.
TEST_F(TensorCopyTest, APairSignalsOneMbarrier) {
  std::string pair = "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.cta_group::2 [";
  bench.run(pair + "2048], " + coordinates({0, 0}) + ", [1024]", 0);
  bench.run(pair + std::to_string((1 << 24) + 2048) + "], " + coordinates({0, 8}) + ", [1024]", 1);
  bench.finish();
  EXPECT_EQ(barrier->pendingBytes(), -1024);
  EXPECT_EQ(peer->pendingBytes(), 0);
  EXPECT_EQ(boxElement(2048, 0, 5, 1), element(8, 5));
  EXPECT_TRUE(bench.findings.empty());
  bench.run("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [16779264], " +
            coordinates({0, 8}) + ", [1024]");
  EXPECT_EQ(bench.messages(FindingKind::Operand),
            std::vector<std::string>{"expected the mbarrier in CTA 1 of the cluster, where the data goes, got CTA 0"});
}

TEST_F(TensorCopyTest, StoresBoxesInsideAndPastTheEnd) {
  std::vector<uint8_t> before = array;
  stage(2048);
  bench.run(store({48, 16}));
  bench.run("cp.async.bulk.commit_group");
  bench.finish();
  EXPECT_EQ(bench.run("cp.async.bulk.wait_group.read 0"), Step::Done);
  for (uint64_t r = 0; r < kRows; ++r)
    for (uint64_t c = 0; c < kColumns; ++c) {
      bool written = r >= 16 && c >= 48;
      uint64_t old = before[r * kPitch + 2 * c] | before[r * kPitch + 2 * c + 1] << 8;
      ASSERT_EQ(element(r, c), written ? 1000 + 32 * (r - 16) + c - 48 : old);
    }
  EXPECT_TRUE(bench.findings.empty());
}

TEST_F(TensorCopyTest, StoresWholeUnitsOfSixteenBytes) {
  map().sizes[0] = 67; // the last unit of a row holds elements 64 to 71
  stage(2048);
  bench.run(store({64, 0}));
  bench.finish();
  for (uint64_t c = 64; c < kColumns; ++c)
    EXPECT_EQ(element(0, c), 1000 + c - 64);
  EXPECT_TRUE(bench.findings.empty());
}

TEST_F(TensorCopyTest, AStorePastTheEndReadsOnlyWhatItWrites) {
  stage(2048, 4); // rows 4 to 7 of the box are not written, and lie outside of the array
  bench.run(store({0, 16}));
  bench.finish();
  EXPECT_EQ(element(19, 31), 1000 + 32 * 3 + 31);
  EXPECT_TRUE(bench.findings.empty());
  bench.run(store({0, 0}, 4096));
  bench.finish();
  EXPECT_EQ(bench.messages(FindingKind::Uninitialised).size(), 1u);
}

TEST_F(TensorCopyTest, ScattersFourRows) {
  map().box = {32, 1};
  stage(2048, 4);
  bench.run(store({32, 1, 25, 9, 0}, 2048, "tile::scatter4"));
  bench.finish();
  EXPECT_EQ(element(1, 32), 1000);
  EXPECT_EQ(element(9, 63), 1000 + 64 + 31);
  EXPECT_EQ(element(0, 40), 1000 + 96 + 8);
  EXPECT_TRUE(bench.findings.empty());
}

TEST_F(TensorCopyTest, ReducesElements) {
  map().type = ElementType::U32; // as pairs of elements, 36 of them
  map().sizes[0] = 36;
  map().box[0] = 16;
  stage(2048);
  uint16_t before = element(2, 64);
  bench.run("cp.reduce.async.bulk.tensor.2d.global.shared::cta.xor.tile.bulk_group.L2::cache_hint " +
            coordinates({32, 2}) + ", [2048], 0");
  bench.finish();
  EXPECT_EQ(element(2, 64), before ^ 1000);
  EXPECT_TRUE(bench.findings.empty());
  map().type = ElementType::F64;
  map().sizes[0] = 18;
  map().box[0] = 8;
  bench.run("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group " + coordinates({0, 0}) +
            ", [2048]");
  EXPECT_EQ(
      bench.messages(FindingKind::Operand),
      std::vector<std::string>{"the elements of 'A' have no such reduction by tensor map (PTX ISA 9.7.9.27.1.3)"});
}

TEST_F(TensorCopyTest, ReportsPlaces) {
  bench.run(load({0, 0}, 2112));
  EXPECT_EQ(bench.messages(FindingKind::Misaligned),
            std::vector<std::string>{"expected a destination at a multiple of 128 bytes, got 0x840"});
  bench.run(load({0, 0}, (1 << 24) + 2048));
  EXPECT_EQ(bench.messages(FindingKind::Operand).size(), 1u);
  bench.run(load({4, 0}));
  EXPECT_EQ(bench.messages(FindingKind::Operand).back(),
            "expected a box of 'A' that starts at a multiple of 16 bytes along dimension 0, got element 4 of 2 bytes");
  bench.run(store({0, -1}));
  EXPECT_EQ(bench.messages(FindingKind::Operand).back(),
            "expected coordinates of at least 0 in a store to 'A', got -1");
}

TEST_F(TensorCopyTest, ReportsMaps) {
  std::string elsewhere = load({0, 0});
  elsewhere.replace(elsewhere.find(std::to_string(kParamWindow + 64)), std::to_string(kParamWindow).size(),
                    std::to_string(kParamWindow));
  bench.run(elsewhere);
  EXPECT_EQ(bench.messages(FindingKind::Operand).back(),
            "expected the generic address of a tensor map among the kernel's parameters, got 0x2000000000000");
  map().box = {64, 256};
  map().swizzle = 128;
  bench.run(load({0, 0}));
  EXPECT_EQ(bench.messages(FindingKind::OutOfBounds),
            std::vector<std::string>{"copies 32768 bytes, shared memory has 16384"});
}

TEST_F(TensorCopyTest, PrefetchesAreCheckedOnly) {
  std::string prefetch = "cp.async.bulk.prefetch.tensor.2d.L2.global.tile ";
  bench.run(prefetch + coordinates({0, -4}));
  EXPECT_TRUE(bench.findings.empty() && bench.cluster->engine.idle());
  bench.run(prefetch + coordinates({1, 0}));
  EXPECT_EQ(bench.messages(FindingKind::Operand).size(), 1u);
}

TEST_F(TensorCopyTest, RefusesWrongOperands) {
  std::string load3 = load({0, 0, 0});
  EXPECT_EQ(bench.refusal(load3), "expected 2 coordinates, got 3");
  EXPECT_EQ(bench.refusal(load({0, 0}) + ", 0"), "expected 3 operands, got 4");
  EXPECT_EQ(bench.refusal(load({0, 0}, 2048, "im2col")), "'.im2col' is not supported by the simulator");
  EXPECT_EQ(bench.refusal("cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [0], [0]"),
            "expected [map, {coordinates}] as operand 1");
}

} // namespace
