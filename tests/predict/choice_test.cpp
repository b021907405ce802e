#include "core/predict/choice.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/schedule/makers.h"
#include "core/schedule/transform.h"

namespace ranktree::core::predict {
namespace {

using schedule::Algorithm;
using schedule::Collective;

Choice read(std::string_view text, Collective collective = Collective::kBroadcast) {
  return choice_from_text(text, collective);
}

std::string refusal(std::string_view text, Collective collective = Collective::kBroadcast) {
  try {
    read(text, collective);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(Choice, IsReadFromItsText) {
  const Choice choice = read("messages:binomial/flat:form=lanes:segment=32K:groups=4");
  EXPECT_EQ(choice.variant, Variant::kMessages);
  EXPECT_EQ(choice.composition.form, schedule::Form::kLanes);
  ASSERT_EQ(choice.composition.algorithms.size(), 2U);
  EXPECT_EQ(choice.composition.algorithms[0], Algorithm::kBinomial);
  EXPECT_EQ(choice.composition.algorithms[1], Algorithm::kFlat);
  EXPECT_EQ(choice.composition.segment, 32768);
  EXPECT_EQ(choice.groups, 4);
  EXPECT_EQ(read("native").variant, Variant::kNative);
  EXPECT_EQ(read("levels:groups=4").groups, 4);
  EXPECT_EQ(read("levels").variant, Variant::kLevels);
  EXPECT_EQ(read("shared:binomial:segment=128K").composition.segment, 131072);
}

TEST(Choice, HasTheCollectivesDefaultForm) {
  EXPECT_EQ(read("messages:ring", Collective::kAllreduce).composition.form, schedule::Form::kLanes);
  EXPECT_EQ(read("messages:binomial").composition.form, schedule::Form::kLeaders);
}

TEST(Choice, IsWrittenAsItIsRead) {
  for (const std::string_view text :
       {"native", "levels", "levels:groups=4", "shared:binomial:segment=128K", "shared:scatter-ring-allgather",
        "messages:binomial/flat:form=lanes:segment=32K:groups=4", "messages:chain:segment=1000:groups=1",
        "messages:pipeline:form=leaders:segment=3M", "messages:binary/flat:form=leaders:segment=2G"}) {
    EXPECT_EQ(to_text(read(text)), text);
    EXPECT_EQ(read(to_text(read(text))), read(text));
  }
}

TEST(Choice, ComparesOnlyTheFieldsOfItsVariant) {
  EXPECT_EQ(read("messages:ring:groups=1", Collective::kAllreduce),
            read("messages:ring:form=leaders:groups=1", Collective::kAllreduce));
  EXPECT_FALSE(read("messages:binomial:form=lanes") == read("messages:binomial:form=leaders"));
  EXPECT_FALSE(read("messages:binomial:segment=1K") == read("messages:binomial"));
  EXPECT_FALSE(read("native") == read("levels"));
}

TEST(Choice, NamesTheInvalidField) {
  EXPECT_EQ(refusal("nativ"), "choice 'nativ': variant: expected native, messages, shared or levels, found 'nativ'");
  EXPECT_EQ(refusal(""), "choice '': variant: expected native, messages, shared or levels, found ''");
  EXPECT_EQ(refusal("messages", Collective::kGather),
            "choice 'messages': algorithm: expected one of flat, binomial (of gather), found ''");
  EXPECT_EQ(refusal("messages:tree", Collective::kGather),
            "choice 'messages:tree': algorithm: expected one of flat, binomial (of gather), found 'tree'");
  EXPECT_EQ(refusal("messages:ring:groups=1", Collective::kGather),
            "choice 'messages:ring:groups=1': algorithm: expected one of flat, binomial (of gather), found 'ring'");
  EXPECT_NE(refusal("messages:chain/chain:groups=1").find("no hierarchy"), std::string::npos);
  EXPECT_NE(refusal("messages:chain/chain/chain:groups=3").find("one or two"), std::string::npos);
  EXPECT_NE(refusal("messages:bruck:form=same-index", Collective::kAlltoall).find("a form of alltoall"),
            std::string::npos);
  EXPECT_NE(refusal("messages:chain:form=same-index").find("a form of broadcast"), std::string::npos);
  EXPECT_NE(refusal("messages:chain:form=x").find("leaders, lanes or same-index"), std::string::npos);
  EXPECT_NE(refusal("shared:binomial/flat").find("algorithm: expected one,"), std::string::npos);
  EXPECT_NE(refusal("shared:binomial:groups=2").find("field: expected segment, found 'groups'"), std::string::npos);
  EXPECT_NE(refusal("native:segment=2").find("field: expected nothing"), std::string::npos);
  EXPECT_NE(refusal("levels:groups=2:groups=3").find("groups: expected once"), std::string::npos);
  for (const std::string_view size : {"", "K", "-1", "1X", "1KK", "9999999999G", "1 "}) {
    EXPECT_NE(refusal("messages:chain:segment=" + std::string(size)).find("segment: expected a number"),
              std::string::npos)
        << size;
  }
  EXPECT_NE(refusal("levels:groups=3G").find("groups: expected a number"), std::string::npos);
}

}  // namespace
}  // namespace ranktree::core::predict
