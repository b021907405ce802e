#include "mpi/gather.h"

#include <mpi.h>

#include <climits>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "mpi/check.h"

namespace ranktree::mpi {

std::vector<std::string> gather_texts(MPI_Comm comm, std::string_view text, int root) {
  int rank = 0;
  int size = 0;
  check(PMPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  check(PMPI_Comm_size(comm, &size), "MPI_Comm_size");
  const std::size_t parts = rank == root ? static_cast<std::size_t>(size) : 0;
  const int length = static_cast<int>(text.size());
  std::vector<int> lengths(parts);
  check(PMPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, root, comm), "MPI_Gather");
  const auto total = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
  if (total > INT_MAX) throw core::Error(core::Fault::kUnsupported, "more than 2 GiB of text to gather at one rank");
  std::vector<int> offsets(parts);
  std::exclusive_scan(lengths.begin(), lengths.end(), offsets.begin(), 0);
  std::string all(static_cast<std::size_t>(total), '\0');
  check(PMPI_Gatherv(text.data(), length, MPI_CHAR, all.data(), lengths.data(), offsets.data(), MPI_CHAR, root, comm),
        "MPI_Gatherv");
  std::vector<std::string> texts;
  texts.reserve(parts);
  for (std::size_t i = 0; i < parts; ++i) {
    texts.emplace_back(all, static_cast<std::size_t>(offsets[i]), static_cast<std::size_t>(lengths[i]));
  }
  return texts;
}

}  // namespace ranktree::mpi
