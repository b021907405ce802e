#include "mpi/split/chains.h"

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <tuple>
#include <vector>

#include "core/split/chain.h"
#include "mpi/agree.h"
#include "mpi/check.h"

namespace ranktree::mpi {
namespace {

using core::split::Chain;

}  // namespace

ChainRow packed(const Chain& chain) {
  ChainRow row{};
  row[0] = std::min(chain.size(), core::split::kMaxDepth);
  std::transform(chain.begin(), chain.begin() + static_cast<std::ptrdiff_t>(row[0]), row.begin() + 1,
                 core::split::code_of);
  return row;
}

Chain unpacked(const ChainRow& row) {
  Chain chain(row[0]);
  std::transform(row.begin() + 1, row.begin() + 1 + static_cast<std::ptrdiff_t>(row[0]), chain.begin(),
                 core::split::link_of);
  return chain;
}

std::vector<Chain> gather_chains(MPI_Comm comm, const Chain& own, int root) {
  int rank = 0;
  int size = 0;
  check(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  check(MPI_Comm_size(comm, &size), "MPI_Comm_size");
  constexpr int kLength = std::tuple_size_v<ChainRow>;
  const ChainRow row = packed(own);
  std::vector<ChainRow> rows;
  std::vector<Chain> chains;
  attempt_together(comm, [&] {
    if (rank != root) return;
    rows.resize(static_cast<std::size_t>(size));
    chains.reserve(rows.size());
  });
  // NOLINTNEXTLINE(mpi-type-mismatch): the check does not know the types of fixed length
  check(MPI_Gather(row.data(), kLength, MPI_UINT64_T, rows.data(), kLength, MPI_UINT64_T, root, comm), "MPI_Gather");
  attempt_together(comm, [&] { std::transform(rows.begin(), rows.end(), std::back_inserter(chains), unpacked); });
  return chains;
}

}  // namespace ranktree::mpi
