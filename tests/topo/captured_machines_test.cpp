// Machines of many kinds: data/machines/NAME has machine.xml, and expected.txt with the reason why it is there, how the
// file was made, and the tree as it must be read.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "core/topo/kind.h"
#include "core/topo/tree.h"
#include "hw/machine.h"

namespace {

using namespace ranktree::core::topo;

std::filesystem::path folder() { return std::filesystem::path(RANKTREE_TEST_DATA) / "machines"; }

std::vector<std::string> machines() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder())) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

std::string levels_of(const Tree& tree) {
  std::vector<int> objects(static_cast<std::size_t>(tree.level_count()));
  for (Object object = 0; object < tree.object_count(); ++object) {
    ++objects[static_cast<std::size_t>(tree.level_of(object))];
  }
  std::ostringstream text;
  for (int level = 0; level < tree.level_count(); ++level) {
    text << (level == 0 ? "" : ", ") << kind_name(tree.level(level).kind) << ' '
         << objects[static_cast<std::size_t>(level)];
  }
  return text.str();
}

// Logical numbers of the leaves, or "all".
std::string allowed_of(const Tree& tree) {
  std::ostringstream text;
  int count = 0;
  for (Leaf leaf = 0; leaf < tree.leaf_count(); ++leaf) {
    if (tree.allowed(leaf)) text << (count++ == 0 ? "" : " ") << leaf;
  }
  return count == tree.leaf_count() ? "all" : text.str();
}

std::string pus_of(const Tree& cores, Leaf core) {
  std::ostringstream text;
  for (const int pu : cores.pus(core)) text << (pu == cores.pus(core).front() ? "" : " ") << pu;
  return text.str();
}

// "0-1 2, 0-4 4" as the machine has it, for the pairs of `expected`.
std::string hops_of(const Tree& tree, const std::string& expected) {
  std::istringstream pairs(expected);
  std::ostringstream text;
  for (std::string pair; std::getline(pairs, pair, ',');) {
    const std::size_t dash = pair.find('-');
    const int a = std::stoi(pair.substr(0, dash));
    const int b = std::stoi(pair.substr(dash + 1));
    text << (text.tellp() == 0 ? "" : ", ") << a << '-' << b << ' ' << tree.distance(a, b);
  }
  return text.str();
}

class CapturedMachine : public testing::TestWithParam<std::string> {};

TEST_P(CapturedMachine, IsTheExpectedTree) {
  const std::filesystem::path path = folder() / GetParam();
  const Tree tree = ranktree::hw::load_tree((path / "machine.xml").string());
  std::ifstream expected(path / "expected.txt");
  int checks = 0;
  for (std::string line; std::getline(expected, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with('#') || colon == std::string::npos) continue;
    const std::string what = line.substr(0, colon);
    const std::string value = line.substr(colon + 2);
    constexpr std::string_view kPus = "pus of core ";
    ++checks;
    if (what == "levels") {
      EXPECT_EQ(levels_of(tree), value);
    } else if (what == "allowed") {
      EXPECT_EQ(allowed_of(tree), value);
    } else if (what == "hops") {
      EXPECT_EQ(hops_of(tree, value), value);
    } else {
      ASSERT_TRUE(what.starts_with(kPus)) << line;
      EXPECT_EQ(pus_of(tree.cut_at(Kind::kCore), std::stoi(what.substr(kPus.size()))), value);
    }
  }
  EXPECT_GE(checks, 4) << "expected.txt lacks a line";
}

INSTANTIATE_TEST_SUITE_P(All, CapturedMachine, testing::ValuesIn(machines()), [](const auto& each) {
  std::string name = each.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
