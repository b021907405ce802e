#include "mpi/collect/select/learned.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/predict/candidates.h"
#include "core/predict/choice.h"
#include "core/predict/parameters.h"
#include "core/schedule/makers.h"
#include "hw/place_here.h"
#include "io/decisions_file.h"
#include "mpi/agree.h"
#include "mpi/collect/call_kind.h"
#include "mpi/collect/context.h"
#include "mpi/collect/select/log.h"
#include "mpi/own_world.h"
#include "ranktree/base.h"

namespace ranktree::mpi::collect {
namespace {

// FNV-1a: the same in every run.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 1469598103934665603U;
  for (const char letter : text) hash = (hash ^ static_cast<unsigned char>(letter)) * 1099511628211U;
  return hash;
}

// A file for each MPI and version of Ranktree.
std::string file_name() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  PMPI_Get_library_version(text.data(), &length);
  const std::string key =
      text.data() + std::to_string(RANKTREE_API_VERSION) + "." + std::to_string(RANKTREE_VERSION_PATCH);
  std::array<char, 17> digits{};
  std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(hash_of(key)));
  return std::string("collectives-") + digits.data();
}

bool is_first_of_world() {
  int rank = 1;
  return world_exists() && PMPI_Comm_rank(MPI_COMM_WORLD, &rank) == MPI_SUCCESS && rank == 0;
}

// What shapes begin with.
std::string ranks_and_cpus(int ranks, int nodes) {
  return std::to_string(ranks) + " ranks on " + std::to_string(nodes) + " nodes, " +
         std::to_string(hw::pus_here().size()) + " CPUs";
}

// Empty where there is none.
std::string_view variant_in(std::string_view lines, std::string_view kind) {
  for (std::size_t begin = 0; begin < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', begin), lines.size());
    const std::string_view line = lines.substr(begin, end - begin);
    if (line.size() > kind.size() && line.starts_with(kind) && line[kind.size()] == '|') {
      return line.substr(kind.size() + 1);
    }
    begin = end + 1;
  }
  return {};
}

// Level communicators are never proposed, so none are decided on.
std::optional<core::predict::Choice> choice_in(std::string_view lines, std::string_view kind,
                                               core::schedule::Collective collective) {
  const std::string_view variant = variant_in(lines, kind);
  if (variant.empty()) return std::nullopt;
  try {
    core::predict::Choice choice = core::predict::choice_from_text(variant, collective);
    if (choice.variant != core::predict::Variant::kLevels) return choice;
  } catch (const core::Error&) {  // NOLINT(bugprone-empty-catch): as if nothing was known
  }
  return std::nullopt;
}

// decision_key() where latencies are 2^octaves as long.
std::string key_near(const Context& context, const Kind& kind, const core::predict::Parameters& parameters,
                     int octaves) {
  if (context.node_count() == 1) return kind_text(kind);
  constexpr double kMicro = 1e6;
  constexpr double kLeast = 1e-3;
  const double latency = parameters.levels.empty() ? 1 / kMicro : parameters.levels.front().latency;
  const long links = std::lround(std::log2(std::max(latency * kMicro, kLeast))) + octaves;
  return kind_text(kind) + ", links 2^" + std::to_string(links) + " us";
}

}  // namespace

std::string shape_of(const Context& context) {
  std::string text = ranks_and_cpus(context.size(), context.node_count());
  for (const std::string& name : context.level_names()) text += ", " + name;
  std::uint64_t order = 0;
  for (int rank = 0; rank < context.size(); ++rank) {
    const auto node = static_cast<std::uint64_t>(context.node_of()[static_cast<std::size_t>(rank)]);
    const auto place = static_cast<std::uint64_t>(context.machine().position_of(rank));
    order = (order ^ (node << 32U) ^ place) * 1099511628211U + 1;
  }
  return text + ", order " + std::to_string(order);
}

std::string decision_key(const Context& context, const Kind& kind, const core::predict::Parameters& parameters) {
  return key_near(context, kind, parameters, 0);
}

Learned::~Learned() { save(); }

void Learned::write() {
  const std::scoped_lock lock(mutex_);
  if (saves_ && !newer_.empty()) io::save_decisions(path_, std::exchange(newer_, {}));
}

void Learned::save() noexcept {
  try {
    write();
  } catch (const std::exception& error) {
    Log(log_, 0).line(std::string("decisions are not kept: ") + error.what());
  }
}

void Learned::load() {
  if (std::exchange(loaded_, true) || folder_.empty()) return;
  path_ = folder_ + '/' + file_name();
  saves_ = is_first_of_world();
  try {
    known_ = io::load_decisions(path_);
  } catch (const core::Error& error) {
    Log(log_, 0).line(std::string("earlier decisions are not used: ") + error.what());
  }
}

std::string Learned::of(const std::string& shape) {
  const std::lock_guard lock(mutex_);
  load();
  std::string lines;
  const std::string first = shape + '|';
  for (auto each = known_.lower_bound(first); each != known_.end() && each->first.starts_with(first); ++each) {
    lines += each->first.substr(first.size()) + '|' + each->second + '\n';
  }
  return lines;
}

bool Learned::has_gain_on_node(int ranks) {
  const std::lock_guard lock(mutex_);
  load();
  const auto [gain, is_new] = gains_.try_emplace(ranks, false);
  if (!is_new) return gain->second;
  const std::string first = ranks_and_cpus(ranks, 1) + ',';
  for (auto each = known_.lower_bound(first); each != known_.end() && each->first.starts_with(first); ++each) {
    if (each->second != "native") return gain->second = true;
  }
  return false;
}

void Learned::keep(const std::string& shape, const std::string& kind, const std::string& variant) {
  const std::lock_guard lock(mutex_);
  load();
  const std::string where = shape + '|' + kind;
  gains_.clear();
  known_[where] = variant;
  newer_[where] = variant;
}

std::optional<core::predict::Choice> known_on_node(std::string_view lines, const Context& context, const Kind& kind) {
  return context.node_count() == 1 ? choice_in(lines, kind_text(kind), kind.collective) : std::nullopt;
}

std::optional<std::size_t> known_among(std::span<const core::predict::Candidate> candidates, std::string_view lines,
                                       const Context& context, const Kind& kind,
                                       const core::predict::Parameters& parameters) {
  for (const int near : {0, -1, 1}) {
    const auto known = choice_in(lines, key_near(context, kind, parameters, near), kind.collective);
    if (known && known->variant == core::predict::Variant::kNative) return 0;
    const auto found = std::find_if(candidates.begin(), candidates.end(),
                                    [&](const core::predict::Candidate& each) { return each.choice == known; });
    if (found != candidates.end()) return static_cast<std::size_t>(found - candidates.begin()) + 1;
  }
  return std::nullopt;
}

}  // namespace ranktree::mpi::collect
