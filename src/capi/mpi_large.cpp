#include "capi/mpi_large.h"

#include <mpi.h>

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "capi/large_counts.h"
#include "capi/mpi_request.h"
#include "core/schedule/makers.h"
#include "mpi/agree.h"
#include "mpi/check.h"
#include "mpi/collect/call.h"
#include "mpi/collect/datatypes.h"
#include "mpi/collect/operation.h"
#include "mpi/guard.h"
#include "mpi/handle.h"
#include "ranktree/mpi_collect.h"

namespace ranktree::capi {
namespace {

using core::schedule::Collective;
using mpi::collect::Operation;
using Side = Operation::Side;

constexpr std::int64_t kPart = 1073741824;  // elements

// Which buffers the calling rank has, and of how many blocks. Also for intercommunicators, whose calls are passed
// through.
struct Roles {
  bool sends = false;
  bool receives = false;
  std::size_t blocks = 0;
};

// Blocks are those of the other group, except in a reduce_scatter: each group's result is scattered over the group.
Roles roles_between_groups(const Operation& operation) {
  int size = 0;
  if (operation.collective == Collective::kReduceScatter) {
    mpi::check(PMPI_Comm_size(operation.comm, &size), "MPI_Comm_size");
  } else {
    mpi::check(PMPI_Comm_remote_size(operation.comm, &size), "MPI_Comm_remote_size");
  }
  const bool root = operation.root == MPI_ROOT;
  const bool rooted = operation.collective == Collective::kGather || operation.collective == Collective::kScatter;
  if (!rooted) return {true, true, static_cast<std::size_t>(size)};
  const bool other = !root && operation.root != MPI_PROC_NULL;
  const bool gathers = operation.collective == Collective::kGather;
  return {gathers ? other : root, gathers ? root : other, static_cast<std::size_t>(size)};
}

Roles roles_of(const Operation& operation) {
  if (operation.comm == MPI_COMM_NULL) return {};
  int inter = 0;
  mpi::check(PMPI_Comm_test_inter(operation.comm, &inter), "MPI_Comm_test_inter");
  if (inter != 0) return roles_between_groups(operation);
  int rank = 0;
  int size = 0;
  mpi::check(PMPI_Comm_rank(operation.comm, &rank), "MPI_Comm_rank");
  mpi::check(PMPI_Comm_size(operation.comm, &size), "MPI_Comm_size");
  return {mpi::collect::sends(operation, rank), mpi::collect::receives(operation, rank),
          static_cast<std::size_t>(size)};
}

// An operation with counts of type int, and the lists and types it refers to.
class Narrowed {
 public:
  Narrowed(const Operation& given, const LargeLists& lists) : operation_(given) {
    const Roles roles = roles_of(given);
    const bool scatters = given.collective == Collective::kScatter;
    narrow(operation_.send, roles.sends, given.vector && scatters ? lists : LargeLists{}, roles.blocks);
    narrow(operation_.receive, roles.receives, given.vector && !scatters ? lists : LargeLists{}, roles.blocks);
  }

  [[nodiscard]] const Operation& operation() const { return operation_; }

 private:
  // Arguments that MPI ignores on a rank may have any value, but a count that does not fit into an int is replaced by
  // 0.
  void narrow(Side& side, bool significant, const LargeLists& lists, std::size_t blocks) {
    if (lists.counts != nullptr && significant) return narrow_lists(side, lists, blocks);
    if (side.count <= INT_MAX) return;
    if (!significant) {
      side.count = 0;
      return;
    }
    const std::int64_t factor = mpi::collect::reduces(operation_) ? 0 : common_factor({{side.count}}, INT_MAX);
    if (factor > 1) repeat(side, factor);
    if (factor > 1) side.count /= factor;
  }

