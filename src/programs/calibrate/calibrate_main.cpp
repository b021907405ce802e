// Started as an MPI program: measures what the cost models need, level by level, and prints it on one line of rank 0's
// standard output, as docs/reference/formats/parameters.md has it. --seconds S: about so long (default 10). --places:
// measures nothing; prints where ranks are:
//   {"format":"ranktree-places","version":1,"mpi":"...","machine":"n0","levels":["Node"],"colours":[[0,0,1,1]],
//    "nodes":[0,0,1,1]}
// With --version: the text of MPI_Get_library_version, without starting MPI.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "core/base/error.h"
#include "core/predict/parameters.h"
#include "core/schedule/hierarchy.h"
#include "hw/place_here.h"
#include "io/json_object.h"
#include "io/parameters_file.h"
#include "mpi/check.h"
#include "mpi/collect/context.h"
#include "mpi/handle.h"
#include "mpi/wait.h"
#include "programs/calibrate/levels.h"
#include "programs/calibrate/measure.h"

namespace {

namespace mpi = ranktree::mpi;
namespace core = ranktree::core;
using core::predict::LevelParameters;
using mpi::calibrate::MeasuredLevel;
using mpi::calibrate::Pair;
using mpi::collect::Context;

constexpr int kPairs = 2;  // measured on each level
constexpr double kMostSeconds = 60;

struct Options {
  double seconds = 10;
  bool places = false;
};

Options read_options(const std::vector<std::string>& words) {
  Options options;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--places") {
      options.places = true;
      continue;
    }
    if (words[i] != "--seconds" || i + 1 == words.size()) {
      throw core::Error(core::Fault::kInput, "expected --seconds S or --places, found '" + words[i] + "'");
    }
    const std::string& text = words[++i];
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), options.seconds);
    if (error != std::errc() || end != text.data() + text.size() || !(options.seconds > 0) ||
        options.seconds > kMostSeconds) {
      throw core::Error(core::Fault::kInput, "--seconds: expected a number above 0 and up to 60, found '" + text + "'");
    }
  }
  return options;
}

std::string library_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  mpi::check(MPI_Get_library_version(text.data(), &length), "MPI_Get_library_version");
  const std::string version(text.data(), static_cast<std::size_t>(length));
  return version.substr(0, version.find_first_of(std::string("\n\0", 2)));
}

