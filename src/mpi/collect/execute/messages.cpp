#include "mpi/collect/execute/messages.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/predict/choice.h"
#include "core/schedule/hierarchy.h"
#include "core/schedule/links.h"
#include "core/schedule/makers.h"
#include "core/schedule/schedule.h"
#include "core/schedule/transform.h"
#include "mpi/collect/context.h"
#include "mpi/collect/datatypes.h"
#include "mpi/collect/errors.h"
#include "mpi/collect/execute/buffers.h"
#include "mpi/collect/execute/execution.h"
#include "mpi/collect/execute/programs.h"
#include "mpi/collect/execute/vector_exchange.h"
#include "mpi/collect/memory.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/shared/node_team.h"
#include "mpi/collect/variant.h"
#include "mpi/simulated.h"

namespace ranktree::mpi::collect {
namespace {

using core::schedule::Composition;
using core::schedule::Links;
using core::schedule::Program;

// Shorter messages are complete before they have left the node (Open MPI's sockets: below 64 KiB), so a wait for them
// orders nothing.
constexpr std::int64_t kLeastInTurn = 65536;

std::int64_t least_in_turn(const Shape& shape) {
  return std::max<std::int64_t>(1, kLeastInTurn / std::max<std::int64_t>(1, shape.element));
}

Program among_leaders(Context& context, const Shape& shape) {
  const NodeTeam& team = *context.node_team();
  const std::int32_t node = context.node_of()[static_cast<std::size_t>(context.rank())];
  const Links links{.node_of = {}, .least = least_in_turn(shape)};
  Program program = core::schedule::make(shape.request, {shape.algorithms.front(), 0}, node, &links);
  for (core::schedule::Step& step : program.steps) {
    if (step.peer >= 0) step.peer = team.leader(step.peer, shape.leading);
  }
  return program;
}

// Inside a node the messages of a rank are copies by one core, which do not slow each other. A simulated core has a
// link, which its messages share: there all ranks count as nodes of their own.
std::span<const std::int32_t> sharing_links(const Context& context) {
  if (kRanksShareProcess) return {};
  return context.node_of();
}

Program make_program(Context& context, const Shape& shape) {
  if (shape.leading >= 0) return among_leaders(context, shape);
  const Composition composition{shape.form, {shape.algorithms.begin(), shape.algorithms.end()}, shape.segment};
  const Links links{.node_of = sharing_links(context), .least = least_in_turn(shape)};
  return transform(shape.request, context.hierarchy(shape.groups), composition, context.rank(), &links);
}

}  // namespace

std::shared_ptr<const Prepared> prepared_program(Context& context, const Shape& shape) {
  if (auto known = context.programs().find(shape)) return known;
  auto made = std::make_shared<const Prepared>(make_program(context, shape));
  context.programs().keep(shape, made);
  return made;
}

namespace {

using core::predict::Choice;
using core::schedule::Algorithm;
using core::schedule::Buffer;
using core::schedule::Collective;
using core::schedule::Form;
using core::schedule::Hierarchy;

std::shared_ptr<const Prepared> program_for(Context& context, const Buffers& buffers, const Choice& choice) {
  std::int64_t segment = choice.composition.segment;
  if (segment > 0) segment = std::max<std::int64_t>(1, segment / std::max<std::int64_t>(1, buffers.layout().size));
  return prepared_program(context, {.request = buffers.request(),
                                    .algorithms = choice.composition.algorithms,
                                    .form = choice.composition.form,
                                    .segment = segment,
                                    .groups = choice.groups,
                                    .element = buffers.layout().size});
}

class Messages final : public Running {
 public:
  // The tag first: it must be taken on all ranks, whatever fails on one.
  Messages(const std::shared_ptr<Context>& context, const Operation& operation, const Choice& choice)
      : Messages(
            context, operation, choice, [&] { return Buffers(operation, context->rank(), context->size()); },
            context->next_tag()) {}
  // Where all ranks know the bytes of each one's block.
  Messages(const std::shared_ptr<Context>& context, const Operation& operation, const Choice& choice, int tag,
           std::span<const std::int64_t> counts)
      : Messages(
            context, operation, choice, [&] { return Buffers(operation, context->rank(), context->size(), counts); },
            tag) {}
  ~Messages() override {
    if (!execution_.has_messages()) return;
    for (Memory& memory : buffers_.release()) context_->keep(std::move(memory));
  }
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;
  Messages(Messages&&) = delete;
  Messages& operator=(Messages&&) = delete;

  bool progress() override {
    if (!execution_.progress()) return false;
    execution_.errors().check();
    if (!std::exchange(unpacked_, true)) buffers_.unpack();
    if (buffers_.truncates()) check_own(MPI_ERR_TRUNCATE, "a block of another size than the root has for it");
    return true;
  }

 private:
  template <class MakeBuffers>
  Messages(const std::shared_ptr<Context>& context, const Operation& operation, const Choice& choice, MakeBuffers make,
           int tag)
      : context_(context),
        buffers_(make()),
        execution_(*context_, program_for(*context_, buffers_, choice),
                   {buffers_.type(), buffers_.layout(), operation.op},
                   {buffers_.base(Buffer::kInput), buffers_.base(Buffer::kOutput)}, tag) {}

