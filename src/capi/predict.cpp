#include "ranktree/predict.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capi/guard.h"
#include "capi/options.h"
#include "core/predict/choice.h"
#include "core/predict/modelled.h"
#include "core/predict/prediction.h"
#include "core/schedule/makers.h"
#include "core/schedule/transform.h"
#include "io/parameters_file.h"
#include "ranktree/base.h"
#include "ranktree/topo.h"

struct ranktree_prediction {
  std::vector<ranktree_predicted> costs;
  std::vector<ranktree_predicted_groups> groups;
  std::string source;
  std::deque<std::string> texts;  // what the entries point to; a deque never moves them
};

namespace {

namespace capi = ranktree::capi;
namespace predict_core = ranktree::core::predict;
namespace schedule = ranktree::core::schedule;
using capi::guard;
using capi::require;

using NamedModel = capi::Named<ranktree_cost_model, predict_core::CostModel>;
constexpr std::array kModels{
    NamedModel{RANKTREE_COST_MODEL_CLOSED, "closed", predict_core::CostModel::kClosed},
    NamedModel{RANKTREE_COST_MODEL_HOCKNEY, "hockney", predict_core::CostModel::kHockney},
    NamedModel{RANKTREE_COST_MODEL_LOGGP, "loggp", predict_core::CostModel::kLogGP},
    NamedModel{RANKTREE_COST_MODEL_AUTOMATIC, "auto", predict_core::CostModel::kAutomatic},
};

constexpr ranktree_predict_options kDefaults{sizeof(ranktree_predict_options), nullptr, 0, 0, 0,
                                             RANKTREE_COST_MODEL_AUTOMATIC};

schedule::Collective collective_of(std::string_view name) {
  if (name == "bcast") return schedule::Collective::kBroadcast;
  const auto found = schedule::collective_from_name(name);
  if (!found) capi::refuse("collective", "bcast, reduce, allreduce, barrier, ...", "'" + std::string(name) + "'");
  return *found;
}

std::int64_t size_of(schedule::Collective collective, std::uint64_t bytes) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 50U;
  if (bytes > kMost) capi::refuse("bytes", "at most 2^50", std::to_string(bytes));
  return collective == schedule::Collective::kBarrier ? 0 : static_cast<std::int64_t>(bytes);
}

const char* keep(ranktree_prediction& prediction, std::string text) {
  return prediction.texts.emplace_back(std::move(text)).c_str();
}

void add_cost(ranktree_prediction& made, ranktree_predicted_kind kind, const predict_core::Predicted& found) {
  const bool base = kind == RANKTREE_PREDICTED_BASE;
  const char* algorithm =
      base ? keep(made, std::string(schedule::algorithm_name(found.choice.composition.algorithms[0]))) : nullptr;
  made.costs.push_back({kind, algorithm, keep(made, to_text(found.choice)), found.seconds});
}

void add_groups(ranktree_prediction& made, const predict_core::PredictedGroups& found) {
  made.groups.push_back({.form = keep(made, std::string(schedule::form_name(found.form))),
                         .algorithm = keep(made, std::string(schedule::algorithm_name(found.algorithm))),
                         .groups = found.best.groups,
                         .seconds = found.best.seconds,
                         .divisor = found.best.divisor,
                         .divisor_seconds = found.best.divisor_seconds,
                         .continuous = found.best.continuous,
                         .condition = found.condition ? keep(made, found.condition->text) : nullptr,
                         .condition_groups = found.condition_groups,
                         .condition_holds = found.condition && found.condition->holds ? 1 : 0,
                         .best = found.on_machine ? keep(made, to_text(found.on_machine->choice)) : nullptr,
                         .best_seconds = found.on_machine ? found.on_machine->seconds : 0});
}

predict_core::Modelled machine_of(const ranktree_topo& topo, int ranks, const ranktree_predict_options& options,
                                  std::string& source) {
  if (ranks < 2) capi::refuse("ranks", "at least 2", std::to_string(ranks));
  const bool has_file = options.parameters != nullptr;
  const auto measured =
      has_file ? ranktree::io::load_parameters(options.parameters) : ranktree::io::MeasuredParameters{};
  auto machine =
      predict_core::modelled(topo.tree, ranks, has_file ? &measured.parameters : nullptr, options.by_node != 0);
  source = ranktree::io::source_text(machine, has_file ? options.parameters : "", measured);
  return machine;
}

template <typename Entry>
const Entry* entry_of(const std::vector<Entry>& entries, int number) {
  return number >= 0 && std::cmp_less(number, entries.size()) ? &entries[static_cast<std::size_t>(number)] : nullptr;
}

}  // namespace

void ranktree_predict_options_init_sized(ranktree_predict_options* options, size_t size) {
  capi::write_defaults(options, size, kDefaults);
}

ranktree_status ranktree_cost_model_parse(const char* name, ranktree_cost_model* model, ranktree_error* error) {
  return guard(error, [&] {
    require(model, "model");
    *model = capi::choice_of(kModels, name, "model");
  });
}

// NOLINTNEXTLINE(readability-function-size): its parameters
ranktree_status ranktree_predict(const ranktree_topo* topo, const char* collective, int ranks, uint64_t bytes,
                                 const ranktree_predict_options* options, ranktree_prediction** prediction,
                                 ranktree_error* error) {
  // #lizard forgives the number of parameters: input, options, output and error
  return guard(error, [&] {
    require(topo, "topo");
    require(collective, "collective");
    require(prediction, "prediction");
    const ranktree_predict_options chosen = capi::read_options(options, kDefaults);
    const schedule::Collective operation = collective_of(collective);
    auto made = std::make_unique<ranktree_prediction>();
    const auto machine = machine_of(*topo, ranks, chosen, made->source);
    const auto found = predict_core::predicted(operation, size_of(operation, bytes), machine,
                                               {.groups = chosen.groups,
                                                .shared_memory = chosen.no_shared_memory == 0,
                                                .model = capi::value_of(kModels, chosen.model, "options.model")});
    for (const auto& each : found.base) add_cost(*made, RANKTREE_PREDICTED_BASE, each);
    if (found.hierarchical) add_cost(*made, RANKTREE_PREDICTED_HIERARCHICAL, *found.hierarchical);
    if (found.shared) add_cost(*made, RANKTREE_PREDICTED_SHARED, *found.shared);
    for (const auto& each : found.groups) add_groups(*made, each);
    *prediction = made.release();
  });
}

void ranktree_prediction_destroy(ranktree_prediction* prediction) { delete prediction; }

const ranktree_predicted* ranktree_prediction_get_cost(const ranktree_prediction* prediction, int number) {
  return entry_of(prediction->costs, number);
}

const ranktree_predicted_groups* ranktree_prediction_get_groups(const ranktree_prediction* prediction, int number) {
  return entry_of(prediction->groups, number);
}

const char* ranktree_prediction_get_source(const ranktree_prediction* prediction) { return prediction->source.c_str(); }
