// The C side of the Fortran modules ranktree_collect_mpif and ranktree_collect_f08: one function for every collective
// of ranktree/mpi_collect.h, with Fortran's handles. Buffers are passed as addresses, so no compiler's array
// descriptors matter here. Not built for MPI's standard ABI, which has no Fortran handles.
#include <mpi.h>

#include <cstdint>

#include "capi/mpi_large.h"
#include "core/schedule/makers.h"
#include "mpi/agree.h"
#include "mpi/check.h"
#include "mpi/collect/operation.h"
#include "mpi/guard.h"
#include "ranktree/base.h"
#include "ranktree/mpi.h"

namespace collect = ranktree::mpi::collect;
namespace mpi = ranktree::mpi;

// The derived type ranktree_collect_call of Fortran. Fields that a collective does not have are 0.
// NOLINTNEXTLINE(readability-identifier-naming): a name of C's
struct ranktree_fortran_call {
  std::int32_t collective;          // its number in the module
  std::int32_t form;                // 0: blocking, 1: nonblocking, 2: persistent
  std::int32_t wide;                // not 0: lists are of MPI_Count and MPI_Aint
  std::int32_t contiguous_send;     // not 0: so is the memory of the buffer
  std::int32_t contiguous_receive;  // as well
  MPI_Fint comm;
  MPI_Fint root;
  MPI_Fint op;
  MPI_Fint sendtype;
  MPI_Fint recvtype;
  MPI_Fint info;  // has no hints yet
  std::int64_t sendcount;
  std::int64_t recvcount;
  void* sendbuf;
  void* recvbuf;
  const void* counts;
  const void* displacements;
};

