#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>     // IWYU pragma: keep
#include <nanobind/stl/pair.h>         // IWYU pragma: keep
#include <nanobind/stl/string.h>       // IWYU pragma: keep
#include <nanobind/stl/string_view.h>  // IWYU pragma: keep
#include <nanobind/stl/vector.h>       // IWYU pragma: keep

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bind.h"
#include "core/base/error.h"
#include "core/base/index.h"
#include "core/objective/model.h"
#include "core/objective/timed_plan.h"
#include "core/pattern/affinity.h"
#include "core/pattern/matrix.h"
#include "core/pattern/pattern.h"
#include "core/place/bound.h"
#include "core/place/engine.h"
#include "core/place/placement.h"
#include "core/place/plan.h"
#include "core/place/traced_nodes.h"
#include "core/topo/tree.h"
#include "io/parameters_file.h"
#include "io/plan_file.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

namespace pattern = ranktree::core::pattern;
namespace objective = ranktree::core::objective;
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

[[noreturn]] void refuse(const std::string& text) { throw ranktree::core::Error(ranktree::core::Fault::kInput, text); }

place::Preset preset_of(const std::string& name) {
  const auto preset = place::preset_from_name(name);
  if (!preset) refuse("preset: expected fast, default or strong, found '" + name + "'");
  return *preset;
}

// Decides whether a computation that does not hold the interpreter's lock goes on: not after the time limit, after a
// signal handler raised, or after the caller's function returned False. rethrow() raises what they raised.
class Watch {
 public:
  Watch(std::optional<double> seconds, nb::object keep_going) : keep_going_(std::move(keep_going)) {
    // Also false for what is not a number; longer than a year is no limit.
    if (seconds && !(*seconds > 0)) refuse("time_limit: expected a number above 0, found " + std::to_string(*seconds));
    constexpr double kYear = 366.0 * 24 * 3600;
    if (seconds && *seconds < kYear) {
      end_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(*seconds));
    }
  }

  [[nodiscard]] std::function<bool()> function() {
    return [this] { return go_on(); };
  }

  void rethrow() {
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] bool go_on() {
    constexpr std::chrono::milliseconds kBetweenCalls(50);
    const Clock::time_point now = Clock::now();
    if (error_ || now >= end_) return false;
    if (now < next_) return true;
    const nb::gil_scoped_acquire hold;
    const bool answer = caller_goes_on();
    next_ = Clock::now() + kBetweenCalls;
    return answer;
  }

  bool caller_goes_on() {
    try {
      // NOLINTNEXTLINE(misc-include-cleaner): Python.h comes with nanobind
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      if (keep_going_.is_none()) return true;
      const nb::object answer = keep_going_();
      if (answer.is_none()) return true;
      // NOLINTNEXTLINE(misc-include-cleaner)
      const int truth = PyObject_IsTrue(answer.ptr());
      if (truth < 0) throw nb::python_error();
      return truth == 1;
    } catch (...) {
      error_ = std::current_exception();
      return false;
    }
  }

  nb::object keep_going_;
  Clock::time_point end_ = Clock::time_point::max();
  Clock::time_point next_ = Clock::time_point::min();
  std::exception_ptr error_;
};

// The keywords that every computation takes.
struct Keywords {
  place::PlanOptions options;
  std::optional<double> time_limit;
  nb::object keep_going = nb::none();
};

template <typename Value>
void take(const nb::kwargs& given, const char* name, Value& value, const char* expected) {
  if (!given.contains(name) || nb::try_cast(given[name], value)) return;
  refuse(std::string(name) + ": expected " + expected + ", found " + nb::repr(given[name]).c_str());
}

void check_names(const nb::kwargs& given) {
  constexpr std::array<std::string_view, 6> kNames{"oversubscribe", "preset",     "threads",
                                                   "time_limit",    "keep_going", "pins"};
  for (const auto& [key, value] : given) {
    const auto name = nb::cast<std::string>(key);
    if (std::find(kNames.begin(), kNames.end(), name) == kNames.end()) refuse("'" + name + "' is not an option");
  }
}

