#include "mpi/split/chains.h"

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <span>

#include "core/split/chain.h"
#include "mpi/agree.h"
#include "mpi/exchange.h"

namespace ranktree::mpi {

using core::split::Chain;

ChainRow packed(const Chain& chain) {
  ChainRow row{};
  row[0] = std::min(chain.size(), core::split::kMaxDepth);
  std::transform(chain.begin(), chain.begin() + static_cast<std::ptrdiff_t>(row[0]), row.begin() + 1,
                 core::split::code_of);
  return row;
}

Chain unpacked(std::span<const std::uint64_t> row) {
  Chain chain(row[0]);
  std::transform(row.begin() + 1, row.begin() + 1 + static_cast<std::ptrdiff_t>(row[0]), chain.begin(),
                 core::split::link_of);
  return chain;
}

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

std::map<int, Chain> fetch_chains(MPI_Comm comm, const Chain& own, const std::set<int>& wanted) {
  Mailbox mailbox(comm);
  LocalSteps steps(comm);
  Messages messages;
  steps.run([&] {
    for (const int other : wanted) messages[other];
  });
  const Messages requests = exchange(mailbox, steps, messages);
  messages.clear();
  steps.run([&] {
    for (const auto& [rank, nothing] : requests) messages.emplace(rank, bytes_of(own));
  });
  const Messages answers = exchange(mailbox, steps, messages);
  std::map<int, Chain> chains;
  steps.run([&] {
    for (const auto& [rank, bytes] : answers) chains.emplace(rank, chain_of(bytes));
  });
  steps.agree();
  return chains;
}

}  // namespace ranktree::mpi
