// Collectives by ranktree. Where RANKTREE_COLL asks for it, the program's blocking collectives go to the chooser of
// libranktree_mpi_<mpi>, which lies beside this library and is opened when a communicator has called often enough; a
// call that the chooser leaves to the MPI costs a look into a table (docs/collect-preload.md).
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/schedule/makers.h"
#include "mpi/collect/call_kind.h"
#include "mpi/collect/operation.h"
#include "mpi/handle_slot.h"
#include "preload/next.h"

namespace ranktree::preload {

using core::schedule::Collective;
using mpi::collect::Operation;
using mpi::collect::Shortcuts;

// What is kept with a communicator.
struct Member {
  Shortcuts* shortcuts = nullptr;  // once it is served
  std::uint32_t waiting = 0;       // calls until ranktree is asked; 0 once it was
  int rank = 0;
  int size = 0;
};

// Of a cache from handles to members. A slot holds when its generation is the present one: freeing a communicator,
// whose handle may come back for another, starts a new one. Generations begin at 1, so that a fresh slot never matches.
struct MemberSlot {
  MPI_Comm comm;
  std::uint32_t generation;
  Member* member;
};
inline constexpr unsigned kMemberSlots = 32;

// Messages of 2 GiB and more are the MPI's: their counts may exceed an int, on one rank and not on another.
inline constexpr std::size_t kLargestServed = 31;

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): the wrappers have no other place for it
extern constinit std::atomic<bool> serving;  // decided in MPI_Init
extern constinit std::atomic<std::uint32_t> generation;
extern constinit thread_local bool inside __attribute__((tls_model("initial-exec")));
extern constinit thread_local std::array<MemberSlot, kMemberSlots> slots __attribute__((tls_model("initial-exec")));
extern constinit thread_local mpi::collect::TypeSizes types __attribute__((tls_model("initial-exec")));
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

// What is called within is not the program's: by ranktree, by the MPI itself, by another tool.
class Inside {
 public:
  Inside() noexcept { inside = true; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  Inside(Inside&&) = delete;
  Inside& operator=(Inside&&) = delete;
  ~Inside() { inside = false; }
};

// Called when MPI has been initialised, on every rank: rank 0 says whether anything is to be served. `provided`: what
// the MPI gave where it was asked for MPI_THREAD_MULTIPLE.
void decide(int provided) noexcept;

// The communicator's, made at its first call; null where it cannot be had.
Member* find_member(MPI_Comm comm, MemberSlot& slot) noexcept;

// Collective over a communicator that has called often enough: whether all ranks can be served, and what it needs.
void ask(MPI_Comm comm, Member& member) noexcept;

// By ranktree. Returns MPI's code.
int call(const Operation& operation) noexcept;

// A call that was left to the MPI has failed. Where this rank finds its arguments wrong it was none: other ranks may
// not have made it, and what is decided together is decided at calls that all have made.
void take_back_wrong(Member& member, const Operation& operation) noexcept;

inline Member* member_of(MPI_Comm comm) noexcept {
  MemberSlot& slot = slots[mpi::slot_of<kMemberSlots>(comm)];
  if (slot.comm == comm && slot.generation == generation.load(std::memory_order_relaxed)) [[likely]]
    return slot.member;
  return find_member(comm, slot);
}

// Whether a call is the MPI's own, and that it is made.
inline bool is_the_mpis(Member& member, const Operation& operation) noexcept {
  if (member.shortcuts == nullptr) {
    if (member.waiting == 0 || !mpi::collect::arguments_are_right(operation, member.rank, member.size)) return true;
    --member.waiting;
    if (member.waiting > 0) return true;
    ask(operation.comm, member);
    if (member.shortcuts == nullptr) return true;
  }
  const mpi::collect::Kind kind = mpi::collect::kind_of(operation, member.rank, types);
  if (kind.size > kLargestServed) return true;
  return mpi::collect::is_left_to_mpi(operation.collective, kind, *member.shortcuts);
}

// One call of the program.
template <typename Next, typename Describe, typename... Arguments>
inline int serve(MPI_Comm comm, Next next, Describe describe, Arguments... arguments) {
  if (!serving.load(std::memory_order_relaxed) || inside || comm == MPI_COMM_NULL) return next(arguments...);
  const Inside within;
  Member* const member = member_of(comm);
  if (member == nullptr) return next(arguments...);
  // Described anew each time, so that nothing of it need exist where little is asked of it.
  if (!is_the_mpis(*member, describe(*member))) return call(describe(*member));
  const int code = next(arguments...);
  if (code != MPI_SUCCESS) [[unlikely]]
    take_back_wrong(*member, describe(*member));
  return code;
}

// A list that has an entry for every rank.
inline std::span<const int> for_each_rank(const int* numbers, const Member& member) noexcept {
  return {numbers, static_cast<std::size_t>(member.size)};
}

}  // namespace ranktree::preload