Keywords keywords_of(const std::string& algorithm, const std::string& metric, std::uint64_t seed,
                     const nb::kwargs& given) {
  check_names(given);
  Keywords keywords;
  place::PlanOptions& options = keywords.options;
  options.algorithm = algorithm;
  options.metric = metric_of(metric);
  options.seed = seed;
  std::string preset = "default";
  take(given, "oversubscribe", options.oversubscribe, "True or False");
  take(given, "preset", preset, "text");
  take(given, "threads", options.threads, "a whole number");
  take(given, "time_limit", keywords.time_limit, "a number or None");
  take(given, "keep_going", keywords.keep_going, "a function or None");
  std::vector<std::pair<pattern::Rank, ranktree::core::topo::Leaf>> pins;
  take(given, "pins", pins, "(rank, leaf) pairs");
  for (const auto& [rank, leaf] : pins) options.pins.push_back({rank, leaf});
  options.preset = preset_of(preset);
  if (options.threads < 1) refuse("threads: expected at least 1, found " + std::to_string(options.threads));
  return keywords;
}

// Runs a computation without the interpreter's lock, checking now and then whether to go on.
template <typename Compute>
auto watched(Keywords keywords, Compute compute) {
  Watch watch(keywords.time_limit, std::move(keywords.keep_going));
  keywords.options.keep_going = watch.function();
  auto result = [&] {
    const nb::gil_scoped_release release;
    return compute(keywords.options);
  }();
  watch.rethrow();
  return result;
}

// What is placed: a pattern, or weights that are none.
template <typename Input>
place::Plan make_plan(const Tree& tree, const Input& input, const std::string& algorithm, const std::string& metric,
                      std::uint64_t seed, const nb::kwargs& keywords) {
  return watched(keywords_of(algorithm, metric, seed, keywords),
                 [&](const place::PlanOptions& options) { return place::make_plan(tree, input, options); });
}

template <typename Number>
using Square = nb::ndarray<const Number, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// A numpy array where it is: no lists are made of it where most pairs talk.
template <typename Number>
place::Plan plan_matrix(const Tree& tree, const Square<Number>& matrix, const std::string& algorithm,
                        const std::string& metric, std::uint64_t seed, const nb::kwargs& keywords) {
  if (matrix.shape(0) != matrix.shape(1) || !std::in_range<pattern::Rank>(matrix.shape(0))) {
    refuse("pattern: expected a square matrix, found " + std::to_string(matrix.shape(0)) + " x " +
           std::to_string(matrix.shape(1)));
  }
  const pattern::Matrix view = pattern::MatrixView<Number>{static_cast<pattern::Rank>(matrix.shape(0)), matrix.data()};
  return watched(keywords_of(algorithm, metric, seed, keywords),
                 [&](const place::PlanOptions& options) { return place::make_plan(tree, view, options); });
}

template <typename Item>
using Array = nb::ndarray<nb::numpy, Item, nb::ndim<1>>;

// A one-dimensional numpy array that owns its values.
template <typename Item>
Array<Item> numpy_array(std::vector<Item> values) {
  auto* kept = new std::vector<Item>(std::move(values));
  const nb::capsule owner(kept, [](void* pointer) noexcept { delete static_cast<std::vector<Item>*>(pointer); });
  const std::size_t size = kept->size();
  return Array<Item>(kept->data(), {size}, owner);
}

Array<std::int32_t> compute_placement(const Tree& tree, const pattern::Pattern& expanded, const std::string& algorithm,
                                      const std::string& metric, std::uint64_t seed, const nb::kwargs& keywords) {
  auto placement = watched(keywords_of(algorithm, metric, seed, keywords), [&](const place::PlanOptions& options) {
    return place::compute_placement(tree, expanded, options);
  });
  return numpy_array(std::move(placement.leaf_of));
}

double lower_bound(const Tree& tree, const pattern::Pattern& expanded, const std::string& metric, int capacity) {
  if (capacity < 1) refuse("capacity: expected at least 1, found " + std::to_string(capacity));
  const pattern::Metric chosen = metric_of(metric);
  const nb::gil_scoped_release release;
  return place::lower_bound(tree, pattern::affinity(expanded, chosen), {capacity});
}

using Offsets = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Ranks = nb::ndarray<const pattern::Rank, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Weights = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <typename Array>
auto span_of(const Array& array) {
  return std::span(array.data(), array.size());
}

