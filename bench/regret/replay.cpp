// replay SAMPLES.csv [TESTS]: how often the rule of core/predict/paired_test.h errs on recorded times.
//
// SAMPLES.csv has "series,elapsed,in_calls" of blocks of native calls, in the order in which they were made (calls.c
// blocks). A pair is two blocks of a series that follow each other, in a random order. As they are, no variant is
// faster: each one that is taken is a false replacement. With one block of each pair at 90 % of its time, each one that
// is not taken is a missed gain. Behind its last block a series begins again. Prints a line for each series and one for
// all; exit code 1 where more than 1 % are false or more than 5 % are missed.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "core/predict/paired_test.h"

namespace {

using ranktree::core::predict::BlockTimes;
using ranktree::core::predict::PairedTest;
using Series = std::vector<BlockTimes>;

constexpr double kOdds = 300;  // of the first test of a kind (mpi/collect/select/tuning_entry.cpp)

std::map<std::string, Series> read(const char* path) {
  std::map<std::string, Series> found;
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string name;
    BlockTimes times;
    char comma = 0;
    std::getline(words, name, ',');
    if (words >> times.elapsed >> comma >> times.in_calls) found[name].push_back(times);
  }
  return found;
}

BlockTimes scaled(const BlockTimes& times, double factor) { return {times.elapsed * factor, times.in_calls * factor}; }

struct Result {
  bool faster = false;
  std::size_t pairs = 0;
};

Result test(const Series& series, double ratio, std::mt19937_64& random) {
  PairedTest rule(kOdds);
  std::size_t at = random() % series.size();
  const std::size_t odd = series.size() - (series.size() % 2 == 0 ? 1 : 0);  // other pairs each time around
  const auto next = [&] { return series[at++ % odd]; };
  while (rule.verdict() == PairedTest::Verdict::kUndecided) {
    const BlockTimes first = next();
    const BlockTimes second = next();
    const bool swaps = (random() & 1U) != 0;
    rule.add(swaps ? second : first, scaled(swaps ? first : second, ratio));
  }
  return {rule.verdict() == PairedTest::Verdict::kFaster, rule.pairs()};
}

struct Errors {
  int tests = 0;
  int replaced = 0;
  int missed = 0;
  double pairs = 0;  // until a gain was found
  void print(const char* name) const {
    std::printf("%-40s %6.2f %% false replacements, %6.2f %% missed gains of 10 %%, %5.0f pairs\n", name,
                100.0 * replaced / tests, 100.0 * missed / tests, pairs / tests);
  }
};

int replay(const char* path, int tests) {
  Errors all;
  std::mt19937_64 random(1);
  for (const auto& [name, series] : read(path)) {
    Errors of_series;
    for (int i = 0; i < tests; ++i) {
      ++of_series.tests;
      of_series.replaced += test(series, 1, random).faster ? 1 : 0;
      const Result gain = test(series, 0.9, random);
      of_series.missed += gain.faster ? 0 : 1;
      of_series.pairs += static_cast<double>(gain.pairs);
    }
    of_series.print(name.c_str());
    all.tests += of_series.tests;
    all.replaced += of_series.replaced;
    all.missed += of_series.missed;
    all.pairs += of_series.pairs;
  }
  if (all.tests == 0) return 2;
  all.print("all");
  return 100 * all.replaced <= all.tests && 20 * all.missed <= all.tests ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
  if (count < 2) return 2;
  try {
    return replay(words[1], count > 2 ? std::atoi(words[2]) : 500);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
