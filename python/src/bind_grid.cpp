#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>  // IWYU pragma: keep
#include <nanobind/stl/string.h>    // IWYU pragma: keep
#include <nanobind/stl/vector.h>    // IWYU pragma: keep

#include <cstddef>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bind.h"
#include "core/base/error.h"
#include "core/pattern/affinity.h"
#include "core/pattern/pattern.h"
#include "core/reorder/grid_choice.h"
#include "core/reorder/grid_pattern.h"
#include "core/reorder/slots.h"
#include "core/topo/tree.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

namespace pattern = ranktree::core::pattern;
namespace reorder = ranktree::core::reorder;
using ranktree::core::Error;
using ranktree::core::Fault;
using ranktree::core::topo::Leaf;
using ranktree::core::topo::Tree;

// One process a leaf, in the order of the leaves.
reorder::Slots slots_of(const Tree& tree) {
  reorder::Slots slots{tree, {}, {}};
  slots.home.leaf_of.resize(static_cast<std::size_t>(tree.leaf_count()));
  std::iota(slots.home.leaf_of.begin(), slots.home.leaf_of.end(), 0);
  slots.rank_at_slot = slots.home.leaf_of;
  for (const Leaf leaf : slots.home.leaf_of) {
    if (!tree.allowed(leaf)) throw Error(Fault::kUnsupported, "grid: expected a machine whose places may all be used");
  }
  return slots;
}

nb::tuple choose_grid(const Tree& tree, const std::vector<int>& dims, const std::vector<bool>& periods,
                      const std::vector<double>& weights) {
  reorder::ChosenGrid chosen;
  {
    const nb::gil_scoped_release others_run;
    chosen = reorder::choose_grid(slots_of(tree), {dims, {periods.begin(), periods.end()}, weights}, {});
  }
  return nb::make_tuple(chosen.grid.dims, chosen.placed.placement.leaf_of, chosen.placed.before, chosen.placed.after);
}

nb::object grid_of_pattern(const pattern::Pattern& expanded, const std::string& metric) {
  const auto counted = pattern::metric_from_name(metric);
  if (!counted) throw Error(Fault::kInput, "metric: expected size, msg or avg, found '" + metric + "'");
  const auto traffic = reorder::grid_of_pattern(pattern::affinity(expanded, *counted));
  if (!traffic) return nb::none();
  const std::vector<bool> periods(traffic->periodic.begin(), traffic->periodic.end());
  return nb::make_tuple(traffic->dims, periods, traffic->plane_weights);
}

}  // namespace

void bind_grid(nb::module_& module) {
  module.def(
      "choose_grid", &choose_grid, "tree"_a, "dims"_a, "periods"_a, "weights"_a,
      "(dimensions, leaf of each vertex row by row, cost of row order, cost) of the grid of as many processes as "
      "the tree has leaves; a dimension of 0 is chosen. Weights: what is exchanged through a plane of each "
      "dimension.");
  module.def("grid_of_pattern", &grid_of_pattern, "pattern"_a, "metric"_a = "size",
             "(dimensions, periods, weights of their planes) of the grid that the pattern is; None where it is none.");
}
