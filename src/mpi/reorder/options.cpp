#include "mpi/reorder/options.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/objective/graph_order.h"
#include "core/objective/model.h"
#include "core/place/engine.h"
#include "io/parameters_file.h"
#include "mpi/reorder/modes.h"
#include "mpi/split/options.h"

namespace ranktree::mpi {
namespace {

using core::place::Preset;

constexpr std::array<Word<ReorderMode>, 4> kModes{{{"auto", ReorderMode::kAuto},
                                                   {"central", ReorderMode::kCentral},
                                                   {"node", ReorderMode::kNode},
                                                   {"distributed", ReorderMode::kDistributed}}};

constexpr std::array<Word<Preset>, 3> kPresets{
    {{"fast", Preset::kFast}, {"default", Preset::kDefault}, {"strong", Preset::kStrong}}};

using core::objective::Algorithm;
constexpr std::array<Word<Algorithm>, 2> kAlgorithms{
    {{"engine", Algorithm::kEngine}, {"treematch", Algorithm::kTreeMatch}}};

template <typename Number>
Number whole_number(const char* key, const std::string& word) {
  Number number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size() || number < 0) {
    throw core::Error(core::Fault::kInput,
                      "info key " + std::string(key) + ": expected a whole number, 0 or more, found '" + word + "'");
  }
  return number;
}

void require_mode_for(const ReorderOptions& options, const std::string& objective) {
  if (!counts_seconds(options.objective)) return;
  if (options.mode == ReorderMode::kAuto || options.mode == ReorderMode::kCentral) return;
  throw core::Error(core::Fault::kInput,
                    "info key ranktree_objective: expected bytes or messages beside "
                    "ranktree_reorder_mode = " +
                        std::string(mode_name(options.mode)) + ", found '" + objective + "'");
}

// One rank runs TreeMatch, on the whole graph and by hops.
void require_algorithm_for(const ReorderOptions& options) {
  if (options.algorithm == Algorithm::kEngine) return;
  const bool central = options.mode == ReorderMode::kAuto || options.mode == ReorderMode::kCentral;
  if (central && !counts_seconds(options.objective)) return;
  throw core::Error(core::Fault::kInput,
                    "info key ranktree_algorithm: expected engine beside other modes than central and objectives of "
                    "seconds, found 'treematch'");
}

// Empty where the key is not given.
std::string value_for_seconds(MPI_Info info, const char* key, core::objective::Objective objective) {
  const auto value = info_value(info, key);
  if (value && !counts_seconds(objective)) {
    throw core::Error(core::Fault::kInput,
                      "info key " + std::string(key) + ": expected ranktree_objective = bottleneck or time beside it");
  }
  return value.value_or("");
}

}  // namespace

ReorderOptions read_reorder_options(MPI_Info info) {
  ReorderOptions options;
  if (const auto word = info_value(info, "ranktree_reorder_mode")) {
    options.mode = choose("ranktree_reorder_mode", *word, kModes);
  }
  if (const auto word = info_value(info, "ranktree_objective")) {
    options.objective = choose("ranktree_objective", *word, core::objective::kObjectives);
    require_mode_for(options, *word);
  }
  if (const auto word = info_value(info, "ranktree_algorithm")) {
    options.algorithm = choose("ranktree_algorithm", *word, kAlgorithms);
    require_algorithm_for(options);
  }
  options.pattern = value_for_seconds(info, "ranktree_pattern", options.objective);
  options.parameters = value_for_seconds(info, "ranktree_parameters", options.objective);
  if (const auto word = info_value(info, "ranktree_preset")) {
    options.preset = choose("ranktree_preset", *word, kPresets);
  }
  if (const auto word = info_value(info, "ranktree_seed")) {
    options.seed = whole_number<std::uint64_t>("ranktree_seed", *word);
  }
  if (const auto word = info_value(info, "ranktree_time_limit_ms")) {
    options.time_limit = whole_number<std::int64_t>("ranktree_time_limit_ms", *word);
  }
  return options;
}

core::objective::GraphOptions graph_options(const ReorderOptions& options, std::function<bool()> in_time) {
  core::objective::GraphOptions result{.objective = options.objective,
                                       .algorithm = options.algorithm,
                                       .preset = options.preset,
                                       .seed = options.seed,
                                       .keep_going = std::move(in_time)};
  if (!options.parameters.empty()) result.parameters = io::parameters_named(options.parameters);
  return result;
}

std::string_view mode_name(ReorderMode mode) {
  const auto* const word =
      std::find_if(kModes.begin(), kModes.end(), [mode](const auto& each) { return each.second == mode; });
  return word->first;
}

std::uint64_t mix(std::uint64_t hash, std::uint64_t number) {
  return core::Random(core::Random(hash).next() ^ number).next() | 1U;
}

std::uint64_t fingerprint(const ReorderOptions& options) {
  std::uint64_t hash = mix(1, static_cast<std::uint64_t>(options.mode));
  hash = mix(hash, static_cast<std::uint64_t>(options.objective));
  hash = mix(hash, static_cast<std::uint64_t>(options.algorithm));
  hash = mix(hash, static_cast<std::uint64_t>(options.preset));
  hash = mix(hash, options.seed);
  return mix(hash, static_cast<std::uint64_t>(options.time_limit));
}

}  // namespace ranktree::mpi
