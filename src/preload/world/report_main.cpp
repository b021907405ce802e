// Started as an MPI program in place of the user's: what a recorded pattern would change about the order of the ranks,
// as JSON on rank 0's standard output. ranktree-reorder-<mpi> PATTERN METRIC [KEY=VALUE ...], the words being those of
// RANKTREE_REORDER_INFO.
//   {"format":"ranktree-reorder","version":1,"mode":"central","reason":"","before":"12","after":"7",
//    "ranks":[{"host":"n0","pus":[0],"chain":[["Node",0],["Core",1]],"new":3}]}
#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "hw/place_here.h"
#include "io/json_object.h"
#include "mpi/check.h"
#include "mpi/gather.h"
#include "mpi/handle.h"
#include "mpi/reorder/calls.h"
#include "ranktree/mpi.h"

namespace {

namespace mpi = ranktree::mpi;
using ranktree::io::JsonObject;

void require(int code) {
  if (code == MPI_SUCCESS) return;
  std::array<char, 1024> text{};
  int length = 0;
  ranktree_Comm_get_message(MPI_COMM_WORLD, text.data(), static_cast<int>(text.size()), &length);
  throw std::runtime_error(length > 0 ? text.data() : "error " + std::to_string(code));
}

std::vector<std::pair<std::string, std::int64_t>> own_chain() {
  constexpr std::size_t kMost = 64;
  std::vector<std::array<char, RANKTREE_MAX_TYPE>> types(kMost);
  std::array<std::int64_t, kMost> ids{};
  int rank = 0;
  int levels = 0;
  mpi::check(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  require(ranktree_Comm_get_location(MPI_COMM_WORLD, rank, static_cast<int>(kMost), &levels,
                                     reinterpret_cast<char (*)[RANKTREE_MAX_TYPE]>(types.data()), ids.data()));
  std::vector<std::pair<std::string, std::int64_t>> chain;
  for (std::size_t i = 0; i < static_cast<std::size_t>(levels) && i < kMost; ++i) {
    chain.emplace_back(types[i].data(), ids[i]);
  }
  return chain;
}

std::string value_of(MPI_Info info, const char* key) {
  std::array<char, 256> value{};
  int found = 0;
  mpi::check(MPI_Info_get(info, key, static_cast<int>(value.size()) - 1, value.data(), &found), "MPI_Info_get");
  return found != 0 ? value.data() : "";
}

// The result that the library reports.
JsonObject outcome(MPI_Comm comm) {
  MPI_Info info = MPI_INFO_NULL;
  require(ranktree_Comm_get_info(comm, &info));
  JsonObject said;
  said.add("format", "ranktree-reorder")
      .add("version", 1)
      .add("mode", value_of(info, "ranktree_reorder"))
      .add("reason", value_of(info, "ranktree_reorder_reason"))
      .add("before", value_of(info, "ranktree_reorder_before"))
      .add("after", value_of(info, "ranktree_reorder_after"));
  mpi::check(MPI_Info_free(&info), "MPI_Info_free");
  return said;
}

MPI_Info keys(const std::vector<std::string>& words) {
  MPI_Info info = MPI_INFO_NULL;
  mpi::check(MPI_Info_create(&info), "MPI_Info_create");
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) throw std::runtime_error(word + ": expected key=value");
    mpi::check(MPI_Info_set(info, word.substr(0, equals).c_str(), word.substr(equals + 1).c_str()), "MPI_Info_set");
  }
  return info;
}

void report(const std::string& pattern, const std::string& metric, const std::vector<std::string>& words) {
  mpi::return_errors();
  int rank = 0;
  int size = 0;
  mpi::check(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  mpi::check(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size");
  const mpi::RecordedGraph graph = mpi::read_pattern(pattern.c_str(), metric.c_str(), rank, size);
  std::vector<double> weights(graph.weights.begin(), graph.weights.end());
  if (weights.empty()) weights.push_back(0);  // no weights at all would count every edge once
  MPI_Info info = keys(words);
  mpi::Communicator reordered;
  require(ranktree_Comm_reorder(MPI_COMM_WORLD, static_cast<int>(graph.sources.size()), graph.sources.data(),
                                graph.degrees.data(), graph.destinations.data(), weights.data(), info, &rank,
                                reordered.receive()));
  mpi::check(MPI_Info_free(&info), "MPI_Info_free");
  JsonObject own;
  own.add("host", ranktree::hw::host_here()).add("pus", ranktree::hw::pus_here()).add("chain", own_chain());
  const auto ranks = mpi::gather_texts(MPI_COMM_WORLD, own.add("new", rank).text(), 0);
  JsonObject said = outcome(reordered.get());
  if (ranks.empty()) return;
  std::printf("%s\n", said.add_json("ranks", ranktree::io::json_list(ranks)).text().c_str());
  // Before MPI_Finalize: some MPIs lose, or hold back, what is written later.
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc < 3) throw std::runtime_error("needs PATTERN METRIC [KEY=VALUE ...]");
    const std::vector<std::string> words(argv + 1, argv + argc);
    const mpi::Session session(&argc, &argv);
    try {
      report(words[0], words[1], {words.begin() + 2, words.end()});
    } catch (const std::exception& error) {
      // The other ranks wait for this one.
      std::fprintf(stderr, "ranktree-reorder: %s\n", error.what());
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ranktree-reorder: %s\n", error.what());
    return 1;
  }
  return 0;
}
