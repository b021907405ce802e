#include "core/pattern/expand.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "core/pattern/expand_call.h"
#include "core/pattern/expand_crossing.h"
#include "core/pattern/expand_local.h"
#include "core/pattern/pattern.h"
#include "core/pattern/phases.h"

namespace ranktree::core::pattern {
namespace expansion {

void Collector::add(const Entry& entry) {
  entries_.push_back(entry);
  if (entries_.size() >= compact_at_) compact();
}

void Collector::compact() {
  const auto pair = [](const Entry& entry) { return std::tie(entry.from, entry.to); };
  std::sort(entries_.begin(), entries_.end(), [&](const Entry& a, const Entry& b) { return pair(a) < pair(b); });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (kept > 0 && pair(entries_[kept - 1]) == pair(entries_[i])) {
      entries_[kept - 1].messages += entries_[i].messages;
      entries_[kept - 1].bytes += entries_[i].bytes;
    } else {
      entries_[kept++] = entries_[i];
    }
  }
  entries_.resize(kept);
  compact_at_ = std::max(compact_at_, 2 * kept);
}

std::vector<Entry> Collector::take() {
  compact();
  for (Entry& entry : entries_) {
    entry.messages = std::round(entry.messages);
    entry.bytes = std::round(entry.bytes);
  }
  return std::move(entries_);
}

namespace {

void expand_record(CollectiveModel model, const CollectiveCalls& record, const Communicator& communicator,
                   Collector& collector) {
  if (record.calls <= 0) return;
  if (!communicator.remote.empty()) return expand_crossing(model, record, communicator, collector);
  const auto ranks = static_cast<Rank>(communicator.members.size());
  const MeanCall mean(record, ranks);
  const bool equal_blocks = record.operation == Operation::kReduceScatterBlock && mean.bytes % ranks == 0;
  const std::int64_t element = likely_element(equal_blocks ? mean.bytes / ranks : mean.bytes);
  const Call call{.ranks = ranks, .root = std::max(record.root, 0), .bytes = mean.bytes, .element = element};
  expand_local(model, record.operation, call,
               Sends(collector, communicator.members, communicator.members, mean.weight));
}

// The recorded pairs of the pattern, without those of the exact collective class if `with_collective` is false.
std::vector<Entry> recorded(const Pattern& pattern, bool with_collective) {
  std::vector<Entry> entries;
  for (Rank from = 0; from < pattern.ranks; ++from) {
    const auto row = static_cast<std::size_t>(from);
    for (auto i = static_cast<std::size_t>(pattern.indptr[row]); std::cmp_less(i, pattern.indptr[row + 1]); ++i) {
      for (int kind = 0; kind < kClassCount; ++kind) {
        const auto which = static_cast<Class>(kind);
        if (which == Class::kCollective && !with_collective) continue;
        const Traffic& traffic = pattern.of(which);
        if (traffic.messages[i] == 0 && traffic.bytes[i] == 0) continue;
        entries.push_back({from, pattern.indices[i], which, traffic.messages[i], traffic.bytes[i]});
      }
    }
  }
  return entries;
}

// Calls that one phase holds: they are on communicators of one size, which may be in the call at the same time.
using Alike = std::tuple<Operation, std::size_t, std::size_t, Rank, std::int32_t>;

struct ExpandedCalls {
  Collector collector;
  double calls = 0;  // the most on any communicator
};

// Without phases all calls stand together.
std::map<Alike, ExpandedCalls> expanded_calls(const Pattern& pattern, CollectiveModel model) {
  std::map<Alike, ExpandedCalls> found;
  for (const CollectiveCalls& record : pattern.collectives) {
    const Communicator& communicator = pattern.communicators.at(static_cast<std::size_t>(record.communicator));
    const std::size_t size = communicator.members.size();
    const Alike alike{record.operation, size, communicator.remote.size(), record.root, record.bucket};
    ExpandedCalls& group = found[pattern.phased ? alike : Alike{}];
    group.calls = std::max(group.calls, record.calls / callers_of(record, communicator));
    expand_record(model, record, communicator, group.collector);
  }
  return found;
}

std::string name_of(const Alike& alike) {
  const std::size_t ranks = std::get<1>(alike) + std::get<2>(alike);
  return "MPI_" + std::string(operation_name(std::get<0>(alike))) + " of " + std::to_string(ranks) + " ranks";
}

constexpr std::array<std::string_view, 4> kModelNames{"openmpi", "mpich", "flat", "none"};

}  // namespace
}  // namespace expansion

std::string_view collective_model_name(CollectiveModel model) {
  return expansion::kModelNames.at(static_cast<std::size_t>(model));
}

std::optional<CollectiveModel> collective_model_from_name(std::string_view word) {
  for (std::size_t i = 0; i < expansion::kModelNames.size(); ++i) {
    if (expansion::kModelNames[i] == word) return static_cast<CollectiveModel>(i);
  }
  return std::nullopt;
}

CollectiveModel natural_model(const Pattern& pattern) {
  const std::string_view mpi = pattern.metadata.mpi;
  // Intel MPI, MVAPICH and Cray's are descendants of MPICH; their own selections are not public.
  for (const std::string_view family : {"MPICH", "Intel", "MVAPICH", "CRAY"}) {
    if (mpi.find(family) != std::string_view::npos) return CollectiveModel::kMpich;
  }
  return CollectiveModel::kOpenMpi;
}

Pattern expand(const Pattern& pattern, CollectiveModel model) {
  const bool with_collectives = model != CollectiveModel::kNone;
  std::vector<Entry> entries = expansion::recorded(pattern, with_collectives);
  std::vector<std::pair<expansion::Alike, std::pair<double, std::vector<Entry>>>> calls;
  if (with_collectives) {
    for (auto& [alike, group] : expansion::expanded_calls(pattern, model)) {
      calls.push_back({alike, {std::round(group.calls), group.collector.take()}});
      entries.insert(entries.end(), calls.back().second.second.begin(), calls.back().second.second.end());
    }
  }
  Pattern expanded = from_entries(pattern.ranks, entries);
  expanded.phased = pattern.phased && (with_collectives || !any_nonzero(pattern.of(Class::kCollective).messages));
  if (expanded.phased) {
    for (const Phase& phase : pattern.phases) {
      expanded.phases.push_back(make_phase(expanded, phase.name, phase.count, entries_of(pattern, phase)));
    }
    for (auto& [alike, group] : calls) {
      expanded.phases.push_back(make_phase(expanded, expansion::name_of(alike), group.first, std::move(group.second)));
    }
    std::erase_if(expanded.phases, [](const Phase& phase) { return phase.pairs.empty(); });
    limit_phases(expanded.phases);
  }
  expanded.sent = pattern.sent;
  expanded.communicators = pattern.communicators;
  expanded.metadata = pattern.metadata;
  return expanded;
}

}  // namespace ranktree::core::pattern