pattern::Affinity weights_from_csr(const Offsets& indptr, const Ranks& indices, const Weights& weights) {
  if (indptr.size() == 0 || !std::in_range<pattern::Rank>(indptr.size() - 1)) {
    refuse("weights: expected at most 2^31-1 rows, found another number");
  }
  const auto ranks = static_cast<pattern::Rank>(indptr.size() - 1);
  const nb::gil_scoped_release release;
  return pattern::affinity(ranks, span_of(indptr), span_of(indices), span_of(weights));
}

pattern::Affinity weights_from_matrix(const Matrix& matrix) {
  if (matrix.shape(0) != matrix.shape(1) || !std::in_range<pattern::Rank>(matrix.shape(0))) {
    refuse("weights: expected a square matrix, found " + std::to_string(matrix.shape(0)) + " x " +
           std::to_string(matrix.shape(1)));
  }
  const auto ranks = static_cast<pattern::Rank>(matrix.shape(0));
  const nb::gil_scoped_release release;
  return pattern::affinity(ranks, span_of(matrix));
}

// CSR arrays of the symmetric graph: what other mapping programs take.
nb::tuple graph_of(const pattern::Pattern& expanded, const std::string& metric) {
  pattern::Affinity affinity = pattern::affinity(expanded, metric_of(metric));
  return nb::make_tuple(numpy_array(std::move(affinity.indptr)), numpy_array(std::move(affinity.indices)),
                        numpy_array(std::move(affinity.weights)));
}

std::optional<Array<std::int32_t>> permutation(const place::Plan& plan) {
  if (plan.leaf_of.empty() && !plan.slots.empty()) return std::nullopt;
  return numpy_array(std::vector(plan.leaf_of));
}

Array<double> cost_by_level(const place::Plan& plan) { return numpy_array(place::costs_of_levels(plan)); }

using ranktree::core::topo::Leaf;

place::Placement placement_of(const Tree& tree, const pattern::Pattern& expanded, nb::handle leaf_of) {
  const WholeNumbers leaves = whole_numbers("leaf_of", leaf_of);
  place::Placement placement;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    placement.leaf_of.push_back(ranktree::core::narrowed<Leaf>(leaves.data()[i]));
  }
  const int all = static_cast<int>(leaves.size());  // sharing is the caller's business
  place::validate(tree, placement, expanded.ranks, {all});
  return placement;
}

// Weight by level of the lowest common ancestor, and the total.
nb::tuple evaluate(const Tree& tree, const pattern::Pattern& expanded, nb::handle leaf_of, const std::string& metric) {
  const place::Placement placement = placement_of(tree, expanded, leaf_of);
  place::Cost cost = place::evaluate(tree, pattern::affinity(expanded, metric_of(metric)), placement);
  return nb::make_tuple(numpy_array(std::move(cost.weight)), cost.total);
}

nb::tuple traced_nodes(const Tree& tree, const std::vector<std::string>& hosts, bool oversubscribe) {
  place::PlanOptions options;
  options.oversubscribe = oversubscribe;
  const place::TracedNodes traced = place::traced_nodes(tree, hosts, options);
  return nb::make_tuple(traced.nodes, traced.note);
}

nb::dict dict_of(const objective::Limit& limit) {
  nb::dict dict;
  dict["placement"] = limit.placement;
  dict["seconds"] = limit.seconds;
  dict["link_seconds"] = limit.link_seconds;
  dict["waiting_seconds"] = limit.waiting_seconds;
  dict["resource"] = limit.resource;
  dict["share"] = limit.share;
  if (limit.phases.empty()) return dict;
  nb::list phases;
  for (const objective::PhaseLimit& phase : limit.phases) {
    nb::dict row;
    row["name"] = phase.name;
    row["count"] = phase.count;
    row["seconds"] = phase.seconds;
    row["resource"] = phase.resource;
    phases.append(row);
  }
  dict["phases"] = phases;
  if (limit.phase >= 0) dict["phase"] = limit.phase;
  return dict;
}

// The objective, and what has the cost of links: a class of clusters or a file of parameters.
using NamedModel = std::pair<std::string, std::optional<std::string>>;

objective::Model model_of(const NamedModel& named) {
  objective::Model model{.objective = objective::objective_named(named.first), .parameters = {}};
  if (named.second) model.parameters = ranktree::io::parameters_named(*named.second);
  return model;
}

