#include "preload/split.h"

#include <mpi.h>

#include <array>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "mpi/own_world.h"
#include "mpi/split/native_types.h"
#include "preload/call.h"
#include "preload/calls_library.h"
#include "preload/next.h"
#include "preload/process.h"
#include "ranktree/mpi.h"
#include "ranktree/paper.h"

namespace ranktree::preload {
namespace {

bool wanted() noexcept {
  static const bool is_wanted = [] {
    const char* value = std::getenv("RANKTREE_SPLIT");  // NOLINT(concurrency-mt-unsafe): read once
    return value != nullptr && std::string_view(value) == "1";
  }();
  return is_wanted;
}

// The functions of libranktree_mpi_<mpi>.
class Ours {
 public:
  static const Ours& instance() noexcept {
    static const Ours ours;
    return ours;
  }
  [[nodiscard]] bool complete() const noexcept { return complete_; }

  decltype(&ranktree_Comm_split_type) split_type = nullptr;
  decltype(&ranktree_Get_hw_resource_info) hw_resource_info = nullptr;
  decltype(&ranktree_Comm_hsplit_with_roots) hsplit_with_roots = nullptr;
  decltype(&ranktree_paper_get_hlevel_info) hlevel_info = nullptr;
  decltype(&ranktree_paper_get_min_hlevel) min_hlevel = nullptr;

 private:
  Ours() noexcept {
    shielded([this] {
      const CallsLibrary library("ranktree_Comm_split_type");
      if (!library.missing().empty()) {
        print_verbose(library.missing() + "; splits stay native");
        return;
      }
      complete_ = find(library, "ranktree_Comm_split_type", split_type) &&
                  find(library, "ranktree_Get_hw_resource_info", hw_resource_info) &&
                  find(library, "ranktree_Comm_hsplit_with_roots", hsplit_with_roots) &&
                  find(library, "ranktree_paper_get_hlevel_info", hlevel_info) &&
                  find(library, "ranktree_paper_get_min_hlevel", min_hlevel);
    });
  }

  template <typename Function>
  static bool find(const CallsLibrary& library, const char* name, Function& function) {
    if (library.find(name, function)) return true;
    print_verbose(std::string(RANKTREE_CALLS_LIBRARY) + " has no " + name + "; splits stay native");
    return false;
  }