namespace {

using ranktree::capi::LargeLists;
using ranktree::core::schedule::Collective;
using Call = ranktree_fortran_call;

enum class Form : std::uint8_t { kBlocking, kNonblocking, kPersistent };

// Numbered as in tools/generate_fortran.py: in the order of ranktree/mpi_collect.h.
enum class Name : std::uint8_t {
  kBcast,
  kReduce,
  kAllreduce,
  kBarrier,
  kGather,
  kGatherv,
  kScatter,
  kScatterv,
  kAllgather,
  kAllgatherv,
  kReduceScatter,
  kReduceScatterBlock,
  kAlltoall
};

// Fortran's addresses with a special meaning.
struct Sentinels {
  const void* in_place;
  const void* bottom;
  [[nodiscard]] void* in_c(void* buffer) const {
    if (buffer == in_place) return MPI_IN_PLACE;
    return buffer == bottom ? MPI_BOTTOM : buffer;
  }
};

LargeLists large_lists(const Call& call) {
  if (call.wide == 0) return {};
  return {static_cast<const MPI_Count*>(call.counts), static_cast<const MPI_Aint*>(call.displacements)};
}

collect::Lists lists_of(const Call& call) {
  if (call.wide != 0) return {};
  return {static_cast<const int*>(call.counts), static_cast<const int*>(call.displacements)};
}

// NOLINTBEGIN(readability-function-size): as many collectives as there are
collect::Operation operation_of(const Call& c, const Sentinels& sentinels) {
  void* const from = sentinels.in_c(c.sendbuf);
  void* const into = sentinels.in_c(c.recvbuf);
  const MPI_Comm comm = PMPI_Comm_f2c(c.comm);
  const collect::Lists lists = lists_of(c);
  const auto sent = [&c] { return PMPI_Type_f2c(c.sendtype); };
  const auto got = [&c] { return PMPI_Type_f2c(c.recvtype); };
  const auto op = [&c] { return PMPI_Op_f2c(c.op); };
  switch (static_cast<Name>(c.collective)) {
    case Name::kBcast:
      return collect::broadcast(into, c.recvcount, got(), c.root, comm);
    case Name::kReduce:
      return collect::reduce(from, into, c.recvcount, got(), op(), c.root, comm);
    case Name::kAllreduce:
      return collect::allreduce(from, into, c.recvcount, got(), op(), comm);
    case Name::kBarrier:
      return collect::barrier(comm);
    case Name::kGather:
      return collect::gather(from, c.sendcount, sent(), into, c.recvcount, got(), c.root, comm);
    case Name::kGatherv:
      return collect::gatherv(from, c.sendcount, sent(), into, lists, got(), c.root, comm);
    case Name::kScatter:
      return collect::scatter(from, c.sendcount, sent(), into, c.recvcount, got(), c.root, comm);
    case Name::kScatterv:
      return collect::scatterv(from, lists, sent(), into, c.recvcount, got(), c.root, comm);
    case Name::kAllgather:
      return collect::allgather(from, c.sendcount, sent(), into, c.recvcount, got(), comm);
    case Name::kAllgatherv:
      return collect::allgatherv(from, c.sendcount, sent(), into, lists, got(), comm);
    case Name::kReduceScatter:
      return collect::reduce_scatter(from, into, {lists.counts, nullptr}, got(), op(), comm);
    case Name::kReduceScatterBlock:
      return collect::reduce_scatter_block(from, into, c.recvcount, got(), op(), comm);
    case Name::kAlltoall:
      return collect::alltoall(from, c.sendcount, sent(), into, c.recvcount, got(), comm);
  }
  return collect::barrier(MPI_COMM_NULL);
}
// NOLINTEND(readability-function-size)

// The buffers that MPI reads or writes on the calling rank; the others may have any value.
struct Used {
  bool sent = true;
  bool received = true;
};

Used used(const collect::Operation& operation) {
  int inter = 0;
  int rank = 0;
  mpi::check(PMPI_Comm_test_inter(operation.comm, &inter), "MPI_Comm_test_inter");
  mpi::check(PMPI_Comm_rank(operation.comm, &rank), "MPI_Comm_rank");
  const bool root = operation.root == (inter != 0 ? MPI_ROOT : rank);
  const bool other = inter == 0 || (!root && operation.root != MPI_PROC_NULL);
  switch (operation.collective) {
    case Collective::kBroadcast:
      return {false, root || other};
    case Collective::kGather:
    case Collective::kReduce:
      return {other, root};
    case Collective::kScatter:
      return {root, other};
    default:
      return {};
  }
}

// Buffers that are used must be contiguous: the compiler would free its copy before the operation completes.
void require_memory(const Call& call, const collect::Operation& operation) {
  if ((call.contiguous_send != 0 && call.contiguous_receive != 0) || operation.comm == MPI_COMM_NULL) return;
  const Used sides = used(operation);
  if ((call.contiguous_send != 0 || !sides.sent) && (call.contiguous_receive != 0 || !sides.received)) return;
  throw mpi::AgreedError(MPI_ERR_BUFFER,
                         "buffer: expected contiguous memory, found an array section, which would be gone before the "
                         "operation has ended");
}

int check_memory(const Call& call, const collect::Operation& operation) noexcept {
  try {
    require_memory(call, operation);
    return MPI_SUCCESS;
  } catch (const mpi::MpiError& error) {
    return error.code();
  } catch (...) {
    return mpi::raise(operation.comm, mpi::current_failure());
  }
}

}  // namespace

extern "C" {

RANKTREE_API int ranktree_fortran_collect(const ranktree_fortran_call* call, const void* in_place, const void* bottom,
                                          ranktree_Request* request);
RANKTREE_API int ranktree_fortran_Comm_set_reproducible(MPI_Fint comm, int flag);

int ranktree_fortran_collect(const ranktree_fortran_call* call, const void* in_place, const void* bottom,
                             ranktree_Request* request) {
  const Sentinels sentinels{in_place, bottom};
  const collect::Operation operation = operation_of(*call, sentinels);
  if (const int code = check_memory(*call, operation); code != MPI_SUCCESS) return code;
  const LargeLists lists = large_lists(*call);
  switch (static_cast<Form>(call->form)) {
    case Form::kBlocking:
      return ranktree::capi::call_large(operation, lists);
    case Form::kNonblocking:
      return ranktree::capi::begin_large(operation, lists, request);
    case Form::kPersistent:
      return ranktree::capi::prepare_large(operation, lists, request);
  }
  return MPI_ERR_INTERN;
}

int ranktree_fortran_Comm_set_reproducible(MPI_Fint comm, int flag) {
  return ranktree_Comm_set_reproducible(PMPI_Comm_f2c(comm), flag);
}

}  // extern "C"