  std::shared_ptr<Context> context_;
  Buffers buffers_;
  Execution execution_;
  bool unpacked_ = false;
};

// Gatherv and scatterv along trees: blocks pass through ranks that do not know their sizes, so the root's list goes to
// all ranks first. Its messages are ahead of the blocks' between any two ranks, so one tag is enough.
class ListFirst final : public Running {
 public:
  ListFirst(const std::shared_ptr<Context>& context, const Operation& operation, const Choice& choice)
      : context_(context),
        operation_(operation),
        choice_(choice),
        tag_(context->next_tag()),
        counts_(allocate(static_cast<std::size_t>(context->size()) * sizeof(std::int64_t))),
        list_(*context, program_of_list(), {}, {nullptr, counts_.get()}, tag_) {
    if (context->rank() != operation.root) return;
    const Operation::Side& side = operation.collective == Collective::kGather ? operation.receive : operation.send;
    const std::int64_t bytes = layout_of(side.type).size;
    for (std::size_t rank = 0; rank < side.counts.size(); ++rank) counts()[rank] = side.counts[rank] * bytes;
  }
  ~ListFirst() override {
    if (list_.has_messages()) context_->keep(std::move(counts_));
  }
  ListFirst(const ListFirst&) = delete;
  ListFirst& operator=(const ListFirst&) = delete;
  ListFirst(ListFirst&&) = delete;
  ListFirst& operator=(ListFirst&&) = delete;

  bool progress() override {
    if (!blocks_) {
      if (!list_.progress()) return false;
      list_.errors().check();
      blocks_ = std::make_unique<Messages>(context_, operation_, choice_, tag_, counts());
    }
    return blocks_->progress();
  }

 private:
  [[nodiscard]] std::span<std::int64_t> counts() const {
    return {reinterpret_cast<std::int64_t*>(counts_.get()), static_cast<std::size_t>(context_->size())};
  }
  [[nodiscard]] std::shared_ptr<const Prepared> program_of_list() const {
    static constexpr std::array kTree = {Algorithm::kBinomial};
    const core::schedule::Request request{.collective = Collective::kBroadcast,
                                          .ranks = context_->size(),
                                          .root = operation_.root,
                                          .count = static_cast<std::int64_t>(counts().size_bytes())};
    return prepared_program(*context_, {.request = request, .algorithms = kTree, .groups = choice_.groups});
  }

  std::shared_ptr<Context> context_;
  Operation operation_;
  Choice choice_;
  int tag_;
  Memory counts_;  // bytes of each rank's block
  Execution list_;
  std::unique_ptr<Messages> blocks_;
};

bool is_flat(const Hierarchy& hierarchy, const Choice& choice) {
  return hierarchy.levels() == 1 && choice.composition.algorithms.size() == 1 &&
         choice.composition.algorithms[0] == Algorithm::kFlat;
}

// Only the root knows all sizes.
bool has_list(const Operation& operation) {
  return operation.vector &&
         (operation.collective == Collective::kGather || operation.collective == Collective::kScatter);
}

bool has_form(Collective collective, Form form) {
  const std::span<const Form> forms = core::schedule::forms_of(collective);
  return std::find(forms.begin(), forms.end(), form) != forms.end();
}

bool can_combine(const Operation& operation, const Hierarchy& hierarchy, const Choice& choice) {
  if (!can_reduce(operation.op, operation.receive.type)) return false;
  const TypeLayout layout = layout_of(operation.receive.type);
  if (layout.extent < layout.true_extent || layout.extent <= 0) return false;
  return is_commutative(operation.op) || keeps_rank_order(operation.collective, hierarchy, choice.composition);
}

// One algorithm, in one form, on the machine's nodes.
bool can_exchange(const Context& context, const Operation& operation, const Choice& choice) {
  const std::vector<Algorithm>& algorithms = choice.composition.algorithms;
  return has_lanes(context) && operation.send.buffer != MPI_IN_PLACE && choice.groups == 0 &&
         choice.composition.form == Form::kLanes && choice.composition.segment == 0 &&
         std::all_of(algorithms.begin(), algorithms.end(), [](Algorithm each) { return each == Algorithm::kFlat; });
}

bool can_message_on(const Operation& operation, const Hierarchy& hierarchy, const Choice& choice) {
  if (!choice.composition.fits(hierarchy) || !has_form(operation.collective, choice.composition.form)) return false;
  return !reduces(operation) || can_combine(operation, hierarchy, choice);
}

}  // namespace

bool can_message(Context& context, const Operation& operation, const Choice& choice) {
  const std::vector<Algorithm>& algorithms = choice.composition.algorithms;
  if (algorithms.empty() || choice.groups < 0 || choice.groups > context.size()) return false;
  if (is_vector_exchange(operation)) return can_exchange(context, operation, choice);
  return can_message_on(operation, context.hierarchy(choice.groups), choice);
}

std::unique_ptr<Running> start_messages(const std::shared_ptr<Context>& context, const Operation& operation,
                                        const Choice& choice) {
  if (is_vector_exchange(operation)) return start_vector_exchange(context, operation);
  std::unique_ptr<Running> running;
  if (has_list(operation) && !is_flat(context->hierarchy(choice.groups), choice)) {
    running = std::make_unique<ListFirst>(context, operation, choice);
  } else {
    running = std::make_unique<Messages>(context, operation, choice);
  }
  running->progress();
  return running;
}

}  // namespace ranktree::mpi::collect
