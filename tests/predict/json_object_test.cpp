#include "io/json_object.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"

namespace {

using ranktree::io::json_line;
using ranktree::io::json_list;
using ranktree::io::json_text;
using ranktree::io::JsonObject;

TEST(JsonObject, KeepsTheOrderOfItsMembers) {
  JsonObject object;
  EXPECT_EQ(object.text(), "{}");
  object.add("z", 1).add("a", "b").add_json("list", json_list({json_text(0.5), "[]"}));
  EXPECT_EQ(object.text(), R"({"z":1,"a":"b","list":[0.5,[]]})");
}

TEST(JsonText, IsAsciiOnOneLineWhateverTheBytes) {
  EXPECT_EQ(json_text("\"n\\0\"\n"), R"("\"n\\0\"\n")");
  EXPECT_EQ(json_text("n\xff\xc3\xa9"), R"("n\ufffd\u00e9")");
  const std::vector<std::pair<std::string, std::int64_t>> chain{{"Node", 0}, {"Core", 3}};
  EXPECT_EQ(json_text(chain), R"([["Node",0],["Core",3]])");
  EXPECT_EQ(json_list({}), "[]");
}

TEST(JsonLine, TakesOutWhatIsBetweenValuesAndRefusesOtherTexts) {
  EXPECT_EQ(json_line("{\n  \"c d\": [1,\n 2],\n  \"a b\": 3}\n"), R"({"a b":3,"c d":[1,2]})");
  EXPECT_THROW(json_line("{\"a\": 1"), ranktree::core::Error);
}

}  // namespace
