// Formats read back what they write, as far as the format holds it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/pattern/affinity.h"
#include "core/pattern/pattern.h"
#include "formats.h"
#include "io/pattern_file.h"

namespace ranktree::io {
namespace {

using core::pattern::Class;
using core::pattern::Metric;
using core::pattern::Pattern;
using core::pattern::Rank;

// A folder of the test's own, removed with all in it.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "ranktree-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  Folder(Folder&&) = delete;
  Folder& operator=(Folder&&) = delete;
  [[nodiscard]] std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  [[nodiscard]] std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  std::filesystem::path path_;
};

Pattern through(const Pattern& pattern, const std::string& name, Metric metric = Metric::kSize) {
  const Folder folder;
  save_pattern(folder / name, pattern, std::nullopt, metric);
  return load_pattern(folder / name).pattern;
}

void expect_same_pairs(const Pattern& found, const Pattern& expected) {
  EXPECT_EQ(found.ranks, expected.ranks);
  EXPECT_EQ(found.indptr, expected.indptr);
  EXPECT_EQ(found.indices, expected.indices);
  for (std::size_t kind = 0; kind < core::pattern::kClassCount; ++kind) {
    EXPECT_EQ(found.traffic.at(kind).messages, expected.traffic.at(kind).messages) << kind;
    EXPECT_EQ(found.traffic.at(kind).bytes, expected.traffic.at(kind).bytes) << kind;
  }
}

const Rank kSizes[] = {1, 2, 3, 7, 16, 33, 101};

TEST(RoundTrip, NpzKeepsEverything) {
  const Pattern pattern = test::full_pattern();
  const Pattern found = through(pattern, "a.npz");
  expect_same_pairs(found, pattern);
  ASSERT_EQ(found.communicators.size(), 3U);
  EXPECT_EQ(found.communicators[1].members, pattern.communicators[1].members);
  EXPECT_EQ(found.communicators[2].remote, pattern.communicators[2].remote);
  ASSERT_EQ(found.collectives.size(), 2U);
  EXPECT_EQ(found.collectives[0].operation, core::pattern::Operation::kBcast);
  EXPECT_EQ(found.collectives[0].root, 3);
  EXPECT_EQ(found.collectives[0].bucket, 11);
  EXPECT_EQ(found.collectives[0].calls, 14);
  EXPECT_EQ(found.collectives[1].communicator, 1);
  EXPECT_EQ(found.collectives[1].bytes, 0.5);
  EXPECT_EQ(found.metadata.complete, false);
  EXPECT_EQ(found.metadata.program, pattern.metadata.program);
  EXPECT_EQ(found.metadata.launch, pattern.metadata.launch);
  EXPECT_EQ(found.metadata.mpi, pattern.metadata.mpi);
  EXPECT_EQ(found.metadata.source, pattern.metadata.source);
  EXPECT_EQ(found.metadata.hosts, pattern.metadata.hosts);
  EXPECT_EQ(found.metadata.missing, pattern.metadata.missing);
  EXPECT_EQ(found.metadata.unattributed, pattern.metadata.unattributed);
}

TEST(RoundTrip, NpzAndCsvKeepPairsOfEveryClass) {
  for (const Rank ranks : kSizes) {
    for (const int classes : {1, core::pattern::kClassCount}) {
      for (const int entries : {0, 1, 5 * ranks}) {
        const Pattern pattern = test::random_pattern(ranks, entries, static_cast<std::uint64_t>(ranks), classes);
        expect_same_pairs(through(pattern, "a.npz"), pattern);
        expect_same_pairs(through(pattern, "a.csv"), pattern);
      }
    }
  }
}

TEST(RoundTrip, FractionsAreKeptToTheLastBit) {
  const std::vector<core::pattern::Entry> entries{{.from = 0, .to = 1, .messages = 1.0 / 3, .bytes = 1e-7},
                                                  {.from = 1, .to = 0, .messages = 3, .bytes = 9007199254740992.0}};
  const Pattern pattern = core::pattern::from_entries(2, entries);
  expect_same_pairs(through(pattern, "a.npz"), pattern);
  expect_same_pairs(through(pattern, "a.csv"), pattern);
}

// The pattern with one amount only, all classes added to point-to-point.
Pattern one_amount(const Pattern& pattern, Metric metric) {
  const core::pattern::Traffic sum = core::pattern::total(pattern);
  const std::vector<double> zeros(pattern.indices.size(), 0);
  Pattern expected = pattern;
  for (core::pattern::Traffic& traffic : expected.traffic) traffic = {zeros, zeros};
  core::pattern::Traffic& all = expected.of(Class::kPointToPoint);
  (metric == Metric::kSize ? all.bytes : all.messages) = metric == Metric::kSize ? sum.bytes : sum.messages;
  return expected;
}

TEST(RoundTrip, MatrixMarketKeepsAndNamesOneAmount) {
  for (const Rank ranks : kSizes) {
    const Pattern pattern = test::random_pattern(ranks, 5 * ranks, 1);
    for (const Metric metric : {Metric::kSize, Metric::kMessages}) {
      expect_same_pairs(through(pattern, "a.mtx", metric), one_amount(pattern, metric));
    }
  }
}

TEST(RoundTrip, TreeMatchMatrixKeepsAmountsThatAreNotZero) {
  for (const Rank ranks : kSizes) {
    const Pattern pattern = test::random_pattern(ranks, 5 * ranks, 2);
    const Pattern found = through(pattern, "a.mat");
    // Zeros are no entries in a dense matrix.
    std::vector<core::pattern::Entry> entries;
    const std::vector<double> bytes = core::pattern::total(pattern).bytes;
    for (Rank from = 0; from < ranks; ++from) {
      for (auto i = pattern.indptr[from]; i < pattern.indptr[from + 1]; ++i) {
        if (bytes[i] != 0) entries.push_back({.from = from, .to = pattern.indices[i], .bytes = bytes[i]});
      }
    }
    expect_same_pairs(found, core::pattern::from_entries(ranks, entries));
  }
}

TEST(RoundTrip, GraphsKeepTheAffinity) {
  for (const char* name : {"a.graph", "a.grf"}) {
    for (const Rank ranks : kSizes) {
      const Pattern pattern = test::random_pattern(ranks, 5 * ranks, 4);
      const core::pattern::Affinity expected = core::pattern::affinity(pattern, Metric::kSize);
      const core::pattern::Affinity found = core::pattern::affinity(through(pattern, name), Metric::kSize);
      EXPECT_EQ(found.indptr, expected.indptr);
      EXPECT_EQ(found.indices, expected.indices);
      EXPECT_EQ(found.weights, expected.weights);
    }
  }
}

TEST(RoundTrip, MetisGraphNamesTheAmountItHolds) {
  const Pattern pattern = test::random_pattern(9, 40, 5);
  const core::pattern::Affinity expected = core::pattern::affinity(pattern, Metric::kMessages);
  const Pattern found = through(pattern, "a.graph", Metric::kMessages);
  EXPECT_EQ(core::pattern::affinity(found, Metric::kMessages).weights, expected.weights);
}

TEST(RoundTrip, MonitoringKeepsClassesFromAnyOfItsNames) {
  Pattern pattern = test::random_pattern(11, 60, 6);
  // Neighbourhood collectives become the library's messages.
  core::pattern::Traffic& neighbor = pattern.of(Class::kNeighbor);
  for (auto amounts : {&core::pattern::Traffic::messages, &core::pattern::Traffic::bytes}) {
    std::fill((neighbor.*amounts).begin(), (neighbor.*amounts).end(), 0);
  }
  std::vector<core::pattern::Entry> entries;  // pairs without traffic are not written
  for (Rank from = 0; from < pattern.ranks; ++from) {
    for (auto i = pattern.indptr[from]; i < pattern.indptr[from + 1]; ++i) {
      for (std::size_t kind = 0; kind < core::pattern::kClassCount; ++kind) {
        const core::pattern::Traffic& traffic = pattern.traffic.at(kind);
        if (traffic.messages[i] == 0 && traffic.bytes[i] == 0) continue;
        entries.push_back({.from = from,
                           .to = pattern.indices[i],
                           .kind = static_cast<Class>(kind),
                           .messages = traffic.messages[i],
                           .bytes = traffic.bytes[i]});
      }
    }
  }
  const Pattern expected = core::pattern::from_entries(pattern.ranks, entries);
  const Folder folder;
  save_pattern(folder / "run.prof", pattern);
  EXPECT_EQ(folder.files().size(), 11U);
  for (const char* name : {"run", "run.0.prof", "run.10.prof"}) {
    const LoadedPattern loaded = load_pattern(folder / name);
    expect_same_pairs(loaded.pattern, expected);
    EXPECT_FALSE(loaded.warnings.empty());
  }
  std::ofstream joined(folder / "all.prof");
  for (int rank = 0; rank < 11; ++rank) {
    joined << std::ifstream(folder / ("run." + std::to_string(rank) + ".prof")).rdbuf();
  }
  joined.close();
  expect_same_pairs(load_pattern(folder / "all.prof").pattern, expected);
}

// A joined file has no line of a rank that only receives.
TEST(OpenMpiMonitoring, OneFileOfAllRanksLacksNone) {
  const Folder folder;
  std::ofstream file(folder / "all.prof");
  file << "# POINT TO POINT\n";
  for (int worker = 1; worker < 8; ++worker) file << "E\t0\t" << worker << "\t800 bytes\t100 msgs sent\t0\n";
  file.close();
  const LoadedPattern loaded = load_pattern(folder / "all.prof");
  EXPECT_EQ(loaded.pattern.ranks, 8);
  EXPECT_TRUE(loaded.pattern.metadata.complete);
  EXPECT_TRUE(loaded.pattern.metadata.missing.empty());
}

TEST(SavePattern, WarnsOfGraphsBeyond32Bits) {
  const Folder folder;
  const Pattern small =
      core::pattern::from_entries(2, std::vector<core::pattern::Entry>{{0, 1, Class::kPointToPoint, 1, 2147483647}});
  const Pattern large =
      core::pattern::from_entries(2, std::vector<core::pattern::Entry>{{0, 1, Class::kPointToPoint, 1, 2147483648}});
  for (const char* name : {"a.graph", "a.grf"}) {
    const auto warned = [](const std::vector<std::string>& warnings) {
      return std::ranges::any_of(
          warnings, [](const std::string& each) { return each.find("beyond 32 bits") != std::string::npos; });
    };
    EXPECT_FALSE(warned(save_pattern(folder / name, small)));
    EXPECT_TRUE(warned(save_pattern(folder / name, large)));
  }
}

TEST(SavePattern, WarnsOfWhatIsLost) {
  const Pattern pattern = test::full_pattern();
  const Folder folder;
  EXPECT_TRUE(save_pattern(folder / "a.npz", pattern).empty());
  const auto warned = [&](const char* name, const std::string& fragment) {
    const std::vector<std::string> warnings = save_pattern(folder / name, pattern);
    return std::any_of(warnings.begin(), warnings.end(),
                       [&](const std::string& text) { return text.find(fragment) != std::string::npos; });
  };
  for (const char* name : {"a.csv", "a.mtx", "a.mat", "a.graph", "a.grf", "a.prof"}) {
    EXPECT_TRUE(warned(name, "collective calls")) << name;
    EXPECT_TRUE(warned(name, "unattributed")) << name;
    EXPECT_TRUE(warned(name, "incomplete")) << name;
  }
  for (const char* name : {"a.mtx", "a.mat", "a.graph", "a.grf"}) {
    EXPECT_TRUE(warned(name, "numbers of messages are lost")) << name;
    EXPECT_TRUE(warned(name, "classes")) << name;
  }
  EXPECT_TRUE(warned("a.graph", "directions"));
}

TEST(SavePattern, LeavesNothingBehindOnFailure) {
  const Folder folder;
  std::ofstream(folder / "a.graph") << "as it was";
  const std::vector<core::pattern::Entry> entries{{.from = 0, .to = 1, .bytes = 0.5}};
  EXPECT_ANY_THROW(save_pattern(folder / "a.graph", core::pattern::from_entries(2, entries)));
  std::ifstream file(folder / "a.graph");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "as it was");
  EXPECT_EQ(folder.files(), std::vector<std::string>{"a.graph"});
}

TEST(SavePattern, RefusesMonitoringFilesBesideThoseOfALargerRun) {
  const Folder folder;
  save_pattern(folder / "run.prof", test::random_pattern(5, 20, 1));
  EXPECT_ANY_THROW(save_pattern(folder / "run.prof", test::random_pattern(3, 20, 1)));
  EXPECT_NO_THROW(save_pattern(folder / "run.prof", test::random_pattern(5, 20, 2)));
}

}  // namespace
}  // namespace ranktree::io