  bool complete_ = false;
};

// Process sets are known to the MPI alone.
bool names_process_set(MPI_Info info) noexcept {
  if (info == MPI_INFO_NULL) return false;
  int length = 0;
  int flag = 0;
  return PMPI_Info_get_valuelen(info, "mpi_pset_name", &length, &flag) == MPI_SUCCESS && flag != 0;
}

bool is_intracommunicator(MPI_Comm comm) noexcept {
  int inter = 1;
  return comm != MPI_COMM_NULL && PMPI_Comm_test_inter(comm, &inter) == MPI_SUCCESS && inter == 0;
}

// Whether ranktree carries out a collective call: one rank requests it, and all ranks can. The ranks agree, since a
// rank that takes no part in a split (MPI_UNDEFINED) does not know the kind of split, and a library may be missing on
// one node only. On an intercommunicator, where they cannot agree, the call fails in either case.
bool all_ours(MPI_Comm comm, bool requested, bool possible) noexcept {
  if (!is_intracommunicator(comm)) return requested && possible;
  std::array<int, 2> votes{requested ? 1 : 0, possible ? 0 : 1};
  const int code = PMPI_Allreduce(MPI_IN_PLACE, votes.data(), static_cast<int>(votes.size()), MPI_INT, MPI_MAX, comm);
  return code == MPI_SUCCESS && votes[0] != 0 && votes[1] == 0;
}

// A call that neither the MPI nor ranktree implements.
int refuse(const char* name, MPI_Comm comm) noexcept {
  shielded([name] {
    print_verbose(std::string(name) + ": unknown to this MPI; ranktree implements it only with RANKTREE_SPLIT=1");
  });
  PMPI_Comm_call_errhandler(comm == MPI_COMM_NULL ? MPI_COMM_SELF : comm, MPI_ERR_UNSUPPORTED_OPERATION);
  return MPI_ERR_UNSUPPORTED_OPERATION;
}

// Hands a call on to the definition behind ours, where there is one.
template <typename Function, typename... Arguments>
int pass_on(const char* name, MPI_Comm comm, Function next, Arguments... arguments) noexcept {
  return next == nullptr ? refuse(name, comm) : next(arguments...);
}

// Those of another world may not: Open MPI 5 spawns processes without LD_PRELOAD.
bool all_may_vote(MPI_Comm comm) noexcept {
  return !is_intracommunicator(comm) || !mpi::world_exists() || mpi::is_within_own_world(comm);
}

}  // namespace

std::optional<int> split_by_machine(const Call& call, MPI_Comm comm, int split_type, int key, MPI_Info info,
                                    MPI_Comm* newcomm) noexcept {
  if (!call.outermost() || !wanted()) return {};
  if (!all_may_vote(comm)) return {};
  const auto type = mpi::our_type(split_type);
  const bool of_process_set = type == int{RANKTREE_COMM_TYPE_RESOURCE_GUIDED} && names_process_set(info);
  if (!all_ours(comm, type.has_value(), Ours::instance().complete() && !of_process_set)) return {};
  return Ours::instance().split_type(comm, type.value_or(split_type), key, info, newcomm);
}

namespace {

bool collective_is_ours(MPI_Comm comm) noexcept {
  return wanted() && all_may_vote(comm) && all_ours(comm, true, Ours::instance().complete());
}
bool local_is_ours() noexcept { return wanted() && Ours::instance().complete(); }

template <typename Next>
int get_hw_resource_info(Next next, MPI_Info* hw_info) noexcept {
  const Call call;
  if (call.outermost() && local_is_ours()) return Ours::instance().hw_resource_info(hw_info);
  return pass_on("MPI_Get_hw_resource_info", MPI_COMM_NULL, next(), hw_info);
}

// One of the paper's calls. Calls that ours makes are not the program's: the depth shows that to the wrappers.
template <auto member, typename Next, typename... Arguments>
int paper_call(bool collective, const char* name, Next next, MPI_Comm comm, Arguments... arguments) noexcept {
  {
    const Call call;
    const bool is_ours = collective ? collective_is_ours(comm) : local_is_ours();
    const auto ours = is_ours ? Ours::instance().*member : nullptr;
    if (ours != nullptr) return ours(comm, arguments...);
  }
  return pass_on(name, comm, next(), comm, arguments...);
}

}  // namespace
}  // namespace ranktree::preload

using ranktree::preload::Ours;
using ranktree::preload::paper_call;

#if RANKTREE_HAS_MPI_Get_hw_resource_info
RANKTREE_ENTRY int MPI_Get_hw_resource_info(MPI_Info* hw_info) {
  return ranktree::preload::get_hw_resource_info(RANKTREE_NEXT(MPI_Get_hw_resource_info), hw_info);
}

RANKTREE_ENTRY int PMPI_Get_hw_resource_info(MPI_Info* hw_info) {
  return ranktree::preload::get_hw_resource_info(RANKTREE_NEXT(PMPI_Get_hw_resource_info), hw_info);
}
#endif

RANKTREE_ENTRY int MPI_Comm_hsplit_with_roots(MPI_Comm oldcomm, MPI_Info info, MPI_Comm* newcomm, MPI_Comm* rootscomm) {
  return paper_call<&Ours::hsplit_with_roots>(
      true, "MPI_Comm_hsplit_with_roots", RANKTREE_NEXT(MPI_Comm_hsplit_with_roots), oldcomm, info, newcomm, rootscomm);
}

RANKTREE_ENTRY int MPI_Comm_get_hlevel_info(MPI_Comm comm, int* num_comms, int* index, char** type) {
  return paper_call<&Ours::hlevel_info>(false, "MPI_Comm_get_hlevel_info", RANKTREE_NEXT(MPI_Comm_get_hlevel_info),
                                        comm, num_comms, index, type);
}

RANKTREE_ENTRY int MPI_Comm_get_min_hlevel(MPI_Comm comm, int nranks, int* ranks, char** type) {
  return paper_call<&Ours::min_hlevel>(true, "MPI_Comm_get_min_hlevel", RANKTREE_NEXT(MPI_Comm_get_min_hlevel), comm,
                                       nranks, ranks, type);
}
