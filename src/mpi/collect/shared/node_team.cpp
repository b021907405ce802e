#include "mpi/collect/shared/node_team.h"

#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/shared/moving.h"
#include "core/shared/team.h"
#include "mpi/agree.h"
#include "mpi/check.h"
#include "mpi/collect/context.h"
#include "mpi/collect/process.h"
#include "mpi/collect/requests/in_flight.h"
#include "mpi/collect/shared/segment.h"
#include "mpi/simulated.h"

namespace ranktree::mpi::collect {
namespace {

using core::shared::Team;

// Of a node, for one communicator: 128 KiB cells up to about 60 ranks.
constexpr std::size_t kBudget = std::size_t{16} << 20U;
// Ahead of the team's memory: a rank that reads what the first rank has written here has mapped the same memory.
constexpr std::size_t kHead = 4096;

// Of a broadcast among ranks that run at the same time: the others copy one part while the root copies the next.
constexpr std::size_t kPartAtOnce = std::size_t{16} << 10U;

// The name of a segment, as the node's first rank sends it to the others and writes it into the segment; empty: there
// is none.
using Invitation = std::array<char, 64>;

Invitation invitation_to(const Segment& segment) {
  Invitation name{};
  if (segment.name().size() >= name.size()) return name;
  std::copy(segment.name().begin(), segment.name().end(), name.begin());
  std::memcpy(segment.memory().data(), name.data(), name.size());
  return name;
}

std::optional<Segment> accepted(const Invitation& name, std::size_t bytes) {
  if (name[0] == '\0') return std::nullopt;
  std::optional<Segment> segment = Segment::open(name.data(), bytes);
  if (segment && std::memcmp(segment->memory().data(), name.data(), name.size()) != 0) segment.reset();
  return segment;
}

class CallTurn final : public Turn {
 public:
  explicit CallTurn(core::shared::Call& call) : call_(call) {}

 private:
  bool advance() override { return call_.progress(); }
  core::shared::Call& call_;
};

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

NodeTeam::~NodeTeam() = default;

// Collective: when something fails on one rank alone, all ranks learn of it before any of them uses the memory.
std::unique_ptr<NodeTeam> NodeTeam::make(Context& context) {
  // Memory moves no simulated bytes.
  if (kRanksShareProcess || context.node_count() == context.size()) return nullptr;
  std::unique_ptr<NodeTeam> team;
  attempt_together(context.comm(), [&] {
    team.reset(new NodeTeam);
    team->find_members(context);
  });
  team->in_flight_ = &context.process().in_flight;
  team->node_comm_ = context.node_comm();
  const int node = context.node_of()[static_cast<std::size_t>(context.rank())];
  team->share_memory(static_cast<int>(team->members(node).size()));
  team->watch_processors();
  std::uint64_t least = team->team_ ? team->team_->cell() : 0;
  check(PMPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_UINT64_T, MPI_MIN, context.comm()), "MPI_Allreduce");
  if (team->segment_) team->segment_->forget_name();
  if (least == 0) return nullptr;
  team->least_cell_ = least;
  return team;
}

void NodeTeam::find_members(const Context& context) {
  members_.resize(static_cast<std::size_t>(context.node_count()));
  for (int rank = 0; rank < context.size(); ++rank) {
    std::vector<int>& members = members_[static_cast<std::size_t>(context.node_of()[static_cast<std::size_t>(rank)])];
    local_ranks_.push_back(static_cast<int>(members.size()));
    members.push_back(rank);
  }
  first_positions_.push_back(0);
  for (const std::vector<int>& members : members_) {
    first_positions_.push_back(first_positions_.back() + static_cast<int>(members.size()));
  }
  in_rank_order_ = std::is_sorted(context.node_of().begin(), context.node_of().end());
}

void NodeTeam::share_memory(int ranks) {
  int rank = 0;
  check(PMPI_Comm_rank(node_comm_, &rank), "MPI_Comm_rank");
  const std::size_t cell = Team::cell_within(kBudget, ranks);
  const std::size_t bytes = kHead + Team::bytes_for(ranks, cell);
  Invitation invitation{};
  [[maybe_unused]] const Failure unable = attempt([&] {
    if (rank == 0) segment_ = Segment::create(bytes);
    if (segment_) invitation = invitation_to(*segment_);
  });
  check(PMPI_Bcast(&invitation, sizeof(invitation), MPI_BYTE, 0, node_comm_), "MPI_Bcast");
  const Failure refused = attempt([&] {
    if (rank != 0) segment_ = accepted(invitation, bytes);
    if (segment_) team_ = std::make_unique<Team>(segment_->memory().subspan(kHead), rank, ranks, cell);
  });
  if (refused.error_class != MPI_SUCCESS) team_.reset();
}

// Spinning is for ranks that each have a processor: those that the ranks of the node may use are counted together.
void NodeTeam::watch_processors() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) CPU_ZERO(&allowed);
  check(PMPI_Allreduce(MPI_IN_PLACE, &allowed, sizeof(allowed), MPI_BYTE, MPI_BOR, node_comm_), "MPI_Allreduce");
  int ranks = 0;
  check(PMPI_Comm_size(node_comm_, &ranks), "MPI_Comm_size");
  may_spin_ = CPU_COUNT(&allowed) >= ranks;
  if (!team_) return;
  if (may_spin_) team_->set_part(kPartAtOnce);
  if (!may_spin_ && members_.size() == 1) team_->let_sleep(wake);
}

