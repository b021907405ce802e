#include "core/pattern/expand.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/pattern/expand_call.h"
#include "core/pattern/expand_exchange.h"
#include "core/pattern/expand_trees.h"
#include "core/pattern/pattern.h"

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

// Root to everyone, everyone to the root, everyone to everyone; a scan to all higher ranks.
void expand_flat(Operation operation, const Call& call, const Sends& sends) {
  const auto block = [&](std::int64_t bytes) { return with_bytes(call, bytes, call.element); };
  switch (operation) {
    case Operation::kBcast:
    case Operation::kScatter:
      return scatter_linear(call, sends);
    case Operation::kReduce:
    case Operation::kGather:
      return gather_linear(call, sends);
    case Operation::kReduceScatter:
    case Operation::kReduceScatterBlock:
      return alltoall_direct(block(call.bytes / call.ranks), sends);
    case Operation::kScan:
    case Operation::kExscan:
      for (Rank from = 0; from < call.ranks; ++from) {
        for (Rank to = from + 1; to < call.ranks; ++to) sends.add(from, to, static_cast<double>(call.bytes));
      }
      return;
    case Operation::kBarrier:
    case Operation::kAllreduce:
    case Operation::kAllgather:
    case Operation::kAllgatherv:
    case Operation::kAlltoall:
      return alltoall_direct(call, sends);
  }
}

void expand_local(CollectiveModel model, Operation operation, const Call& call, const Sends& sends) {
  if (call.ranks < 2 || (call.bytes == 0 && operation != Operation::kBarrier)) return;
  switch (model) {
    case CollectiveModel::kOpenMpi:
      return expand_openmpi(operation, call, sends);
    case CollectiveModel::kMpich:
      return expand_mpich(operation, call, sends);
    case CollectiveModel::kFlat:
      return expand_flat(operation, call, sends);
    case CollectiveModel::kNone:
      return;
  }
}

// The largest usual element that divides the message.
std::int64_t likely_element(std::int64_t bytes) {
  for (const std::int64_t element : {8, 4, 2}) {
    if (bytes % element == 0) return element;
  }
  return 1;
}

// The size that stands for calls of a mean size. A fraction means that sizes are mixed: whole elements below it then,
// so that no power of two, where decisions change, is crossed.
std::int64_t typical_bytes(double mean) {
  const auto below = static_cast<std::int64_t>(mean);
  if (mean == static_cast<double>(below) || below < 4) return mean > 0 ? std::max<std::int64_t>(below, 1) : 0;
  return below < 8 ? 4 : below / 8 * 8;
}

// The call that stands for a record; the weight keeps the record's total.
struct MeanCall {
  MeanCall(const CollectiveCalls& record, Rank callers) : weight{.calls = record.calls / callers, .bytes = 0} {
    constexpr double kLargest = 9007199254740992;  // 2^53
    bytes = typical_bytes(std::min(record.bytes / record.calls, kLargest));
    if (bytes > 0) weight.bytes = record.bytes / callers / static_cast<double>(bytes);
  }

  Weight weight;
  std::int64_t bytes = 0;
};

// What one record of an intercommunicator sends. The data goes from `members` to `remote`; with a root `members` is the
// root's group. Through rank 0 of a group, as both libraries do, except where everyone sends to everyone.
class Crossing {
 public:
  Crossing(CollectiveModel model, const CollectiveCalls& record, const Communicator& communicator, Collector& collector)
      : model_(model),
        record_(record),
        own_(static_cast<Rank>(communicator.members.size())),
        other_(static_cast<Rank>(communicator.remote.size())),
        mean_(record, record.root >= 0 ? other_ + 1 : own_),
        within_own_(collector, communicator.members, communicator.members, mean_.weight),
        within_other_(collector, communicator.remote, communicator.remote, mean_.weight),
        out_(collector, communicator.members, communicator.remote, mean_.weight),
        in_(collector, communicator.remote, communicator.members, mean_.weight) {}

  void expand() const {
    if (record_.root >= own_) {
      throw Error(Fault::kInput, "pattern: expected a root in 0.." + std::to_string(own_ - 1) + " of an " +
                                     "intercommunicator's first group, found " + std::to_string(record_.root));
    }
    if (mean_.bytes == 0 && record_.operation != Operation::kBarrier) return;
    if (model_ == CollectiveModel::kFlat || record_.operation == Operation::kAlltoall) return everyone();
    through_leaders();
  }

