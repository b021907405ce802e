// Placing ranks from C++20: spans of numbers in, a plan out. Objects own what ranktree/place.h makes: move only, freed
// by their destructor, readable by several threads at once. Link with libranktree. ranktree/place.h explains the
// options. Source: treematch-2013 §4, and the placement engine (docs/explanation/placement-engine.md). Everything is
// local.
//
//   const ranktree::Topo machine = ranktree::Topo::load("node:64 package:2 core:16");
//   const ranktree::Plan plan = ranktree::place(machine, ranktree::Pattern::dense(2048, matrix));
//   for (const int leaf : plan.permutation()) { ... }  // by rank
#ifndef RANKTREE_PLACE_HPP
#define RANKTREE_PLACE_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ranktree/base.h"
#include "ranktree/error.hpp"
#include "ranktree/pattern.h"
#include "ranktree/place.h"
#include "ranktree/topo.h"

namespace ranktree {

namespace detail {

// Frees an object with one of the library's functions.
template <auto kDestroy>
struct By {
  template <class Object>
  void operator()(Object* object) const noexcept {
    kDestroy(object);
  }
};

// Calls `make(&value, error)`; returns the value or throws Error.
template <class Value, class Make>
Value value_of(const Make& make) {
  Value value{};
  ranktree_error error{};
  if (make(&value, &error) != RANKTREE_SUCCESS) throw Error(error);
  return value;
}

}  // namespace detail

/** As ranktree_topo_options, with the same defaults. */
struct TopoOptions {
  std::string network = {}; /**< "": none */
  ranktree_unit unit = RANKTREE_UNIT_CORE;
  ranktree_cost cost = RANKTREE_COST_HOPS;
};

/** A machine as one tree. */
class Topo {
 public:
  /** \param machine as ranktree_topo_load() takes it */
  static Topo load(const std::string& machine = "live", const TopoOptions& options = {}) {
    ranktree_topo_options given;
    ranktree_topo_options_init(&given);
    given.network = options.network.empty() ? nullptr : options.network.c_str();
    given.unit = options.unit;
    given.cost = options.cost;
    return by([&](auto** topo, auto* error) { return ranktree_topo_load(machine.c_str(), &given, topo, error); });
  }
  /** As ranktree_topo_bundle(). */
  [[nodiscard]] Topo bundle(int count) const {
    return by([&](auto** topo, auto* error) { return ranktree_topo_bundle(get(), count, topo, error); });
  }
  /** As ranktree_topo_forbid(). \param host "": on every node */
  [[nodiscard]] Topo forbid(const std::string& host, std::span<const int> pus) const {
    const char* name = host.empty() ? nullptr : host.c_str();
    const int count = static_cast<int>(pus.size());
    return by(
        [&](auto** topo, auto* error) { return ranktree_topo_forbid(get(), name, pus.data(), count, topo, error); });
  }

  [[nodiscard]] int leaf_count() const { return ranktree_topo_get_leaf_count(get()); }
  [[nodiscard]] const ranktree_topo* get() const noexcept { return topo_.get(); }

 private:
  explicit Topo(ranktree_topo* topo) noexcept : topo_(topo) {}
  template <class Make>
  static Topo by(const Make& make) {
    return Topo(detail::value_of<ranktree_topo*>(make));
  }

