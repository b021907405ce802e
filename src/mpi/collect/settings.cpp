#include "mpi/collect/settings.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/predict/wishes.h"
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
    if (!core::predict::is_inline(given.rules)) given.rules_bytes = io::read_file(given.rules);
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
  if (core::predict::is_inline(given.rules)) {
    try {
      settings.wishes = core::predict::wishes_from_text(given.rules);
    } catch (const Error& error) {
      throw Error(Fault::kInput, std::string("RANKTREE_COLL: ") + error.what());
    }
  } else {
    settings.rules = io::read_rules(given.rules_bytes, given.rules);
  }
  if (!given.parameters.empty()) {
    settings.parameters = io::read_parameters(given.parameters_bytes, given.parameters).parameters;
  }
}

}  // namespace

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
