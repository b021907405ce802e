#include "core/pattern/pattern.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/base/error.h"
#include "core/base/index.h"

namespace ranktree::core::pattern {
namespace {

constexpr std::array<std::string_view, kOperationCount> kOperationNames{"Barrier",
                                                                        "Bcast",
                                                                        "Reduce",
                                                                        "Allreduce",
                                                                        "Scan",
                                                                        "Exscan",
                                                                        "Gather",
                                                                        "Scatter",
                                                                        "Allgather",
                                                                        "Allgatherv",
                                                                        "Alltoall",
                                                                        "Reduce_scatter",
                                                                        "Reduce_scatter_block"};

constexpr std::array<std::string_view, kSendCallCount> kSendCallNames{"Send",       "Bsend",
                                                                      "Ssend",      "Rsend",
                                                                      "Isend",      "Ibsend",
                                                                      "Issend",     "Irsend",
                                                                      "Sendrecv",   "Sendrecv_replace",
                                                                      "Isendrecv",  "Isendrecv_replace",
                                                                      "Send_init",  "Bsend_init",
                                                                      "Ssend_init", "Rsend_init",
                                                                      "Psend_init"};

constexpr double kLargestExact = 9007199254740992.0;          // 2^53
constexpr double kLargestSum = kLargestExact * 2147483648.0;  // 2^84

[[noreturn]] void refuse(const std::string& origin, const std::string& text) {
  throw Error(Fault::kInput, origin + ": " + text);
}

bool is_amount(double value) { return value >= 0 && value <= kLargestExact; }  // false for NaN

std::string found(double value) { return "found " + std::to_string(value); }

void check_amount(const std::string& origin, const std::string& place, double value) {
  if (!is_amount(value)) refuse(origin, place + ": expected a number in 0..2^53, " + found(value));
}

// Over all ranks, of which there are at most 2^31.
void check_sum(const std::string& origin, const std::string& place, double value) {
  if (!(value >= 0 && value <= kLargestSum)) refuse(origin, place + ": expected a number in 0..2^84, " + found(value));
}

bool is_rank(Rank rank, Rank ranks) { return rank >= 0 && rank < ranks; }

bool is_good(Rank ranks, const Entry& entry) {
  return is_rank(entry.from, ranks) && is_rank(entry.to, ranks) && is_amount(entry.messages) && is_amount(entry.bytes);
}

// Builds the text for the faulty entry only: there may be millions of valid ones.
void check_entry(Rank ranks, const Entry& entry, std::size_t index) {
  if (is_good(ranks, entry)) return;
  const std::string place = "entry " + std::to_string(index);
  for (const Rank rank : {entry.from, entry.to}) {
    if (rank < 0 || rank >= ranks) {
      refuse("pattern",
             place + ": expected a rank in 0.." + std::to_string(ranks - 1) + ", found " + std::to_string(rank));
    }
  }
  check_amount("pattern", place + ", messages", entry.messages);
  check_amount("pattern", place + ", bytes", entry.bytes);
}

void check_offsets(const Pattern& pattern, const std::string& origin) {
  if (pattern.ranks < 1) refuse(origin, "ranks: expected at least 1, found " + std::to_string(pattern.ranks));
  if (pattern.indptr.size() != at(pattern.ranks) + 1) {
    refuse(origin, "indptr: expected " + std::to_string(at(pattern.ranks) + 1) + " entries, found " +
                       std::to_string(pattern.indptr.size()));
  }
  if (pattern.indptr.front() != 0) refuse(origin, "indptr[0]: expected 0");
  for (std::size_t i = 1; i < pattern.indptr.size(); ++i) {
    if (pattern.indptr[i] < pattern.indptr[i - 1]) {
      refuse(origin, "indptr[" + std::to_string(i) + "]: expected at least its predecessor");
    }
  }
  if (at(pattern.indptr.back()) != pattern.indices.size()) {
    refuse(origin, "indices: expected " + std::to_string(pattern.indptr.back()) + " entries, found " +
                       std::to_string(pattern.indices.size()));
  }
}

void check_indices(const Pattern& pattern, const std::string& origin) {
  for (Rank rank = 0; rank < pattern.ranks; ++rank) {
    for (auto i = pattern.indptr[at(rank)]; i < pattern.indptr[at(rank) + 1]; ++i) {
      const Rank to = pattern.indices[at(i)];
      if (!is_rank(to, pattern.ranks)) {
        refuse(origin, "indices[" + std::to_string(i) + "]: expected a rank in 0.." +
                           std::to_string(pattern.ranks - 1) + ", found " + std::to_string(to));
      }
      if (i > pattern.indptr[at(rank)] && to <= pattern.indices[at(i) - 1]) {
        refuse(origin, "indices[" + std::to_string(i) + "]: receivers of rank " + std::to_string(rank) +
                           " must ascend without duplicates, found " + std::to_string(to) + " after " +
                           std::to_string(pattern.indices[at(i) - 1]));
      }
    }
  }
}

void check_traffic(const Pattern& pattern, const std::string& origin) {
  for (const Traffic& traffic : pattern.traffic) {
    if (traffic.messages.size() != pattern.indices.size() || traffic.bytes.size() != pattern.indices.size()) {
      refuse(origin, "traffic: expected " + std::to_string(pattern.indices.size()) + " entries in every class");
    }
    for (std::size_t i = 0; i < pattern.indices.size(); ++i) {
      if (is_amount(traffic.messages[i]) && is_amount(traffic.bytes[i])) continue;
      check_amount(origin, "messages[" + std::to_string(i) + "]", traffic.messages[i]);
      check_amount(origin, "bytes[" + std::to_string(i) + "]", traffic.bytes[i]);
    }
  }
}

void check_members(const Pattern& pattern, const std::string& origin, std::size_t index) {
  const Communicator& communicator = pattern.communicators[index];
  const std::string place = "communicator " + std::to_string(index);
  if (communicator.members.empty()) refuse(origin, place + ": expected at least one member");
  for (const auto* group : {&communicator.members, &communicator.remote}) {
    for (const Rank member : *group) {
      if (!is_rank(member, pattern.ranks)) {
        refuse(origin, place + ": expected members in 0.." + std::to_string(pattern.ranks - 1) + ", found " +
                           std::to_string(member));
      }
    }
  }
}

void check_calls(const Pattern& pattern, const std::string& origin, std::size_t index) {
  const CollectiveCalls& calls = pattern.collectives[index];
  const std::string place = "collective " + std::to_string(index);
  if (calls.communicator < 0 || at(calls.communicator) >= pattern.communicators.size()) {
    refuse(origin, place + ": communicator " + std::to_string(calls.communicator) + " is not listed");
  }
  const Communicator& communicator = pattern.communicators[at(calls.communicator)];
  const std::size_t size = std::max(communicator.members.size(), communicator.remote.size());
  if (calls.root < -1 || (calls.root >= 0 && at(calls.root) >= size)) {
    refuse(origin,
           place + ": expected a root in -1.." + std::to_string(size - 1) + ", found " + std::to_string(calls.root));
  }
  if (static_cast<int>(calls.operation) >= kOperationCount) refuse(origin, place + ": unknown operation");
  check_sum(origin, place + ", calls", calls.calls);
  check_sum(origin, place + ", bytes", calls.bytes);
}

void check_sent(const Pattern& pattern, const std::string& origin, std::size_t index) {
  const SentMessages& sent = pattern.sent[index];
  const std::string place = "sent " + std::to_string(index);
  if (sent.communicator < -1 || (sent.communicator >= 0 && at(sent.communicator) >= pattern.communicators.size())) {
    refuse(origin, place + ": communicator " + std::to_string(sent.communicator) + " is not listed");
  }
  if (static_cast<int>(sent.call) >= kSendCallCount) refuse(origin, place + ": unknown call");
  if (sent.bucket < 0 || sent.bucket >= kBucketCount) {
    refuse(origin, place + ": expected a bucket in 0..64, found " + std::to_string(sent.bucket));
  }
  check_sum(origin, place + ", messages", sent.messages);
  check_sum(origin, place + ", bytes", sent.bytes);
}

void check_phase(const Pattern& pattern, const std::string& origin, std::size_t index) {
  const Phase& phase = pattern.phases[index];
  const std::string place = "phase " + std::to_string(index);
  if (phase.traffic.messages.size() != phase.pairs.size() || phase.traffic.bytes.size() != phase.pairs.size()) {
    refuse(origin, place + ": expected traffic of " + std::to_string(phase.pairs.size()) + " pairs");
  }
  check_amount(origin, place + ", count", phase.count);
  std::int64_t least = 0;
  for (std::size_t i = 0; i < phase.pairs.size(); ++i) {
    if (phase.pairs[i] < least || at(phase.pairs[i]) >= pattern.indices.size()) {
      refuse(origin, place + ": expected ascending pairs below " + std::to_string(pattern.indices.size()) + ", found " +
                         std::to_string(phase.pairs[i]));
    }
    least = phase.pairs[i] + 1;
    check_amount(origin, place + ", messages", phase.traffic.messages[i]);
    check_amount(origin, place + ", bytes", phase.traffic.bytes[i]);
  }
}

void check_phases(const Pattern& pattern, const std::string& origin) {
  if (pattern.phases.size() > kMostPhases || (!pattern.phased && !pattern.phases.empty())) {
    refuse(origin, "phases: expected at most " + std::to_string(kMostPhases) + ", found " +
                       std::to_string(pattern.phases.size()));
  }
  for (std::size_t i = 0; i < pattern.phases.size(); ++i) check_phase(pattern, origin, i);
}

}  // namespace

std::string_view send_call_name(SendCall call) { return kSendCallNames.at(static_cast<std::size_t>(call)); }

std::string_view operation_name(Operation operation) { return kOperationNames.at(static_cast<std::size_t>(operation)); }

Pattern from_entries(Rank ranks, std::span<const Entry> entries) {
  if (ranks < 1) refuse("pattern", "ranks: expected at least 1, found " + std::to_string(ranks));
  for (std::size_t i = 0; i < entries.size(); ++i) check_entry(ranks, entries[i], i);
  const auto before = [](const Entry& a, const Entry& b) { return std::tie(a.from, a.to) < std::tie(b.from, b.to); };
  std::vector<Entry> copy;
  if (!std::is_sorted(entries.begin(), entries.end(), before)) {
    copy.assign(entries.begin(), entries.end());
    std::stable_sort(copy.begin(), copy.end(), before);
  }
  const std::span<const Entry> sorted = copy.empty() ? entries : copy;

  Pattern pattern;
  pattern.ranks = ranks;
  pattern.indptr.assign(at(ranks) + 1, 0);
  const Entry* previous = nullptr;
  for (const Entry& entry : sorted) {
    if (previous == nullptr || previous->from != entry.from || previous->to != entry.to) {
      pattern.indices.push_back(entry.to);
      ++pattern.indptr[at(entry.from) + 1];
      for (Traffic& traffic : pattern.traffic) {
        traffic.messages.push_back(0);
        traffic.bytes.push_back(0);
      }
    }
    pattern.of(entry.kind).messages.back() += entry.messages;
    pattern.of(entry.kind).bytes.back() += entry.bytes;
    previous = &entry;
  }
  for (std::size_t i = 1; i < pattern.indptr.size(); ++i) pattern.indptr[i] += pattern.indptr[i - 1];
  check_traffic(pattern, "pattern, summed by pair");
  return pattern;
}

void validate(const Pattern& pattern, const std::string& origin) {
  check_offsets(pattern, origin);
  check_indices(pattern, origin);
  check_traffic(pattern, origin);
  for (std::size_t i = 0; i < pattern.communicators.size(); ++i) check_members(pattern, origin, i);
  for (std::size_t i = 0; i < pattern.collectives.size(); ++i) check_calls(pattern, origin, i);
  for (std::size_t i = 0; i < pattern.sent.size(); ++i) check_sent(pattern, origin, i);
  check_phases(pattern, origin);
  const std::size_t hosts = pattern.metadata.hosts.size();
  if (hosts != 0 && hosts != at(pattern.ranks)) {
    refuse(origin, "hosts: expected one for each of " + std::to_string(pattern.ranks) + " ranks, found " +
                       std::to_string(hosts));
  }
}

bool any_nonzero(const std::vector<double>& values) {
  return std::any_of(values.begin(), values.end(), [](double value) { return value != 0; });
}

Traffic total(const Pattern& pattern) {
  Traffic sum{std::vector<double>(pattern.indices.size(), 0), std::vector<double>(pattern.indices.size(), 0)};
  for (const Traffic& traffic : pattern.traffic) {
    for (std::size_t i = 0; i < pattern.indices.size(); ++i) {
      sum.messages[i] += traffic.messages[i];
      sum.bytes[i] += traffic.bytes[i];
    }
  }
  return sum;
}

}  // namespace ranktree::core::pattern
