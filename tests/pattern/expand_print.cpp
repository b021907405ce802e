// Prints the messages that a model, or one algorithm, makes of single calls: stdout gets lines "case from to messages
// bytes".
//
//   expand_print MODEL       stdin: lines "operation ranks root bytes"
//   expand_print MODEL FIRST the same between the group of the first FIRST ranks, the root's, and the others
//   expand_print algorithm   stdin: lines "algorithm ranks root bytes", named as in src/core/pattern/expand_*.h
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iostream>
#include <iterator>
#include <numeric>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/pattern/expand.h"
#include "core/pattern/expand_call.h"
#include "core/pattern/expand_exchange.h"
#include "core/pattern/expand_rabenseifner.h"
#include "core/pattern/expand_trees.h"
#include "core/pattern/pattern.h"

namespace {

namespace expansion = ranktree::core::pattern::expansion;
using ranktree::core::pattern::Class;
using ranktree::core::pattern::CollectiveModel;
using ranktree::core::pattern::Entry;
using ranktree::core::pattern::Operation;
using ranktree::core::pattern::Pattern;
using ranktree::core::pattern::Rank;

struct Named {
  std::string_view name;
  expansion::Algorithm algorithm;
};

constexpr Named kAlgorithms[] = {
    {"bcast_linear", expansion::bcast_linear},
    {"bcast_chain", expansion::bcast_chain},
    {"bcast_split_binary", expansion::bcast_split_binary},
    {"bcast_binary", expansion::bcast_binary},
    {"bcast_binomial", expansion::bcast_binomial},
    {"bcast_knomial", expansion::bcast_knomial},
    {"bcast_scatter_recursive_doubling", expansion::bcast_scatter_recursive_doubling},
    {"bcast_scatter_ring", expansion::bcast_scatter_ring},
    {"reduce_linear", expansion::reduce_linear},
    {"reduce_chain", expansion::reduce_chain},
    {"reduce_binary", expansion::reduce_binary},
    {"reduce_binomial", expansion::reduce_binomial},
    {"reduce_in_order_binary", expansion::reduce_in_order_binary},
    {"reduce_rabenseifner_openmpi", expansion::reduce_rabenseifner_openmpi},
    {"allreduce_recursive_doubling", expansion::allreduce_recursive_doubling},
    {"allreduce_ring", expansion::allreduce_ring},
    {"allreduce_rabenseifner_openmpi", expansion::allreduce_rabenseifner_openmpi},
    {"allgather_bruck", expansion::allgather_bruck},
    {"allgather_ring", expansion::allgather_ring},
    {"allgather_neighbor_exchange", expansion::allgather_neighbor_exchange},
    {"alltoall_direct", expansion::alltoall_direct},
    {"alltoall_bruck", expansion::alltoall_bruck},
    {"gather_linear", expansion::gather_linear},
    {"gather_binomial", expansion::gather_binomial},
    {"gather_linear_sync", expansion::gather_linear_sync},
    {"scatter_linear", expansion::scatter_linear},
    {"scatter_binomial", expansion::scatter_binomial},
    {"reduce_scatter_recursive_halving", expansion::reduce_scatter_recursive_halving},
    {"reduce_scatter_ring", expansion::reduce_scatter_ring},
    {"reduce_scatter_butterfly", expansion::reduce_scatter_butterfly},
    {"reduce_scatter_recursive_doubling", expansion::reduce_scatter_recursive_doubling},
    {"reduce_scatter_block_butterfly", expansion::reduce_scatter_block_butterfly},
    {"barrier_linear", expansion::barrier_linear},
    {"barrier_recursive_doubling", expansion::barrier_recursive_doubling},
    {"barrier_dissemination", expansion::barrier_dissemination},
    {"barrier_tree", expansion::barrier_tree},
};

std::vector<Rank> all_of(Rank ranks) {
  std::vector<Rank> members(static_cast<std::size_t>(ranks));
  std::iota(members.begin(), members.end(), 0);
  return members;
}

Operation operation_named(std::string_view word) {
  for (int i = 0; i < ranktree::core::pattern::kOperationCount; ++i) {
    const auto operation = static_cast<Operation>(i);
    if (ranktree::core::pattern::operation_name(operation) == word) return operation;
  }
  throw std::invalid_argument("unknown operation " + std::string(word));
}

expansion::Algorithm algorithm_named(std::string_view word) {
  const auto* found = std::find_if(std::begin(kAlgorithms), std::end(kAlgorithms),
                                   [&](const Named& named) { return named.name == word; });
  if (found == std::end(kAlgorithms)) throw std::invalid_argument("unknown algorithm " + std::string(word));
  return found->algorithm;
}

struct Case {
  std::string name;
  Rank ranks = 0;
  Rank root = 0;
  std::int64_t bytes = 0;
};

Pattern by_model(const Case& call, CollectiveModel model) {
  Pattern pattern = ranktree::core::pattern::from_entries(call.ranks, {});
  pattern.communicators.push_back({all_of(call.ranks), {}});
  const double calls = call.ranks;
  pattern.collectives.push_back(
      {0, operation_named(call.name), call.root, 0, calls, static_cast<double>(call.bytes) * calls});
  return expand(pattern, model);
}

// Each side of a call without root has its own record.
Pattern between_groups(const Case& call, CollectiveModel model, Rank first) {
  const std::vector<Rank> members = all_of(call.ranks);
  const std::vector<Rank> own(members.begin(), members.begin() + first);
  const std::vector<Rank> other(members.begin() + first, members.end());
  const Operation operation = operation_named(call.name);
  const bool rooted = operation == Operation::kBcast || operation == Operation::kReduce ||
                      operation == Operation::kGather || operation == Operation::kScatter;
  Pattern pattern = ranktree::core::pattern::from_entries(call.ranks, {});
  const auto bytes = static_cast<double>(call.bytes);
  if (rooted) {
    const auto callers = static_cast<double>(other.size() + 1);
    pattern.communicators = {{own, other}};
    pattern.collectives = {{0, operation, call.root, 0, callers, bytes * callers}};
  } else {
    const auto left = static_cast<double>(own.size());
    const auto right = static_cast<double>(other.size());
    pattern.communicators = {{own, other}, {other, own}};
    pattern.collectives = {{0, operation, -1, 0, left, bytes * left}, {1, operation, -1, 0, right, bytes * right}};
  }
  return expand(pattern, model);
}

Pattern by_algorithm(const Case& call) {
  const std::vector<Rank> members = all_of(call.ranks);
  expansion::Collector collector;
  const std::int64_t element = call.bytes % 8 == 0 ? 8 : 1;
  algorithm_named(call.name)({call.ranks, call.root, call.bytes, element},
                             expansion::Sends(collector, members, members, {}));
  return ranktree::core::pattern::from_entries(call.ranks, collector.take());
}

void print(int index, const Pattern& pattern) {
  const auto& sent = pattern.of(Class::kCollective);
  for (Rank from = 0; from < pattern.ranks; ++from) {
    for (auto i = pattern.indptr[from]; i < pattern.indptr[from + 1]; ++i) {
      std::cout << index << ' ' << from << ' ' << pattern.indices[i] << ' '
                << static_cast<std::int64_t>(sent.messages[i]) << ' ' << static_cast<std::int64_t>(sent.bytes[i])
                << '\n';
    }
  }
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string word = argc == 2 || argc == 3 ? argv[1] : "";
  const auto model = ranktree::core::pattern::collective_model_from_name(word);
  if (!model && word != "algorithm") throw std::invalid_argument("expected openmpi, mpich, flat, none or algorithm");
  Case call;
  for (int i = 0; std::cin >> call.name >> call.ranks >> call.root >> call.bytes; ++i) {
    if (model && argc == 3) {
      print(i, between_groups(call, *model, std::stoi(argv[2])));
    } else {
      print(i, model ? by_model(call, *model) : by_algorithm(call));
    }
  }
  return 0;
} catch (const std::exception& error) {
  std::cerr << "expand_print: " << error.what() << '\n';
  return 2;
}
