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
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "hw/place_here.h"
#include "mpi/check.h"
#include "mpi/gather.h"
#include "mpi/handle.h"
#include "mpi/reorder/calls.h"
#include "ranktree/mpi.h"

namespace {

using nlohmann::json;
using nlohmann::ordered_json;  // "format" comes first
namespace mpi = ranktree::mpi;

void require(int code) {
  if (code == MPI_SUCCESS) return;
  std::array<char, 1024> text{};
  int length = 0;
  ranktree_Comm_get_message(MPI_COMM_WORLD, text.data(), static_cast<int>(text.size()), &length);
  throw std::runtime_error(length > 0 ? text.data() : "error " + std::to_string(code));
}

json own_chain() {
  constexpr std::size_t kMost = 64;
  std::vector<std::array<char, RANKTREE_MAX_TYPE>> types(kMost);
  std::array<std::int64_t, kMost> ids{};
  int rank = 0;
  int levels = 0;
  mpi::check(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  require(ranktree_Comm_get_location(MPI_COMM_WORLD, rank, static_cast<int>(kMost), &levels,
                                     reinterpret_cast<char (*)[RANKTREE_MAX_TYPE]>(types.data()), ids.data()));
  json chain = json::array();
  for (std::size_t i = 0; i < static_cast<std::size_t>(levels) && i < kMost; ++i) {
    chain.push_back(json::array({types[i].data(), ids[i]}));
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
ordered_json outcome(MPI_Comm comm) {
  MPI_Info info = MPI_INFO_NULL;
  require(ranktree_Comm_get_info(comm, &info));
  ordered_json said = {{"format", "ranktree-reorder"},
                       {"version", 1},
                       {"mode", value_of(info, "ranktree_reorder")},
                       {"reason", value_of(info, "ranktree_reorder_reason")},
                       {"before", value_of(info, "ranktree_reorder_before")},
                       {"after", value_of(info, "ranktree_reorder_after")}};
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
  const json own = {
      {"host", ranktree::hw::host_here()}, {"pus", ranktree::hw::pus_here()}, {"chain", own_chain()}, {"new", rank}};
  const auto texts = mpi::gather_texts(MPI_COMM_WORLD, own.dump(-1, ' ', true, json::error_handler_t::replace), 0);
  ordered_json said = outcome(reordered.get());
  if (texts.empty()) return;
  said["ranks"] = ordered_json::array();
  for (const std::string& text : texts) said["ranks"].push_back(ordered_json::parse(text));
  std::printf("%s\n", said.dump().c_str());
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
