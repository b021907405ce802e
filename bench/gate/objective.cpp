// objective NAME PRESET: places one pattern by an objective in measured(), whose instructions are counted, and prints
// the modelled nanoseconds of the plan. The pattern is made here: on a torus of 16 x 16 x 16 ranks, renumbered at
// random, each rank sends to its 26 neighbours and to four distant ranks; 122,880 pairs.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/index.h"
#include "core/base/random.h"
#include "core/objective/model.h"
#include "core/objective/timed_plan.h"
#include "core/pattern/pattern.h"
#include "core/place/engine.h"
#include "core/place/plan.h"
#include "core/topo/kind.h"
#include "core/topo/tree.h"

namespace {

namespace objective = ranktree::core::objective;
namespace pattern = ranktree::core::pattern;
namespace place = ranktree::core::place;
namespace topo = ranktree::core::topo;
using pattern::Rank;
using ranktree::core::at;
using ranktree::core::Random;

constexpr Rank kSide = 16;
constexpr Rank kRanks = kSide * kSide * kSide;

struct Job {
  topo::Tree tree;
  pattern::Pattern traffic;
  place::PlanOptions options;
  objective::Model model;
};

std::vector<Rank> renumbered() {
  std::vector<Rank> names(at(kRanks));
  std::iota(names.begin(), names.end(), 0);
  Random random(7);
  for (std::size_t i = names.size(); i > 1; --i) std::swap(names[i - 1], names[random.below(i)]);
  return names;
}

// Steps in the three dimensions, as one number below 27; 13 is no step.
Rank neighbour(Rank rank, int steps) {
  const std::array<Rank, 3> strides{1, kSide, kSide * kSide};
  Rank other = 0;
  for (const Rank stride : strides) {
    other += (rank / stride + steps % 3 - 1 + kSide) % kSide * stride;
    steps /= 3;
  }
  return other;
}

pattern::Pattern traffic() {
  const std::vector<Rank> names = renumbered();
  Random random(19);
  std::vector<pattern::Entry> entries;
  const auto add = [&](Rank from, Rank to) {
    const auto messages = static_cast<double>(1 + random.below(9));
    const auto bytes = static_cast<double>(100 + random.below(90'000));
    entries.push_back({names[at(from)], names[at(to)], pattern::Class::kPointToPoint, messages, bytes});
  };
  for (Rank rank = 0; rank < kRanks; ++rank) {
    for (int steps = 0; steps < 27; ++steps) {
      if (steps != 13) add(rank, neighbour(rank, steps));
    }
    for (const Rank distance : {596, 1370, 2726, 3500}) add(rank, (rank + distance) % kRanks);
  }
  return pattern::from_entries(kRanks, entries);
}

// 128 nodes of two packages of 16 cores.
topo::Tree machine() {
  using topo::Kind;
  const std::vector<topo::Level> levels{{Kind::kCluster}, {Kind::kNode}, {Kind::kPackage}, {Kind::kCore}};
  return topo::uniform_tree(levels, std::vector<int>{128, 2, 16});
}

Job job(std::string_view name, std::string_view preset) {
  Job made{machine(), traffic(), {}, {}};
  const auto speed = place::preset_from_name(preset);
  if (!speed) {
    std::cerr << "usage: gate_objective bytes|messages|bottleneck|time fast|default|strong\n";
    std::exit(2);
  }
  made.model.objective = objective::objective_named(name);
  made.options.preset = *speed;
  return made;
}

}  // namespace

extern "C" [[gnu::noinline]] void measured(const Job& each, place::Plan& plan) {
  plan = objective::make_plan(each.tree, each.traffic, each.options, each.model);
}

int main(int argc, char** argv) {
  const Job each = job(argc > 1 ? argv[1] : "", argc > 2 ? argv[2] : "");
  place::Plan plan;
  measured(each, plan);
  const objective::Model time{objective::Objective::kTime, {}};
  const objective::Limit limit = objective::limit_of(each.tree, each.traffic, time, {plan.leaf_of});
  std::cout << "cost " << std::setprecision(15) << std::round(limit.seconds * 1e9) << '\n';
  return 0;
}
