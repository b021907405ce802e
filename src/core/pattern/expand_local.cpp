#include "core/pattern/expand_local.h"

#include <algorithm>
#include <cstdint>

#include "core/pattern/expand.h"
#include "core/pattern/expand_call.h"
#include "core/pattern/expand_exchange.h"
#include "core/pattern/expand_trees.h"
#include "core/pattern/pattern.h"

namespace ranktree::core::pattern::expansion {
namespace {

// Root to all ranks, all ranks to the root, or all to all; a scan sends to all higher ranks.
void expand_flat(Operation operation, const Call& call, const Sends& sends) {
  const auto block = [&](std::int64_t bytes) { return with_bytes(call, bytes, call.element); };
  switch (operation) {
    case Operation::kBcast:
    case Operation::kScatter:
      return scatter_linear(call, sends);
    case Operation::kReduce:
    case Operation::kGather:
      return gather_linear(call, sends);
    case Operation::kReduceScatter:
    case Operation::kReduceScatterBlock:
      return alltoall_direct(block(call.bytes / call.ranks), sends);
    case Operation::kScan:
    case Operation::kExscan:
      for (Rank from = 0; from < call.ranks; ++from) {
        for (Rank to = from + 1; to < call.ranks; ++to) sends.add(from, to, static_cast<double>(call.bytes));
      }
      return;
    case Operation::kBarrier:
    case Operation::kAllreduce:
    case Operation::kAllgather:
    case Operation::kAllgatherv:
    case Operation::kAlltoall:
      return alltoall_direct(call, sends);
  }
}

// The size that represents calls of a mean size. A fractional mean indicates mixed sizes; it is rounded down to whole
// elements, so that it does not cross a power of two, where decisions change.
std::int64_t typical_bytes(double mean) {
  const auto below = static_cast<std::int64_t>(mean);
  if (mean == static_cast<double>(below) || below < 4) return mean > 0 ? std::max<std::int64_t>(below, 1) : 0;
  return below < 8 ? 4 : below / 8 * 8;
}

}  // namespace

std::int64_t likely_element(std::int64_t bytes) {
  for (const std::int64_t element : {8, 4, 2}) {
    if (bytes % element == 0) return element;
  }
  return 1;
}

MeanCall::MeanCall(const CollectiveCalls& record, Rank callers) : weight{.calls = record.calls / callers, .bytes = 0} {
  constexpr double kLargest = 9007199254740992;  // 2^53
  bytes = typical_bytes(std::min(record.bytes / record.calls, kLargest));
  if (bytes > 0) weight.bytes = record.bytes / callers / static_cast<double>(bytes);
}

void expand_local(CollectiveModel model, Operation operation, const Call& call, const Sends& sends) {
  if (call.ranks < 2 || (call.bytes == 0 && operation != Operation::kBarrier)) return;
  switch (model) {
    case CollectiveModel::kOpenMpi:
      return expand_openmpi(operation, call, sends);
    case CollectiveModel::kMpich:
      return expand_mpich(operation, call, sends);
    case CollectiveModel::kFlat:
      return expand_flat(operation, call, sends);
    case CollectiveModel::kNone:
      return;
  }
}

}  // namespace ranktree::core::pattern::expansion