  std::unique_ptr<ranktree_topo, detail::By<&ranktree_topo_destroy>> topo_;
};

/** A communication pattern: which rank sends how much to which. */
class Pattern {
 public:
  /** As ranktree_pattern_load(). */
  static Pattern load(const std::string& path, ranktree_metric metric = RANKTREE_METRIC_SIZE) {
    return by([&](auto** pattern, auto* error) { return ranktree_pattern_load(path.c_str(), metric, pattern, error); });
  }
  /** As ranktree_pattern_create(): directed pairs in any order; equal ones are added. */
  static Pattern sparse(int ranks, std::span<const ranktree_pair> pairs) {
    return by([&](auto** pattern, auto* error) {
      return ranktree_pattern_create(ranks, pairs.size(), pairs.data(), pattern, error);
    });
  }
  /** As ranktree_pattern_create_dense(). \param matrix ranks x ranks numbers, row by row; borrowed unless copied */
  static Pattern dense(int ranks, std::span<const double> matrix, ranktree_ownership ownership = RANKTREE_COPY) {
    if (ranks > 0 && matrix.size() != static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks)) {
      throw Error(RANKTREE_ERROR_INPUT, "matrix: expected ranks x ranks numbers, found another number of them");
    }
    return by([&](auto** pattern, auto* error) {
      return ranktree_pattern_create_dense(ranks, matrix.data(), ownership, pattern, error);
    });
  }
  /** As ranktree_pattern_expand(). */
  [[nodiscard]] Pattern expand(ranktree_model model = RANKTREE_MODEL_TRACED) const {
    return by([&](auto** pattern, auto* error) { return ranktree_pattern_expand(get(), model, pattern, error); });
  }
  /** What the file that it comes from cannot hold, or is known to count wrongly. */
  [[nodiscard]] std::vector<std::string> warnings() const {
    std::vector<std::string> texts;
    for (int i = 0; i < ranktree_pattern_get_warning_count(get()); ++i) {
      texts.emplace_back(ranktree_pattern_get_warning(get(), i));
    }
    return texts;
  }

  [[nodiscard]] int rank_count() const { return ranktree_pattern_get_rank_count(get()); }
  [[nodiscard]] const ranktree_pattern* get() const noexcept { return pattern_.get(); }

 private:
  explicit Pattern(ranktree_pattern* pattern) noexcept : pattern_(pattern) {}
  template <class Make>
  static Pattern by(const Make& make) {
    return Pattern(detail::value_of<ranktree_pattern*>(make));
  }

  std::unique_ptr<ranktree_pattern, detail::By<&ranktree_pattern_destroy>> pattern_;
};

/** As ranktree_place_options, with the same defaults. */
struct PlaceOptions {
  ranktree_algorithm algorithm = RANKTREE_ALGORITHM_BEST;
  ranktree_metric metric = RANKTREE_METRIC_SIZE;
  ranktree_model collectives = RANKTREE_MODEL_TRACED;
  ranktree_preset preset = RANKTREE_PRESET_DEFAULT;
  std::uint64_t seed = 1;
  int threads = 1;
  bool oversubscribe = false;
  std::chrono::milliseconds time_limit{0}; /**< 0: none */
  std::function<bool()> keep_going = {};   /**< false: keep the best so far; an exception stops the search */
  std::span<const ranktree_pin> pins = {}; /**< borrowed for the call */
  ranktree_objective objective = RANKTREE_OBJECTIVE_DEFAULT;
  std::string parameters = {}; /**< "": none */
};

/** The slot of each rank. */
class Plan {
 public:
  /** As ranktree_plan_load(). */
  static Plan load(const std::string& path) {
    return Plan(detail::value_of<ranktree_plan*>(
        [&](auto** plan, auto* error) { return ranktree_plan_load(path.c_str(), plan, error); }));
  }
  /** As ranktree_plan_save(). */
  void save(const std::string& path) const {
    ranktree_error error{};
    if (ranktree_plan_save(get(), path.c_str(), &error) != RANKTREE_SUCCESS) throw Error(error);
  }

  [[nodiscard]] int rank_count() const { return ranktree_plan_get_rank_count(get()); }
  /** The leaf of each rank, by logical number; empty for a plan from a file. Belongs to the plan. */
  [[nodiscard]] std::span<const int> permutation() const {
    const int* leaves = nullptr;
    const int count = ranktree_plan_get_permutation(get(), &leaves);
    return {leaves, static_cast<std::size_t>(count)};
  }
  /** Host of a rank, "" when the machine has no nodes. Throws Error for a rank that it does not have. */
  [[nodiscard]] std::string host(int rank) const {
    const char* name = ranktree_plan_get_host(get(), rank);
    if (name == nullptr)
      throw Error(RANKTREE_ERROR_INPUT, "plan: rank " + std::to_string(rank) + " is none of its ranks");
    return name;
  }
  /** PUs of a rank by operating-system number; empty out of range. Belongs to the plan. */
  [[nodiscard]] std::span<const int> pus(int rank) const {
    const int* numbers = nullptr;
    const int count = ranktree_plan_get_pus(get(), rank, &numbers);
    return {numbers, static_cast<std::size_t>(count)};
  }

