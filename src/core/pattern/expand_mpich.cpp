// What MPICH 4.0 sends for built-in operations: its built-in generic selection (facts from
// maint/tuning/coll/mpir/generic.json of that release, which the library carries as text). tests/pattern/test_expand.py
// compares it with the library itself. All ranks are assumed to be on one level: node leaders are not modelled, because
// placement is about to choose the nodes.
#include <cstdint>

#include "core/pattern/expand_call.h"
#include "core/pattern/expand_exchange.h"
#include "core/pattern/expand_rabenseifner.h"
#include "core/pattern/expand_trees.h"
#include "core/pattern/pattern.h"

namespace ranktree::core::pattern::expansion {
namespace {

// The parts of a long broadcast are cut by bytes.
void bcast(const Call& call, const Sends& sends) {
  const Call by_bytes = with_bytes(call, call.bytes, 1);
  if (call.ranks < 8 || call.bytes <= 12288) return bcast_binomial_in_order(call, sends);
  if (is_power_of_two(call.ranks) && call.bytes <= 524288) return bcast_scatter_recursive_doubling(by_bytes, sends);
  bcast_scatter_ring(by_bytes, sends);
}

void reduce(const Call& call, const Sends& sends) {
  const bool binomial = call.bytes <= 2048 || elements(call) < power_of_two(call.ranks);
  (binomial ? reduce_binomial : reduce_rabenseifner_mpich)(call, sends);
}

void allreduce(const Call& call, const Sends& sends) {
  const bool doubling = call.bytes <= 8 || elements(call) < power_of_two(call.ranks);
  (doubling ? allreduce_recursive_doubling : allreduce_rabenseifner_mpich)(call, sends);
}

void allgather(const Call& call, const Sends& sends) {
  const std::int64_t bytes = whole(call.bytes, call.ranks);
  const bool doubling = is_power_of_two(call.ranks);
  if (bytes >= (doubling ? 524288 : 81920)) return allgather_ring(call, sends);
  (doubling ? allgather_recursive_doubling : allgather_bruck)(call, sends);
}

// Long blocks travel round the ring in pieces.
void allgatherv(const Call& call, const Sends& sends) {
  constexpr std::int64_t kPiece = 32768;
  const bool ring = whole(call.bytes, call.ranks) >= (is_power_of_two(call.ranks) ? 524288 : 81920);
  if (!ring) return allgather(call, sends);
  const double blocks = call.ranks - 1;
  const std::int64_t pieces = (call.bytes + kPiece - 1) / kPiece;
  for (Rank rank = 0; rank < call.ranks; ++rank) {
    sends.add(rank, (rank + 1) % call.ranks, static_cast<double>(call.bytes) * blocks,
              static_cast<double>(pieces) * blocks);
  }
}

void alltoall(const Call& call, const Sends& sends) {
  (call.ranks > 8 && call.bytes <= 256 ? alltoall_bruck : alltoall_direct)(call, sends);
}

void reduce_scatter(const Call& call, const Sends& sends) {
  (call.bytes < 524288 ? reduce_scatter_recursive_halving : reduce_scatter_pairwise)(call, sends);
}

Algorithm algorithm_of(Operation operation) {
  switch (operation) {
    case Operation::kBarrier:
      return barrier_dissemination;
    case Operation::kBcast:
      return bcast;
    case Operation::kReduce:
      return reduce;
    case Operation::kAllreduce:
      return allreduce;
    case Operation::kScan:
    case Operation::kExscan:
      return scan_recursive_doubling;
    case Operation::kGather:
      return gather_binomial;
    case Operation::kScatter:
      return scatter_binomial;
    case Operation::kAllgather:
      return allgather;
    case Operation::kAllgatherv:
      return allgatherv;
    case Operation::kAlltoall:
      return alltoall;
    case Operation::kReduceScatter:
    case Operation::kReduceScatterBlock:
      return reduce_scatter;
  }
  return nullptr;
}

}  // namespace

void expand_mpich(Operation operation, const Call& call, const Sends& sends) {
  const Algorithm algorithm = algorithm_of(operation);
  if (algorithm != nullptr) algorithm(call, sends);
}

}  // namespace ranktree::core::pattern::expansion
