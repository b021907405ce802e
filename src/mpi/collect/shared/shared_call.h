// A collective operation by shared memory inside nodes and messages across them, as one rank does it.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <limits>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "core/predict/choice.h"
#include "core/schedule/makers.h"
#include "core/schedule/schedule.h"
#include "core/shared/combining.h"
#include "core/shared/moving.h"
#include "core/shared/team.h"
#include "mpi/collect/context.h"
#include "mpi/collect/errors.h"
#include "mpi/collect/execute/buffers.h"
#include "mpi/collect/execute/execution.h"
#include "mpi/collect/execute/programs.h"
#include "mpi/collect/memory.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/shared/node_team.h"

namespace ranktree::mpi::collect {

// Segments in flight at a time, each with a tag of its own.
constexpr std::size_t kSegmentsAtOnce = 4;

// The part of a shared-memory operation that goes across nodes: a schedule of messages among the nodes' leaders,
// segment by segment, so that shared memory works on one segment while the next ones are in flight.
class Across {
 public:
  struct Task {
    core::schedule::Request request;  // nodes are its ranks
    core::schedule::Algorithm algorithm = core::schedule::Algorithm::kBinomial;
    std::int64_t segment = 0;          // elements; broadcast, reduce and allreduce only, 0 for everything at once
    int leading = 0;                   // the rank that leads its node in any case (NodeTeam::leader())
    const std::byte* input = nullptr;  // where the lowest byte of element 0 is
    std::byte* output = nullptr;
    Elements elements;
  };

  // On leaders only. The tags must not be used on the context's communicator meanwhile.
  Across(Context& context, Task task, const std::array<int, kSegmentsAtOnce>& tags);

  // So many elements at the beginning of the operand are there; fewer than all are of use to segments only.
  void allow(std::int64_t elements) { allowed_ = elements; }
  void allow_all() { allowed_ = std::numeric_limits<std::int64_t>::max(); }
  // Elements at the beginning of the result that are there.
  [[nodiscard]] std::int64_t completed() const;
  // True once all is done on this rank. Throws as Execution's does.
  bool progress();
  [[nodiscard]] const FirstError& errors() const { return errors_; }
  // As Execution's.
  [[nodiscard]] bool has_messages() const;

 private:
  [[nodiscard]] bool has_segments() const;
  [[nodiscard]] std::int64_t end_of(std::int64_t segment) const;
  void begin(std::int64_t segment);
  [[nodiscard]] std::shared_ptr<const Prepared> program_of(std::int64_t count) const;

  Context& context_;
  Task task_;
  std::array<int, kSegmentsAtOnce> tags_;
  std::int64_t segments_ = 1;
  std::int64_t allowed_ = 0;
  std::int64_t begun_ = 0;  // segments
  std::int64_t done_ = 0;
  std::shared_ptr<const Prepared> whole_segment_;
  std::deque<Execution> running_;
  FirstError errors_;
};

// The MPI's reduction of two operands of this rank, for the core's operations that combine.

struct LocalCombine {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;
  std::int64_t shift = 0;  // from an element's address to its lowest byte
  FirstError errors;

  // Of elements of so many bytes; as long as this is where it is. Never more elements than a cell has bytes.
  core::shared::Combine with(std::size_t element) {
    return {[](void* caller, const std::byte* in, std::byte* inout, std::size_t elements) {
              auto& one = *static_cast<LocalCombine*>(caller);
              const int count = static_cast<int>(elements);
              one.errors.note(PMPI_Reduce_local(in - one.shift, inout - one.shift, count, one.type, one.op),
                              "MPI_Reduce_local");
            },
            this, element, bytes_ahead(shift)};
  }
};

// Three parts, of which each may be missing: up in the node to its leader, across nodes among leaders, down in the
// node. On one node there is only the last. They overlap where a part can begin with what the one before has done so
// far.
class SharedCall final : public Turn {
 public:
  // Of a communicator with a node team, for an operation and a choice that can_share() allows. Throws MpiError,
  // std::bad_alloc.
  SharedCall(std::shared_ptr<Context> context, const Operation& operation, const core::predict::Choice& choice);
  ~SharedCall() override;
  SharedCall(const SharedCall&) = delete;
  SharedCall& operator=(const SharedCall&) = delete;
  SharedCall(SharedCall&&) = delete;
  SharedCall& operator=(SharedCall&&) = delete;

  bool progress() { return team_.progress(*this); }
  void finish() { team_.finish(*this); }
  void poke() { team_.poke(); }

 private:
  using Part = std::variant<std::monostate, core::shared::Barrier, core::shared::Broadcast, core::shared::Gather,
                            core::shared::Scatter, core::shared::Allgather, core::shared::Reduce,
                            core::shared::Allreduce, core::shared::ReduceScatter>;
  // From where data is first, or last, to where it should be: memory to memory.
  struct Move {
    std::byte* into = nullptr;
    const std::byte* from = nullptr;
    std::size_t bytes = 0;
  };

