#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bind.h"
#include "core/base/error.h"
#include "core/predict/candidates.h"
#include "core/predict/choice.h"
#include "core/predict/conditions.h"
#include "core/predict/costs.h"
#include "core/predict/evaluate.h"
#include "core/predict/loggp.h"
#include "core/predict/modelled.h"
#include "core/predict/parameters.h"
#include "core/predict/prediction.h"
#include "core/predict/rules.h"
#include "core/predict/wishes.h"
#include "core/schedule/hierarchy.h"
#include "core/schedule/makers.h"
#include "core/schedule/transform.h"
#include "core/topo/tree.h"
#include "io/file.h"
#include "io/open_mpi_rules.h"
#include "io/parameters_file.h"
#include "io/rules_file.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

namespace predict = ranktree::core::predict;
namespace schedule = ranktree::core::schedule;
namespace io = ranktree::io;
namespace topo = ranktree::core::topo;
using predict::Parameters;
using schedule::Hierarchy;

[[noreturn]] void refuse(const std::string& text) { throw ranktree::core::Error(ranktree::core::Fault::kInput, text); }

schedule::Collective collective_of(const std::string& name) {
  if (name == "bcast") return schedule::Collective::kBroadcast;
  const auto found = schedule::collective_from_name(name);
  if (!found) refuse("collective: expected bcast, reduce, allreduce, barrier, ..., found '" + name + "'");
  return *found;
}

predict::Question question_of(const std::string& collective, std::int64_t bytes, bool shared = false) {
  if (bytes < 0) refuse("bytes: expected 0 or more, found " + std::to_string(bytes));
  return {.collective = collective_of(collective), .bytes = bytes, .commutative = true, .shared_memory = shared};
}

nb::dict level_dict(const predict::LevelParameters& level) {
  nb::dict result;
  result["name"] = level.name;
  result["latency"] = level.latency;
  result["per_byte"] = level.per_byte;
  result["overhead_send"] = level.overhead_send;
  result["overhead_receive"] = level.overhead_receive;
  result["gap"] = level.gap;
  return result;
}

// A copy in which the levels have these latencies and seconds per byte.
Parameters with_links(const Parameters& parameters, const std::vector<std::pair<double, double>>& links) {
  if (links.size() != parameters.levels.size()) refuse("links: expected one a level");
  Parameters changed = parameters;
  for (std::size_t i = 0; i < links.size(); ++i) {
    changed.levels[i].latency = links[i].first;
    changed.levels[i].per_byte = links[i].second;
  }
  return changed;
}

std::vector<std::pair<std::string, double>> candidates(const std::string& collective, std::int64_t bytes,
                                                       const Hierarchy& machine, const Parameters& parameters,
                                                       bool shared, int most) {
  std::vector<std::pair<std::string, double>> found;
  for (const auto& each : predict::candidates(question_of(collective, bytes, shared), machine, parameters, most)) {
    found.emplace_back(to_text(each.choice), each.seconds);
  }
  return found;
}

std::optional<double> cost(const std::string& collective, std::int64_t bytes, const std::string& text,
                           const Hierarchy& hierarchy, const Parameters& parameters, const std::string& model) {
  const predict::Question question = question_of(collective, bytes);
  const predict::Choice choice = predict::choice_from_text(text, question.collective);
  const predict::Machine machine(hierarchy, parameters);
  if (model == "hockney") return predict::evaluated(question, choice, machine);
  if (model == "loggp") {
    return predict::evaluate(predict::schedule_of(question, choice, hierarchy), predict::loggp_of(machine));
  }
  if (model != "closed") refuse("model: expected closed, hockney or loggp, found '" + model + "'");
  const auto form = predict::form_of(question, choice, machine);
  if (!form) return std::nullopt;
  return form->seconds(static_cast<double>(bytes), static_cast<double>(choice.composition.segment));
}

std::optional<double> best_segments(const std::string& collective, std::int64_t bytes, const std::string& text,
                                    const Hierarchy& hierarchy, const Parameters& parameters) {
  const predict::Question question = question_of(collective, bytes);
  const predict::Machine machine(hierarchy, parameters);
  const auto form = predict::form_of(question, predict::choice_from_text(text, question.collective), machine);
  if (!form) return std::nullopt;
  return form->best_segments(static_cast<double>(bytes));
}

