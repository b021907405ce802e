// The quality of distributed placement: reads graphs from standard input, writes the cost before, that of the central
// engine, and that of order_distributed().
//
// distributed-quality PRESET SEED, then on stdin for each case: name, coarse vertices, number of arities, arities root
// first, vertices, edges, and so many "vertex vertex weight".
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <iostream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/pattern/affinity.h"
#include "core/place/engine.h"
#include "core/place/placement.h"
#include "core/reorder/distributed.h"
#include "core/reorder/network.h"
#include "core/reorder/slots.h"
#include "core/split/chain.h"
#include "core/topo/kind.h"

namespace {

using namespace ranktree::core;

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// Ranks in the order of the leaves of a symmetric machine.
std::vector<split::Chain> chains_of(const std::vector<int>& arities) {
  constexpr topo::Kind kKinds[] = {topo::Kind::kNode, topo::Kind::kPackage, topo::Kind::kNumaNode, topo::Kind::kL3,
                                   topo::Kind::kCore};
  std::int64_t ranks = 1;
  for (const int arity : arities) ranks *= arity;
  std::vector<split::Chain> chains(static_cast<std::size_t>(ranks));
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    std::int64_t below = ranks;
    for (std::size_t level = 0; level + 1 < arities.size(); ++level) {
      below /= arities[level];
      chains[static_cast<std::size_t>(rank)].push_back({kKinds[level], rank / below});
    }
  }
  return chains;
}

pattern::Affinity read_graph(std::istream& in) {
  pattern::Rank vertices = 0;
  std::int64_t edges = 0;
  in >> vertices >> edges;
  std::vector<std::map<int, double>> rows(static_cast<std::size_t>(vertices));
  for (std::int64_t i = 0; i < edges; ++i) {
    int one = 0;
    int other = 0;
    double weight = 0;
    in >> one >> other >> weight;
    if (one == other || weight == 0) continue;
    rows[static_cast<std::size_t>(one)][other] += weight;
    rows[static_cast<std::size_t>(other)][one] += weight;
  }
  pattern::Affinity affinity;
  affinity.ranks = vertices;
  for (const auto& row : rows) {
    for (const auto& [peer, weight] : row) {
      affinity.indices.push_back(peer);
      affinity.weights.push_back(weight);
    }
    affinity.indptr.push_back(static_cast<std::int64_t>(affinity.indices.size()));
  }
  return affinity;
}

void run_case(const std::string& name, int coarse, const std::vector<int>& arities, const place::EngineOptions& given) {
  const pattern::Affinity affinity = read_graph(std::cin);
  std::vector<split::Chain> chains = chains_of(arities);
  chains.resize(static_cast<std::size_t>(affinity.ranks));
  const reorder::Slots slots = reorder::slots_of(chains);
  place::EngineOptions options = given;
  options.start = slots.home;
  const double start = cpu_seconds();
  const double before = place::evaluate(slots.tree, affinity, slots.home).total;
  const double central = place::evaluate(slots.tree, affinity, place::run_engine(slots.tree, affinity, options)).total;
  const double middle = cpu_seconds();
  std::vector<reorder::Share> shares;
  for (pattern::Rank rank = 0; rank < affinity.ranks; ++rank) {
    shares.push_back({affinity.neighbours(rank), affinity.weights_of(rank), chains[static_cast<std::size_t>(rank)]});
  }
  reorder::LoneNetwork network(affinity.ranks);
  reorder::DistributedOrder order;
  order_distributed(network, shares, {given, coarse}, order);
  const double end = cpu_seconds();
  place::Placement placement{std::vector<topo::Leaf>(chains.size())};
  for (std::size_t process = 0; process < chains.size(); ++process) {
    placement.leaf_of[static_cast<std::size_t>(order.vertex[process])] = slots.home.leaf_of[process];
  }
  const double checked = place::evaluate(slots.tree, affinity, placement).total;
  std::cout << name << '\t' << affinity.ranks << '\t' << coarse << '\t' << before << '\t' << central << '\t'
            << *order.after << '\t' << *order.after / central << '\t' << middle - start << '\t' << end - middle
            << (checked == order.after && order.before == before ? "" : "\tDIFFERS FROM THE COST OF THE WHOLE") << '\n'
            << std::flush;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  const std::map<std::string, place::Preset> presets{
      {"fast", place::Preset::kFast}, {"default", place::Preset::kDefault}, {"strong", place::Preset::kStrong}};
  place::EngineOptions options;
  options.preset = presets.at(arguments[1]);
  options.seed = std::stoull(arguments[2]);
  std::cout.precision(12);
  std::cout << "case\tranks\tcoarse\tbefore\tcentral\tdistributed\tratio\tcentral CPU s\tdistributed CPU s\n";
  std::string name;
  for (int coarse = 0, levels = 0; std::cin >> name >> coarse >> levels;) {
    std::vector<int> arities(static_cast<std::size_t>(levels));
    for (int& arity : arities) std::cin >> arity;
    run_case(name, coarse, arities, options);
  }
}