// The plan, and what limits each row of its table.
nb::tuple plan_by_objective(const Tree& tree, const pattern::Pattern& expanded, const NamedModel& named,
                            const std::string& algorithm, std::uint64_t seed, const nb::kwargs& keywords) {
  const objective::Model model = model_of(named);
  const objective::LimitedPlan found = watched(
      keywords_of(algorithm, "size", seed, keywords),
      [&](const place::PlanOptions& options) { return objective::make_limited_plan(tree, expanded, options, model); });
  nb::list rows;
  for (const objective::Limit& limit : found.limits) rows.append(dict_of(limit));
  return nb::make_tuple(found.plan, rows);
}

nb::dict limit_of(const Tree& tree, const pattern::Pattern& expanded, nb::handle leaf_of, const NamedModel& named) {
  return dict_of(objective::limit_of(tree, expanded, model_of(named), placement_of(tree, expanded, leaf_of)));
}

double latency_seconds(const Tree& tree, const pattern::Pattern& expanded, nb::handle leaf_of,
                       const NamedModel& named) {
  return objective::latency_seconds(tree, expanded, model_of(named), placement_of(tree, expanded, leaf_of));
}

std::vector<std::string> usual_levels(const Tree& tree, const NamedModel& named) {
  return objective::usual_levels(tree, model_of(named));
}

void bind_plans(nb::module_& module) {
  nb::class_<place::Slot>(module, "Slot", "What one rank is bound to: a host and PUs by operating-system number.")
      .def_ro("host", &place::Slot::host)
      .def_ro("pus", &place::Slot::pus);
  nb::class_<place::CostRow>(module, "CostRow", "The cost of one placement: weight by level, root first, and total.")
      .def_ro("placement", &place::CostRow::placement)
      .def_ro("weight", &place::CostRow::weight)
      .def_ro("total", &place::CostRow::total);
  nb::class_<place::Plan>(module, "Plan", "The slot of each rank of a job, and the cost.")
      .def_ro("slots", &place::Plan::slots, "by rank")
      .def_ro("levels", &place::Plan::levels, "kind of each level, root first")
      .def_ro("level_costs", &place::Plan::level_costs)
      .def_rw("described", &place::Plan::described, "whether the machine's hosts have made-up names")
      .def_ro("hosts", &place::Plan::hosts, "every host of the machine in tree order")
      .def_ro("pus_per_host", &place::Plan::pus_per_host)
      .def_ro("algorithm", &place::Plan::algorithm)
      .def_ro("metric", &place::Plan::metric)
      .def_ro("seed", &place::Plan::seed)
      .def_ro("costs", &place::Plan::costs)
      .def_ro("gain", &place::Plan::gain, "False: no plan costs less than the current rank order")
      .def_ro("stopped", &place::Plan::stopped, "True: the time limit or keep_going stopped the search early")
      .def_ro("bound", &place::Plan::bound, "no placement costs less; None in a plan of an older file")
      .def_prop_ro("gap", &place::gap, "(cost - bound) / bound; None where there is no bound or it is 0")
      .def_prop_ro(
          "cost", [](const place::Plan& plan) { return place::row_of(plan, "plan").total; }, "total cost of the plan")
      .def_prop_ro("cost_by_level", &cost_by_level, nb::rv_policy::reference,
                   "numpy array: cost of the plan on each level, root first")
      .def_prop_ro("permutation", &permutation, nb::rv_policy::reference,
                   "numpy array: the leaf of each rank; None in a plan read from a file")
      .def("to_json", &ranktree::io::write_plan, "the text of its file, as docs/reference/formats/plan.md specifies it")
      .def(
          "save", [](const place::Plan& plan, const std::string& path) { ranktree::io::save_plan(path, plan); },
          "path"_a, "writes its file, completely or not at all");
  nb::class_<pattern::Affinity>(module, "Weights", "What ranks exchange, both directions added.")
      .def_static("from_csr", &weights_from_csr, "indptr"_a, "indices"_a, "weights"_a,
                  "from the CSR form of a matrix, columns ascending: what goes from the row's rank to the column's")
      .def_static("from_matrix", &weights_from_matrix, "matrix"_a, "from the whole matrix")
      .def_ro("ranks", &pattern::Affinity::ranks)
      .def("__len__", [](const pattern::Affinity& weights) { return weights.indices.size(); });
}

}  // namespace

