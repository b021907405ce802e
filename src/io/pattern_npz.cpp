#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/index.h"
#include "core/pattern/pattern.h"
#include "io/json_place.h"
#include "io/npy.h"
#include "io/npz.h"
#include "io/pattern_formats.h"
#include "io/text.h"

namespace ranktree::io {
namespace {

using core::pattern::CollectiveCalls;
using core::pattern::Communicator;
using core::pattern::Metadata;
using core::pattern::Pattern;
using core::pattern::Phase;
using core::pattern::Rank;
using core::pattern::SentMessages;
using core::pattern::Traffic;
using nlohmann::json;

constexpr const char* kPatternFormat = "ranktree-pattern";
constexpr int kPatternVersion = 1;

// --- metadata

std::vector<std::string> phase_names(const Pattern& pattern) {
  std::vector<std::string> names;
  names.reserve(pattern.phases.size());
  for (const Phase& phase : pattern.phases) names.push_back(phase.name);
  return names;
}

std::string metadata_text(const Pattern& pattern) {
  const Metadata& metadata = pattern.metadata;
  json value{{"format", kPatternFormat},
             {"version", kPatternVersion},
             {"ranks", pattern.ranks},
             {"complete", metadata.complete},
             {"program", metadata.program},
             {"launch", metadata.launch},
             {"mpi", metadata.mpi},
             {"source", metadata.source},
             {"hosts", metadata.hosts},
             {"missing", metadata.missing},
             {"unattributed", metadata.unattributed}};
  if (!pattern.phases.empty()) value["phases"] = phase_names(pattern);
  // Text from outside (a command line) may not be UTF-8; it must not make a trace unreadable.
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

// Fields may be absent; those present must have the right type.
template <typename Value>
void take(const json& object, const char* key, Value& value, const std::string& place) {
  const auto found = object.find(key);
  if (found == object.end()) return;
  if constexpr (std::is_same_v<Value, std::int64_t>) {
    if (!found->is_number_integer()) refuse_at(place, std::string("field '") + key + "': expected a whole number");
  }
  try {
    found->get_to(value);
  } catch (const json::exception&) {
    refuse_at(place, std::string("field '") + key + "' has the wrong type");
  }
}

void read_metadata(const NpzReader& file, const std::string& origin, Pattern& pattern) {
  const std::string place = origin + ": metadata";
  constexpr int kDeepest = 8;
  const json value = parse_json(file.text("metadata"), place, kDeepest);
  if (!value.is_object()) refuse_at(place, "expected a JSON object");
  std::string format;
  std::int64_t version = 0;
  std::int64_t ranks = pattern.ranks;
  take(value, "format", format, place);
  take(value, "version", version, place);
  take(value, "ranks", ranks, place);
  if (format != kPatternFormat) refuse_at(place, std::string("expected \"format\": \"") + kPatternFormat + "\"");
  if (version != kPatternVersion) refuse_at(place, "expected version 1, found " + std::to_string(version));
  if (ranks != pattern.ranks) {
    refuse_at(place, "declares " + std::to_string(ranks) + " ranks, but indptr is of " + std::to_string(pattern.ranks));
  }
  Metadata& metadata = pattern.metadata;
  take(value, "complete", metadata.complete, place);
  take(value, "program", metadata.program, place);
  take(value, "launch", metadata.launch, place);
  take(value, "mpi", metadata.mpi, place);
  take(value, "source", metadata.source, place);
  take(value, "hosts", metadata.hosts, place);
  std::vector<std::int64_t> missing;
  take(value, "missing", missing, place);
  for (const std::int64_t rank : missing) metadata.missing.push_back(core::narrowed<core::pattern::Rank>(rank));
  take(value, "unattributed", metadata.unattributed, place);
  std::vector<std::string> names;
  take(value, "phases", names, place);
  for (std::size_t i = 0; i < std::min(names.size(), pattern.phases.size()); ++i) pattern.phases[i].name = names[i];
  for (const Rank rank : metadata.missing) {
    if (rank < 0 || rank >= pattern.ranks)
      refuse_at(place, "missing: rank " + std::to_string(rank) + " is out of range");
  }
}

// --- pairs

// Totals are stored for programs that read the file with numpy; here they only have to agree with the classes. `only`
// is the name of the class when there is a single one.
void check_total(const NpzReader& file, const std::string& origin, const std::string& name, const std::string& only,
                 const std::vector<double>& sum) {
  if (!file.has(name) || (!only.empty() && file.same(name, only + "_" + name))) return;
  const std::vector<double> stored = file.doubles(name, sum.size());
  const auto [mine, theirs] = std::mismatch(sum.begin(), sum.end(), stored.begin());
  if (mine == sum.end()) return;
  refuse_at(origin, name + "[" + std::to_string(std::distance(sum.begin(), mine)) + "]: the classes add up to " +
                        number_text(*mine) + ", found " + number_text(*theirs));
}

std::vector<double> class_array(const NpzReader& file, const std::string& name, std::size_t entries) {
  return file.has(name) ? file.doubles(name, entries) : std::vector<double>(entries, 0);
}

void check_amounts(const std::string& origin, const std::string& name, const std::vector<double>& values) {
  const auto bad = std::find_if(values.begin(), values.end(), [](double v) { return !(v >= 0 && v <= kLargestExact); });
  if (bad == values.end()) return;
  refuse_at(origin, name + "[" + std::to_string(std::distance(values.begin(), bad)) +
                        "]: expected a number in 0..2^53, found " + number_text(*bad));
}

void read_class(const NpzReader& file, const std::string& origin, const std::string& prefix, std::size_t entries,
                Traffic& traffic) {
  traffic.messages = class_array(file, prefix + "messages", entries);
  traffic.bytes = class_array(file, prefix + "bytes", entries);
  check_amounts(origin, prefix + "messages", traffic.messages);
  check_amounts(origin, prefix + "bytes", traffic.bytes);
}

// Without classes, the totals are point-to-point traffic.
void read_traffic(const NpzReader& file, const std::string& origin, Pattern& pattern) {
  const std::size_t entries = pattern.indices.size();
  int classes = 0;
  std::string only;
  for (std::size_t kind = 0; kind < core::pattern::kClassCount; ++kind) {
    const std::string name(core::pattern::kClassNames.at(kind));
    if (file.has(name + "_messages") || file.has(name + "_bytes")) only = ++classes == 1 ? name : "";
    read_class(file, origin, name + "_", entries, pattern.traffic.at(kind));
  }
  if (classes > 0) {
    const Traffic sum = core::pattern::total(pattern);
    check_total(file, origin, "messages", only, sum.messages);
    check_total(file, origin, "bytes", only, sum.bytes);
    return;
  }
  if (!file.has("messages") && !file.has("bytes")) refuse_at(origin, "neither array 'messages' nor 'bytes' exists");
  read_class(file, origin, "", entries, pattern.of(core::pattern::Class::kPointToPoint));
}

// --- collective calls and communicators

void read_calls(const NpzReader& file, const std::string& origin, Pattern& pattern) {
  if (!file.has("call_communicator")) return;
  const std::uint64_t calls = file.count("call_communicator");
  const auto communicators = file.int32s("call_communicator", calls);
  const auto operations = file.int32s("call_operation", calls);
  const auto roots = file.int32s("call_root", calls);
  const auto buckets = file.int32s("call_bucket", calls);
  const auto counts = file.doubles("call_count", calls);
  const auto bytes = file.doubles("call_bytes", calls);
  constexpr int kLargestBucket = 64;
  for (std::size_t i = 0; i < calls; ++i) {
    if (operations[i] < 0 || operations[i] >= core::pattern::kOperationCount) {
      refuse_at(origin, "call_operation[" + std::to_string(i) + "]: expected 0.." +
                            std::to_string(core::pattern::kOperationCount - 1) + ", found " +
                            std::to_string(operations[i]));
    }
    if (buckets[i] < 0 || buckets[i] > kLargestBucket) {
      refuse_at(origin, "call_bucket[" + std::to_string(i) + "]: expected 0..64, found " + std::to_string(buckets[i]));
    }
    pattern.collectives.push_back({.communicator = communicators[i],
                                   .operation = static_cast<core::pattern::Operation>(operations[i]),
                                   .root = roots[i],
                                   .bucket = buckets[i],
                                   .calls = counts[i],
                                   .bytes = bytes[i]});
  }
}

void read_sent(const NpzReader& file, const std::string& origin, Pattern& pattern) {
  if (!file.has("sent_communicator")) return;
  const std::uint64_t rows = file.count("sent_communicator");
  const auto communicators = file.int32s("sent_communicator", rows);
  const auto calls = file.int32s("sent_call", rows);
  const auto buckets = file.int32s("sent_bucket", rows);
  const auto messages = file.doubles("sent_messages", rows);
  const auto bytes = file.doubles("sent_bytes", rows);
  for (std::size_t i = 0; i < rows; ++i) {
    if (calls[i] < 0 || calls[i] >= core::pattern::kSendCallCount) {
      refuse_at(origin, "sent_call[" + std::to_string(i) + "]: expected 0.." +
                            std::to_string(core::pattern::kSendCallCount - 1) + ", found " + std::to_string(calls[i]));
    }
    pattern.sent.push_back(
        {communicators[i], static_cast<core::pattern::SendCall>(calls[i]), buckets[i], messages[i], bytes[i]});
  }
}

void check_offsets(const std::string& origin, const std::string& name, const std::vector<std::int64_t>& indptr,
                   std::uint64_t entries) {
  if (indptr.empty()) refuse_at(origin, name + ": expected at least one item");
  const auto end = static_cast<std::int64_t>(entries);
  for (std::size_t i = 0; i < indptr.size(); ++i) {
    const std::int64_t least = i == 0 ? 0 : indptr[i - 1];
    const bool good = indptr[i] >= least && indptr[i] <= end && (i > 0 || indptr[i] == 0);
    if (good && (i + 1 < indptr.size() || indptr[i] == end)) continue;
    refuse_at(origin, name + "[" + std::to_string(i) + "]: expected offsets from 0 to " + std::to_string(end) +
                          " in ascending order, found " + std::to_string(indptr[i]));
  }
}

// The rows of a CSR pair of arrays.
std::vector<std::vector<Rank>> read_groups(const NpzReader& file, const std::string& origin, const std::string& offsets,
                                           const std::string& members, std::uint64_t groups) {
  const auto indptr = file.int64s(offsets, groups + 1);
  const std::uint64_t entries = file.count(members);
  const auto indices = file.int32s(members, entries);
  std::vector<std::vector<Rank>> rows(groups);
  check_offsets(origin, offsets, indptr, entries);
  for (std::uint64_t i = 0; i < groups; ++i) {
    rows[i].assign(indices.begin() + indptr[i], indices.begin() + indptr[i + 1]);
  }
  return rows;
}

void read_communicators(const NpzReader& file, const std::string& origin, Pattern& pattern) {
  if (!file.has("communicator_indptr")) return;
  const std::uint64_t offsets = file.count("communicator_indptr");
  if (offsets == 0) refuse_at(origin, "communicator_indptr: expected at least one item");
  auto members = read_groups(file, origin, "communicator_indptr", "communicator_members", offsets - 1);
  std::vector<std::vector<Rank>> remotes(members.size());
  if (file.has("communicator_remote_indptr")) {
    remotes = read_groups(file, origin, "communicator_remote_indptr", "communicator_remote", members.size());
  }
  for (std::size_t i = 0; i < members.size(); ++i) {
    pattern.communicators.push_back({std::move(members[i]), std::move(remotes[i])});
  }
}

// --- phases

void read_phases(const NpzReader& file, const std::string& origin, Pattern& pattern) {
  pattern.phased = file.has("phase_indptr");
  if (!pattern.phased) return;
  const std::uint64_t offsets = file.count("phase_indptr");
  const auto indptr = file.int64s("phase_indptr", offsets);
  const std::uint64_t entries = file.count("phase_pairs");
  const auto pairs = file.int64s("phase_pairs", entries);
  Traffic traffic;
  traffic.messages = file.doubles("phase_messages", entries);
  traffic.bytes = file.doubles("phase_bytes", entries);
  check_offsets(origin, "phase_indptr", indptr, entries);
  const auto counts = file.doubles("phase_count", offsets - 1);
  for (std::uint64_t i = 0; i + 1 < offsets; ++i) {
    const auto part = [&](const auto& all) {
      return std::vector(all.begin() + indptr[i], all.begin() + indptr[i + 1]);
    };
    pattern.phases.push_back({.name = {},
                              .count = counts[i],
                              .pairs = part(pairs),
                              .traffic = {.messages = part(traffic.messages), .bytes = part(traffic.bytes)}});
  }
}

void write_phases(NpzWriter& file, const std::vector<Phase>& phases) {
  std::vector<std::int64_t> indptr{0};
  std::vector<std::int64_t> pairs;
  Traffic traffic;
  std::vector<double> counts;
  for (const Phase& phase : phases) {
    pairs.insert(pairs.end(), phase.pairs.begin(), phase.pairs.end());
    traffic.messages.insert(traffic.messages.end(), phase.traffic.messages.begin(), phase.traffic.messages.end());
    traffic.bytes.insert(traffic.bytes.end(), phase.traffic.bytes.begin(), phase.traffic.bytes.end());
    indptr.push_back(static_cast<std::int64_t>(pairs.size()));
    counts.push_back(phase.count);
  }
  file.add("phase_indptr", indptr);
  file.add("phase_pairs", pairs);
  file.add_numbers("phase_messages", traffic.messages);
  file.add_numbers("phase_bytes", traffic.bytes);
  file.add_numbers("phase_count", counts);
}

// The totals, and the classes that are not all zero. A class that equals the total is compressed once.
void write_traffic(NpzWriter& file, const Pattern& pattern, std::vector<double> Traffic::* amounts,
                   const std::string& name) {
  std::vector<std::size_t> kinds;
  for (std::size_t kind = 0; kind < core::pattern::kClassCount; ++kind) {
    const Traffic& traffic = pattern.traffic.at(kind);
    if (core::pattern::any_nonzero(traffic.messages) || core::pattern::any_nonzero(traffic.bytes))
      kinds.push_back(kind);
  }
  const auto class_name = [&](std::size_t kind) {
    return std::string(core::pattern::kClassNames.at(kind)) + "_" + name;
  };
  if (kinds.size() == 1) {
    file.add_numbers(name, pattern.traffic.at(kinds.front()).*amounts);
    file.add_again(class_name(kinds.front()));
    return;
  }
  file.add_numbers(name, core::pattern::total(pattern).*amounts);
  for (const std::size_t kind : kinds) file.add_numbers(class_name(kind), pattern.traffic.at(kind).*amounts);
}

// One array a field.
template <typename Row>
class Columns {
 public:
  Columns(NpzWriter& file, const std::vector<Row>& rows) : file_(file), rows_(rows) {}
  template <typename Field>
  void integers(const char* name, Field Row::* field) {
    std::vector<std::int32_t> values;
    values.reserve(rows_.size());
    for (const Row& row : rows_) values.push_back(static_cast<std::int32_t>(row.*field));
    file_.add(name, std::span<const std::int32_t>(values));
  }
  void numbers(const char* name, double Row::* field) {
    std::vector<double> values;
    values.reserve(rows_.size());
    for (const Row& row : rows_) values.push_back(row.*field);
    file_.add_numbers(name, values);
  }

 private:
  NpzWriter& file_;
  const std::vector<Row>& rows_;
};

void write_calls(NpzWriter& file, const std::vector<CollectiveCalls>& calls) {
  Columns columns(file, calls);
  columns.integers("call_communicator", &CollectiveCalls::communicator);
  columns.integers("call_operation", &CollectiveCalls::operation);
  columns.integers("call_root", &CollectiveCalls::root);
  columns.integers("call_bucket", &CollectiveCalls::bucket);
  columns.numbers("call_count", &CollectiveCalls::calls);
  columns.numbers("call_bytes", &CollectiveCalls::bytes);
}

void write_sent(NpzWriter& file, const std::vector<SentMessages>& sent) {
  Columns columns(file, sent);
  columns.integers("sent_communicator", &SentMessages::communicator);
  columns.integers("sent_call", &SentMessages::call);
  columns.integers("sent_bucket", &SentMessages::bucket);
  columns.numbers("sent_messages", &SentMessages::messages);
  columns.numbers("sent_bytes", &SentMessages::bytes);
}

void write_groups(NpzWriter& file, const Pattern& pattern, std::vector<Rank> Communicator::* group,
                  const std::string& offsets, const std::string& members) {
  std::vector<std::int64_t> indptr{0};
  std::vector<Rank> indices;
  for (const Communicator& communicator : pattern.communicators) {
    indices.insert(indices.end(), (communicator.*group).begin(), (communicator.*group).end());
    indptr.push_back(static_cast<std::int64_t>(indices.size()));
  }
  file.add(offsets, std::span<const std::int64_t>(indptr));
  file.add(members, std::span<const std::int32_t>(indices));
}

}  // namespace

Pattern read_pattern_npz(std::string_view bytes, const std::string& origin) {
  const NpzReader file(bytes, origin);
  const std::uint64_t offsets = file.count("indptr");
  if (offsets < 2) refuse_at(origin, "indptr: expected at least 1 rank, found 0");
  if (offsets - 1 > static_cast<std::uint64_t>(std::numeric_limits<Rank>::max())) {
    refuse_at(origin, "indptr: expected at most 2147483647 ranks, found " + std::to_string(offsets - 1));
  }
  Pattern pattern;
  pattern.ranks = static_cast<Rank>(offsets - 1);
  pattern.indptr = file.int64s("indptr", offsets);
  const std::int64_t entries = pattern.indptr.back();
  if (entries < 0) refuse_at(origin, "indptr: its last item is negative");
  pattern.indices = file.int32s("indices", static_cast<std::uint64_t>(entries));
  read_traffic(file, origin, pattern);
  read_communicators(file, origin, pattern);
  read_calls(file, origin, pattern);
  read_sent(file, origin, pattern);
  read_phases(file, origin, pattern);
  if (file.has("metadata")) read_metadata(file, origin, pattern);
  core::pattern::validate(pattern, origin);
  return pattern;
}

std::string write_pattern_npz(const Pattern& pattern) {
  NpzWriter file;
  file.add_text("metadata", metadata_text(pattern));
  file.add("indptr", pattern.indptr);
  file.add("indices", pattern.indices);
  write_traffic(file, pattern, &Traffic::messages, "messages");
  write_traffic(file, pattern, &Traffic::bytes, "bytes");
  if (!pattern.communicators.empty()) {
    write_groups(file, pattern, &Communicator::members, "communicator_indptr", "communicator_members");
    write_groups(file, pattern, &Communicator::remote, "communicator_remote_indptr", "communicator_remote");
  }
  if (!pattern.collectives.empty()) write_calls(file, pattern.collectives);
  if (!pattern.sent.empty()) write_sent(file, pattern.sent);
  if (pattern.phased) write_phases(file, pattern.phases);
  return std::move(file).finish();
}

}  // namespace ranktree::io
