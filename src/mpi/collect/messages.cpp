#include "mpi/collect/messages.h"

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/predict/choice.h"
#include "core/schedule/hierarchy.h"
#include "core/schedule/makers.h"
#include "core/schedule/schedule.h"
#include "core/schedule/transform.h"
#include "mpi/collect/buffers.h"
#include "mpi/collect/context.h"
#include "mpi/collect/execution.h"
#include "mpi/collect/memory.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/prepared.h"
#include "mpi/collect/programs.h"
#include "mpi/collect/running.h"
#include "mpi/collect/types.h"

namespace ranktree::mpi::collect {
namespace {

using core::predict::Choice;
using core::schedule::Algorithm;
using core::schedule::Buffer;
using core::schedule::Collective;
using core::schedule::Form;
using core::schedule::Hierarchy;

std::shared_ptr<const Prepared> program_for(Context& context, const Buffers& buffers, const Choice& choice) {
  std::int64_t segment = choice.plan.segment;
  if (segment > 0) segment = std::max<std::int64_t>(1, segment / std::max<std::int64_t>(1, buffers.layout().size));
  return context.programs().get(context, {.request = buffers.request(),
                                          .algorithms = choice.plan.algorithms,
                                          .form = choice.plan.form,
                                          .segment = segment,
                                          .groups = choice.groups});
}

class Messages final : public Running {
 public:
  // The tag first: it must be taken on all ranks, whatever fails on one.
  Messages(std::shared_ptr<Context> context, const Operation& operation, const Choice& choice)
      : context_(std::move(context)),
        tag_(context_->next_tag()),
        buffers_(operation, context_->rank(), context_->size()),
        execution_(*context_, program_for(*context_, buffers_, choice),
                   {buffers_.type(), buffers_.layout(), operation.op},
                   {buffers_.base(Buffer::kInput), buffers_.base(Buffer::kOutput)}, tag_) {}
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
    return true;
  }

 private:
  std::shared_ptr<Context> context_;
  int tag_;
  Buffers buffers_;
  Execution execution_;
  bool unpacked_ = false;
};

bool has_form(Collective collective, Form form) {
  const std::span<const Form> forms = core::schedule::forms_of(collective);
  return std::find(forms.begin(), forms.end(), form) != forms.end();
}

bool can_combine(const Operation& operation, const Hierarchy& hierarchy, const Choice& choice) {
  if (!can_reduce(operation.op, operation.receive.type)) return false;
  const TypeLayout layout = layout_of(operation.receive.type);
  if (layout.extent < layout.true_extent || layout.extent <= 0) return false;
  return is_commutative(operation.op) || keeps_rank_order(operation.collective, hierarchy, choice.plan);
}

bool can_message_on(const Operation& operation, const Hierarchy& hierarchy, const Choice& choice) {
  const std::vector<Algorithm>& algorithms = choice.plan.algorithms;
  if (algorithms.size() != 1 && algorithms.size() != static_cast<std::size_t>(hierarchy.given_levels())) return false;
  if (!has_form(operation.collective, choice.plan.form)) return false;
  const bool rooted = operation.collective == Collective::kGather || operation.collective == Collective::kScatter;
  if (operation.vector && rooted) {
    return hierarchy.levels() == 1 && algorithms.size() == 1 && algorithms[0] == Algorithm::kFlat;
  }
  return !reduces(operation) || can_combine(operation, hierarchy, choice);
}

}  // namespace

bool can_message(Context& context, const Operation& operation, const Choice& choice) {
  const std::vector<Algorithm>& algorithms = choice.plan.algorithms;
  if (algorithms.empty() || choice.groups < 0 || choice.groups > context.size()) return false;
  return can_message_on(operation, context.hierarchy(choice.groups), choice);
}

std::unique_ptr<Running> start_messages(const std::shared_ptr<Context>& context, const Operation& operation,
                                        const Choice& choice) {
  auto running = std::make_unique<Messages>(context, operation, choice);
  running->progress();
  return running;
}

}  // namespace ranktree::mpi::collect
