#include "preload/collect/serve.h"

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <string_view>
#include <utility>

#include "mpi/collect/call_kind.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/preload_abi.h"
#include "preload/collect/calls.h"
#include "preload/collect/nonblocking.h"
#include "preload/settings.h"

namespace ranktree::preload {

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): as in the header
constinit std::atomic<bool> serving{false};
constinit std::atomic<std::uint32_t> generation{1};
constinit thread_local bool inside = false;
constinit thread_local std::array<MemberSlot, kMemberSlots> slots{};
constinit thread_local mpi::collect::TypeSizes types{};
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

namespace {

// A communicator that calls less often than this never costs anything: a context is some hundred microseconds and two
// communicators, of which an MPI has some thousands.
constexpr std::uint32_t kFirstServedCall = 5;
constexpr int kMostServed = 256;  // communicators of a process at a time

// The first where reductions must have the same bits every time; decided in MPI_Init.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): as in the header
constinit std::atomic<std::uint32_t> first_served_call{kFirstServedCall};

int forget(MPI_Comm comm, int keyval, void* value, void* extra) noexcept;

// The key of the members' attributes. It exists while there is one: a program may end MPI's last session and begin
// another, in which an old key would mean something else. MPI is never called with the lock held, for MPI may hold its
// own when it calls forget().
class Members {
 public:
  static Members& instance() noexcept {
    static Members only;
    return only;
  }

  int acquire() noexcept {
    {
      const std::scoped_lock lock(mutex_);
      if (keyval_ != MPI_KEYVAL_INVALID) return ++users_, keyval_;
    }
    int fresh = MPI_KEYVAL_INVALID;
    if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &fresh, nullptr) != MPI_SUCCESS) {
      return MPI_KEYVAL_INVALID;
    }
    int keyval = MPI_KEYVAL_INVALID;
    {
      const std::scoped_lock lock(mutex_);
      if (keyval_ == MPI_KEYVAL_INVALID) keyval_ = std::exchange(fresh, MPI_KEYVAL_INVALID);
      ++users_;
      keyval = keyval_;
    }
    if (fresh != MPI_KEYVAL_INVALID) PMPI_Comm_free_keyval(&fresh);  // another thread was faster
    return keyval;
  }

  void release() noexcept {
    int last = MPI_KEYVAL_INVALID;
    {
      const std::scoped_lock lock(mutex_);
      if (--users_ == 0) last = std::exchange(keyval_, MPI_KEYVAL_INVALID);
    }
    if (last != MPI_KEYVAL_INVALID) PMPI_Comm_free_keyval(&last);
  }

  std::atomic<int> served{0};

 private:
  std::mutex mutex_;
  int keyval_ = MPI_KEYVAL_INVALID;
  long users_ = 0;
};

int forget(MPI_Comm /*comm*/, int /*keyval*/, void* value, void* /*extra*/) noexcept {
  const std::unique_ptr<Member> member(static_cast<Member*>(value));
  generation.fetch_add(1, std::memory_order_relaxed);
  if (member->shortcuts != nullptr) Members::instance().served.fetch_sub(1, std::memory_order_relaxed);
  Members::instance().release();
  return MPI_SUCCESS;
}

// Communicators with processes that MPI_Comm_spawn or MPI_Comm_connect have brought: theirs may have another setting.
bool within_own_world(MPI_Comm comm) noexcept {
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Group own = MPI_GROUP_NULL;
  MPI_Group outside = MPI_GROUP_NULL;
  int size = 1;
  if (PMPI_Comm_group(MPI_COMM_WORLD, &world) == MPI_SUCCESS && PMPI_Comm_group(comm, &own) == MPI_SUCCESS &&
      PMPI_Group_difference(own, world, &outside) == MPI_SUCCESS) {
    PMPI_Group_size(outside, &size);
  }
  for (MPI_Group* group : {&outside, &own, &world}) {
    if (*group != MPI_GROUP_NULL && *group != MPI_GROUP_EMPTY) PMPI_Group_free(group);
  }
  return size == 0;
}