  bool advance() override;
  bool advance_across();
  bool advance_down();
  [[nodiscard]] std::int64_t arrived() const;
  [[nodiscard]] bool truncated() const;
  void put_results();
  void conclude();

  // shared_moving.cpp
  void prepare_barrier();
  void prepare_broadcast();
  // The blocks of a root, those of this node at its leader, and this rank's own.
  struct Places {
    std::byte* all = nullptr;
    std::byte* here = nullptr;
    std::byte* own = nullptr;
  };
  Places places_of(std::size_t block);
  void prepare_gather();
  void prepare_scatter();
  void prepare_allgather();
  void prepare_allgather_of_different();
  [[nodiscard]] std::byte* input() const { return buffers_.base(core::schedule::Buffer::kInput); }
  [[nodiscard]] std::byte* output() const { return buffers_.base(core::schedule::Buffer::kOutput); }
  [[nodiscard]] bool in_place() const { return buffers_.request().in_place; }
  // All blocks in the order of nodes: the memory itself where that is the order of ranks, else memory of our own, which
  // is loaded from there now or stored there in the end.
  std::byte* by_node(std::byte* blocks, std::size_t block, bool load, bool store);

  // shared_combining.cpp
  void prepare_reduce();
  void prepare_allreduce();
  void prepare_reduce_scatter();
  void reduce_scatter_across(const core::shared::Operand& operand, std::size_t block);
  // Of `elements`; the result, where this rank wants one, has `results`.
  core::shared::Operand operand_of(std::size_t elements, std::size_t results, bool wanted);
  [[nodiscard]] core::shared::Combine combine() { return reducer_.with(element_); }
  void put_result(std::int64_t elements) const;

  // --- who and where
  [[nodiscard]] bool one_node() const { return context_->node_count() == 1; }
  [[nodiscard]] int node() const { return context_->node_of()[static_cast<std::size_t>(context_->rank())]; }
  [[nodiscard]] int leader(int node) const { return team_.leader(node, buffers_.request().root); }
  [[nodiscard]] bool leads() const { return leader(node()) == context_->rank(); }
  [[nodiscard]] bool is_root() const { return buffers_.request().root == context_->rank(); }
  [[nodiscard]] int local_leader() const { return team_.local_rank(leader(node())); }
  [[nodiscard]] std::size_t local_ranks() const { return team_.members(node()).size(); }
  [[nodiscard]] std::size_t position(int rank) const {
    const int first = team_.first_position(context_->node_of()[static_cast<std::size_t>(rank)]);
    return static_cast<std::size_t>(first) + static_cast<std::size_t>(team_.local_rank(rank));
  }
  // Where the blocks of this node begin.
  [[nodiscard]] std::size_t first_here() const { return static_cast<std::size_t>(team_.first_position(node())); }

  // Across nodes: the operation on whole vectors, or with the blocks of a node's ranks as the node's block.
  [[nodiscard]] Across::Task task(std::int64_t count) const;
  [[nodiscard]] Across::Task task_of_blocks(std::int64_t block) const;
  [[nodiscard]] Across::Task reducing(Across::Task task) const;
  void go_across(Across::Task task);

  std::array<int, kSegmentsAtOnce> next_tags();
  // Memory where elements' lowest bytes may begin.
  std::byte* temporary(std::size_t bytes);
  template <class Kind, class... Arguments>
  void up(Arguments&&... arguments) {
    upward_ = &up_.emplace<Kind>(team_.team(), std::forward<Arguments>(arguments)...);
  }
  template <class Kind, class... Arguments>
  void down(Arguments&&... arguments) {
    downward_ = &down_.emplace<Kind>(team_.team(), std::forward<Arguments>(arguments)...);
  }

  std::shared_ptr<Context> context_;
  NodeTeam& team_;
  std::array<int, kSegmentsAtOnce> tags_;
  const core::predict::Choice& choice_;  // only while the call is made
  Buffers buffers_;
  LocalCombine reducer_;
  std::exception_ptr failure_;

  Part up_;
  Part down_;
  core::shared::Call* upward_ = nullptr;
  core::shared::Call* downward_ = nullptr;
  std::unique_ptr<Across> across_;
  bool up_done_ = true;
  bool across_done_ = true;
  bool overlaps_ = false;    // a broadcast down follows what comes across
  std::size_t element_ = 1;  // bytes, in which messages across are counted

  std::vector<std::size_t> starts_;
  std::vector<core::shared::Blocks::Block> blocks_;
  std::vector<Memory> temporaries_;
  std::vector<Move> moves_;
  const std::byte* result_ = nullptr;  // with gaps that the program's buffer keeps as they are
  std::int64_t results_ = 0;
};

}  // namespace ranktree::mpi::collect
