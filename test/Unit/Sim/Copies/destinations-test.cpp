// Destinations of copies, for all masks of a cluster of 4.
#include "headrace/Sim/Copies/Destinations.h"

#include "gtest/gtest.h"

using namespace headrace::sim;

namespace {

constexpr uint32_t kData = 0x8400, kMbarrier = 0x30;

TEST(Destinations, MulticastNamesEachCtaOfTheMask) {
  for (uint32_t mask = 0; mask < 16; ++mask)
    for (uint32_t dataRank = 0; dataRank < 4; ++dataRank)
      for (uint32_t mbarrierRank = 0; mbarrierRank < 4; ++mbarrierRank)
        for (bool pair : {false, true}) {
          auto list = multicastDestinations(dataRank << 24 | kData, mbarrierRank << 24 | kMbarrier,
                                            static_cast<uint16_t>(mask), pair);
          size_t next = 0;
          for (uint32_t rank = 0; rank < 4; ++rank) {
            if (!(mask >> rank & 1))
              continue;
            ASSERT_LT(next, list.size());
            EXPECT_EQ(list[next].data, rank << 24 | kData);
            uint32_t signalled = pair ? rank / 2 * 2 + mbarrierRank % 2 : rank;
            EXPECT_EQ(list[next].mbarrier, signalled << 24 | kMbarrier);
            ++next;
          }
          EXPECT_EQ(next, list.size());
        }
}

TEST(Destinations, TheMbarrierIsBesideTheDataOrInThePair) {
  for (uint32_t data = 0; data < 8; ++data)
    for (uint32_t mbarrier = 0; mbarrier < 8; ++mbarrier) {
      uint32_t to = data << 24 | kData, signal = mbarrier << 24 | kMbarrier;
      EXPECT_EQ(whyNotSignalled(to, signal, false).empty(), data == mbarrier);
      EXPECT_EQ(whyNotSignalled(to, signal, true).empty(), data / 2 == mbarrier / 2);
    }
  EXPECT_EQ(whyNotSignalled(0x1000400, 0x400, false),
            "expected the mbarrier in CTA 1 of the cluster, where the data goes, got CTA 0");
  EXPECT_EQ(whyNotSignalled(0x1000400, 0x2000400, true),
            "expected the mbarrier in CTA 1 of the cluster, where the data goes, or in its peer 0, got CTA 2");
}

} // namespace