predict::Grouping grouping_of(const std::string& form, const std::string& algorithm) {
  const auto found_form = schedule::form_from_name(form);
  const auto found = schedule::algorithm_from_name(algorithm);
  if (!found_form) refuse("form: expected leaders, lanes or same-index, found '" + form + "'");
  if (!found) refuse("algorithm: expected an algorithm's name, found '" + algorithm + "'");
  return {.form = *found_form, .algorithm = *found};
}

nb::dict groups_dict(const predict::PredictedGroups& found) {
  nb::dict result;
  result["groups"] = found.best.groups;
  result["seconds"] = found.best.seconds;
  result["divisor"] = found.best.divisor;
  result["divisor_seconds"] = found.best.divisor_seconds;
  result["continuous"] = found.best.continuous;
  result["condition_groups"] = found.condition_groups;
  result["condition"] = found.condition ? nb::object(nb::str(found.condition->text.c_str())) : nb::none();
  result["holds"] = found.condition ? nb::object(nb::bool_(found.condition->holds)) : nb::none();
  return result;
}

// Groups, condition and whether it holds, for ranks all of whose links are those of the outermost level.
std::optional<nb::dict> groups(const std::string& collective, std::int64_t bytes, const std::string& form,
                               const std::string& algorithm, int ranks, const Parameters& parameters) {
  const predict::Question question = question_of(collective, bytes);
  const auto found =
      predict::predicted_groups(question.collective, bytes, grouping_of(form, algorithm), ranks, parameters);
  if (!found) return std::nullopt;
  return groups_dict(*found);
}

nb::object predicted_dict(const std::optional<predict::Predicted>& found) {
  if (!found) return nb::none();
  nb::dict result;
  result["choice"] = to_text(found->choice);
  result["seconds"] = found->seconds;
  return result;
}

predict::CostModel model_of(const std::string& name) {
  if (name == "closed") return predict::CostModel::kClosed;
  if (name == "hockney") return predict::CostModel::kHockney;
  if (name == "loggp") return predict::CostModel::kLogGP;
  if (name == "auto") return predict::CostModel::kAutomatic;
  refuse("model: expected auto, closed, hockney or loggp, found '" + name + "'");
}

const char* model_name(predict::CostModel model) {
  switch (model) {
    case predict::CostModel::kHockney:
      return "hockney";
    case predict::CostModel::kLogGP:
      return "loggp";
    default:
      return "closed";
  }
}

// One row of `ranktree predict --json`.
nb::dict row(const std::string& collective, std::int64_t bytes, const predict::Modelled& machine,
             const std::string& model, bool shared, int groups) {
  const auto found = predict::predicted(collective_of(collective), bytes, machine,
                                        {.groups = groups, .shared_memory = shared, .model = model_of(model)});
  nb::dict base;
  for (const predict::Predicted& each : found.base) {
    const std::string name(schedule::algorithm_name(each.choice.composition.algorithms[0]));
    base[name.c_str()] = predicted_dict(each);
  }
  nb::list groupings;
  for (const predict::PredictedGroups& each : found.groups) {
    nb::dict entry;
    entry["form"] = std::string(schedule::form_name(each.form));
    entry["algorithm"] = std::string(schedule::algorithm_name(each.algorithm));
    entry.update(groups_dict(each));
    entry["best"] = predicted_dict(each.on_machine);
    groupings.append(entry);
  }
  nb::dict result;
  result["bytes"] = bytes;
  result["model"] = model_name(found.model);
  result["base"] = base;
  result["hierarchical"] = predicted_dict(found.hierarchical);
  result["shared"] = predicted_dict(found.shared);
  result["groups"] = groupings;
  return result;
}

// A launch as the models see it, with the costs of its links in words.
struct Launch {
  predict::Modelled machine;
  std::string source;
};

Launch launch_of(const topo::Tree& tree, int ranks, const std::optional<std::string>& file, bool by_node) {
  const auto measured = file ? io::load_parameters(*file) : io::MeasuredParameters{};
  Launch launch{.machine = predict::modelled(tree, ranks, file ? &measured.parameters : nullptr, by_node),
                .source = {}};
  launch.source = io::source_text(launch.machine, file.value_or(""), measured);
  return launch;
}

