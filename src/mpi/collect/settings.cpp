#include "mpi/collect/settings.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/predict/choice.h"
#include "core/schedule/makers.h"
#include "io/file.h"
#include "io/parameters_file.h"
#include "io/rules_file.h"
#include "mpi/agree.h"
#include "mpi/check.h"
#include "mpi/collect/environment.h"

namespace ranktree::mpi::collect {
namespace {

using core::Error;
using core::Fault;
using core::predict::Choice;
using core::schedule::Collective;

constexpr std::string_view kSeparators = "; \t\n";

std::optional<Collective> collective_from_word(std::string_view word) {
  if (word == "bcast") return Collective::kBroadcast;
  if (word == "reduce_scatter_block") return Collective::kReduceScatter;
  return core::schedule::collective_from_name(word);
}

Wish wish_from_text(std::string_view text, Collective collective) {
  if (text == "auto") return {.automatic = true, .choice = {}};
  return {.automatic = false, .choice = core::predict::choice_from_text(text, collective)};
}

// For all collectives that can have it; an error where none can.
void wish_for_all(std::string_view text, Wishes& wishes) {
  bool somewhere = false;
  std::string first;
  for (std::size_t i = 0; i < wishes.size(); ++i) {
    try {
      wishes.at(i) = wish_from_text(text, static_cast<Collective>(i));
      somewhere = true;
    } catch (const Error& error) {
      if (first.empty()) first = error.what();
    }
  }
  if (!somewhere) throw Error(Fault::kInput, first);
}

void wish_for(std::string_view entry, Wishes& wishes) {
  const std::size_t equals = entry.find('=');
  const std::string_view name = entry.substr(0, equals);
  if (name == "all") return;
  const auto collective = collective_from_word(name);
  if (!collective) {
    throw Error(Fault::kInput, "RANKTREE_COLL: '" + std::string(entry) +
                                   "': expected a collective's name (bcast, reduce, allreduce, ...), found '" +
                                   std::string(name) + "'");
  }
  wishes.at(static_cast<std::size_t>(*collective)) = wish_from_text(entry.substr(equals + 1), *collective);
}

template <typename Use>
void for_each_entry(std::string_view text, Use use) {
  for (std::size_t begin = text.find_first_not_of(kSeparators); begin != std::string_view::npos;
       begin = text.find_first_not_of(kSeparators, begin)) {
    const std::size_t end = std::min(text.find_first_of(kSeparators, begin), text.size());
    use(text.substr(begin, end - begin));
    begin = end;
  }
}

// "bcast=..." and "all=..." are entries; "messages:ring:groups=4" is not.
bool is_entry(std::string_view text) {
  const std::size_t end = text.find_first_of(":=/.");
  return end != std::string_view::npos && text[end] == '=';
}

// What rank 0 was given: texts, and the bytes of the files they name.
struct Given {
  std::string rules;  // RANKTREE_COLL
  std::string rules_bytes;
  std::string parameters;  // RANKTREE_COLL_PARAMETERS
  std::string parameters_bytes;
  std::string known;
  std::string error;
  int reproducible = 0;
};

// Files are read by rank 0 alone: on thousands of ranks they would be read thousands of times, and then thrown away.
Given given_by(const Environment& own, bool files) {
  Given given;
  given.rules = own.collectives;
  given.parameters = own.parameters;
  given.reproducible = own.reproducible ? 1 : 0;
  if (!files) return given;
  try {
    if (!is_inline(given.rules)) given.rules_bytes = io::read_file(given.rules);
    if (!given.parameters.empty()) given.parameters_bytes = io::read_file(given.parameters);
  } catch (const Error& error) {
    given.error = error.what();
  }
  return given;
}

// Rank 0's texts, as they travel: lengths, then the texts as far as they fit; longer ones follow.
struct Parcel {
  static constexpr std::size_t kTexts = 6;
  std::array<std::uint64_t, kTexts> lengths{};
  std::int32_t reproducible = 0;
  std::array<char, 452> front{};
};

std::array<std::string*, Parcel::kTexts> texts_of(Given& given) {
  return {&given.rules, &given.rules_bytes, &given.parameters, &given.parameters_bytes, &given.known, &given.error};
}

// Makes rank 0's `given` that of all ranks, in one broadcast where it is short. Collective; the caller agrees on the
// steps.
void share_given(MPI_Comm comm, bool root, Given& given, LocalSteps& steps) {
  std::string whole;
  Parcel parcel;
  const bool has_whole = root && steps.run([&] {
    for (const std::string* text : texts_of(given)) whole += *text;
  });
  if (has_whole) {
    parcel.reproducible = given.reproducible;
    for (std::size_t i = 0; i < Parcel::kTexts; ++i) parcel.lengths.at(i) = texts_of(given).at(i)->size();
    std::copy_n(whole.begin(), std::min(whole.size(), parcel.front.size()), parcel.front.begin());
  }
  check(PMPI_Bcast(&parcel, sizeof parcel, MPI_BYTE, 0, comm), "MPI_Bcast");
  constexpr std::uint64_t kMost = 1U << 30U;
  const std::uint64_t length = std::accumulate(parcel.lengths.begin(), parcel.lengths.end(), std::uint64_t{0});
  steps.run([&] {
    if (length > kMost) throw Error(Fault::kInput, "RANKTREE_COLL: a file of more than 1 GB");
    whole.resize(length);
    if (!root) std::copy_n(parcel.front.begin(), std::min(whole.size(), parcel.front.size()), whole.begin());
  });
  if (length > parcel.front.size()) {
    steps.agree();
    check(PMPI_Bcast(whole.data(), static_cast<int>(length), MPI_CHAR, 0, comm), "MPI_Bcast");
  }
  given.reproducible = parcel.reproducible;
  steps.run([&] {
    std::size_t begin = 0;
    for (std::size_t i = 0; i < Parcel::kTexts; ++i) {
      *texts_of(given).at(i) = whole.substr(begin, parcel.lengths.at(i));
      begin += parcel.lengths.at(i);
    }
  });
}

void understand(const Given& given, Settings& settings) {
  if (!given.error.empty()) throw Error(Fault::kInput, given.error);
  if (is_inline(given.rules)) {
    settings.wishes = wishes_from_text(given.rules);
  } else {
    settings.rules = io::read_rules(given.rules_bytes, given.rules);
  }
  if (!given.parameters.empty()) {
    settings.parameters = io::read_parameters(given.parameters_bytes, given.parameters).parameters;
  }
}

}  // namespace

bool is_inline(std::string_view text) {
  if (is_entry(text)) return true;
  const std::string_view word = text.substr(0, text.find_first_of(":; \t\n"));
  constexpr std::array<std::string_view, 6> kWords{"", "auto", "native", "messages", "shared", "levels"};
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

Wishes wishes_from_text(std::string_view text) {
  Wishes wishes;
  if (text.find_first_not_of(kSeparators) == std::string_view::npos) text = "auto";
  if (!is_entry(text)) {
    wish_for_all(text, wishes);
    return wishes;
  }
  for_each_entry(text, [&](std::string_view entry) {
    if (entry.starts_with("all=")) wish_for_all(entry.substr(4), wishes);
  });
  for_each_entry(text, [&](std::string_view entry) { wish_for(entry, wishes); });
  return wishes;
}

Settings agreed_settings(MPI_Comm comm, const Environment& own, const std::string& known) {
  int rank = 0;
  check(PMPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  Given given;
  LocalSteps steps(comm);
  steps.run([&] {
    given = given_by(own, rank == 0);
    given.known = known;
  });
  share_given(comm, rank == 0, given, steps);
  Settings settings;
  steps.run([&] {
    try {
      understand(given, settings);
    } catch (const Error& error) {
      settings = {};
      settings.message = std::string(error.what()) + "; all collectives stay native";
    }
  });
  settings.known = std::move(given.known);
  settings.reproducible = given.reproducible != 0;
  const bool own_differs = own.collectives != given.rules || own.parameters != given.parameters;
  std::array<int, 2> merged{steps.word(), own_differs ? 1 : 0};
  check(PMPI_Allreduce(MPI_IN_PLACE, merged.data(), merged.size(), MPI_INT, MPI_MAX, comm), "MPI_Allreduce");
  steps.require(merged[0]);
  if (merged[1] == 0) return settings;
  attempt_together(comm, [&] {
    if (settings.message.empty()) {
      settings.message = "RANKTREE_COLL or RANKTREE_COLL_PARAMETERS is not the same on all ranks: rank 0's counts";
    }
  });
  return settings;
}

}  // namespace ranktree::mpi::collect
