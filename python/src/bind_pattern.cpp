#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "bind.h"
#include "core/base/error.h"
#include "core/base/index.h"
#include "core/pattern/affinity.h"
#include "core/pattern/expand.h"
#include "core/pattern/pattern.h"
#include "io/numpy_matrix.h"
#include "io/pattern_file.h"

namespace nb = nanobind;
namespace pattern = ranktree::core::pattern;
namespace io = ranktree::io;
using pattern::Pattern;
using pattern::Rank;
using ranktree::core::Error;
using ranktree::core::Fault;
using ranktree::core::narrowed;

namespace {

using Numbers = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename Item>
using Array = nb::ndarray<nb::numpy, const Item, nb::ndim<1>>;

// A read-only view; `owner` stays alive as long as it.
template <typename Item>
Array<Item> view(const std::vector<Item>& values, nb::handle owner) {
  return Array<Item>(values.data(), {values.size()}, owner);
}

// An array that owns its values.
template <typename Item>
Array<Item> array_of(std::vector<Item> values) {
  auto* kept = new std::vector<Item>(std::move(values));
  const nb::capsule owner(kept, [](void* memory) noexcept { delete static_cast<std::vector<Item>*>(memory); });
  return Array<Item>(kept->data(), {kept->size()}, owner);
}

pattern::Class class_named(std::string_view name) {
  const auto* found = std::find(pattern::kClassNames.begin(), pattern::kClassNames.end(), name);
  if (found == pattern::kClassNames.end()) {
    throw Error(Fault::kInput, "class: expected p2p, neighbor, collective or rma, found '" + std::string(name) + "'");
  }
  return static_cast<pattern::Class>(found - pattern::kClassNames.begin());
}

std::optional<io::PatternFormat> format_named(const std::optional<std::string>& name) {
  if (!name) return std::nullopt;
  const auto format = io::pattern_format_from_name(*name);
  if (format) return format;
  throw Error(Fault::kInput, "format: expected npz, mtx, mat, metis, scotch, csv or prof, found '" + *name + "'");
}

pattern::Metric metric_named(const std::string& name) {
  const auto metric = pattern::metric_from_name(name);
  if (metric) return *metric;
  throw Error(Fault::kInput, "metric: expected size, msg or avg, found '" + name + "'");
}

pattern::CollectiveModel model_named(const std::string& name) {
  const auto model = pattern::collective_model_from_name(name);
  if (model) return *model;
  throw Error(Fault::kInput, "model: expected openmpi, mpich, flat or none, found '" + name + "'");
}

void check_length(const char* name, std::size_t found, std::size_t expected) {
  if (found == expected) return;
  throw Error(Fault::kInput,
              std::string(name) + ": expected " + std::to_string(expected) + " items, found " + std::to_string(found));
}

Pattern from_arrays(nb::handle offsets, nb::handle columns, const Numbers& messages, const Numbers& bytes) {
  const WholeNumbers indptr = whole_numbers("indptr", offsets);
  const WholeNumbers indices = whole_numbers("indices", columns);
  if (indptr.size() == 0 || indptr.size() - 1 > static_cast<std::size_t>(std::numeric_limits<Rank>::max())) {
    throw Error(Fault::kInput, "indptr: expected 2 to 2^31 items, found " + std::to_string(indptr.size()));
  }
  check_length("messages", messages.size(), indices.size());
  check_length("bytes", bytes.size(), indices.size());
  Pattern result;
  result.ranks = static_cast<Rank>(indptr.size() - 1);
  result.indptr.assign(indptr.data(), indptr.data() + indptr.size());
  result.indices.reserve(indices.size());
  for (std::size_t i = 0; i < indices.size(); ++i) result.indices.push_back(narrowed<Rank>(indices.data()[i]));
  for (pattern::Traffic& traffic : result.traffic) {
    traffic.messages.assign(indices.size(), 0);
    traffic.bytes.assign(indices.size(), 0);
  }
  pattern::Traffic& traffic = result.of(pattern::Class::kPointToPoint);
  traffic.messages.assign(messages.data(), messages.data() + messages.size());
  traffic.bytes.assign(bytes.data(), bytes.data() + bytes.size());
  pattern::validate(result, "pattern");
  return result;
}

Pattern from_pairs(std::int64_t ranks, nb::handle from, nb::handle to, const Numbers& messages, const Numbers& bytes,
                   const std::string& kind) {
  const WholeNumbers sources = whole_numbers("sources", from);
  const WholeNumbers destinations = whole_numbers("destinations", to);
  check_length("destinations", destinations.size(), sources.size());
  check_length("messages", messages.size(), sources.size());
  check_length("bytes", bytes.size(), sources.size());
  std::vector<pattern::Entry> entries;
  entries.reserve(sources.size());
  for (std::size_t i = 0; i < sources.size(); ++i) {
    entries.push_back({.from = narrowed<Rank>(sources.data()[i]),
                       .to = narrowed<Rank>(destinations.data()[i]),
                       .kind = class_named(kind),
                       .messages = messages.data()[i],
                       .bytes = bytes.data()[i]});
  }
  return pattern::from_entries(narrowed<Rank>(ranks), entries);
}

// Without an array: numpy takes longer to import than all else of a command that needs no other.
std::pair<double, double> totals(const Pattern& self) {
  const pattern::Traffic traffic = pattern::total(self);
  const auto sum = [](const std::vector<double>& values) { return std::reduce(values.begin(), values.end()); };
  return {sum(traffic.messages), sum(traffic.bytes)};
}

nb::list collectives(const Pattern& self) {
  nb::list calls;
  for (const pattern::CollectiveCalls& call : self.collectives) {
    nb::dict item;
    item["communicator"] = call.communicator;
    item["operation"] = std::string(pattern::operation_name(call.operation));
    item["root"] = call.root;
    item["bucket"] = call.bucket;
    item["calls"] = call.calls;
    item["bytes"] = call.bytes;
    calls.append(item);
  }
  return calls;
}

nb::list sent(const Pattern& self) {
  nb::list rows;
  for (const pattern::SentMessages& sent : self.sent) {
    nb::dict item;
    item["communicator"] = sent.communicator;
    item["call"] = "MPI_" + std::string(pattern::send_call_name(sent.call));
    item["bucket"] = sent.bucket;
    item["messages"] = sent.messages;
    item["bytes"] = sent.bytes;
    rows.append(item);
  }
  return rows;
}

std::optional<nb::list> phases(const Pattern& self) {
  if (!self.phased) return std::nullopt;
  nb::list rows;
  for (const pattern::Phase& phase : self.phases) {
    nb::dict item;
    item["name"] = phase.name;
    item["count"] = phase.count;
    item["pairs"] = array_of(phase.pairs);
    item["messages"] = array_of(phase.traffic.messages);
    item["bytes"] = array_of(phase.traffic.bytes);
    rows.append(item);
  }
  return rows;
}

std::vector<std::pair<std::vector<Rank>, std::vector<Rank>>> communicators(const Pattern& self) {
  std::vector<std::pair<std::vector<Rank>, std::vector<Rank>>> groups;
  for (const pattern::Communicator& communicator : self.communicators) {
    groups.emplace_back(communicator.members, communicator.remote);
  }
  return groups;
}

nb::dict metadata(const Pattern& self) {
  nb::dict item;
  item["complete"] = self.metadata.complete;
  item["program"] = self.metadata.program;
  item["launch"] = self.metadata.launch;
  item["mpi"] = self.metadata.mpi;
  item["source"] = self.metadata.source;
  item["hosts"] = self.metadata.hosts;
  item["missing"] = self.metadata.missing;
  item["unattributed"] = self.metadata.unattributed;
  return item;
}

template <typename Value>
void take(const nb::dict& item, const char* key, Value& value) {
  if (!item.contains(key)) return;
  if (!nb::try_cast(item[key], value)) {
    throw Error(Fault::kInput, std::string("metadata: field '") + key + "' has the wrong type");
  }
}

// Keys that are absent keep their value.
void set_metadata(Pattern& self, const nb::dict& item) {
  pattern::Metadata changed = self.metadata;
  take(item, "complete", changed.complete);
  take(item, "program", changed.program);
  take(item, "launch", changed.launch);
  take(item, "mpi", changed.mpi);
  take(item, "source", changed.source);
  take(item, "hosts", changed.hosts);
  take(item, "missing", changed.missing);
  take(item, "unattributed", changed.unattributed);
  self.metadata = std::move(changed);
}

// A numpy array that owns the values of a matrix.
template <typename Number>
nb::object square_of(std::vector<Number> values, Rank ranks) {
  auto* kept = new std::vector<Number>(std::move(values));
  const nb::capsule owner(kept, [](void* memory) noexcept { delete static_cast<std::vector<Number>*>(memory); });
  const auto side = static_cast<std::size_t>(ranks);
  return nb::cast(nb::ndarray<nb::numpy, Number, nb::ndim<2>>(kept->data(), {side, side}, owner));
}

std::pair<nb::object, std::vector<std::string>> load_pattern(const std::string& path,
                                                             const std::optional<std::string>& format,
                                                             const std::optional<std::string>& metric, bool whole) {
  std::optional<pattern::Metric> meaning;
  if (metric) meaning = metric_named(*metric);
  io::LoadedPattern loaded = io::load_pattern(path, format_named(format), meaning, whole);
  if (!loaded.matrix) return {nb::cast(std::move(loaded.pattern)), std::move(loaded.warnings)};
  const auto ranks = loaded.matrix->ranks;
  return {std::visit([&](auto& values) { return square_of(std::move(values), ranks); }, loaded.matrix->values), {}};
}

std::vector<std::string> save_pattern(const std::string& path, const Pattern& self,
                                      const std::optional<std::string>& format, const std::string& metric) {
  return io::save_pattern(path, self, format_named(format), metric_named(metric));
}

void bind_class(nb::module_& module) {
  nb::class_<Pattern>(module, "Pattern",
                      "Who talks to whom. Sparse by sender: the receivers of rank i are "
                      "indices[indptr[i]:indptr[i + 1]]; arrays are read-only numpy arrays.")
      .def_static("from_arrays", &from_arrays, nb::arg("indptr"), nb::arg("indices"), nb::arg("messages"),
                  nb::arg("bytes"), "A pattern of point-to-point traffic from CSR arrays; refuses what breaks a rule.")
      .def_static("from_pairs", &from_pairs, nb::arg("ranks"), nb::arg("sources"), nb::arg("destinations"),
                  nb::arg("messages"), nb::arg("bytes"), nb::arg("kind") = "p2p",
                  "A pattern from parallel arrays of pairs in any order; equal pairs are added.")
      .def_ro("ranks", &Pattern::ranks)
      .def_prop_ro(
          "indptr", [](nb::handle self) { return view(nb::cast<const Pattern&>(self).indptr, self); },
          nb::rv_policy::reference)
      .def_prop_ro(
          "indices", [](nb::handle self) { return view(nb::cast<const Pattern&>(self).indices, self); },
          nb::rv_policy::reference)
      .def_prop_ro(
          "messages", [](const Pattern& self) { return array_of(pattern::total(self).messages); },
          nb::rv_policy::reference, "Messages of each pair, all classes together.")
      .def_prop_ro(
          "bytes", [](const Pattern& self) { return array_of(pattern::total(self).bytes); }, nb::rv_policy::reference,
          "Bytes of each pair, all classes together.")
      .def(
          "traffic",
          [](nb::handle self, const std::string& kind) {
            const pattern::Traffic& traffic = nb::cast<const Pattern&>(self).of(class_named(kind));
            return std::pair(view(traffic.messages, self), view(traffic.bytes, self));
          },
          nb::arg("kind"), nb::rv_policy::reference,
          "(messages, bytes) of each pair in class p2p, neighbor, collective or rma.")
      .def_prop_ro("totals", &totals, "(messages, bytes) of all pairs and classes together.")
      .def_prop_ro("collectives", &collectives, "Collective calls, one dict a kind of call.")
      .def_prop_ro("sent", &sent, "Point-to-point messages by communicator, call and bucket of sizes, one dict each.")
      .def_prop_ro(
          "phases", &phases,
          "What is exchanged between calls by which all ranks synchronise, one dict each: name, count, pairs "
          "(indices into `indices`), messages and bytes, summed over its occurrences. All other traffic is one "
          "more phase. None: phases were not recorded, all traffic is one.")
      .def_prop_ro("communicators", &communicators, "(members, remote members) of each, as ranks of MPI_COMM_WORLD.")
      .def_prop_rw("metadata", &metadata, &set_metadata,
                   "A dict: complete, program, launch, mpi, source, hosts, missing, unattributed. Set to change it.")
      .def("__len__", [](const Pattern& self) { return self.indices.size(); })
      .def("__repr__", [](const Pattern& self) {
        return "<Pattern of " + std::to_string(self.ranks) + " ranks, " + std::to_string(self.indices.size()) +
               " pairs>";
      });
}

}  // namespace

