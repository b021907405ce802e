#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bind.h"
#include "core/base/error.h"
#include "core/pattern/affinity.h"
#include "core/pattern/pattern.h"
#include "core/place/placement.h"
#include "core/place/plan.h"
#include "core/topo/tree.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

namespace pattern = ranktree::core::pattern;
namespace place = ranktree::core::place;
using ranktree::core::topo::Tree;

pattern::Metric metric_of(const std::string& name) {
  const auto metric = pattern::metric_from_name(name);
  if (!metric) {
    throw ranktree::core::Error(ranktree::core::Fault::kInput,
                                "metric: expected size, msg or avg, found '" + name + "'");
  }
  return *metric;
}

place::PlanOptions options_of(const std::string& algorithm, const std::string& metric, std::uint64_t seed,
                              bool oversubscribe) {
  place::PlanOptions options;
  options.algorithm = algorithm;
  options.metric = metric_of(metric);
  options.seed = seed;
  options.oversubscribe = oversubscribe;
  return options;
}

place::Plan make_plan(const Tree& tree, const pattern::Pattern& expanded, const std::string& algorithm,
                      const std::string& metric, std::uint64_t seed, bool oversubscribe) {
  const auto options = options_of(algorithm, metric, seed, oversubscribe);
  const nb::gil_scoped_release release;
  return place::make_plan(tree, expanded, options);
}

// A one-dimensional numpy array that owns its values.
template <typename Item>
nb::object numpy_array(std::vector<Item> values) {
  auto* kept = new std::vector<Item>(std::move(values));
  const nb::capsule owner(kept, [](void* pointer) noexcept { delete static_cast<std::vector<Item>*>(pointer); });
  const std::size_t size = kept->size();
  return nb::cast(nb::ndarray<nb::numpy, Item, nb::ndim<1>>(kept->data(), {size}, owner));
}

nb::object compute_placement(const Tree& tree, const pattern::Pattern& expanded, const std::string& algorithm,
                             const std::string& metric, std::uint64_t seed, bool oversubscribe) {
  const auto options = options_of(algorithm, metric, seed, oversubscribe);
  place::Placement placement;
  {
    const nb::gil_scoped_release release;
    placement = place::compute_placement(tree, expanded, options);
  }
  return numpy_array(std::move(placement.leaf_of));
}

using Leaves = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Weight by level of the lowest common ancestor, and the total.
nb::tuple evaluate(const Tree& tree, const pattern::Pattern& expanded, const Leaves& leaf_of,
                   const std::string& metric) {
  place::Placement placement{{leaf_of.data(), leaf_of.data() + leaf_of.size()}};
  const int all = static_cast<int>(leaf_of.size());  // sharing is the caller's business
  place::validate(tree, placement, expanded.ranks, {all});
  place::Cost cost = place::evaluate(tree, pattern::affinity(expanded, metric_of(metric)), placement);
  return nb::make_tuple(numpy_array(std::move(cost.weight)), cost.total);
}

}  // namespace

void bind_place(nb::module_& module) {
  nb::class_<place::Seat>(module, "Seat", "Where one rank sits: a host and PUs by operating-system number.")
      .def_ro("host", &place::Seat::host)
      .def_ro("pus", &place::Seat::pus);
  nb::class_<place::CostRow>(module, "CostRow", "The cost of one placement: weight by level, root first, and total.")
      .def_ro("placement", &place::CostRow::placement)
      .def_ro("weight", &place::CostRow::weight)
      .def_ro("total", &place::CostRow::total);
  nb::class_<place::Plan>(module, "Plan", "Where each rank of a job shall sit, and what that buys.")
      .def_ro("seats", &place::Plan::seats, "by rank")
      .def_ro("levels", &place::Plan::levels, "kind of each level, root first")
      .def_ro("level_costs", &place::Plan::level_costs)
      .def_ro("hosts", &place::Plan::hosts, "every host of the machine in tree order")
      .def_ro("pus_per_host", &place::Plan::pus_per_host)
      .def_ro("algorithm", &place::Plan::algorithm)
      .def_ro("metric", &place::Plan::metric)
      .def_ro("seed", &place::Plan::seed)
      .def_ro("costs", &place::Plan::costs)
      .def_ro("gain", &place::Plan::gain, "False: nothing beats leaving the ranks where they are");
  module.def("make_plan", &make_plan, "tree"_a, "pattern"_a, "algorithm"_a = "best", "metric"_a = "size", "seed"_a = 1,
             "oversubscribe"_a = false,
             "Places the ranks of an expanded pattern; the plan never costs more than identity (treematch-2013 §4).");
  module.def("compute_placement", &compute_placement, "tree"_a, "pattern"_a, "algorithm"_a = "best",
             "metric"_a = "size", "seed"_a = 1, "oversubscribe"_a = false,
             "The leaf of each rank as the algorithm gives it, as a numpy array; kept even where identity is cheaper.");
  module.def("evaluate", &evaluate, "tree"_a, "pattern"_a, "leaf_of"_a, "metric"_a = "size",
             "(weight by level, total) of a placement given as a numpy array of one leaf a rank.");
}