  void narrow_lists(Side& side, const LargeLists& lists, std::size_t blocks) {
    const bool displaced = lists.displacements != nullptr;
    std::vector<std::int64_t> numbers(lists.counts, lists.counts + blocks);
    if (displaced) numbers.insert(numbers.end(), lists.displacements, lists.displacements + blocks);
    const std::int64_t factor = common_factor(numbers, INT_MAX);
    if (factor == 0 || (factor > 1 && mpi::collect::reduces(operation_))) {
      throw mpi::AgreedError(MPI_ERR_COUNT,
                             "counts and displacements: expected at most 2147483647, or a common divisor to "
                             "bring them below");
    }
    if (factor > 1) repeat(side, factor);
    lists_.reserve(numbers.size());
    for (const std::int64_t number : numbers) lists_.push_back(static_cast<int>(number / factor));
    const std::span<const int> all(lists_);
    side.counts = all.first(blocks);
    if (displaced) side.displacements = all.subspan(blocks);
  }

  // Replaces the side's type by one of `factor` consecutive elements.
  void repeat(Side& side, std::int64_t factor) {
    mpi::Datatype longer;
    mpi::check(PMPI_Type_contiguous(static_cast<int>(factor), side.type, longer.receive()), "MPI_Type_contiguous");
    mpi::check(PMPI_Type_commit(longer.receive()), "MPI_Type_commit");
    types_.push_back(std::move(longer));
    side.type = types_.back().get();
  }

  Operation operation_;
  std::vector<int> lists_;
  std::vector<mpi::Datatype> types_;
};

void* moved(void* buffer, std::int64_t bytes) {
  if (buffer == MPI_IN_PLACE) return buffer;
  // Also for MPI_BOTTOM, a null pointer.
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(buffer) + static_cast<std::uintptr_t>(bytes));
}

bool goes_in_parts(const Operation& operation) {
  return operation.receive.count > INT_MAX && operation.comm != MPI_COMM_NULL &&
         (operation.collective == Collective::kReduce || operation.collective == Collective::kAllreduce);
}

// All ranks have the same count, and therefore the same parts.
int call_in_parts(const Operation& whole) {
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  mpi::check(PMPI_Type_get_extent(whole.receive.type, &lower, &extent), "MPI_Type_get_extent");
  Operation part = whole;
  for (std::int64_t done = 0; done < whole.receive.count; done += part.receive.count) {
    part.receive.count = std::min(kPart, whole.receive.count - done);
    part.send.buffer = moved(whole.send.buffer, done * extent);
    part.receive.buffer = moved(whole.receive.buffer, done * extent);
    const int code = mpi::collect::call(part);
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

bool fits(const Operation& operation, const LargeLists& lists) {
  return lists.counts == nullptr && operation.send.count <= INT_MAX && operation.receive.count <= INT_MAX;
}

// Runs `body` on the operation in ints.
template <typename Body>
int narrowed(const Operation& operation, const LargeLists& lists, Body body) noexcept {
  try {
    return body(std::make_shared<const Narrowed>(operation, lists));
  } catch (const mpi::MpiError& error) {
    return error.code();
  } catch (...) {
    return mpi::raise(operation.comm, mpi::current_failure());
  }
}

}  // namespace

int call_large(const Operation& operation, const LargeLists& lists) noexcept {
  if (fits(operation, lists)) return mpi::collect::call(operation);
  return narrowed(operation, lists, [](const std::shared_ptr<const Narrowed>& made) {
    return goes_in_parts(made->operation()) ? call_in_parts(made->operation()) : mpi::collect::call(made->operation());
  });
}

int begin_large(const Operation& operation, const LargeLists& lists, ranktree_Request* request) noexcept {
  if (fits(operation, lists)) return begin(operation, request);
  return narrowed(operation, lists, [request](const std::shared_ptr<const Narrowed>& made) {
    return begin(made->operation(), request, made);
  });
}

int prepare_large(const Operation& operation, const LargeLists& lists, ranktree_Request* request) noexcept {
  if (fits(operation, lists)) return prepare(operation, request);
  return narrowed(operation, lists, [request](const std::shared_ptr<const Narrowed>& made) {
    return prepare(made->operation(), request, made);
  });
}

}  // namespace ranktree::capi