WholeNumbers whole_numbers(const char* name, nb::handle given) {
  const nb::object array = nb::module_::import_("numpy").attr("asarray")(given);
  const auto dimensions = nb::cast<std::int64_t>(array.attr("ndim"));
  if (dimensions != 1) {
    throw Error(Fault::kInput,
                std::string(name) + ": expected an array of one dimension, found " + std::to_string(dimensions));
  }
  const auto kind = nb::cast<std::string>(array.attr("dtype").attr("kind"));
  if (nb::cast<std::size_t>(array.attr("size")) != 0 && kind != "i" && kind != "u") {
    throw Error(Fault::kInput, std::string(name) + ": expected whole numbers, found an array of " +
                                   nb::cast<std::string>(array.attr("dtype").attr("name")));
  }
  return nb::cast<WholeNumbers>(array);
}

void bind_pattern(nb::module_& module) {
  bind_class(module);
  module.def("load_pattern", &load_pattern, nb::arg("path"), nb::arg("format") = nb::none(),
             nb::arg("metric") = nb::none(), nb::arg("whole") = false,
             nb::sig("def load_pattern(path: str, format: str | None = None, metric: str | None = None, "
                     "whole: bool = False) -> tuple[Pattern, list[str]]"),
             "Reads a pattern: (Pattern, warnings). Formats: npz, mtx, mat, metis, scotch, csv, prof; by extension "
             "when not given. metric (size, msg): what the one number of a format that has only one means. whole: the "
             "matrix of a .npy file, or of an .npz file with one array, stays one, as float64 or float32.");
  module.def("save_pattern", &save_pattern, nb::arg("path"), nb::arg("pattern"), nb::arg("format") = nb::none(),
             nb::arg("metric") = "size",
             "Writes a pattern completely or not at all; returns warnings of what is lost.");
  module.def(
      "pattern_format",
      [](const std::string& path) -> std::optional<std::string> {
        const auto format = io::pattern_format_from_path(path);
        if (!format) return std::nullopt;
        return std::string(io::pattern_format_name(*format));
      },
      nb::arg("path"), "The name of the format a path's extension stands for, or None.");
  module.def(
      "expand_pattern",
      [](const Pattern& self, const std::string& model) { return pattern::expand(self, model_named(model)); },
      nb::arg("pattern"), nb::arg("model"),
      "A copy in which collective calls have become pairs, by model openmpi, mpich, flat or none.");
  module.def(
      "natural_model", [](const Pattern& self) { return std::string(collective_model_name(natural_model(self))); },
      nb::arg("pattern"), "The model of the MPI the pattern was traced with.");
}
