#include "io/open_mpi_rules.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/predict/choice.h"
#include "core/predict/rules.h"
#include "core/schedule/makers.h"
#include "core/schedule/schedule.h"

namespace ranktree::io {
namespace {

using core::predict::Choice;
using core::predict::Interval;
using core::predict::Rule;
using core::predict::Rules;
using core::predict::Variant;
using core::schedule::Algorithm;
using core::schedule::Collective;
using core::schedule::Rank;
using nlohmann::json;

// A collective as Open MPI numbers and names it.
struct Known {
  Collective collective;
  int number;
  std::string_view name;
  bool all_blocks;  // its message size is that of all blocks together
};
constexpr std::array kKnown = {
    Known{Collective::kAllgather, 0, "allgather", true}, Known{Collective::kAllreduce, 2, "allreduce", false},
    Known{Collective::kAlltoall, 3, "alltoall", true},   Known{Collective::kBarrier, 6, "barrier", false},
    Known{Collective::kBroadcast, 7, "bcast", false},    Known{Collective::kReduce, 11, "reduce", false}};

struct Pair {
  Collective collective;
  Algorithm ours;
  int number;
  std::string_view name;
  int fan;
};
// A chain without segments is Open MPI's pipeline without segments. Of reductions only the algorithms that keep the
// order of operands: a rule counts for operations that do not commute as well. None of gather, whose message size Open
// MPI takes for 0 at a root in place, and of reduce_scatter, since tune measures the block form, which has no rules.
constexpr std::array kPairs = {Pair{Collective::kBroadcast, Algorithm::kFlat, 1, "basic_linear", 0},
                               Pair{Collective::kBroadcast, Algorithm::kChain, 3, "pipeline", 0},
                               Pair{Collective::kBroadcast, Algorithm::kPipeline, 3, "pipeline", 0},
                               Pair{Collective::kBroadcast, Algorithm::kSplitBinary, 4, "split_binary_tree", 0},
                               Pair{Collective::kBroadcast, Algorithm::kBinary, 5, "binary_tree", 0},
                               Pair{Collective::kBroadcast, Algorithm::kBinomial, 6, "binomial", 0},
                               Pair{Collective::kBroadcast, Algorithm::kKNomial, 7, "knomial", 0},
                               Pair{Collective::kBroadcast, Algorithm::kScatterDoubling, 8, "scatter_allgather", 0},
                               Pair{Collective::kBroadcast, Algorithm::kScatterRing, 9, "scatter_allgather_ring", 0},
                               Pair{Collective::kReduce, Algorithm::kFlat, 1, "linear", 0},
                               Pair{Collective::kReduce, Algorithm::kInOrderBinary, 6, "in-order_binary", 0},
                               Pair{Collective::kReduce, Algorithm::kRabenseifner, 7, "rabenseifner", 0},
                               Pair{Collective::kAllreduce, Algorithm::kLinear, 1, "basic_linear", 0},
                               Pair{Collective::kAllreduce, Algorithm::kNonOverlapping, 2, "nonoverlapping", 0},
                               Pair{Collective::kAllreduce, Algorithm::kRecursiveDoubling, 3, "recursive_doubling", 0},
                               Pair{Collective::kAllreduce, Algorithm::kRabenseifner, 6, "rabenseifner", 0},
                               Pair{Collective::kBarrier, Algorithm::kFlat, 1, "linear", 0},
                               Pair{Collective::kBarrier, Algorithm::kDissemination, 4, "bruck", 0},
                               Pair{Collective::kBarrier, Algorithm::kBinomial, 6, "tree", 0},
                               Pair{Collective::kAllgather, Algorithm::kRecursiveDoubling, 3, "recursive_doubling", 0},
                               Pair{Collective::kAllgather, Algorithm::kRing, 4, "ring", 0},
                               Pair{Collective::kAlltoall, Algorithm::kFlat, 2, "pairwise", 0},
                               Pair{Collective::kAlltoall, Algorithm::kBruck, 3, "modified_bruck", 0}};

// A range of message sizes as Open MPI defines them.
struct Piece {
  Interval<std::int64_t> bytes;
  OpenMpiAlgorithm algorithm;  // number 0: Open MPI's fixed decision
};
struct Group {
  Interval<Rank> ranks;
  bool one_node = false;  // all rules of the group are for one node
  std::vector<Piece> pieces;
};

// Cuts the whole range at the bounds of the given intervals.
template <class Number>
std::vector<Interval<Number>> cut(const std::vector<Interval<Number>>& intervals) {
  std::set<Number> begins{0};
  for (const Interval<Number>& each : intervals) {
    begins.insert(each.first);
    if (each.last != std::numeric_limits<Number>::max()) begins.insert(each.last + 1);
  }
  std::vector<Interval<Number>> pieces;
  for (auto begin = begins.begin(); begin != begins.end(); ++begin) {
    const auto next = std::next(begin);
    pieces.push_back({*begin, next == begins.end() ? std::numeric_limits<Number>::max() : *next - 1});
  }
  return pieces;
}

Interval<std::int64_t> of_all_blocks(const Interval<std::int64_t>& bytes, std::int64_t ranks) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const auto times = [ranks](std::int64_t size) { return size > kMost / ranks ? kMost : size * ranks; };
  return {times(bytes.first), bytes.last == kMost ? kMost : times(bytes.last + 1) - 1};
}

// The rules for communicators of these sizes in their order, each with Open MPI's message sizes.
std::vector<Rule> rules_for(const Rules& rules, const Known& known, const Interval<Rank>& ranks) {
  std::vector<Rule> fitting;
  for (const Rule& rule : rules.rules) {
    if (rule.collective != known.collective || !rule.ranks.has(ranks.first)) continue;
    Rule each = rule;
    if (known.all_blocks) {
      if (ranks.first != ranks.last || ranks.first < 1) continue;
      each.bytes = of_all_blocks(rule.bytes, ranks.first);
    }
    fitting.push_back(each);
  }
  return fitting;
}

Group group_of(const std::vector<Rule>& rules, const Interval<Rank>& ranks) {
  Group group{.ranks = ranks, .one_node = !rules.empty()};
  std::vector<Interval<std::int64_t>> sizes;
  for (const Rule& rule : rules) {
    sizes.push_back(rule.bytes);
    if (rule.nodes.last != 1) group.one_node = false;
  }
  for (const Interval<std::int64_t>& bytes : cut(sizes)) {
    const auto found =
        std::find_if(rules.begin(), rules.end(), [&](const Rule& rule) { return rule.bytes.has(bytes.first); });
    const auto algorithm = found == rules.end() ? std::nullopt : open_mpi_algorithm(found->collective, found->choice);
    group.pieces.push_back({bytes, algorithm.value_or(OpenMpiAlgorithm{})});
  }
  return group;
}

bool has_rules(const Group& group) {
  return std::any_of(group.pieces.begin(), group.pieces.end(),
                     [](const Piece& piece) { return piece.algorithm.number != 0; });
}

// Groups by communicator size, ascending and without gaps; nothing where no group has a rule.
std::vector<Group> groups_of(const Rules& rules, const Known& known) {
  std::vector<Interval<Rank>> sizes;
  for (const Rule& rule : rules.rules) {
    if (rule.collective == known.collective) sizes.push_back(rule.ranks);
  }
  std::vector<Group> groups;
  for (const Interval<Rank>& ranks : cut(sizes)) groups.push_back(group_of(rules_for(rules, known, ranks), ranks));
  return std::any_of(groups.begin(), groups.end(), has_rules) ? groups : std::vector<Group>();
}

std::string line_of(const Piece& piece) {
  const OpenMpiAlgorithm& algorithm = piece.algorithm;
  return std::to_string(piece.bytes.first) + " " + std::to_string(algorithm.number) + " " +
         std::to_string(algorithm.fan) + " " + std::to_string(algorithm.segment) + "\n";
}

json json_of(const Piece& piece) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  json rule = {{"msg_size_min", piece.bytes.first}, {"alg", piece.algorithm.name}};
  if (piece.bytes.last != kMost) rule["msg_size_max"] = piece.bytes.last;
  if (piece.algorithm.segment != 0) rule["seg_size"] = piece.algorithm.segment;
  return rule;
}

