#include "io/trace_records.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/pattern/pattern.h"
#include "io/trace_layout.h"
#include "io/trace_phases.h"

namespace ranktree::io {
namespace {

using core::Error;
using core::Fault;
using core::pattern::CollectiveCalls;
using core::pattern::Communicator;
using core::pattern::Entry;
using core::pattern::Pattern;
using core::pattern::Rank;

class Packer {
 public:
  template <typename Value>
  void value(const Value& item) {
    static_assert(std::is_trivially_copyable_v<Value>);
    bytes_.append(reinterpret_cast<const char*>(&item), sizeof item);
  }
  template <typename Item>
  void list(const std::vector<Item>& items) {
    value(static_cast<std::uint64_t>(items.size()));
    bytes_.append(reinterpret_cast<const char*>(items.data()), items.size() * sizeof(Item));
  }
  void text(const std::string& words) {
    value(static_cast<std::uint64_t>(words.size()));
    bytes_.append(words);
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class Unpacker {
 public:
  Unpacker(std::string_view bytes, const std::string& origin) : bytes_(bytes), origin_(origin) {}

  template <typename Value>
  Value value() {
    Value item;
    std::memcpy(&item, take(sizeof item), sizeof item);
    return item;
  }
  template <typename Item>
  std::vector<Item> list() {
    const std::uint64_t count = length(sizeof(Item));
    std::vector<Item> items(count);
    if (count > 0) std::memcpy(items.data(), take(count * sizeof(Item)), count * sizeof(Item));
    return items;
  }
  std::string text() {
    const std::uint64_t count = length(1);
    return {take(count), count};
  }
  // The number of items that follow, each at least `smallest` bytes: checked before anything is allocated.
  std::uint64_t length(std::size_t smallest) {
    const auto count = value<std::uint64_t>();
    if (count > (bytes_.size() - at_) / smallest) cut_short();
    return count;
  }

 private:
  const char* take(std::uint64_t count) {
    if (count > bytes_.size() - at_) cut_short();
    const char* here = bytes_.data() + at_;
    at_ += count;
    return here;
  }
  [[noreturn]] void cut_short() const {
    throw Error(Fault::kInput, origin_ + ": byte " + std::to_string(at_) + ": records are cut short");
  }

  std::string_view bytes_;
  const std::string& origin_;
  std::size_t at_ = 0;
};

// The order in which communicators are listed: largest first, then by their ranks.
bool listed_before(const Communicator& a, const Communicator& b) {
  if (a.members.size() != b.members.size()) return a.members.size() > b.members.size();
  return std::tie(a.members, a.remote) < std::tie(b.members, b.remote);
}

// Those on which calls or messages were recorded.
std::set<std::uint64_t> used_communicators(const TraceRecords& records) {
  std::set<std::uint64_t> used;
  for (const auto& [kind, sum] : records.calls) used.insert(kind.communicator);
  for (const auto& [kind, sum] : records.sends) used.insert(kind.communicator);
  return used;
}

// Moves the used communicators into the pattern; returns the index of each by identity.
std::map<std::uint64_t, std::int32_t> list_communicators(TraceRecords& records, Pattern& pattern) {
  std::vector<std::pair<std::uint64_t, Communicator*>> order;
  order.reserve(records.communicators.size());
  const std::set<std::uint64_t> used = used_communicators(records);
  for (auto& [identity, communicator] : records.communicators) {
    if (used.contains(identity)) order.emplace_back(identity, &communicator);
  }
  std::sort(order.begin(), order.end(),
            [](const auto& a, const auto& b) { return listed_before(*a.second, *b.second); });
  std::map<std::uint64_t, std::int32_t> index;
  for (auto& [identity, communicator] : order) {
    index[identity] = static_cast<std::int32_t>(pattern.communicators.size());
    pattern.communicators.push_back(std::move(*communicator));
  }
  return index;
}

void list_calls(const TraceRecords& records, const std::map<std::uint64_t, std::int32_t>& index, Pattern& pattern) {
  for (const auto& [kind, sum] : records.calls) {
    const auto found = index.find(kind.communicator);
    if (found == index.end()) {
      const std::string name = "MPI_" + std::string(core::pattern::operation_name(kind.operation));
      pattern.metadata.unattributed[name + " (communicator lost)"] += sum.calls;
      continue;
    }
    pattern.collectives.push_back({found->second, kind.operation, kind.root, kind.bucket, sum.calls, sum.bytes});
  }
  std::sort(pattern.collectives.begin(), pattern.collectives.end(),
            [](const CollectiveCalls& a, const CollectiveCalls& b) {
              return std::tie(a.communicator, a.operation, a.root, a.bucket) <
                     std::tie(b.communicator, b.operation, b.root, b.bucket);
            });
}

void list_sends(const TraceRecords& records, const std::map<std::uint64_t, std::int32_t>& index, Pattern& pattern) {
  std::map<std::tuple<std::int32_t, core::pattern::SendCall, std::int32_t>, TraceRecords::SendSum> sums;
  for (const auto& [kind, sum] : records.sends) {
    const auto found = index.find(kind.communicator);
    const std::int32_t communicator = found == index.end() ? -1 : found->second;
    TraceRecords::SendSum& total = sums[{communicator, kind.call, kind.bucket}];
    total.messages += sum.messages;
    total.bytes += sum.bytes;
  }
  for (const auto& [kind, sum] : sums) {
    const auto& [communicator, call, bucket] = kind;
    pattern.sent.push_back({communicator, call, bucket, sum.messages, sum.bytes});
  }
}

}  // namespace

void merge(TraceRecords& into, TraceRecords&& from) {
  into.ranks = std::max(into.ranks, from.ranks);
  if (into.entries.empty()) {
    into.entries = std::move(from.entries);
  } else {
    into.entries.insert(into.entries.end(), from.entries.begin(), from.entries.end());
  }
  for (const auto& [kind, sum] : from.calls) {
    TraceRecords::CallSum& total = into.calls[kind];
    total.calls += sum.calls;
    total.bytes += sum.bytes;
  }
  for (const auto& [kind, sum] : from.sends) {
    TraceRecords::SendSum& total = into.sends[kind];
    total.messages += sum.messages;
    total.bytes += sum.bytes;
  }
  for (const auto& [name, count] : from.unattributed) into.unattributed[name] += count;
  into.phased = into.phased || from.phased;
  merge(into.phases, std::move(from.phases));
  into.communicators.merge(from.communicators);
  into.hosts.merge(from.hosts);
  if (into.program.empty()) into.program = std::move(from.program);
  if (into.mpi.empty()) into.mpi = std::move(from.mpi);
}

void merge_thread(TraceRecords& into, TraceRecords&& from) {
  if (from.phases.cuts.size() > into.phases.cuts.size()) into.phases = std::move(from.phases);
  from.phases = {};
  merge(into, std::move(from));
}

std::string pack(const TraceRecords& records) {
  Packer out;
  out.value(records.ranks);
  out.list(records.entries);
  out.value(static_cast<std::uint64_t>(records.calls.size()));
  for (const auto& [kind, sum] : records.calls) {
    out.value(kind);
    out.value(sum);
  }
  out.value(static_cast<std::uint64_t>(records.sends.size()));
  for (const auto& [kind, sum] : records.sends) {
    out.value(kind);
    out.value(sum);
  }
  out.value(static_cast<std::uint64_t>(records.communicators.size()));
  for (const auto& [identity, communicator] : records.communicators) {
    out.value(identity);
    out.list(communicator.members);
    out.list(communicator.remote);
  }
  out.value(static_cast<std::uint64_t>(records.unattributed.size()));
  for (const auto& [name, count] : records.unattributed) {
    out.text(name);
    out.value(count);
  }
  out.value(static_cast<std::uint64_t>(records.hosts.size()));
  for (const auto& [rank, host] : records.hosts) {
    out.value(rank);
    out.text(host);
  }
  out.text(records.program);
  out.text(records.mpi);
  out.value(records.phased);
  out.list(records.phases.cuts);
  for (const std::vector<Entry>& entries : records.phases.entries) out.list(entries);
  return out.take();
}

TraceRecords unpack(std::string_view bytes, const std::string& origin) {
  Unpacker in(bytes, origin);
  TraceRecords records;
  records.ranks = in.value<Rank>();
  records.entries = in.list<Entry>();
  for (auto left = in.length(sizeof(TraceRecords::CallKind)); left > 0; --left) {
    const auto kind = in.value<TraceRecords::CallKind>();
    records.calls[kind] = in.value<TraceRecords::CallSum>();
  }
  for (auto left = in.length(sizeof(TraceRecords::SendKind)); left > 0; --left) {
    const auto kind = in.value<TraceRecords::SendKind>();
    records.sends[kind] = in.value<TraceRecords::SendSum>();
  }
  for (auto left = in.length(8); left > 0; --left) {
    Communicator& communicator = records.communicators[in.value<std::uint64_t>()];
    communicator.members = in.list<Rank>();
    communicator.remote = in.list<Rank>();
  }
  for (auto left = in.length(8); left > 0; --left) {
    const std::string name = in.text();
    records.unattributed[name] = in.value<double>();
  }
  for (auto left = in.length(sizeof(Rank)); left > 0; --left) {
    const Rank rank = in.value<Rank>();
    records.hosts[rank] = in.text();
  }
  records.program = in.text();
  records.mpi = in.text();
  records.phased = in.value<bool>();
  records.phases.cuts = in.list<trace_layout::Cut>();
  for (std::vector<Entry>& entries : records.phases.entries) entries = in.list<Entry>();
  return records;
}

Pattern to_pattern(TraceRecords&& records) {
  Pattern pattern = core::pattern::from_entries(records.ranks, records.entries);
  pattern.phased = records.phased;
  add_phases(records.phases, pattern);
  pattern.metadata.source = "ranktree trace";
  pattern.metadata.program = std::move(records.program);
  pattern.metadata.mpi = std::move(records.mpi);
  pattern.metadata.unattributed = std::move(records.unattributed);
  if (!records.hosts.empty()) {
    pattern.metadata.hosts.resize(static_cast<std::size_t>(records.ranks));
    for (auto& [rank, host] : records.hosts)
      pattern.metadata.hosts.at(static_cast<std::size_t>(rank)) = std::move(host);
  }
  const std::map<std::uint64_t, std::int32_t> index = list_communicators(records, pattern);
  list_calls(records, index, pattern);
  list_sends(records, index, pattern);
  return pattern;
}

}  // namespace ranktree::io
