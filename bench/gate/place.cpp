// place INSTANCE: places one instance with the default preset, in measured(), whose instructions are counted, and
// prints the placement's cost. The instances are made here, from fixed seeds.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/index.h"
#include "core/base/random.h"
#include "core/pattern/affinity.h"
#include "core/pattern/matrix.h"
#include "core/place/dense.h"
#include "core/place/engine.h"
#include "core/place/placement.h"
#include "core/topo/interconnect.h"
#include "core/topo/kind.h"
#include "core/topo/tree.h"

namespace {

namespace pattern = ranktree::core::pattern;
namespace place = ranktree::core::place;
namespace topo = ranktree::core::topo;
using pattern::Rank;
using ranktree::core::at;
using ranktree::core::Random;

constexpr Rank kDenseRanks = 512;

// Undirected pairs, under ranks that are renumbered at random.
class Pairs {
 public:
  explicit Pairs(Rank ranks) : rows_(at(ranks)), name_(at(ranks)) {
    std::iota(name_.begin(), name_.end(), 0);
    Random random(7);
    for (std::size_t i = name_.size(); i > 1; --i) std::swap(name_[i - 1], name_[random.below(i)]);
  }
  void add(Rank a, Rank b, double weight) {
    if (a == b) return;
    rows_[at(name_[at(a)])][name_[at(b)]] += weight;
    rows_[at(name_[at(b)])][name_[at(a)]] += weight;
  }
  [[nodiscard]] pattern::Affinity affinity() const {
    pattern::Affinity result;
    result.ranks = static_cast<Rank>(rows_.size());
    for (const auto& row : rows_) {
      for (const auto& [other, weight] : row) {
        result.indices.push_back(other);
        result.weights.push_back(weight);
      }
      result.indptr.push_back(static_cast<std::int64_t>(result.indices.size()));
    }
    return result;
  }