json json_of(const Group& group) {
  json rules = json::array();
  for (const Piece& piece : group.pieces) {
    if (piece.algorithm.number != 0) rules.push_back(json_of(piece));
  }
  json object = {{"comm_size_min", group.ranks.first}, {"rules", rules}};
  if (group.ranks.last != std::numeric_limits<Rank>::max()) object["comm_size_max"] = group.ranks.last;
  if (group.one_node) object["comm_rank_distribution"] = "single-node";
  return object;
}

}  // namespace

std::optional<OpenMpiAlgorithm> open_mpi_algorithm(Collective collective, const Choice& choice) {
  if (choice.variant != Variant::kMessages || choice.groups != 1) return std::nullopt;
  const auto* const found = std::find_if(kPairs.begin(), kPairs.end(), [&](const Pair& pair) {
    return pair.collective == collective && pair.ours == choice.composition.algorithms[0];
  });
  if (found == kPairs.end()) return std::nullopt;
  return OpenMpiAlgorithm{found->number, found->name, found->fan, choice.composition.segment};
}

std::string write_open_mpi_rules(const Rules& rules) {
  int collectives = 0;
  std::string body;
  for (const Known& known : kKnown) {
    const std::vector<Group> groups = groups_of(rules, known);
    if (groups.empty()) continue;
    ++collectives;
    body += std::to_string(known.number) + " # " + std::string(known.name) + "\n" + std::to_string(groups.size()) +
            " # sizes of communicators\n";
    for (const Group& group : groups) {
      body += std::to_string(group.ranks.first) + " # ranks or more\n" + std::to_string(group.pieces.size()) +
              " # message sizes: bytes or more, algorithm, fan, segment\n";
      for (const Piece& piece : group.pieces) body += line_of(piece);
    }
  }
  return std::to_string(collectives) + " # collectives\n" + body;
}

std::string write_open_mpi_json(const Rules& rules) {
  json collectives = json::object();
  for (const Known& known : kKnown) {
    for (const Group& group : groups_of(rules, known)) {
      if (has_rules(group)) collectives[std::string(known.name)].push_back(json_of(group));
    }
  }
  const json document = {{"rule_file_version", 3}, {"module", "tuned"}, {"collectives", collectives}};
  return document.dump(1) + "\n";
}

}  // namespace ranktree::io
