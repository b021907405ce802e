#include "mpi/guard.h"

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <utility>

#include "mpi/agree.h"
#include "mpi/attribute.h"
#include "mpi/check.h"
#include "mpi/own_world.h"

namespace ranktree::mpi {
namespace {

// MPICH has 8,192 codes at most and never frees one, so after a number of them errors return the class alone.
// MPICH 4.0.2 gives codes of its own classes unrelated texts: a code whose text does not come back as it was set is not
// used.
int code_with_text(const Failure& failure) noexcept {
  constexpr int kMostTexts = 1024;
  static std::atomic<int> texts{0};
  if (failure.text.empty() || texts.fetch_add(1) >= kMostTexts) return failure.error_class;
  int code = failure.error_class;
  char text[MPI_MAX_ERROR_STRING] = "";
  failure.text.view().copy(text, sizeof text - 1);
  if (PMPI_Add_error_code(failure.error_class, &code) != MPI_SUCCESS) return failure.error_class;
  char kept[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  const bool added = PMPI_Add_error_string(code, text) == MPI_SUCCESS &&
                     PMPI_Error_string(code, kept, &length) == MPI_SUCCESS && std::strcmp(text, kept) == 0;
  return added ? code : failure.error_class;
}

// Whose error handler serves calls without a communicator: MPI 4 has changed it.
#if MPI_VERSION >= 4
#define RANKTREE_WITHOUT_COMMUNICATOR MPI_COMM_SELF
#else
#define RANKTREE_WITHOUT_COMMUNICATOR MPI_COMM_WORLD
#endif

}  // namespace

void keep_message(MPI_Comm comm, std::string_view text) noexcept {
  try {
    Annotation annotation = get_annotation(comm);
    set_message(annotation, text);
    set_annotation(comm, std::move(annotation));
  } catch (...) {
    return;
  }
}

void keep_reason(MPI_Comm comm, int code) noexcept {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (PMPI_Error_string(code, text, &length) != MPI_SUCCESS) length = 0;
  keep_message(comm, std::string_view(text, static_cast<std::size_t>(length)));
}

int raise(MPI_Comm comm, const Failure& failure) noexcept {
  const int code = code_with_text(failure);
  if (comm != MPI_COMM_NULL) {
    keep_message(comm, failure.text.view());
    PMPI_Comm_call_errhandler(comm, code);
  } else if (world_exists()) {
    PMPI_Comm_call_errhandler(RANKTREE_WITHOUT_COMMUNICATOR, code);
  }
  return code;
}

void require_intracommunicator(MPI_Comm comm) {
  int inter = 0;
  check(PMPI_Comm_test_inter(comm, &inter), "MPI_Comm_test_inter");
  if (inter != 0) throw AgreedError(MPI_ERR_COMM, "comm: expected an intracommunicator, found an intercommunicator");
}

}  // namespace ranktree::mpi
