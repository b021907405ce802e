#include "mpi/collect/messages.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/predict/choice.h"
#include "core/schedule/channels.h"
#include "core/schedule/hierarchy.h"
#include "core/schedule/makers.h"
#include "core/schedule/schedule.h"
#include "core/schedule/transform.h"
#include "mpi/check.h"
#include "mpi/collect/buffers.h"
#include "mpi/collect/context.h"
#include "mpi/collect/errors.h"
#include "mpi/collect/memory.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/packing.h"
#include "mpi/collect/prepared.h"
#include "mpi/collect/programs.h"
#include "mpi/collect/running.h"
#include "mpi/collect/types.h"
#include "mpi/collect/workspace.h"

namespace ranktree::mpi::collect {
namespace {

using core::predict::Choice;
using core::schedule::Action;
using core::schedule::Algorithm;
using core::schedule::Buffer;
using core::schedule::Collective;
using core::schedule::Form;
using core::schedule::Hierarchy;
using core::schedule::Range;
using core::schedule::Step;

// MPI counts elements in ints, and moves 2 GiB at a time less well than half of that: both ends cut messages alike.
constexpr std::int64_t kMostAtOnce = 1073741824;

void push(std::vector<std::int32_t>& heap, std::int32_t step) {
  heap.push_back(step);
  std::push_heap(heap.begin(), heap.end(), std::greater<>());
}

std::int32_t pop(std::vector<std::int32_t>& heap) {
  std::pop_heap(heap.begin(), heap.end(), std::greater<>());
  const std::int32_t first = heap.back();
  heap.pop_back();
  return first;
}

class Messages : public Running {
 public:
  Messages(std::shared_ptr<Context> context, const Operation& operation, const Choice& choice)
      : context_(std::move(context)),
        buffers_(operation, context_->rank(), context_->size()),
        op_(operation.op),
        tag_(context_->next_tag()) {
    Shape shape{buffers_.request(), choice.plan, choice.groups};
    if (shape.plan.segment > 0) {
      const std::int64_t size = std::max<std::int64_t>(1, buffers_.layout().size);
      shape.plan.segment = std::max<std::int64_t>(1, shape.plan.segment / size);
    }
    prepared_ = context_->programs().get(*context_, shape);
    work_ = context_->workspaces().take();
  }
  ~Messages() override {
    if (!work_) return;
    if (work_->requests.empty()) {
      context_->workspaces().give(std::move(work_));
    } else {
      abandon();
    }
  }
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;
  Messages(Messages&&) = delete;
  Messages& operator=(Messages&&) = delete;

  // Once, before anything else.
  void begin();
  bool progress() override {
    while (left_ != 0 && test()) advance();
    if (left_ != 0) return false;
    if (!std::exchange(unpacked_, true)) buffers_.unpack();
    return true;
  }

 private:
  void advance();
  bool test();
  void ready(std::int32_t index);
  void complete(std::int32_t index);
  void post(std::int32_t index);
  void do_locally(const Step& step);
  void take_scratch();
  void abandon() noexcept;
  [[nodiscard]] std::byte* at(const Range& range, std::int64_t first) const {
    std::byte* base = range.buffer == Buffer::kScratch ? scratch_ : buffers_.base(range.buffer);
    return base + (range.first + first) * buffers_.layout().extent;
  }