int NodeTeam::leader(int node, int root) const {
  const std::vector<int>& ranks = members(node);
  const auto local = static_cast<std::size_t>(local_rank(root));
  return local < ranks.size() && ranks[local] == root ? root : ranks.front();
}

void NodeTeam::enter(Turn& turn) {
  const std::lock_guard lock(mutex_);
  append(turn);
}

void NodeTeam::append(Turn& turn) {
  (last_ == nullptr ? first_ : last_->next_) = &turn;
  last_ = &turn;
}

// An operation's exception is thrown to the thread that waits for it, whichever thread drives it.
bool NodeTeam::advance(Turn& turn) noexcept {
  try {
    return turn.advance();
  } catch (...) {
    turn.failure_ = std::current_exception();
    return true;
  }
}

bool NodeTeam::progress(Turn& turn) {
  const std::lock_guard lock(mutex_);
  while (!turn.done_ && first_ != nullptr) {
    if (!advance(*first_)) return false;
    first_->done_ = true;
    first_ = first_->next_;
    if (first_ == nullptr) last_ = nullptr;
  }
  if (turn.failure_) std::rethrow_exception(turn.failure_);
  return turn.done_;
}

// Ranks that take turns on a processor do not help each other by yielding it for long: they sleep. Naps become longer
// while no wake comes, but stay short: a thread that naps delays what the MPI has to do for this rank.
void NodeTeam::wait(Turn& turn, Rest rest) {
  constexpr unsigned kSpins = 256;
  constexpr unsigned kTriesBetweenPokes = 16;
  constexpr std::chrono::microseconds kLongestNap(200);
  const bool sleeps = rest == Rest::kSleep && team_->may_sleep();
  std::chrono::microseconds nap(50);
  for (unsigned tries = 1; !progress(turn); ++tries) {
    const bool pokes = tries % kTriesBetweenPokes == 0;
    if (pokes) {
      poke();
      in_flight_->drive_all();
    }
    if (may_spin_ && tries < kSpins) {
      pause();
    } else if (!pokes || !sleeps || !in_flight_->empty()) {
      sched_yield();
    } else if (!sleep(nap)) {
      nap = std::min(2 * nap, kLongestNap);
      tries += kTriesBetweenPokes - 1;
    }
  }
}

// False once the time is over. Threads may have found different things to wait for: any one of them will do.
bool NodeTeam::sleep(std::chrono::microseconds most) {
  std::optional<core::shared::Awaited> awaited;
  {
    const std::lock_guard lock(mutex_);
    awaited = team_->awaited();
  }
  if (!awaited) return true;
  const Team::Word word = team_->announce_sleep(*awaited);
  return sleep_while(word.word, word.value, most);
}

void NodeTeam::leave(Turn& turn) noexcept {
  const std::lock_guard lock(mutex_);
  Turn* before = nullptr;
  for (Turn* one = first_; one != nullptr; before = one, one = one->next_) {
    if (one != &turn) continue;
    (before == nullptr ? first_ : before->next_) = one->next_;
    if (last_ == one) last_ = before;
    return;
  }
}

// Where nothing is before it, it is driven without joining what is in flight for as long as is soon over.
void NodeTeam::finish(core::shared::Call& call, Rest rest) {
  constexpr unsigned kSpins = 64;
  CallTurn turn(call);
  {
    const std::lock_guard lock(mutex_);
    if (first_ == nullptr) {
      if (call.progress()) return;
      for (unsigned tries = 1; may_spin_ && tries < kSpins; ++tries) {
        pause();
        if (call.progress()) return;
      }
    }
    append(turn);
  }
  try {
    wait(turn, rest);
  } catch (...) {
    leave(turn);
    throw;
  }
}

void NodeTeam::synchronise() {
  core::shared::Barrier barrier(*team_);
  finish(barrier, Rest::kYield);
}

// No message has the tag 0: where a probe finds one, MPIs make no progress.
void NodeTeam::poke() {
  int any = 0;
  check(PMPI_Iprobe(MPI_ANY_SOURCE, 0, node_comm_, &any, MPI_STATUS_IGNORE), "MPI_Iprobe");
}

}  // namespace ranktree::mpi::collect
