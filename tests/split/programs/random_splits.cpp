// Random bindings, sub-communicators, rank orders and keys, level by level: every rank compares what it got from MPI
// with the definition. Usage: random_splits SEED ROUNDS. The machine is the one that hwloc reports.
#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "../reference.h"
#include "core/base/random.h"
#include "core/split/summary.h"
#include "core/topo/tree.h"
#include "hw/hwloc_node.h"
#include "ranktree/mpi.h"

namespace {

using namespace ranktree::core::split;
using ranktree::core::Random;
using ranktree::core::topo::Tree;

int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

[[noreturn]] void fail(const std::string& text) {
  std::fprintf(stderr, "rank %d: %s\n", world_rank(), text.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

void require(bool holds, const std::string& text) {
  if (!holds) fail(text);
}

// One PU, some PUs, one object, or all.
std::vector<int> random_binding(const Tree& tree, Random& random) {
  std::vector<int> pus;
  const auto count = static_cast<std::uint64_t>(tree.leaf_count());
  const auto kind = random.below(5);
  if (kind == 0) {
    for (std::uint64_t leaf = 0; leaf < count; ++leaf) pus.push_back(tree.pus(static_cast<int>(leaf))[0]);
  } else if (kind == 1) {
    const auto object = static_cast<int>(random.below(static_cast<std::uint64_t>(tree.object_count())));
    for (int i = 0; i < tree.leaves_below(object); ++i) pus.push_back(tree.pus(tree.first_leaf(object) + i)[0]);
  } else {
    const std::uint64_t several = kind == 2 ? 3 : 1;
    for (std::uint64_t i = 0; i < several; ++i) pus.push_back(tree.pus(static_cast<int>(random.below(count)))[0]);
  }
  return pus;
}

void bind(const std::vector<int>& pus) {
  constexpr std::size_t kMostPus = 4096;
  cpu_set_t* set = CPU_ALLOC(kMostPus);
  CPU_ZERO_S(CPU_ALLOC_SIZE(kMostPus), set);
  for (const int pu : pus) CPU_SET_S(static_cast<std::size_t>(pu), CPU_ALLOC_SIZE(kMostPus), set);
  require(sched_setaffinity(0, CPU_ALLOC_SIZE(kMostPus), set) == 0, "cannot bind");
  CPU_FREE(set);
}

// The world ranks of a communicator.
std::vector<int> members_of(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  std::vector<int> members(static_cast<std::size_t>(size));
  const int own = world_rank();
  MPI_Allgather(&own, 1, MPI_INT, members.data(), 1, MPI_INT, comm);
  return members;
}

struct Setting {
  const std::vector<Spot>& spots;  // by world rank
  Leftover leftover;
  MPI_Info info;
};

void compare_info(MPI_Comm part, const Outcome& expected) {
  int count = 0;
  int index = 0;
  int length = 0;
  std::array<char, RANKTREE_MAX_TYPE> type{};
  ranktree_Comm_get_hlevel_info(part, &count, &index, type.data(), RANKTREE_MAX_TYPE, &length);
  require(count == expected.count && index == expected.index,
          "expected index " + std::to_string(expected.index) + " of " + std::to_string(expected.count) + ", found " +
              std::to_string(index) + " of " + std::to_string(count));
  require(type.data() == expected.type, "expected type " + expected.type + ", found " + type.data());
}

void compare_roots(MPI_Comm roots, const std::vector<int>& parent, const std::vector<Outcome>& outcomes, bool is_root) {
  require((roots != MPI_COMM_NULL) == is_root, "a root without roots, or the reverse");
  if (roots == MPI_COMM_NULL) return;
  std::vector<int> expected(static_cast<std::size_t>(parent.size()), -1);
  int count = 0;
  for (const Outcome& outcome : outcomes) {
    if (outcome.members.empty()) continue;
    expected[static_cast<std::size_t>(outcome.index)] = parent[static_cast<std::size_t>(outcome.members.front())];
    count = outcome.count;
  }
  expected.resize(static_cast<std::size_t>(count));
  require(members_of(roots) == expected, "the roots are not in the order of their indices");
}

// Splits `comm` and everything below it. `keys`, by rank of comm, or none for the calls that take no key.
void check_levels(MPI_Comm comm, const std::vector<int>& keys, const Setting& setting) {
  const std::vector<int> parent = members_of(comm);
  std::vector<Spot> spots;
  for (const int rank : parent) spots.push_back(setting.spots[static_cast<std::size_t>(rank)]);
  const auto outcomes = reference_split(spots, keys, setting.leftover);
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  const Outcome& expected = outcomes[static_cast<std::size_t>(rank)];
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm roots = MPI_COMM_NULL;
  if (keys.empty()) {
    ranktree_Comm_hsplit_with_roots(comm, setting.info, &part, &roots);
    const bool is_root = !expected.members.empty() && expected.members.front() == rank;
    compare_roots(roots, parent, outcomes, is_root);
  } else {
    ranktree_Comm_hsplit(comm, keys[static_cast<std::size_t>(rank)], setting.info, &part);
  }
  require((part == MPI_COMM_NULL) == expected.members.empty(), "a part where none is due, or the reverse");
  if (roots != MPI_COMM_NULL) MPI_Comm_free(&roots);
  if (part == MPI_COMM_NULL) return;
  std::vector<int> members;
  for (const int i : expected.members) members.push_back(parent[static_cast<std::size_t>(i)]);
  require(members_of(part) == members, "not the expected members");
  int relation = MPI_IDENT;
  MPI_Comm_compare(comm, part, &relation);
  require(relation == MPI_UNEQUAL, "a part that is not a strict subset");
  compare_info(part, expected);
  check_levels(part, {}, setting);
  MPI_Comm_free(&part);
}

void one_round(const Tree& tree, Random& random) {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::vector<Spot> spots;
  std::vector<int> keys;
  std::vector<int> colors;
  std::vector<int> orders;
  for (int i = 0; i < size; ++i) {
    spots.push_back({{}, 0, &tree, random_binding(tree, random)});
    keys.push_back(static_cast<int>(random.below(3)));
    colors.push_back(static_cast<int>(random.below(3)) == 0 ? 1 : 0);
    orders.push_back(static_cast<int>(random.below(8)));
  }
  const auto own = static_cast<std::size_t>(world_rank());
  bind(spots[own].pus);
  const std::array<const char*, 3> words{"null", "self", "group"};
  const auto mode = random.below(3);
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "ranktree_leftover", words[mode]);
  const Setting setting{spots, static_cast<Leftover>(mode), info};
  MPI_Comm sub = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, colors[own], orders[own], &sub);
  std::vector<int> sub_keys;
  for (const int rank : members_of(sub)) sub_keys.push_back(keys[static_cast<std::size_t>(rank)]);
  check_levels(sub, {}, setting);
  check_levels(sub, sub_keys, setting);
  MPI_Comm_free(&sub);
  MPI_Info_free(&info);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 3) fail("usage: random_splits SEED ROUNDS");
  const Tree tree = ranktree::hw::live_node();
  Random random(std::strtoull(argv[1], nullptr, 10));
  const int rounds = std::atoi(argv[2]);
  for (int i = 0; i < rounds; ++i) one_round(tree, random);
  if (world_rank() == 0) std::printf("%d rounds agree\n", rounds);
  MPI_Finalize();
  return 0;
}
