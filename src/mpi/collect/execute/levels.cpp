#include "mpi/collect/execute/levels.h"

#include <mpi.h>

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <list>
#include <memory>
#include <utility>
#include <vector>

#include "core/predict/choice.h"
#include "core/schedule/hierarchy.h"
#include "core/schedule/makers.h"
#include "core/schedule/schedule.h"
#include "mpi/agree.h"
#include "mpi/check.h"
#include "mpi/collect/call_kind.h"
#include "mpi/collect/context.h"
#include "mpi/collect/datatypes.h"
#include "mpi/collect/errors.h"
#include "mpi/collect/memory.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/requests/in_flight.h"
#include "mpi/collect/thread_state.h"
#include "mpi/collect/variant.h"
#include "mpi/handle.h"

namespace ranktree::mpi::collect {
namespace {

using core::schedule::Hierarchy;
using core::schedule::Rank;

constexpr std::size_t kMostSets = 4;

// The child that a rank is in, on each level.
std::vector<std::int32_t> path_of(const Hierarchy& hierarchy, Rank rank) {
  std::vector<std::int32_t> path(static_cast<std::size_t>(hierarchy.levels()));
  std::int32_t child = hierarchy.position_of(rank);
  for (int level = hierarchy.levels() - 1; level >= 0; --level) {
    path[static_cast<std::size_t>(level)] = child;
    child = hierarchy.group_of(level, child);
  }
  return path;
}

Rank lowest_of(const Hierarchy& hierarchy, int level, std::int32_t child) {
  return hierarchy.rank_at(hierarchy.first_position(level, child));
}

void make(LevelSet& set, MPI_Comm comm, const Hierarchy& hierarchy) {
  int rank = 0;
  check(PMPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  const std::vector<std::int32_t> own = path_of(hierarchy, rank);
  const std::vector<std::int32_t> roots = path_of(hierarchy, set.root);
  set.comms.resize(own.size());
  for (int level = 0; level < hierarchy.levels(); ++level) {
    const auto at = static_cast<std::size_t>(level);
    const std::int32_t group = hierarchy.group_of(level, own[at]);
    const Rank leader = own[at] == roots[at] ? set.root : lowest_of(hierarchy, level, own[at]);
    const bool with_root = hierarchy.group_of(level, roots[at]) == group;
    set.leaders.push_back(with_root ? roots[at] - hierarchy.first_child(level, group) : 0);
    check(PMPI_Comm_split(comm, leader == rank ? group : MPI_UNDEFINED, own[at], set.comms[at].receive()),
          "MPI_Comm_split");
    if (set.comms[at].get() == MPI_COMM_NULL) continue;
    check(PMPI_Comm_set_errhandler(set.comms[at].get(), MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  }
}

}  // namespace

const LevelSet& LevelCommunicators::get(Context& context, Rank groups, Rank root) {
  const MPI_Comm comm = context.comm();
  const Hierarchy& hierarchy = context.hierarchy(groups);
  const std::int32_t child = path_of(hierarchy, root).front();
  if (lowest_of(hierarchy, 0, child) == root) root = hierarchy.rank_at(0);
  const auto known = std::find_if(sets_.begin(), sets_.end(),
                                  [&](const LevelSet& set) { return set.groups == groups && set.root == root; });
  if (known != sets_.end()) {
    sets_.splice(sets_.begin(), sets_, known);
    if (known->made) known->leaders.front() = child;
    return sets_.front();
  }
  context.synchronise();
  std::list<LevelSet> added;  // on all ranks, or on none
  attempt_together(comm, [&] { added.emplace_front(); });
  sets_.splice(sets_.begin(), added);
  LevelSet& set = sets_.front();
  set.groups = groups;
  set.root = root;
  const Failure failure = share(comm, attempt([&] { make(set, comm, hierarchy); }));
  set.made = failure.error_class == MPI_SUCCESS;
  if (set.made) {
    set.leaders.front() = child;
  } else {
    set.comms.clear();
  }
  if (sets_.size() > kMostSets) sets_.pop_back();
  return set;
}

namespace {

using core::predict::Choice;
using core::schedule::Collective;
using core::schedule::Hierarchy;

// Memory for a reduction's operand, with the gaps of its type.
class OperandCopy {
 public:
  explicit OperandCopy(const Operation& o)
      : layout_(layout_of(o.receive.type)),
        ahead_(bytes_ahead(layout_.true_lower)),
        bytes_(static_cast<std::size_t>((o.receive.count - 1) * layout_.extent + layout_.true_extent)),
        memory_(allocate(std::max<std::size_t>(ahead_ + bytes_, 1))) {}
  [[nodiscard]] void* address() const { return memory_.get() + ahead_ - layout_.true_lower; }
  void take(const std::byte* operand) const {
    std::memcpy(memory_.get() + ahead_, operand + layout_.true_lower, bytes_);
  }

 private:
  TypeLayout layout_;
  std::size_t ahead_;
  std::size_t bytes_;
  Memory memory_;
};

// The collective calls of one level.
class Level {
 public:
  Level(const LevelSet& set, std::size_t level) : comm_(set.comms[level].get()), leader_(set.leaders[level]) {
    if (comm_ != MPI_COMM_NULL) check_own(PMPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
  }
  [[nodiscard]] bool takes_part() const { return comm_ != MPI_COMM_NULL; }
  [[nodiscard]] bool leads() const { return rank_ == leader_; }

  void broadcast(void* buffer, const Operation::Side& side) const {
    check_own(PMPI_Bcast(buffer, static_cast<int>(side.count), side.type, leader_, comm_), "MPI_Bcast");
  }
  // Into `sum` of its leader, which may be its own operand. MPICH 4.0 crashes on large ones in place at other ranks
  // than 0.
  void reduce(const void* from, void* sum, const Operation& o) const {
    if (!leads() || sum == nullptr) return reduce_into(nullptr, from, o);
    if (from != sum) return reduce_into(sum, from, o);
    if (leader_ == 0) return reduce_into(sum, MPI_IN_PLACE, o);
    const OperandCopy copy(o);
    copy.take(static_cast<const std::byte*>(sum));
    reduce_into(sum, copy.address(), o);
  }
  void allreduce(const void* from, void* into, const Operation& o) const {
    const auto count = static_cast<int>(o.receive.count);
    check_own(PMPI_Allreduce(from, into, count, o.receive.type, o.op, comm_), "MPI_Allreduce");
  }
  void barrier() const { check_own(PMPI_Barrier(comm_), "MPI_Barrier"); }

 private:
  void reduce_into(void* into, const void* from, const Operation& o) const {
    const auto count = static_cast<int>(o.receive.count);
    check_own(PMPI_Reduce(from, into, count, o.receive.type, o.op, leader_, comm_), "MPI_Reduce");
  }

  MPI_Comm comm_;
  int leader_;
  int rank_ = -1;
};

class LevelRunning : public Running {
 public:
  LevelRunning(std::shared_ptr<Context> context, const Operation& operation, const Choice& choice)
      : context_(std::move(context)), operation_(operation), choice_(choice) {}

  bool progress() override {
    if (!std::exchange(done_, true)) run();
    return true;
  }

 private:
  void run();
  // Up to `outermost`; returns where the sum of this rank's group is.
  void reduce(std::size_t outermost, void* sum);
  void down(std::size_t outermost) {
    for (std::size_t level = outermost; level < set_->comms.size(); ++level) {
      const Level on(*set_, level);
      if (on.takes_part()) on.broadcast(operation_.receive.buffer, operation_.receive);
    }
  }
  void reduce_to_root();
  void barrier();

  std::shared_ptr<Context> context_;
  Operation operation_;
  Choice choice_;
  const LevelSet* set_ = nullptr;
  bool done_ = false;
};

void LevelRunning::run() {
  const bool rooted = operation_.collective == Collective::kBroadcast || operation_.collective == Collective::kReduce;
  set_ = &context_->levels().get(*context_, choice_.groups, rooted ? operation_.root : 0);
  if (!set_->made) {
    // On our communicator: the operation's own may be gone, and its error handler is called where the error is read.
    operation_.comm = context_->comm();
    check_own(native(operation_), "a collective");
  } else if (operation_.collective == Collective::kBroadcast) {
    down(0);
  } else if (operation_.collective == Collective::kReduce) {
    reduce_to_root();
  } else if (operation_.collective == Collective::kAllreduce) {
    reduce(0, operation_.receive.buffer);
    down(1);
  } else {
    barrier();
  }
}

// The first call has the operand, later ones what has been summed so far.
void LevelRunning::reduce(std::size_t outermost, void* sum) {
  const void* from = operation_.send.buffer == MPI_IN_PLACE ? sum : operation_.send.buffer;
  for (std::size_t level = set_->comms.size(); level-- > outermost;) {
    const Level on(*set_, level);
    if (!on.takes_part()) return;
    if (level == 0 && operation_.collective == Collective::kAllreduce) {
      on.allreduce(from == sum ? MPI_IN_PLACE : from, sum, operation_);
    } else {
      on.reduce(from, sum, operation_);
    }
    from = sum;
  }
}

// Leaders that are not the root have no buffer for their groups' sums.
void LevelRunning::reduce_to_root() {
  if (context_->rank() == operation_.root) return reduce(0, operation_.receive.buffer);
  const Level innermost(*set_, set_->comms.size() - 1);
  if (!innermost.leads()) return reduce(0, nullptr);
  reduce(0, OperandCopy(operation_).address());
}

void LevelRunning::barrier() {
  const std::size_t levels = set_->comms.size();
  for (std::size_t level = levels; level-- > 0;) {
    const Level on(*set_, level);
    if (on.takes_part()) on.barrier();
  }
  for (std::size_t level = 1; level < levels; ++level) {
    const Level on(*set_, level);
    if (on.takes_part()) on.barrier();
  }
}

}  // namespace

bool can_level(Context& context, const Operation& operation, const Choice& choice) {
  const bool known = takes_segments(operation.collective) || operation.collective == Collective::kBarrier;
  if (!known || choice.groups < 0 || choice.groups > context.size()) return false;
  // Counts are MPI's ints here, and what one rank's holds all ranks' must: bytes are equal on all, and no fewer.
  const std::int64_t bytes = message_bytes(operation, context.rank() == operation.root, thread_state().types);
  if (operation.collective != Collective::kBarrier && (bytes == 0 || bytes > INT_MAX)) return false;
  const Hierarchy& hierarchy = context.hierarchy(choice.groups);
  if (hierarchy.levels() == 1) return false;
  if (!reduces(operation)) return true;
  if (!can_reduce(operation.op, operation.receive.type)) return false;
  const TypeLayout layout = layout_of(operation.receive.type);
  return layout.extent >= layout.true_extent && layout.extent > 0 &&
         (hierarchy.in_rank_order() || is_commutative(operation.op));
}

std::unique_ptr<Running> start_levels(const std::shared_ptr<Context>& context, const Operation& operation,
                                      const Choice& choice) {
  return std::make_unique<LevelRunning>(context, operation, choice);
}

}  // namespace ranktree::mpi::collect
