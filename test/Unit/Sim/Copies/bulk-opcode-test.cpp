// Opcodes of bulk copies. What is accepted and refused here, ptxas 13.0 accepts and refuses (for sm_100a).
#include "headrace/Sim/Copies/BulkOpcode.h"

#include "gtest/gtest.h"

#include <sstream>

using namespace headrace::sim;

namespace {

using Kind = BulkOpcode::Kind;

std::vector<std::string> partsOf(const std::string &opcode) {
  std::vector<std::string> parts;
  std::istringstream stream(opcode);
  for (std::string part; std::getline(stream, part, '.');)
    parts.push_back(part);
  return parts;
}

BulkOpcode parsed(const std::string &opcode) {
  std::string error;
  std::optional<BulkOpcode> result = parseBulkOpcode(partsOf(opcode), error);
  EXPECT_TRUE(result) << opcode << ": " << error;
  return result.value_or(BulkOpcode());
}

std::string refused(const std::string &opcode) {
  std::string error;
  EXPECT_FALSE(parseBulkOpcode(partsOf(opcode), error)) << opcode;
  return error;
}

TEST(BulkOpcode, LoadsOfRanges) {
  BulkOpcode plain = parsed("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes");
  EXPECT_EQ(plain.kind, Kind::Load);
  EXPECT_TRUE(plain.toOwnCta);
  EXPECT_EQ(plain.rank, 0);
  EXPECT_FALSE(plain.multicast || plain.cacheHint || plain.pair || plain.byteMask || plain.reduction);
  BulkOpcode multicast =
      parsed("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint");
  EXPECT_TRUE(multicast.multicast && multicast.cacheHint && !multicast.toOwnCta);
}

TEST(BulkOpcode, PeersStoresAndPrefetches) {
  EXPECT_EQ(parsed("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes").kind, Kind::Peer);
  EXPECT_EQ(parsed("cp.async.bulk.global.shared::cta.bulk_group").kind, Kind::Store);
  EXPECT_TRUE(parsed("cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.cp_mask").byteMask);
  EXPECT_EQ(parsed("cp.async.bulk.prefetch.L2.global").kind, Kind::Prefetch);
  EXPECT_TRUE(parsed("cp.async.bulk.prefetch.L2.global.L2::cache_hint").cacheHint);
}

TEST(BulkOpcode, TensorPartsComeInAnyOrder) {
  for (const char *opcode : {"cp.async.bulk.tensor.3d.shared::cta.global.tile.mbarrier::complete_tx::bytes",
                             "cp.async.bulk.tensor.3d.shared::cta.global.mbarrier::complete_tx::bytes.tile",
                             "cp.async.bulk.tensor.3d.tile.shared::cta.global.mbarrier::complete_tx::bytes",
                             "cp.async.bulk.tensor.3d.shared::cta.global.mbarrier::complete_tx::bytes"}) {
    BulkOpcode load = parsed(opcode);
    EXPECT_EQ(load.kind, Kind::Load);
    EXPECT_EQ(load.rank, 3);
    EXPECT_FALSE(load.fourRows);
  }
  const std::string tensor = "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes";
  EXPECT_TRUE(parsed(tensor + ".cta_group::2.multicast::cluster").pair);
  EXPECT_TRUE(parsed(tensor + ".multicast::cluster.cta_group::2").multicast);
  EXPECT_FALSE(parsed(tensor + ".cta_group::1").pair);
}

TEST(BulkOpcode, TensorStoresPrefetchesAndFourRows) {
  EXPECT_EQ(parsed("cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group").rank, 5);
  EXPECT_EQ(parsed("cp.async.bulk.prefetch.tensor.2d.L2.global.tile::gather4").kind, Kind::Prefetch);
  EXPECT_TRUE(parsed("cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group").fourRows);
  EXPECT_TRUE(parsed("cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes").fourRows);
}

TEST(BulkOpcode, Reductions) {
  BulkOpcode range = parsed("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.bf16");
  EXPECT_EQ(range.reduction, ReductionOp::Add);
  EXPECT_EQ(range.type, ReductionType::BF16);
  BulkOpcode peer = parsed("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u64");
  EXPECT_EQ(peer.kind, Kind::Peer);
  BulkOpcode tensor = parsed("cp.reduce.async.bulk.tensor.2d.global.shared::cta.max.tile.bulk_group");
  EXPECT_EQ(tensor.reduction, ReductionOp::Max);
  EXPECT_EQ(tensor.rank, 2);
}

TEST(BulkOpcode, RefusesReductionsTheIsaDoesNotHave) {
  const std::string range = "cp.reduce.async.bulk.global.shared::cta.bulk_group";
  EXPECT_EQ(refused(range + ".add.f16"), "expected .noftz in .add of .f16 and .bf16");
  EXPECT_EQ(refused(range + ".min.noftz.f16"), "expected .noftz only in .add of .f16 and .bf16");
  EXPECT_EQ(refused(range + ".add.s64"), "there is no such reduction of this type (PTX ISA 9.7.9.25.4.2)");
  EXPECT_NE(refused(range + ".xor.s32"), "");
  EXPECT_NE(refused("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.f32"), "");
  EXPECT_EQ(refused(range + ".add"), "expected a type of the elements");
  EXPECT_EQ(refused(range + ".u32"), "expected an operation: .add, .min, .max, .inc, .dec, .and, .or or .xor");
}

TEST(BulkOpcode, RefusesWrongSpacesAndMechanisms) {
  const char *message = "expected a bulk copy of global to shared memory or of shared::cta to shared::cluster with "
                        "mbarrier::complete_tx::bytes, or of shared::cta to global memory with bulk_group";
  EXPECT_EQ(refused("cp.async.bulk.shared::cta.global.bulk_group"), message);
  EXPECT_EQ(refused("cp.async.bulk.global.shared::cta.mbarrier::complete_tx::bytes"), message);
  EXPECT_EQ(refused("cp.async.bulk.tensor.2d.shared::cluster.shared::cta.mbarrier::complete_tx::bytes"), message);
  EXPECT_EQ(refused("cp.reduce.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.add.u32"), message);
  EXPECT_EQ(refused("cp.async.bulk"), message);
}

TEST(BulkOpcode, RefusesQualifiersWhereTheyDoNotBelong) {
  const std::string load = "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes";
  const std::string store = "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group";
  EXPECT_EQ(refused(load + ".multicast::cluster"),
            "expected .multicast::cluster only from global memory to shared::cluster");
  EXPECT_EQ(refused(load + ".cta_group::1"), "expected .cta_group only in tensor copies to shared memory");
  EXPECT_EQ(refused(store + ".cta_group::1"), "expected .cta_group only in tensor copies to shared memory");
  EXPECT_EQ(refused(load + ".cp_mask"), "expected .cp_mask only in cp.async.bulk of shared::cta to global memory");
  EXPECT_EQ(refused(store + ".tile::gather4"),
            "expected .tile::gather4 in 2d loads and prefetches, .tile::scatter4 in 2d stores");
  EXPECT_EQ(refused(load + ".noftz"), "expected .noftz only in reductions");
}

TEST(BulkOpcode, RefusesWhatItDoesNotKnow) {
  const std::string tensor = "cp.async.bulk.tensor.3d.shared::cta.global.mbarrier::complete_tx::bytes";
  EXPECT_EQ(refused(tensor + ".im2col"), "'.im2col' is not supported by the simulator");
  EXPECT_EQ(refused(tensor + ".im2col::w::128"), "'.im2col::w::128' is not supported by the simulator");
  EXPECT_EQ(refused(tensor + ".ignore_oob"), "'.ignore_oob' is not understood in a bulk copy");
  EXPECT_EQ(refused(tensor + ".global"), "expected '.global' once");
  EXPECT_EQ(refused("cp.async.bulk.tensor.6d.global.shared::cta.bulk_group"),
            "expected .1d to .5d after .tensor, got '.6d'");
  EXPECT_EQ(refused("cp.async.bulk.tensor"), "expected .1d to .5d after .tensor, got '.'");
}

} // namespace
