#include <gtest/gtest.h>

#include "core/topo/kind.h"
#include "core/topo/nearest_kind.h"

namespace {

using namespace ranktree::core::topo;

TEST(Kind, EveryNameReadsBackAsItself) {
  for (int index = 0; index <= static_cast<int>(Kind::kPu); ++index) {
    const Kind kind = static_cast<Kind>(index);
    EXPECT_EQ(kind_from_name(kind_name(kind)), kind) << kind_name(kind);
  }
}

TEST(Kind, HwlocsShortWordsAndAnyLetterCaseAreKnown) {
  EXPECT_EQ(kind_from_name("pack"), Kind::kPackage);
  EXPECT_EQ(kind_from_name("NUMA"), Kind::kNumaNode);
  EXPECT_EQ(kind_from_name("L2Cache"), Kind::kL2);
  EXPECT_EQ(kind_from_name("pu"), Kind::kPu);
  EXPECT_EQ(kind_from_name("rack"), std::nullopt);
  EXPECT_EQ(kind_from_name(""), std::nullopt);
}

TEST(Kind, AMisspeltWordHasANearestKind) {
  EXPECT_EQ(nearest_kind("nod"), "Node");
  EXPECT_EQ(nearest_kind("NODES"), "Node");
  EXPECT_EQ(nearest_kind("pakage"), "Package");
  EXPECT_EQ(nearest_kind("cores"), "Core");
  EXPECT_EQ(nearest_kind("xyzzy"), "");
  EXPECT_EQ(nearest_kind(""), "");
}

}  // namespace