  std::shared_ptr<Context> context_;
  Buffers buffers_;
  MPI_Op op_;
  int tag_;
  std::shared_ptr<const Prepared> prepared_;
  std::unique_ptr<Workspace> work_;
  std::byte* scratch_ = nullptr;
  std::size_t left_ = 0;  // steps that have not ended
  bool unpacked_ = false;
};

void Messages::begin() {
  Workspace& work = *work_;
  work.waits = prepared_->waits();
  work.messages.clear();
  work.local.clear();
  left_ = work.waits.size();
  take_scratch();
  for (std::size_t index = 0; index < left_; ++index) {
    if (work.waits[index] == 0) ready(static_cast<std::int32_t>(index));
  }
  advance();
}

void Messages::take_scratch() {
  const std::int64_t elements = prepared_->program().scratch;
  if (elements == 0) return;
  const TypeLayout& layout = buffers_.layout();
  const auto bytes = static_cast<std::size_t>((elements - 1) * layout.extent + layout.true_extent);
  if (work_->scratch_bytes < bytes) {
    work_->scratch.reset();
    work_->scratch_bytes = 0;
    work_->scratch = allocate(bytes);
    work_->scratch_bytes = bytes;
  }
  scratch_ = work_->scratch.get() - layout.true_lower;
}

void Messages::ready(std::int32_t index) {
  push(core::schedule::is_message(prepared_->step(index)) ? work_->messages : work_->local, index);
}

// Messages first: they travel while this rank combines.
void Messages::advance() {
  for (;;) {
    if (!work_->messages.empty()) {
      post(pop(work_->messages));
    } else if (!work_->local.empty()) {
      const std::int32_t index = pop(work_->local);
      do_locally(prepared_->step(index));
      complete(index);
    } else {
      return;
    }
  }
}

void Messages::post(std::int32_t index) {
  const Step& step = prepared_->step(index);
  const bool sends = step.action == Action::kSend;
  const Range& range = sends ? step.from : step.into;
  std::int64_t done = 0;
  std::int32_t& parts = work_->waits[static_cast<std::size_t>(index)];
  do {  // messages of barriers are empty
    const auto count = static_cast<int>(std::min(range.count - done, kMostAtOnce));
    MPI_Request request = MPI_REQUEST_NULL;
    check_own(sends ? PMPI_Isend(at(range, done), count, buffers_.type(), step.peer, tag_, context_->comm(), &request)
                    : PMPI_Irecv(at(range, done), count, buffers_.type(), step.peer, tag_, context_->comm(), &request),
              sends ? "MPI_Isend" : "MPI_Irecv");
    work_->requests.push_back(request);
    work_->owners.push_back(index);
    ++parts;
    done += count;
  } while (done < range.count);
  const std::int32_t next = prepared_->next_in_channel(index);
  if (next >= 0 && --work_->waits[static_cast<std::size_t>(next)] == 0) ready(next);
}

void Messages::do_locally(const Step& step) {
  const TypeLayout& layout = buffers_.layout();
  if (step.action == Action::kCopy) {
    copy(at(step.from, 0), at(step.into, 0), step.from.count, buffers_.type(), layout);
    return;
  }
  for (std::int64_t done = 0; done < step.from.count; done += kMostAtOnce) {
    const auto count = static_cast<int>(std::min(step.from.count - done, kMostAtOnce));
    check(PMPI_Reduce_local(at(step.from, done), at(step.into, done), count, buffers_.type(), op_), "MPI_Reduce_local");
  }
}

void Messages::complete(std::int32_t index) {
  --left_;
  for (const std::int32_t follower : prepared_->followers(index)) {
    if (--work_->waits[static_cast<std::size_t>(follower)] == 0) ready(follower);
  }
}

// True when something has ended.
bool Messages::test() {
  Workspace& work = *work_;
  const std::size_t active = work.requests.size();
  if (work.indices.size() < active) {
    work.indices.resize(active);
    work.statuses.resize(active);
  }
  int ended = 0;
  const int code =
      PMPI_Testsome(static_cast<int>(active), work.requests.data(), &ended, work.indices.data(), work.statuses.data());
  if (code == MPI_ERR_IN_STATUS) {
    for (int i = 0; i < ended; ++i) check_own(work.statuses[static_cast<std::size_t>(i)].MPI_ERROR, "a message");
  }
  check_own(code, "MPI_Testsome");
  if (ended <= 0) return false;
  const auto all = work.indices.begin();
  for (auto index = all; index != all + ended; ++index) {
    const std::int32_t step = work.owners[static_cast<std::size_t>(*index)];
    if (--work.waits[static_cast<std::size_t>(step)] == 0) complete(step);
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < active; ++i) {
    if (work.requests[i] == MPI_REQUEST_NULL) continue;
    work.requests[kept] = work.requests[i];
    work.owners[kept++] = work.owners[i];
  }
  work.requests.resize(kept);
  work.owners.resize(kept);
  return true;
}

// After an error: messages that others may yet send must find their memory.
void Messages::abandon() noexcept {
  for (std::size_t i = 0; i < work_->requests.size(); ++i) {
    MPI_Request& request = work_->requests[i];
    if (request == MPI_REQUEST_NULL) continue;
    if (prepared_->step(work_->owners[i]).action == Action::kReceive) PMPI_Cancel(&request);
    PMPI_Request_free(&request);
  }
  std::array<Memory, 2> staged = buffers_.release();
  context_->keep(std::move(staged[0]));
  context_->keep(std::move(staged[1]));
  context_->keep(std::move(work_->scratch));
}

bool knows(std::span<const Algorithm> known, Algorithm algorithm) {
  return std::find(known.begin(), known.end(), algorithm) != known.end();
}

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

bool can_message(const Context& context, const Operation& operation, const Choice& choice) {
  const std::vector<Algorithm>& algorithms = choice.plan.algorithms;
  if (algorithms.empty() || choice.groups < 0 || choice.groups > context.size()) return false;
  if (operation.collective == Collective::kAlltoall) {
    return algorithms.size() == 1 && knows(core::schedule::algorithms_of(Collective::kAlltoall), algorithms[0]);
  }
  if (choice.groups == 0) return can_message_on(operation, context.machine(), choice);
  return can_message_on(operation, Hierarchy::grouped(context.size(), choice.groups), choice);
}

std::unique_ptr<Running> start_messages(const std::shared_ptr<Context>& context, const Operation& operation,
                                        const Choice& choice) {
  auto running = std::make_unique<Messages>(context, operation, choice);
  running->begin();
  return running;
}

}  // namespace ranktree::mpi::collect
