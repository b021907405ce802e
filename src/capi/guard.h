// The boundary between exceptions and statuses: only a ranktree_status crosses extern "C".
#pragma once

#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/pattern/matrix.h"
#include "core/pattern/pattern.h"
#include "core/place/plan.h"
#include "core/topo/tree.h"
#include "ranktree/base.h"

// The opaque types of the C interface hold one core value each.
struct ranktree_topo {
  explicit ranktree_topo(ranktree::core::topo::Tree given)
      : tree(std::move(given)), level_names(ranktree::core::topo::level_names(tree)) {}
  ranktree::core::topo::Tree tree;
  std::vector<std::string> level_names;
};
struct ranktree_pattern {
  ranktree::core::pattern::Pattern pattern;
  // A whole matrix in place of a pattern, the caller's or a copy; the pattern is then empty, and the ranks are the
  // matrix's.
  std::optional<ranktree::core::pattern::MatrixView<double>> matrix = std::nullopt;
  std::vector<double> copied = {};
  std::vector<std::string> warnings = {};
};
struct ranktree_plan {
  ranktree::core::place::Plan plan;
  std::vector<std::string> notes = {};
};

namespace ranktree::capi {

// Turns the exception being handled into a status and, when `error` is not null, its text.
ranktree_status report(ranktree_error* error) noexcept;

// Throws Error(kInput), naming the parameter, when a required pointer is null.
void require(const void* pointer, std::string_view parameter);

// The number behind an enumeration of C, which may be any.
template <typename Enumeration>
int number_of(const Enumeration& value) {
  int number = 0;
  static_assert(sizeof(value) == sizeof(number));
  std::memcpy(&number, &value, sizeof(number));
  return number;
}

// Runs a body that may throw.
template <typename Body>
ranktree_status guard(ranktree_error* error, Body body) noexcept {
  try {
    body();
    return RANKTREE_SUCCESS;
  } catch (...) {
    return report(error);
  }
}

}  // namespace ranktree::capi
