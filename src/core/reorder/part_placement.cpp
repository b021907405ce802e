#include "core/reorder/part_placement.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/index.h"
#include "core/pattern/affinity.h"
#include "core/place/engine.h"
#include "core/place/placement.h"
#include "core/reorder/halves.h"
#include "core/reorder/network.h"
#include "core/reorder/spread_graph.h"
#include "core/reorder/survey.h"
#include "core/topo/tree.h"

namespace ranktree::core::reorder {
namespace {

// Where there are several parts: their leaders work at the same time, and the whole is worked on by one seed.
constexpr int kAttempts = 3;

// The processes of one part in the order of the leaves, and the tree above them.
struct Subtree {
  std::vector<int> processes;
  std::vector<Path> paths;
};

Subtree collect_subtree(std::span<const Letter<Step>> letters) {
  std::map<int, std::pair<int, Path>> by_leaf;
  while (!letters.empty()) {
    const int process = letters.front().from;
    const int leaf = letters.front().content.object;
    Path path;
    for (letters = letters.subspan(1); !letters.empty() && letters.front().from == process;
         letters = letters.subspan(1)) {
      path.push_back(letters.front().content);
    }
    by_leaf[leaf] = {process, std::move(path)};
  }
  Subtree subtree;
  for (auto& [leaf, entry] : by_leaf) {
    subtree.processes.push_back(entry.first);
    subtree.paths.push_back(std::move(entry.second));
  }
  return subtree;
}

topo::Tree build_tree(const Survey& survey, const std::vector<Path>& paths) {
  topo::TreeBuilder builder(survey.levels);
  std::map<int, std::int32_t> handle_of;
  for (const Path& path : paths) {
    std::int32_t parent = -1;
    for (const Step& step : path) {
      const auto [entry, fresh] = handle_of.try_emplace(step.object, 0);
      if (fresh) entry->second = builder.add(parent, step.level, 0);
      parent = entry->second;
    }
  }
  return std::move(builder).build().with_costs(std::span(survey.cost).first(survey.cost.size() - 1));
}

// Whose process is in the part stays there, the others fill what is left.
place::Placement start_of(const std::vector<int>& vertices, const std::vector<int>& processes) {
  std::map<int, topo::Leaf> leaf_of;
  for (std::size_t i = 0; i < processes.size(); ++i) leaf_of[processes[i]] = static_cast<topo::Leaf>(i);
  place::Placement start;
  std::vector<std::uint8_t> taken(processes.size(), 0);
  for (const int vertex : vertices) {
    const auto found = leaf_of.find(vertex);
    start.leaf_of.push_back(found == leaf_of.end() ? -1 : found->second);
    if (found != leaf_of.end()) taken[at(found->second)] = 1;
  }
  topo::Leaf free = 0;
  for (topo::Leaf& leaf : start.leaf_of) {
    if (leaf >= 0) continue;
    while (taken[at(free)] != 0) ++free;
    leaf = free++;
  }
  return start;
}

pattern::Affinity affinity_of(WeightedGraph&& graph) {
  pattern::Affinity affinity;
  affinity.ranks = graph.size();
  affinity.indptr.assign(graph.begin.begin(), graph.begin.end());
  affinity.indices = std::move(graph.peers);
  affinity.weights = std::move(graph.weights);
  return affinity;
}

std::map<int, Subtree> collect_subtrees(Network& network, const Survey& survey) {
  std::vector<Letter<Step>> letters;
  const std::vector<int> held = network.held();
  for (std::size_t i = 0; i < held.size(); ++i) {
    int part = 0;
    while (survey.parts[at(part)].left >= 0) {
      const int right = survey.parts[at(part)].right;
      part = survey.slot[i] < survey.parts[at(right)].first ? survey.parts[at(part)].left : right;
    }
    const int leader = survey.parts[at(part)].leader;
    letters.push_back({leader, held[i], {survey.slot[i], -1}});
    for (const Step& step : survey.path[i]) letters.push_back({leader, held[i], step});
  }
  letters = deliver(network, letters);
  std::map<int, Subtree> subtrees;
  for_each_receiver(letters,
                    [&](int leader, std::span<const Letter<Step>> own) { subtrees[leader] = collect_subtree(own); });
  return subtrees;
}

// The cheapest that the engine finds with so many seeds.
place::Placement best_placement(const topo::Tree& tree, const pattern::Affinity& affinity, place::EngineOptions options,
                                int attempts) {
  place::Placement best;
  double least = 0;
  for (int i = 0; i < attempts; ++i, ++options.seed) {
    if (i > 0 && options.keep_going && !options.keep_going()) break;
    place::Placement placement = place::run_engine(tree, affinity, options);
    const double cost = place::evaluate(tree, affinity, placement).total;
    if (i > 0 && cost >= least) continue;
    best = std::move(placement);
    least = cost;
  }
  return best;
}

std::vector<Letter<Step>> place_part(const Survey& survey, const Subtree& subtree, Band&& band,
                                     place::EngineOptions options) {
  if (band.ids.size() != subtree.processes.size()) {
    throw Error(Fault::kMismatch, "a part of the tree: expected " + std::to_string(subtree.processes.size()) +
                                      " vertices, found " + std::to_string(band.ids.size()));
  }
  options.constraints = {};
  options.start = start_of(band.ids, subtree.processes);
  const int attempts = survey.parts.size() == 1 ? 1 : kAttempts;
  const place::Placement placement =
      best_placement(build_tree(survey, subtree.paths), affinity_of(std::move(band.graph)), options, attempts);
  std::vector<Letter<Step>> answers;
  for (std::size_t i = 0; i < band.ids.size(); ++i) {
    const std::size_t leaf = at(placement.leaf_of[i]);
    answers.push_back({band.ids[i], 0, {subtree.processes[leaf], -1}});
    for (const Step& step : subtree.paths[leaf]) answers.push_back({band.ids[i], 0, step});
  }
  return answers;
}

}  // namespace

std::vector<Slot> place_parts(Network& network, const Survey& survey, const SpreadGraph& vertices,
                              const place::EngineOptions& options) {
  std::map<int, Subtree> subtrees = collect_subtrees(network, survey);
  std::vector<Letter<Report>> letters;
  for (const SpreadVertex& vertex : vertices) {
    report(vertex, 0, std::vector<std::uint8_t>(vertex.edges.size(), 0), survey.parts[at(vertex.part)].leader, letters);
  }
  letters = deliver(network, letters);
  std::vector<Letter<Step>> answers;
  for_each_receiver(letters, [&](int leader, std::span<const Letter<Report>> own) {
    const auto part = place_part(survey, subtrees[leader], assemble(own), options);
    answers.insert(answers.end(), part.begin(), part.end());
    subtrees.erase(leader);
  });
  letters = {};
  answers = deliver(network, answers);
  std::vector<Slot> slots;
  std::span<const Letter<Step>> rest(answers);
  for (const SpreadVertex& vertex : vertices) {
    const auto own = take_run(rest, vertex.id);
    if (own.empty()) throw Error(Fault::kMismatch, "vertex " + std::to_string(vertex.id) + ": no slot was found");
    Slot slot{own.front().content.object, {}};
    for (const auto& letter : own.subspan(1)) slot.path.push_back(letter.content);
    slots.push_back(std::move(slot));
  }
  return slots;
}

}  // namespace ranktree::core::reorder