 private:
  void everyone() const {
    const auto bytes = static_cast<double>(mean_.bytes);
    const bool inward = record_.operation == Operation::kReduce || record_.operation == Operation::kGather;
    for (Rank to = 0; to < other_; ++to) {
      if (record_.root >= 0) {
        inward ? in_.add(to, record_.root, bytes) : out_.add(record_.root, to, bytes);
        continue;
      }
      for (Rank from = 0; from < own_; ++from) out_.add(from, to, bytes);
    }
  }

  void through_leaders() const {
    const std::int64_t bytes = mean_.bytes;
    switch (record_.operation) {
      case Operation::kBcast:
        out_.add(record_.root, 0, static_cast<double>(bytes));
        return in_other(Operation::kBcast, bytes);
      case Operation::kScatter:
        out_.add(record_.root, 0, static_cast<double>(whole(bytes, other_)));
        return in_other(Operation::kScatter, bytes);
      case Operation::kReduce:
        in_other(Operation::kReduce, bytes);
        return in_.add(0, record_.root, static_cast<double>(bytes));
      case Operation::kGather:
        in_other(Operation::kGather, bytes);
        return in_.add(0, record_.root, static_cast<double>(whole(bytes, other_)));
      case Operation::kAllgather:
      case Operation::kAllgatherv:
        in_own(Operation::kGather, bytes);
        out_.add(0, 0, static_cast<double>(whole(bytes, own_)));
        return in_other(Operation::kBcast, whole(bytes, own_));
      case Operation::kReduceScatter:
      case Operation::kReduceScatterBlock:
        in_own(Operation::kReduce, bytes);
        out_.add(0, 0, static_cast<double>(bytes));
        return in_other(Operation::kScatter, bytes / other_);
      case Operation::kBarrier:
        in_own(Operation::kBarrier, 0);
        return out_.add(0, 0, 0);
      default:
        in_own(Operation::kReduce, bytes);
        out_.add(0, 0, static_cast<double>(bytes));
        return in_other(Operation::kBcast, bytes);
    }
  }

  void in_own(Operation operation, std::int64_t bytes) const {
    expand_local(model_, operation, {.ranks = own_, .root = 0, .bytes = bytes, .element = likely_element(bytes)},
                 within_own_);
  }
  void in_other(Operation operation, std::int64_t bytes) const {
    expand_local(model_, operation, {.ranks = other_, .root = 0, .bytes = bytes, .element = likely_element(bytes)},
                 within_other_);
  }

  CollectiveModel model_;
  const CollectiveCalls& record_;
  Rank own_;
  Rank other_;
  MeanCall mean_;
  Sends within_own_;
  Sends within_other_;
  Sends out_;
  Sends in_;
};

void expand_record(CollectiveModel model, const CollectiveCalls& record, const Communicator& communicator,
                   Collector& collector) {
  if (record.calls <= 0) return;
  if (!communicator.remote.empty()) return Crossing(model, record, communicator, collector).expand();
  const auto ranks = static_cast<Rank>(communicator.members.size());
  const MeanCall mean(record, ranks);
  const bool equal_blocks = record.operation == Operation::kReduceScatterBlock && mean.bytes % ranks == 0;
  const std::int64_t element = likely_element(equal_blocks ? mean.bytes / ranks : mean.bytes);
  const Call call{.ranks = ranks, .root = std::max(record.root, 0), .bytes = mean.bytes, .element = element};
  expand_local(model, record.operation, call,
               Sends(collector, communicator.members, communicator.members, mean.weight));
}

// What the pattern holds already, without the pairs of the exact collective class if `with_collective` is false.
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
  if (with_collectives) {
    expansion::Collector collector;
    for (const CollectiveCalls& record : pattern.collectives) {
      expansion::expand_record(model, record, pattern.communicators.at(static_cast<std::size_t>(record.communicator)),
                               collector);
    }
    const std::vector<Entry> sends = collector.take();
    entries.insert(entries.end(), sends.begin(), sends.end());
  }
  Pattern expanded = from_entries(pattern.ranks, entries);
  expanded.communicators = pattern.communicators;
  expanded.metadata = pattern.metadata;
  return expanded;
}

}  // namespace ranktree::core::pattern