void bind_launches(nb::module_& module) {
  nb::class_<Launch>(module, "ModelledLaunch", "Ranks on the leaves of a machine as the models see them.")
      .def_prop_ro(
          "hierarchy", [](const Launch& launch) { return launch.machine.hierarchy; }, "groups of groups")
      .def_prop_ro(
          "parameters", [](const Launch& launch) { return launch.machine.parameters; }, "of its levels")
      .def_prop_ro(
          "names", [](const Launch& launch) { return launch.machine.names; }, "of its levels, outermost first")
      .def_ro("source", &Launch::source, "where the costs of links come from, in words")
      .def(
          "predict",
          [](const Launch& launch, const std::string& collective, std::int64_t bytes, const std::string& model,
             bool shared, int groups) { return row(collective, bytes, launch.machine, model, shared, groups); },
          "collective"_a, "bytes"_a, "model"_a = "auto", "shared"_a = true, "groups"_a = 0,
          "One row of `ranktree predict --json`; groups: that many instead of the machine's levels.");
  module.def(
      "model_launch", &launch_of, "tree"_a, "ranks"_a, "parameters"_a = nb::none(), "by_node"_a = false,
      "Ranks on the leaves in order, or on each node in turn; with the parameters of a file, or of the machine.");
}

predict::Rule rule_of(const nb::dict& given) {
  const auto collective = collective_of(nb::cast<std::string>(given["collective"]));
  predict::Rule rule{.collective = collective,
                     .choice = predict::choice_from_text(nb::cast<std::string>(given["choice"]), collective)};
  const auto range = [&given](const char* name, auto& interval) {
    if (!given.contains(name)) return;
    const auto ends = nb::cast<std::pair<std::int64_t, std::optional<std::int64_t>>>(given[name]);
    using Number = decltype(interval.first);
    if (!std::in_range<Number>(ends.first) || !std::in_range<Number>(ends.second.value_or(0))) {
      throw ranktree::core::Error(ranktree::core::Fault::kInput,
                                  std::string("rule: ") + name + ": expected numbers of at most " +
                                      std::to_string(std::numeric_limits<Number>::max()));
    }
    interval.first = static_cast<Number>(ends.first);
    if (ends.second) interval.last = static_cast<Number>(*ends.second);
  };
  range("ranks", rule.ranks);
  range("nodes", rule.nodes);
  range("bytes", rule.bytes);
  return rule;
}

predict::Rules rules_of(const std::string& mpi, const std::string& machine, const std::vector<nb::dict>& given) {
  predict::Rules rules{.mpi = mpi, .machine = machine, .rules = {}};
  for (const nb::dict& each : given) rules.rules.push_back(rule_of(each));
  return rules;
}

std::vector<std::string> algorithm_names(const std::string& collective) {
  std::vector<std::string> names;
  for (const auto each : schedule::algorithms_of(collective_of(collective))) {
    names.emplace_back(schedule::algorithm_name(each));
  }
  return names;
}

std::vector<std::string> form_names(const std::string& collective) {
  std::vector<std::string> names;
  for (const auto each : schedule::forms_of(collective_of(collective))) names.emplace_back(schedule::form_name(each));
  return names;
}

void bind_parameters(nb::module_& module) {
  nb::class_<Parameters>(module, "Parameters", "What the models know of links and memory, by level.")
      .def_static(
          "usual", [](int levels, int across) { return predict::usual_parameters(levels, across); }, "levels"_a,
          "across"_a, "an ordinary cluster: so many levels, the first `across` between nodes")
      .def(
          "matched",
          [](const Parameters& parameters, int levels, int across) {
            return predict::matched(parameters, levels, across);
          },
          "levels"_a, "across"_a, "a copy for a hierarchy of other levels")
      .def("with_links", &with_links, "links"_a, "a copy with another (latency, seconds per byte) on each level")
      .def_prop_ro(
          "levels",
          [](const Parameters& parameters) {
            std::vector<nb::dict> levels;
            for (const auto& level : parameters.levels) levels.push_back(level_dict(level));
            return levels;
          },
          "latency, seconds per byte, overheads and gap of each level, outermost first")
      .def_ro("reduce_per_byte", &Parameters::reduce_per_byte)
      .def_ro("copy_per_byte", &Parameters::copy_per_byte)
      .def_ro("shared_latency", &Parameters::shared_latency)
      .def_ro("shared_per_byte", &Parameters::shared_per_byte)
      .def_ro("node_port", &Parameters::node_port);
  nb::class_<io::MeasuredParameters>(module, "MeasuredParameters", "What `ranktree calibrate` wrote, and of what.")
      .def_ro("parameters", &io::MeasuredParameters::parameters)
      .def_ro("machine", &io::MeasuredParameters::machine, "host of rank 0")
      .def_ro("mpi", &io::MeasuredParameters::mpi)
      .def_ro("ranks", &io::MeasuredParameters::ranks)
      .def_ro("nodes", &io::MeasuredParameters::nodes)
      .def_ro("ranks_of_node", &io::MeasuredParameters::ranks_of_node, "of the fullest");
  module.def("load_parameters", &io::load_parameters, "path"_a);
  module.def(
      "save_parameters",
      [](const std::string& path, const std::string& text) {
        io::save_parameters(path, io::read_parameters(text, "calibration"));
      },
      "path"_a, "text"_a, "Writes JSON of the format completely or not at all, after checking it.");
}

