#include "mpi/agree.h"

#include <mpi.h>

#include <array>
#include <climits>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <type_traits>

#include "core/base/error.h"
#include "core/split/summary.h"
#include "mpi/check.h"
#include "mpi/handle.h"
#include "mpi/text.h"

namespace ranktree::mpi {
namespace {

using core::split::Summary;
static_assert(std::is_trivially_copyable_v<Summary>, "summaries travel as bytes");

struct OperationTraits {
  using Raw = MPI_Op;
  static Raw null() { return MPI_OP_NULL; }
  static void free(Raw* raw) { PMPI_Op_free(raw); }
};

// MPI's buffers hold only the bytes that matter of each summary.
void merge_all(void* in, void* into, int* count, MPI_Datatype* type) noexcept {
  MPI_Aint start = 0;
  MPI_Aint extent = 0;
  PMPI_Type_get_extent(*type, &start, &extent);
  const auto bytes = static_cast<std::size_t>(extent);
  for (std::size_t i = 0; i < static_cast<std::size_t>(*count); ++i) {
    Summary other;
    Summary result;
    std::memcpy(static_cast<void*>(&other), static_cast<const std::byte*>(in) + i * bytes, bytes);
    std::memcpy(static_cast<void*>(&result), static_cast<const std::byte*>(into) + i * bytes, bytes);
    core::split::merge(other, result);
    std::memcpy(static_cast<std::byte*>(into) + i * bytes, &result, bytes);
  }
}

int class_of(core::Fault fault) {
  switch (fault) {
    case core::Fault::kInput:
    case core::Fault::kMismatch:
      return MPI_ERR_ARG;
    case core::Fault::kUnsupported:
      return MPI_ERR_UNSUPPORTED_OPERATION;
    case core::Fault::kSystem:
      return MPI_ERR_OTHER;
  }
  return MPI_ERR_INTERN;
}

}  // namespace

Failure current_failure() noexcept {
  try {
    throw;
  } catch (const AgreedError& error) {
    return {error.error_class(), Text(error.what())};
  } catch (const MpiError& error) {
    int error_class = MPI_ERR_OTHER;
    PMPI_Error_class(error.code(), &error_class);
    return {error_class, Text(error.what())};
  } catch (const core::Error& error) {
    return {class_of(error.fault()), Text(error.what())};
  } catch (const std::bad_alloc&) {
    return {MPI_ERR_NO_MEM, Text("out of memory")};
  } catch (const std::exception& error) {
    return {MPI_ERR_INTERN, Text(error.what())};
  } catch (...) {
    return {MPI_ERR_INTERN, Text("an unknown exception")};
  }
}

Failure share(MPI_Comm comm, const Failure& own) {
  static_assert(std::is_trivially_copyable_v<Failure>, "failures travel as bytes");
  int rank = 0;
  check(PMPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  const int mine = own.error_class != MPI_SUCCESS ? rank : INT_MAX;
  int first = INT_MAX;
  check(PMPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm), "MPI_Allreduce");
  if (first == INT_MAX) return {};
  Failure first_failure = own;
  check(PMPI_Bcast(&first_failure, static_cast<int>(sizeof first_failure), MPI_BYTE, first, comm), "MPI_Bcast");
  return first_failure;
}

void throw_together(MPI_Comm comm, const Failure& own) {
  const Failure failure = share(comm, own);
  if (failure.error_class != MPI_SUCCESS) throw AgreedError(failure);
}

LocalSteps::LocalSteps(MPI_Comm comm) : comm_(comm) {
  check(PMPI_Comm_rank(comm, &rank_), "MPI_Comm_rank");
  check(PMPI_Comm_size(comm, &size_), "MPI_Comm_size");
}

Failure LocalSteps::failure_of(int merged) const {
  Failure failure = failure_;
  check(PMPI_Bcast(&failure, static_cast<int>(sizeof failure), MPI_BYTE, size_ - merged, comm_), "MPI_Bcast");
  return failure;
}

void LocalSteps::agree() const {
  const int own = word();
  int merged = 0;
  check(PMPI_Allreduce(&own, &merged, 1, MPI_INT, MPI_MAX, comm_), "MPI_Allreduce");
  require(merged);
}

Summary agree(MPI_Comm comm, const Summary& own) {
  int size = 0;
  check(PMPI_Comm_size(comm, &size), "MPI_Comm_size");
  const std::size_t bytes = core::split::summary_bytes(size);
  Datatype type;
  check(PMPI_Type_contiguous(static_cast<int>(bytes), MPI_BYTE, type.receive()), "MPI_Type_contiguous");
  check(PMPI_Type_commit(type.receive()), "MPI_Type_commit");
  Handle<OperationTraits> operation;
  check(PMPI_Op_create(merge_all, 1, operation.receive()), "MPI_Op_create");
  Summary all;
  check(PMPI_Allreduce(&own, &all, 1, type.get(), operation.get(), comm), "MPI_Allreduce");
  return all;
}

Summary agree_or_throw(MPI_Comm comm, Summary own, const Failure& failure) {
  if (failure.error_class != MPI_SUCCESS) {
    own.fault.code = failure.error_class;
    check(PMPI_Comm_rank(comm, &own.fault.rank), "MPI_Comm_rank");
  }
  Summary all = agree(comm, own);
  if (all.fault.code != 0) {
    if (failure.error_class == all.fault.code) throw AgreedError(failure);
    std::array<char, 40> text{};
    std::snprintf(text.data(), text.size(), "rank %d failed", all.fault.rank);
    throw AgreedError(all.fault.code, text.data());
  }
  if (all.arguments_differ != 0) throw AgreedError(MPI_ERR_ARG, "expected the same arguments on all ranks");
  return all;
}

}  // namespace ranktree::mpi
