// The quality of the Open MPI model on recorded runs: point-to-point traffic plus the collective calls expanded by the
// model, compared with everything the messaging layer really sent.
//
// The recordings name neither roots nor members of communicators, so this file supplies what the programs do: root 0,
// and the communicators of `members_of`. Counts of Alltoallv and Scatterv, which a trace holds exactly, are assumed
// equal.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "core/pattern/affinity.h"
#include "core/pattern/expand.h"
#include "core/pattern/pattern.h"
#include "core/place/placement.h"
#include "core/place/treematch.h"
#include "core/topo/kind.h"
#include "core/topo/tree.h"
#include "recorded_case.h"

namespace {

using ranktree::core::pattern::affinity;
using ranktree::core::pattern::Affinity;
using ranktree::core::pattern::Class;
using ranktree::core::pattern::CollectiveModel;
using ranktree::core::pattern::Communicator;
using ranktree::core::pattern::Entry;
using ranktree::core::pattern::Metric;
using ranktree::core::pattern::Operation;
using ranktree::core::pattern::Pattern;
using ranktree::core::pattern::Rank;
using ranktree::test::RecordedCalls;
using ranktree::test::RecordedCase;

// `count` ranks first, first + step, ...
Communicator ranks_from(Rank first, Rank step, Rank count) {
  Communicator communicator;
  for (Rank i = 0; i < count; ++i) communicator.members.push_back(first + i * step);
  return communicator;
}

Communicator without_every_fourth(Rank ranks) {
  Communicator communicator;
  for (Rank rank = 0; rank < ranks; ++rank) {
    if (rank % 4 != 3) communicator.members.push_back(rank);
  }
  return communicator;
}

// The communicators smaller than the world that a program makes.
std::vector<Communicator> members_of(const std::string& name, const RecordedCalls& calls, Rank world) {
  std::vector<Communicator> found;
  if (calls.ranks == world) return {ranks_from(0, 1, world)};
  if (name == "npb-ft.A-256") {  // a 2 x 128 grid: rows of neighbours, columns of even and odd ranks
    for (Rank i = 0; i < world / calls.ranks; ++i) {
      found.push_back(calls.ranks == 2 ? ranks_from(2 * i, 1, 2) : ranks_from(i, 2, 128));
    }
  } else if (name.starts_with("hpcc")) {  // the largest power of two of ranks
    found.push_back(ranks_from(0, 1, calls.ranks));
  } else if (name.starts_with("gromacs")) {  // every fourth rank does PME, those on a grid of 4 columns
    const Rank pme = world / 4;
    if (calls.ranks == world - pme) return {without_every_fourth(world)};
    if (calls.ranks == pme) return {ranks_from(3, 4, pme)};
    for (Rank i = 0; i < pme / calls.ranks; ++i) {
      found.push_back(calls.ranks == 4 ? ranks_from(3 + 4 * i, 4 * (pme / 4), 4) : ranks_from(3 + 8 * i, 4, 2));
    }
  }
  return found;
}

std::optional<Operation> operation_of(const std::string& name) {
  for (int i = 0; i < ranktree::core::pattern::kOperationCount; ++i) {
    if (operation_name(static_cast<Operation>(i)) == name) return static_cast<Operation>(i);
  }
  return std::nullopt;
}

bool has_root(Operation operation) {
  return operation == Operation::kBcast || operation == Operation::kReduce || operation == Operation::kGather ||
         operation == Operation::kScatter;
}

// Alltoallv: every rank an equal share to every other. Scatterv: rank 0 an equal share to every other.
void add_equal_shares(const RecordedCalls& calls, const Communicator& communicator, std::vector<Entry>& entries) {
  const auto ranks = static_cast<double>(calls.ranks);
  const double times = calls.calls / calls.callers;
  for (const Rank from : communicator.members) {
    for (const Rank to : communicator.members) {
      if (from == to) continue;
      if (calls.operation == "Alltoallv") {
        entries.push_back({from, to, Class::kCollective, times, calls.bytes / ranks / ranks});
      } else if (from == communicator.members.front()) {
        entries.push_back({from, to, Class::kCollective, times, calls.bytes / ranks});
      }
    }
  }
}

Pattern modelled(const RecordedCase& recorded, CollectiveModel model) {
  std::vector<Entry> known;
  Pattern calls_only;
  calls_only.ranks = recorded.application.ranks;
  for (const RecordedCalls& calls : recorded.calls) {
    const auto communicators = members_of(recorded.name, calls, calls_only.ranks);
    const auto operation = operation_of(calls.operation);
    for (const Communicator& communicator : communicators) {
      if (!operation) {
        add_equal_shares(calls, communicator, known);
        continue;
      }
      const auto share = static_cast<double>(communicators.size());
      const bool per_peer = operation == Operation::kAlltoall;  // recorded: the whole send buffer
      const double bytes = calls.bytes / share / (per_peer ? calls.ranks : 1);
      calls_only.collectives.push_back({static_cast<std::int32_t>(calls_only.communicators.size()), *operation,
                                        has_root(*operation) ? 0 : -1, 0, calls.calls / share, bytes});
      calls_only.communicators.push_back(communicator);
    }
  }
  const Pattern& application = recorded.application;
  for (Rank from = 0; from < application.ranks; ++from) {
    for (auto i = application.indptr[from]; i < application.indptr[from + 1]; ++i) {
      const auto& sent = application.of(Class::kPointToPoint);
      known.push_back({from, application.indices[i], Class::kPointToPoint, sent.messages[i], sent.bytes[i]});
    }
  }
  Pattern pattern = ranktree::core::pattern::from_entries(application.ranks, known);
  pattern.communicators = calls_only.communicators;
  pattern.collectives = calls_only.collectives;
  return expand(pattern, model);
}

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

// 64 nodes of 2 packages of 4 cores that share an L3.
ranktree::core::topo::Tree plafrim() {
  using ranktree::core::topo::Kind;
  const std::vector<ranktree::core::topo::Level> levels{{.kind = Kind::kCluster},
                                                        {.kind = Kind::kNode},
                                                        {.kind = Kind::kPackage},
                                                        {.kind = Kind::kL3},
                                                        {.kind = Kind::kCore}};
  return uniform_tree(levels, std::vector<int>{64, 2, 1, 4});
}

double hop_bytes(const ranktree::core::topo::Tree& tree, const Affinity& truth, const Affinity& planned_for) {
  const auto placement = ranktree::core::place::treematch(tree, planned_for, {});
  return ranktree::core::place::evaluate(tree, truth, placement).total;
}

class Recorded : public testing::TestWithParam<std::string> {};

TEST_P(Recorded, ModelMovesTheSameBytes) {
  const RecordedCase recorded = ranktree::test::read_case(GetParam());
  const auto model = total(modelled(recorded, CollectiveModel::kOpenMpi));
  const auto flat = total(modelled(recorded, CollectiveModel::kFlat));
  const auto truth = total(recorded.everything);
  const auto application = total(recorded.application);
  const double collective = sum(truth.bytes) - sum(application.bytes);
  std::printf("%-24s model/true bytes %.4f messages %.4f | collectives only: bytes %.4f flat %.2f\n",
              GetParam().c_str(), sum(model.bytes) / sum(truth.bytes), sum(model.messages) / sum(truth.messages),
              (sum(model.bytes) - sum(application.bytes)) / collective,
              (sum(flat.bytes) - sum(application.bytes)) / collective);
  EXPECT_NEAR(sum(model.bytes) / sum(truth.bytes), 1.0, 0.10);
}

TEST_P(Recorded, PlacementFromTheModelIsAsGoodAsFromTheMessages) {
  const RecordedCase recorded = ranktree::test::read_case(GetParam());
  const auto tree = plafrim();
  const Affinity truth = affinity(recorded.everything, Metric::kSize);
  const double from_truth = hop_bytes(tree, truth, truth);
  const double from_model =
      hop_bytes(tree, truth, affinity(modelled(recorded, CollectiveModel::kOpenMpi), Metric::kSize));
  std::printf("%-24s hop-bytes of the model's placement / of the truth's: %.4f\n", GetParam().c_str(),
              from_model / from_truth);
  EXPECT_LE(from_model, 1.03 * from_truth);
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace_if(name.begin(), name.end(), [](char letter) { return letter == '.' || letter == '-'; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Runs, Recorded, testing::ValuesIn(ranktree::test::recorded_cases()), test_name);

}  // namespace