  /** As ranktree_plan_is_described(). */
  [[nodiscard]] bool is_described() const { return ranktree_plan_is_described(get()) != 0; }
  [[nodiscard]] bool has_gain() const { return ranktree_plan_has_gain(get()) != 0; }
  [[nodiscard]] bool was_stopped() const { return ranktree_plan_was_stopped(get()) != 0; }
  /** As ranktree_plan_get_note(). */
  [[nodiscard]] std::vector<std::string> notes() const {
    std::vector<std::string> texts;
    for (int i = 0; ranktree_plan_get_note(get(), i) != nullptr; ++i) {
      texts.emplace_back(ranktree_plan_get_note(get(), i));
    }
    return texts;
  }
  /** As ranktree_plan_get_cost(). */
  [[nodiscard]] double cost(const std::string& placement = "plan") const {
    return detail::value_of<double>(
        [&](double* cost, auto* error) { return ranktree_plan_get_cost(get(), placement.c_str(), cost, error); });
  }
  /** The plan's cost on each level, the root first; the sum is cost(). */
  [[nodiscard]] std::vector<double> cost_by_level() const {
    std::vector<double> costs;
    for (int level = 0; level < ranktree_plan_get_level_count(get()); ++level) {
      costs.push_back(detail::value_of<double>(
          [&](double* cost, auto* error) { return ranktree_plan_get_level_cost(get(), level, cost, error); }));
    }
    return costs;
  }
  /** As ranktree_plan_get_bound(). */
  [[nodiscard]] double bound() const {
    return detail::value_of<double>(
        [&](double* bound, auto* error) { return ranktree_plan_get_bound(get(), bound, error); });
  }
  /** As ranktree_plan_get_gap(). */
  [[nodiscard]] double gap() const {
    return detail::value_of<double>([&](double* gap, auto* error) { return ranktree_plan_get_gap(get(), gap, error); });
  }
  [[nodiscard]] const ranktree_plan* get() const noexcept { return plan_.get(); }

 private:
  friend Plan place(const Topo& topo, const Pattern& pattern, const PlaceOptions& options);
  explicit Plan(ranktree_plan* plan) noexcept : plan_(plan) {}

  std::unique_ptr<ranktree_plan, detail::By<&ranktree_plan_destroy>> plan_;
};

namespace detail {

// keep_going for C, which it must not throw through: an exception is kept until the call returns.
struct Question {
  const std::function<bool()>& keep_going;
  std::exception_ptr thrown = nullptr;

  static int answer(void* user) noexcept {
    auto& question = *static_cast<Question*>(user);
    try {
      return question.keep_going() ? 1 : 0;
    } catch (...) {
      question.thrown = std::current_exception();
      return 0;
    }
  }
};

}  // namespace detail

/** As ranktree_place(). Throws Error, and the exceptions of options.keep_going. */
inline Plan place(const Topo& topo, const Pattern& pattern, const PlaceOptions& options = {}) {
  detail::Question question{options.keep_going};
  ranktree_place_options given;
  ranktree_place_options_init(&given);
  given.algorithm = options.algorithm;
  given.metric = options.metric;
  given.collectives = options.collectives;
  given.seed = options.seed;
  given.oversubscribe = options.oversubscribe ? 1 : 0;
  given.preset = options.preset;
  given.threads = options.threads;
  given.time_limit_ms = options.time_limit.count();
  if (options.keep_going) {
    given.keep_going = &detail::Question::answer;
    given.user = &question;
  }
  given.pins = options.pins.data();
  given.pin_count = static_cast<int>(options.pins.size());
  given.objective = options.objective;
  given.parameters = options.parameters.empty() ? nullptr : options.parameters.c_str();
  Plan plan(detail::value_of<ranktree_plan*>(
      [&](auto** made, auto* error) { return ranktree_place(topo.get(), pattern.get(), &given, made, error); }));
  if (question.thrown) std::rethrow_exception(question.thrown);
  return plan;
}

}  // namespace ranktree

#endif