void bind_place(nb::module_& module) {
  nb::list objectives;
  for (const auto& [name, value] : objective::kObjectives) objectives.append(std::string(name));
  module.attr("OBJECTIVES") = nb::tuple(objectives);
  nb::list metrics;
  for (const auto metric : {pattern::Metric::kSize, pattern::Metric::kMessages, pattern::Metric::kAverage}) {
    metrics.append(std::string(pattern::metric_name(metric)));
  }
  module.attr("METRICS") = nb::tuple(metrics);
  bind_plans(module);
  module.def("make_plan", &make_plan<pattern::Pattern>, "tree"_a, "pattern"_a, "algorithm"_a = "best",
             "metric"_a = "size", "seed"_a = 1, "keywords"_a,
             "Places the ranks of an expanded pattern; the plan never costs more than identity (treematch-2013 §4). "
             "Keywords: oversubscribe, preset, threads; time_limit, in seconds; keep_going, a function called now and "
             "then, which returns False to keep the best found so far; pins, (rank, leaf) pairs that every placement "
             "honours.");
  module.def("make_plan", &make_plan<pattern::Affinity>, "tree"_a, "weights"_a, "algorithm"_a = "best",
             "metric"_a = "size", "seed"_a = 1, "keywords"_a,
             "The same for weights without a pattern; metric names what they count.");
  module.def("plan_matrix", &plan_matrix<double>, "tree"_a, "matrix"_a.noconvert(), "algorithm"_a = "best",
             "metric"_a = "size", "seed"_a = 1, "keywords"_a,
             "The same for a numpy array of float64 or float32, whole and row by row: entry [i, j] goes from rank i to "
             "rank j.");
  module.def("plan_matrix", &plan_matrix<float>, "tree"_a, "matrix"_a.noconvert(), "algorithm"_a = "best",
             "metric"_a = "size", "seed"_a = 1, "keywords"_a);
  module.def(
      "plan_by_objective", &plan_by_objective, "tree"_a, "pattern"_a, "model"_a, "algorithm"_a = "best", "seed"_a = 1,
      "keywords"_a,
      "The plan by a model (bytes, messages, bottleneck or time; a class of clusters or a file of parameters, or "
      "None) and, for each placement of its table, the resource that limits it. Keywords as make_plan.");
  module.def(
      "is_network_class", [](std::string_view name) { return objective::parameters_of_class(name).has_value(); },
      "name"_a, "Whether a class of clusters has this name, as models take it in place of a file of parameters.");
  module.def("limit_of", &limit_of, "tree"_a, "pattern"_a, "leaf_of"_a, "model"_a,
             "What limits a placement given as a numpy array of one leaf a rank, by a model as in plan_by_objective.");
  module.def("usual_levels", &usual_levels, "tree"_a, "model"_a,
             "Kinds of the levels whose latency or bandwidth a model takes from usual values, outermost first.");
  module.def("latency_seconds", &latency_seconds, "tree"_a, "pattern"_a, "leaf_of"_a, "model"_a,
             "The part of the seconds of limit_of that fewer bytes would not shorten.");
  module.def("compute_placement", &compute_placement, "tree"_a, "pattern"_a, "algorithm"_a = "best",
             "metric"_a = "size", "seed"_a = 1, "keywords"_a,
             "The leaf of each rank as the algorithm gives it, as a numpy array; kept even where identity is cheaper. "
             "Keywords as make_plan.");
  module.def(
      "traced_nodes", &traced_nodes, "tree"_a, "hosts"_a, "oversubscribe"_a = false,
      "(node of each rank, note): the nodes that the hosts of a trace stand for, none where they do not fit, and a "
      "sentence where the machine lacks a host.");
  module.def("lower_bound", &lower_bound, "tree"_a, "pattern"_a, "metric"_a = "size", "capacity"_a = 1,
             "What no placement of an expanded pattern costs less than.");
  module.def("graph", &graph_of, "pattern"_a, "metric"_a = "size",
             "(indptr, indices, weights) of the symmetric graph that is placed.");
  module.def("evaluate", &evaluate, "tree"_a, "pattern"_a, "leaf_of"_a, "metric"_a = "size",
             "(weight by level, total) of a placement given as a numpy array of one leaf a rank.");
}
