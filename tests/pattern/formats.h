// Shared code of the tests of the pattern formats.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/pattern/pattern.h"

namespace ranktree::test {

// What an action is refused with.
inline std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const core::Error& error) {
    return error.what();
  }
  return "accepted";
}

// Random pairs of all classes, with self messages, empty messages and large whole numbers.
inline core::pattern::Pattern random_pattern(core::pattern::Rank ranks, int entries, std::uint64_t seed,
                                             int classes = core::pattern::kClassCount) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t bound) { return random() % bound; };
  std::vector<core::pattern::Entry> list;
  for (int i = 0; i < entries; ++i) {
    const double messages = static_cast<double>(below(1'000'000));
    list.push_back({.from = static_cast<core::pattern::Rank>(below(static_cast<std::uint64_t>(ranks))),
                    .to = static_cast<core::pattern::Rank>(below(static_cast<std::uint64_t>(ranks))),
                    .kind = static_cast<core::pattern::Class>(below(static_cast<std::uint64_t>(classes))),
                    .messages = messages,
                    .bytes = below(4) == 0 ? 0 : static_cast<double>(below(std::uint64_t{1} << 45U))});
  }
  return core::pattern::from_entries(ranks, list);
}

// A pattern with everything the native format holds.
inline core::pattern::Pattern full_pattern() {
  core::pattern::Pattern pattern = random_pattern(7, 30, 3);
  pattern.communicators = {{{0, 1, 2, 3, 4, 5, 6}, {}}, {{6, 0, 3}, {}}, {{1, 2}, {4, 5, 6}}};
  pattern.collectives = {{.communicator = 0,
                          .operation = core::pattern::Operation::kBcast,
                          .root = 3,
                          .bucket = 11,
                          .calls = 14,
                          .bytes = 14336},
                         {.communicator = 1,
                          .operation = core::pattern::Operation::kReduceScatterBlock,
                          .root = -1,
                          .bucket = 0,
                          .calls = 3,
                          .bytes = 0.5}};
  pattern.phased = true;
  pattern.phases = {{"before MPI_Barrier", 3, {0, 2}, {{1, 0}, {0, 8}}}, {"", 1, {1}, {{0.5}, {4}}}};
  core::pattern::Metadata& metadata = pattern.metadata;
  metadata.complete = false;
  metadata.program = "./app --name \"\xc3\xa9t\xc3\xa9\"";
  metadata.launch = {"mpirun", "-n", "7", "./app", "--name", "\"\xc3\xa9t\xc3\xa9\""};
  metadata.mpi = "Open MPI v4.1.4";
  metadata.source = "ranktree trace";
  metadata.hosts = {"a", "a", "a", "b", "b", "b", "b"};
  metadata.missing = {2, 5};
  metadata.unattributed = {{"MPI_Isendrecv", 12}, {"MPI_Put", 3}};
  return pattern;
}

}  // namespace ranktree::test