// One line, flushed at once: some MPIs lose, or hold back, what is written later than MPI_Finalize.
void print(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

// The result of a pair's first rank, on all ranks.
LevelParameters shared(MPI_Comm comm, const LevelParameters& level, int root) {
  std::array<double, 5> numbers{level.latency, level.per_byte, level.overhead_send, level.overhead_receive, level.gap};
  mpi::check(PMPI_Bcast(numbers.data(), static_cast<int>(numbers.size()), MPI_DOUBLE, root, comm), "MPI_Bcast");
  return {.name = level.name,
          .latency = numbers[0],
          .per_byte = numbers[1],
          .overhead_send = numbers[2],
          .overhead_receive = numbers[3],
          .gap = numbers[4]};
}

// Pairs of one level may have different links: the most expensive one counts, since an operation waits for it.
LevelParameters more_expensive(const LevelParameters& a, const LevelParameters& b) {
  return {.name = a.name,
          .latency = std::max(a.latency, b.latency),
          .per_byte = std::max(a.per_byte, b.per_byte),
          .overhead_send = std::max(a.overhead_send, b.overhead_send),
          .overhead_receive = std::max(a.overhead_receive, b.overhead_receive),
          .gap = std::max(a.gap, b.gap)};
}

std::optional<LevelParameters> measure_level(const Context& context, const MeasuredLevel& level, double seconds) {
  std::optional<LevelParameters> found;
  for (const Pair& pair : level.pairs) {
    LevelParameters own;
    const bool mine = context.rank() == pair.first || context.rank() == pair.second;
    if (mine)
      own = mpi::calibrate::measure_pair(context.comm(), pair, seconds / static_cast<double>(level.pairs.size()));
    mpi::wait_for_all(context.comm());
    own.name = level.name;
    own = shared(context.comm(), own, pair.first);
    found = found ? more_expensive(*found, own) : own;
  }
  return found;
}

// Levels on which this launch has no pair of ranks get the values of the next one inside, or outside: other placements
// may need them.
std::vector<LevelParameters> complete(const std::vector<MeasuredLevel>& levels,
                                      const std::vector<std::optional<LevelParameters>>& measured) {
  std::vector<LevelParameters> all;
  for (std::size_t level = 0; level < levels.size(); ++level) {
    std::optional<LevelParameters> found = measured[level];
    for (std::size_t inner = level + 1; !found && inner < levels.size(); ++inner) {
      if (levels[inner].crosses == levels[level].crosses) found = measured[inner];
    }
    for (std::size_t outer = level; !found && outer-- > 0;) {
      if (levels[outer].crosses == levels[level].crosses) found = measured[outer];
    }
    if (!found) continue;
    found->name = levels[level].name;
    all.push_back(*found);
  }
  return all;
}

int ranks_of_fullest_node(const Context& context) {
  std::map<std::int32_t, int> ranks;
  int most = 0;
  for (const std::int32_t node : context.node_of()) most = std::max(most, ++ranks[node]);
  return most;
}

void measure_memory(const Context& context, core::predict::Parameters& parameters, double seconds) {
  mpi::calibrate::Rates rates;
  if (context.rank() == 0) rates = mpi::calibrate::measure_rates(seconds);
  mpi::wait_for_all(context.comm());
  mpi::Communicator node;
  mpi::check(PMPI_Comm_dup(context.node_comm(), node.receive()), "MPI_Comm_dup");
  const mpi::calibrate::SharedRates shared = mpi::calibrate::measure_shared(node.get(), seconds);
  mpi::wait_for_all(context.comm());
  parameters.reduce_per_byte = rates.reduce_per_byte;
  parameters.copy_per_byte = rates.copy_per_byte;
  parameters.shared_latency = shared.latency;
  parameters.shared_per_byte = shared.per_byte;
}

void calibrate(const Context& context, double seconds) {
  if (context.size() < 2) throw core::Error(core::Fault::kInput, "expected at least 2 ranks, found 1");
  const std::vector<MeasuredLevel> levels = mpi::calibrate::levels_of(context, kPairs);
  const auto used = std::count_if(levels.begin(), levels.end(), [](const auto& level) { return !level.pairs.empty(); });
  const double share = seconds / static_cast<double>(used + 2);
  ranktree::io::MeasuredParameters measured;
  measure_memory(context, measured.parameters, share);
  std::vector<std::optional<LevelParameters>> found;
  found.reserve(levels.size());
  for (const MeasuredLevel& level : levels) found.push_back(measure_level(context, level, share));
  if (context.rank() != 0) return;
  measured.parameters.levels = complete(levels, found);
  measured.machine = ranktree::hw::host_here();
  measured.mpi = library_version();
  measured.ranks = context.size();
  measured.nodes = context.node_count();
  measured.ranks_of_node = ranks_of_fullest_node(context);
  measured.pus_of_rank = static_cast<int>(ranktree::hw::pus_here().size());
  print(ranktree::io::json_line(ranktree::io::write_parameters(measured)));
}

// The groups of each given level by rank; levels that separate no ranks were left out, so their groups are those of the
// level outside them.
std::vector<std::vector<std::int32_t>> colours_of(const Context& context) {
  const core::schedule::Hierarchy& hierarchy = context.machine();
  std::vector<std::vector<std::int32_t>> colours;
  for (std::size_t given = 0; given < context.level_names().size(); ++given) {
    std::vector<std::int32_t> level(static_cast<std::size_t>(context.size()), 0);
    for (int rank = 0; rank < context.size(); ++rank) {
      std::int32_t child = hierarchy.position_of(rank);
      for (int inner = hierarchy.levels() - 1; inner >= 0; --inner) {
        if (static_cast<std::size_t>(hierarchy.given_level(inner)) <= given) break;
        child = hierarchy.group_of(inner, child);
      }
      level[static_cast<std::size_t>(rank)] = child;
    }
    colours.push_back(level);
  }
  return colours;
}

void print_places(const Context& context) {
  if (context.rank() != 0) return;
  print(ranktree::io::JsonObject()
            .add("format", "ranktree-places")
            .add("version", 1)
            .add("mpi", library_version())
            .add("machine", ranktree::hw::host_here())
            .add("levels", context.level_names())
            .add("colours", colours_of(context))
            .add("nodes", context.node_of())
            .text());
}

void work(const std::vector<std::string>& words) {
  const Options options = read_options(words);
  mpi::return_errors();
  const std::shared_ptr<Context> context = Context::of(MPI_COMM_WORLD);
  if (options.places) {
    print_places(*context);
  } else {
    calibrate(*context, options.seconds);
  }
  mpi::wait_for_all(context->comm());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc > 1 && std::strcmp(argv[1], "--version") == 0) {
      std::printf("%s\n", library_version().c_str());
      return 0;
    }
    const mpi::Session session(&argc, &argv);
    try {
      work({argv + 1, argv + argc});
    } catch (const std::exception& error) {
      std::fprintf(stderr, "ranktree-calibrate: %s\n", error.what());
      MPI_Abort(MPI_COMM_WORLD, 1);  // the other ranks wait for this one
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ranktree-calibrate: %s\n", error.what());
    return 1;
  }
  return 0;
}