void bind_hierarchy(nb::module_& module) {
  nb::class_<Hierarchy>(module, "Hierarchy", "Ranks in groups of groups.")
      .def_static("flat", &Hierarchy::flat, "ranks"_a)
      .def_static("grouped", &Hierarchy::grouped, "ranks"_a, "groups"_a)
      .def_static(
          "from_colours",
          [](const std::vector<std::vector<std::int32_t>>& colours) { return Hierarchy::from_colours(colours); },
          "colours"_a, "by level, outermost first, and rank")
      .def_prop_ro("ranks", &Hierarchy::ranks)
      .def_prop_ro("levels", &Hierarchy::levels)
      .def_prop_ro("given_levels", &Hierarchy::given_levels);
}

void bind_rules(nb::module_& module) {
  module.def(
      "save_rules",
      [](const std::string& path, const std::string& mpi, const std::string& machine,
         const std::vector<nb::dict>& rules) { io::save_rules(path, rules_of(mpi, machine, rules)); },
      "path"_a, "mpi"_a, "machine"_a, "rules"_a, "Writes a rules file, completely or not at all.");
  module.def(
      "open_mpi_rules",
      [](const std::vector<nb::dict>& given, bool json) {
        const predict::Rules rules = rules_of("", "", given);
        return json ? io::write_open_mpi_json(rules) : io::write_open_mpi_rules(rules);
      },
      "rules"_a, "json"_a = false, "Rules in the words of Open MPI's coll/tuned: of 4 and 5, or the JSON of 6.");
  module.def(
      "open_mpi_has",
      [](const std::string& collective, const std::string& choice) {
        const auto known = collective_of(collective);
        return io::open_mpi_algorithm(known, predict::choice_from_text(choice, known)).has_value();
      },
      "collective"_a, "choice"_a, "whether Open MPI's coll/tuned has the same algorithm");
  module.def(
      "check_collectives",
      [](const std::string& text) {
        if (predict::is_inline(text)) {
          [[maybe_unused]] const predict::Wishes understood = predict::wishes_from_text(text);
        } else {
          [[maybe_unused]] const predict::Rules understood = io::read_rules(io::read_file(text), text);
        }
      },
      "text"_a, "Raises Error where --collectives or the file of rules that it names cannot be understood.");
  module.def("is_inline", &predict::is_inline, "text"_a,
             "Whether a text for --collectives is one of wishes; otherwise it names a file of rules.");
  module.def(
      "write_file", [](const std::string& path, const std::string& text) { io::write_file_atomically(path, text); },
      "path"_a, "text"_a, "Completely or not at all.");
}

}  // namespace

void bind_predict(nb::module_& module) {
  bind_parameters(module);
  bind_hierarchy(module);
  bind_launches(module);
  bind_rules(module);
  module.def("collective_algorithms", &algorithm_names, "collective"_a);
  module.def("collective_forms", &form_names, "collective"_a);
  module.def("predict_candidates", &candidates, "collective"_a, "bytes"_a, "machine"_a, "parameters"_a,
             "shared"_a = false, "most"_a = 5, "(choice, seconds) of the choices worth trying, cheapest first");
  module.def("predict_cost", &cost, "collective"_a, "bytes"_a, "choice"_a, "machine"_a, "parameters"_a,
             "model"_a = "closed",
             "Seconds: in closed form (None without one), or by following messages under hockney or loggp.");
  module.def("predict_segments", &best_segments, "collective"_a, "bytes"_a, "choice"_a, "machine"_a, "parameters"_a,
             "The best number of segments by the closed form; None without one.");
  module.def("predict_groups", &groups, "collective"_a, "bytes"_a, "form"_a, "algorithm"_a, "ranks"_a, "parameters"_a,
             "The best number of groups, and the papers' condition; None without a closed form.");
}
