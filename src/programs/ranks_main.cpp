// An MPI program that prints where every rank of the launch really is, as JSON on rank 0's standard output.
//   {"format":"ranktree-ranks","version":1,"mpi":"...","hosts":[{"name":"n0","cores":[[0],[1]]}],
//    "ranks":[{"host":"n0","pus":[0]}]}
// With --version: the text of MPI_Get_library_version, without starting MPI.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <exception>
#include <set>
#include <string>
#include <vector>

#include "hw/place_here.h"
#include "io/json_object.h"
#include "mpi/check.h"
#include "mpi/gather.h"
#include "mpi/handle.h"

namespace {

namespace mpi = ranktree::mpi;
using ranktree::io::json_list;
using ranktree::io::json_text;
using ranktree::io::JsonObject;

std::string library_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  mpi::check(MPI_Get_library_version(text.data(), &length), "MPI_Get_library_version");
  std::string version(text.data(), static_cast<std::size_t>(length));
  std::replace(version.begin(), version.end(), '\t', ' ');
  return version.substr(0, version.find_first_of(std::string("\n\0", 2)));
}

// One rank of each shared-memory group describes its host, so that a large job does not send the same text many times.
bool describes_host() {
  mpi::Communicator host;
  mpi::check(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, host.receive()),
             "MPI_Comm_split_type");
  int rank = 0;
  mpi::check(MPI_Comm_rank(host.get(), &rank), "MPI_Comm_rank");
  return rank == 0;
}

// By rank, each value as JSON; `cores` is empty where another rank describes the host.
std::string report(const std::vector<std::string>& hosts, const std::vector<std::string>& pus,
                   const std::vector<std::string>& cores) {
  std::vector<std::string> descriptions;
  std::vector<std::string> ranks;
  std::set<std::string> described;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    if (!cores[i].empty() && described.insert(hosts[i]).second) {
      descriptions.push_back(JsonObject().add_json("name", hosts[i]).add_json("cores", cores[i]).text());
    }
    ranks.push_back(JsonObject().add_json("host", hosts[i]).add_json("pus", pus[i]).text());
  }
  return JsonObject()
      .add("format", "ranktree-ranks")
      .add("version", 1)
      .add("mpi", library_version())
      .add_json("hosts", json_list(descriptions))
      .add_json("ranks", json_list(ranks))
      .text();
}

void report_ranks() {
  mpi::return_errors();
  int rank = 0;
  mpi::check(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  const auto gather = [](const std::string& text) { return mpi::gather_texts(MPI_COMM_WORLD, text, 0); };
  const std::vector<std::string> hosts = gather(json_text(ranktree::hw::host_here()));
  const std::vector<std::string> pus = gather(json_text(ranktree::hw::pus_here()));
  const std::vector<std::string> cores = gather(describes_host() ? json_text(ranktree::hw::cores_here()) : "");
  if (rank == 0) std::printf("%s\n", report(hosts, pus, cores).c_str());
  // Before MPI_Finalize: some MPIs lose, or hold back, what is written later.
  std::fflush(stdout);
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
      report_ranks();
    } catch (const std::exception& error) {
      // The other ranks wait for this one.
      std::fprintf(stderr, "ranktree-ranks: %s\n", error.what());
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ranktree-ranks: %s\n", error.what());
    return 1;
  }
  return 0;
}