 private:
  std::vector<std::map<Rank, double>> rows_;
  std::vector<Rank> name_;
};

pattern::Affinity grid(int x, int y, int z) {
  Pairs pairs(x * y * z);
  const auto rank = [&](int i, int j, int k) { return (i * y + j) * z + k; };
  for (int i = 0; i < x; ++i) {
    for (int j = 0; j < y; ++j) {
      for (int k = 0; k < z; ++k) {
        if (i + 1 < x) pairs.add(rank(i, j, k), rank(i + 1, j, k), 10);
        if (j + 1 < y) pairs.add(rank(i, j, k), rank(i, j + 1, k), 10);
        if (k + 1 < z) pairs.add(rank(i, j, k), rank(i, j, k + 1), 10);
      }
    }
  }
  return pairs.affinity();
}

// Points in the unit square, on a raster of 2^20; neighbours are those within a distance that gives about ten each.
pattern::Affinity geometric(Rank ranks) {
  constexpr std::int64_t kSide = std::int64_t{1} << 20U;
  Random random(11);
  std::vector<std::pair<std::int64_t, std::int64_t>> points(at(ranks));
  for (auto& [x, y] : points) {
    x = static_cast<std::int64_t>(random.below(kSide));
    y = static_cast<std::int64_t>(random.below(kSide));
  }
  std::sort(points.begin(), points.end());
  const std::int64_t squared = kSide * kSide / ranks * 10 / 3;
  Pairs pairs(ranks);
  for (Rank a = 0; a < ranks; ++a) {
    for (Rank b = a + 1; b < ranks; ++b) {
      const std::int64_t dx = points[at(b)].first - points[at(a)].first;
      const std::int64_t dy = points[at(b)].second - points[at(a)].second;
      if (dx * dx > squared) break;
      if (dx * dx + dy * dy <= squared) pairs.add(a, b, 1);
    }
  }
  return pairs.affinity();
}

// Each rank talks with eight of those before it; the product of two even draws prefers the first.
pattern::Affinity power_law(Rank ranks) {
  Random random(13);
  Pairs pairs(ranks);
  for (Rank a = 1; a < ranks; ++a) {
    for (int i = 0; i < 8; ++i) {
      const std::uint64_t range = 1 + random.below(static_cast<std::uint64_t>(a));
      pairs.add(a, static_cast<Rank>(random.below(range)), 1 + static_cast<double>(random.below(9)));
    }
  }
  return pairs.affinity();
}

// All pairs; masses divided by the squared distance in a row.
std::vector<float> gravity(Rank ranks) {
  Random random(17);
  std::vector<std::int64_t> mass(at(ranks));
  std::vector<std::int64_t> position(at(ranks));
  for (std::size_t i = 0; i < mass.size(); ++i) {
    mass[i] = 1 + static_cast<std::int64_t>(random.below(16));
    position[i] = static_cast<std::int64_t>(random.below(4096));
  }
  std::vector<float> matrix(mass.size() * mass.size());
  for (std::size_t a = 0; a < mass.size(); ++a) {
    for (std::size_t b = 0; b < mass.size(); ++b) {
      const std::int64_t apart = std::abs(position[a] - position[b]) + 16;
      matrix[a * mass.size() + b] = a == b ? 0 : static_cast<float>(mass[a] * mass[b] * 1000000 / (apart * apart));
    }
  }
  return matrix;
}

// Nodes of two packages of as many cores as `cores` lists for the nodes in turn.
topo::Tree machine(int nodes, const std::vector<int>& cores) {
  using topo::Kind;
  topo::TreeBuilder builder(
      {{Kind::kCluster, {}, {}}, {Kind::kNode, {}, {}}, {Kind::kPackage, {}, {}}, {Kind::kCore, {}, {}}});
  const auto root = builder.add(-1, 0);
  for (int node = 0; node < nodes; ++node) {
    const auto of_node = builder.add(root, 1, node, "n" + std::to_string(node));
    for (int package = 0; package < 2; ++package) {
      const auto of_package = builder.add(of_node, 2, package);
      for (int core = 0; core < cores[at(node) % cores.size()]; ++core) builder.add(of_package, 3, core);
    }
  }
  return std::move(builder).build().with_costs(std::vector<double>{100, 10, 1});
}

topo::Tree torus_of_nodes(int side) {
  using topo::Kind;
  topo::TreeBuilder builder({{Kind::kCluster, {}, {}}, {Kind::kNode, {}, {}}, {Kind::kCore, {}, {}}});
  const int nodes = side * side * side;
  const auto root = builder.add(-1, 0);
  std::vector<int> position(at(nodes));
  std::iota(position.begin(), position.end(), 0);
  for (int node = 0; node < nodes; ++node) builder.add(builder.add(root, 1, node, "n" + std::to_string(node)), 2, 0);
  topo::Torus torus{{side, side, side}, {1, 1, 1}, {topo::Step{}, topo::Step{}, topo::Step{}}};
  return std::move(builder).build().with_interconnect(
      std::make_shared<topo::Interconnect>(std::move(torus), std::move(position)));
}

struct Instance {
  topo::Tree tree;
  pattern::Affinity pairs;
  std::vector<float> matrix = {};

  [[nodiscard]] pattern::MatrixView<float> view() const { return {kDenseRanks, matrix.data()}; }
};

Instance instance(std::string_view name) {
  if (name == "grid") return {machine(64, {32}), grid(16, 16, 16)};
  if (name == "geometric") return {machine(64, {32}), geometric(4096)};
  if (name == "power-law") return {machine(64, {16}), power_law(2048)};
  if (name == "gravity") return {machine(16, {16}), {}, gravity(kDenseRanks)};
  if (name == "uneven") return {machine(24, {16, 12, 8}), grid(25, 20, 1)};
  if (name == "torus") return {torus_of_nodes(8), geometric(512)};
  std::cerr << name << ": expected grid, geometric, power-law, gravity, uneven or torus\n";
  std::exit(2);
}

}  // namespace

extern "C" [[gnu::noinline]] void measured(const Instance& each, place::Placement& placement) {
  placement = each.matrix.empty() ? place::run_engine(each.tree, each.pairs, {})
                                  : place::run_engine(each.tree, each.view(), {});
}

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " INSTANCE\n";
    return 2;
  }
  const Instance each = instance(argv[1]);
  place::Placement placement;
  measured(each, placement);
  const auto cost = each.matrix.empty() ? place::evaluate(each.tree, each.pairs, placement)
                                        : place::evaluate(each.tree, each.view(), placement);
  std::cout << "cost " << std::setprecision(15) << cost.total << '\n';
  return 0;
}
