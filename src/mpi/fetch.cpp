#include "mpi/fetch.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>

#include "core/split/chain.h"
#include "mpi/check.h"
#include "mpi/exchange.h"
#include "mpi/handle.h"

namespace ranktree::mpi {
namespace {

using core::split::Chain;
using core::split::kMaxDepth;

// Its links' codes, outermost first.
Bytes pack(const Chain& chain) {
  std::array<std::uint64_t, kMaxDepth> codes{};
  const std::size_t depth = std::min(chain.size(), kMaxDepth);
  std::transform(chain.begin(), chain.begin() + static_cast<std::ptrdiff_t>(depth), codes.begin(),
                 core::split::code_of);
  Bytes packed(depth * sizeof codes[0]);
  std::memcpy(packed.data(), codes.data(), packed.size());
  return packed;
}

Chain unpack(const Bytes& packed) {
  std::array<std::uint64_t, kMaxDepth> codes{};
  std::memcpy(codes.data(), packed.data(), packed.size());
  Chain chain(packed.size() / sizeof codes[0]);
  std::transform(codes.begin(), codes.begin() + static_cast<std::ptrdiff_t>(chain.size()), chain.begin(),
                 core::split::link_of);
  return chain;
}

}  // namespace

std::map<int, Chain> fetch_chains(MPI_Comm comm, const Chain& own, const std::set<int>& wanted) {
  Communicator alone;
  check(MPI_Comm_split(comm, 0, 0, alone.receive()), "MPI_Comm_split");
  std::map<int, Bytes> questions;
  for (const int other : wanted) questions.emplace(other, Bytes{});
  std::map<int, Bytes> answers;
  for (const auto& [asker, nothing] : exchange_alone(alone.get(), questions)) answers.emplace(asker, pack(own));
  std::map<int, Chain> chains;
  for (const auto& [other, packed] : exchange_alone(alone.get(), answers)) chains.emplace(other, unpack(packed));
  return chains;
}

}  // namespace ranktree::mpi
