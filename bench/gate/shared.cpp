// shared BYTES COUNT: so many broadcasts of so many bytes among four ranks that share memory, in measured(), whose
// instructions are counted. One thread drives all ranks in turn, the root first, so that no rank waits.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "core/shared/moving.h"
#include "core/shared/team.h"

namespace {

namespace shared = ranktree::core::shared;

constexpr int kRanks = 4;
constexpr std::size_t kCell = std::size_t{128} * 1024;

struct Free {
  void operator()(std::byte* memory) const { std::free(memory); }
};

using Data = std::array<std::vector<std::byte>, kRanks>;

// False when a rank received something else than the root sent.
bool broadcast(std::vector<shared::Team>& teams, Data& data, std::byte content) {
  std::memset(data[0].data(), std::to_integer<int>(content), data[0].size());
  std::array<std::unique_ptr<shared::Broadcast>, kRanks> calls;
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    calls.at(rank) = std::make_unique<shared::Broadcast>(teams[rank], 0, std::span(data.at(rank)));
  }
  for (bool done = false; !done;) {
    done = true;
    for (const auto& call : calls) done = call->progress() && done;
  }
  return data[kRanks - 1].front() == content && data[kRanks - 1].back() == content;
}

}  // namespace

extern "C" [[gnu::noinline]] int measured(std::vector<shared::Team>& teams, Data& data, long count) {
  for (long i = 0; i < count; ++i) {
    if (!broadcast(teams, data, static_cast<std::byte>(i + 1))) return 1;
  }
  return 0;
}

namespace {

int run(std::size_t bytes, long count) {
  const std::size_t size = shared::Team::bytes_for(kRanks, kCell);
  const std::size_t rounded =
      (size + shared::Team::kAlignment - 1) / shared::Team::kAlignment * shared::Team::kAlignment;
  const std::unique_ptr<std::byte, Free> memory(
      static_cast<std::byte*>(std::aligned_alloc(shared::Team::kAlignment, rounded)));
  if (!memory) throw std::bad_alloc();
  std::memset(memory.get(), 0, rounded);
  std::vector<shared::Team> teams;
  for (int rank = 0; rank < kRanks; ++rank) teams.emplace_back(std::span(memory.get(), size), rank, kRanks, kCell);
  Data data;
  for (auto& each : data) each.resize(bytes);
  const int failed = measured(teams, data, count);
  if (failed != 0) std::cerr << "a broadcast gave a wrong result\n";
  return failed;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: " << argv[0] << " BYTES COUNT\n";
    return 2;
  }
  return run(std::strtoul(argv[1], nullptr, 10), std::strtol(argv[2], nullptr, 10));
}