// Several processes of one world, in one group: what is served at all. Equal on all ranks.
std::uint32_t calls_to_wait(MPI_Comm comm, Member& member) noexcept {
  int inter = 1;
  if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter != 0) return 0;
  if (PMPI_Comm_rank(comm, &member.rank) != MPI_SUCCESS || PMPI_Comm_size(comm, &member.size) != MPI_SUCCESS) return 0;
  return member.size > 1 && within_own_world(comm) ? first_served_call.load(std::memory_order_relaxed) : 0;
}

Member* make_member(MPI_Comm comm, int keyval) noexcept {
  std::unique_ptr<Member> member(new (std::nothrow) Member);
  if (!member) return nullptr;
  member->waiting = calls_to_wait(comm, *member);
  if (PMPI_Comm_set_attr(comm, keyval, member.get()) != MPI_SUCCESS) return nullptr;
  Members::instance().acquire();  // the attribute's own use, until forget()
  return member.release();
}

}  // namespace

void decide(int provided) noexcept {
  const Inside within;
  const bool own = is_set("RANKTREE_COLL");
  const bool same_bits =
      own && is_set("RANKTREE_REPRODUCIBLE") && std::string_view(setting("RANKTREE_REPRODUCIBLE")) != "0";
  const bool chosen = own && std::string_view(setting("RANKTREE_COLL")) != "native";
  const bool wants = chosen || same_bits;
  std::array<int, 3> wanted{wants ? 1 : 0, same_bits ? 1 : 0, wants && wants_nonblocking() ? 1 : 0};
  if (PMPI_Bcast(wanted.data(), 3, MPI_INT, 0, MPI_COMM_WORLD) != MPI_SUCCESS) return;
  first_served_call.store(wanted[1] != 0 ? 1 : kFirstServedCall, std::memory_order_relaxed);
  serving.store(wanted[0] != 0, std::memory_order_relaxed);
  if (wanted[2] != 0 && !serving_nonblocking.load(std::memory_order_relaxed)) begin_nonblocking(provided);
}

Member* find_member(MPI_Comm comm, MemberSlot& slot) noexcept {
  Members& members = Members::instance();
  const int keyval = members.acquire();
  if (keyval == MPI_KEYVAL_INVALID) return nullptr;
  const std::uint32_t present = generation.load(std::memory_order_relaxed);
  Member* member = nullptr;
  int found = 0;
  if (PMPI_Comm_get_attr(comm, keyval, static_cast<void*>(&member), &found) == MPI_SUCCESS) {
    if (found == 0) member = make_member(comm, keyval);
    if (member != nullptr) slot = {comm, present, member};
  }
  members.release();
  return member;
}

void ask(MPI_Comm comm, Member& member) noexcept {
  Members& members = Members::instance();
  const Calls& calls = Calls::instance();
  const bool complete = calls.call != nullptr && calls.shortcuts != nullptr;
  int able = complete && members.served.load(std::memory_order_relaxed) < kMostServed ? 1 : 0;
  if (PMPI_Allreduce(MPI_IN_PLACE, &able, 1, MPI_INT, MPI_MIN, comm) != MPI_SUCCESS) return;
  if (able == 0 || !complete) return;
  member.shortcuts = calls.shortcuts(comm);
  if (member.shortcuts == nullptr) return;
  members.served.fetch_add(1, std::memory_order_relaxed);
  static std::atomic<bool> told{false};
  if (member.rank == 0 && *member.shortcuts->message != '\0' && !told.exchange(true))
    say(kWhat, member.shortcuts->message);
}

int call(const Operation& operation) noexcept {
  const auto function = Calls::instance().call;
  return function == nullptr ? MPI_ERR_INTERN : function(&operation);
}

void take_back_wrong(Member& member, const Operation& operation) noexcept {
  if (member.shortcuts == nullptr) return;  // those are looked at before they count
  if (mpi::collect::arguments_are_right(operation, member.rank, member.size)) return;
  const mpi::collect::Kind kind = mpi::collect::kind_of(operation, member.rank, types);
  if (kind.size > kLargestServed) return;
  mpi::collect::take_back(operation.collective, kind, *member.shortcuts);
}

}  // namespace ranktree::preload
