#include "mpi/split/fetch.h"

#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "core/split/chain.h"
#include "mpi/agree.h"
#include "mpi/check.h"
#include "mpi/exchange.h"
#include "mpi/handle.h"
#include "mpi/split/chains.h"

namespace ranktree::mpi {
namespace {

using core::split::Chain;

// As much of the row as there is chain.
Bytes bytes_of(const Chain& chain) {
  const ChainRow row = packed(chain);
  Bytes bytes((row[0] + 1) * sizeof row[0]);
  std::memcpy(bytes.data(), row.data(), bytes.size());
  return bytes;
}

Chain chain_of(const Bytes& bytes) {
  ChainRow row{};
  std::memcpy(row.data(), bytes.data(), std::min(bytes.size(), sizeof row));
  return unpacked(row);
}

}  // namespace

std::map<int, Chain> fetch_chains(MPI_Comm comm, const Chain& own, const std::set<int>& wanted) {
  Communicator alone;
  check(MPI_Comm_split(comm, 0, 0, alone.receive()), "MPI_Comm_split");
  std::map<int, Bytes> questions;
  attempt_together(alone.get(), [&] {
    for (const int other : wanted) questions.emplace(other, Bytes{});
  });
  const std::map<int, Bytes> asked = exchange_alone(alone.get(), questions);
  std::map<int, Bytes> answers;
  attempt_together(alone.get(), [&] {
    for (const auto& [asker, nothing] : asked) answers.emplace(asker, bytes_of(own));
  });
  const std::map<int, Bytes> told = exchange_alone(alone.get(), answers);
  std::map<int, Chain> chains;
  attempt_together(alone.get(), [&] {
    for (const auto& [other, bytes] : told) chains.emplace(other, chain_of(bytes));
  });
  return chains;
}

}  // namespace ranktree::mpi
