// Prints what a model makes of one call, case by case: stdin holds lines "operation ranks root bytes", stdout gets
// lines "case from to messages bytes".
#include <cstdint>
#include <iostream>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>

#include "core/pattern/expand.h"
#include "core/pattern/pattern.h"

namespace {

using ranktree::core::pattern::Class;
using ranktree::core::pattern::Operation;
using ranktree::core::pattern::Pattern;
using ranktree::core::pattern::Rank;

std::optional<Operation> operation_from_name(std::string_view word) {
  for (int i = 0; i < ranktree::core::pattern::kOperationCount; ++i) {
    const auto operation = static_cast<Operation>(i);
    if (ranktree::core::pattern::operation_name(operation) == word) return operation;
  }
  return std::nullopt;
}

Pattern one_call(Operation operation, Rank ranks, Rank root, double bytes) {
  Pattern pattern = ranktree::core::pattern::from_entries(ranks, {});
  pattern.communicators.resize(1);
  pattern.communicators[0].members.resize(static_cast<std::size_t>(ranks));
  std::iota(pattern.communicators[0].members.begin(), pattern.communicators[0].members.end(), 0);
  const double calls = ranks;
  pattern.collectives.push_back({0, operation, root, 0, calls, bytes * calls});
  return pattern;
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

int main(int argc, char** argv) {
  const auto model = ranktree::core::pattern::collective_model_from_name(argc == 2 ? argv[1] : "");
  if (!model) {
    std::cerr << "expand_print: expected one argument: openmpi, mpich, flat or none\n";
    return 2;
  }
  std::string name;
  Rank ranks = 0;
  Rank root = 0;
  double bytes = 0;
  for (int i = 0; std::cin >> name >> ranks >> root >> bytes; ++i) {
    const auto operation = operation_from_name(name);
    if (!operation) {
      std::cerr << "expand_print: unknown operation " << name << '\n';
      return 2;
    }
    print(i, ranktree::core::pattern::expand(one_call(*operation, ranks, root, bytes), *model));
  }
  return 0;
}
