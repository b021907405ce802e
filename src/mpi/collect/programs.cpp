#include "mpi/collect/programs.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "core/schedule/makers.h"
#include "core/schedule/schedule.h"
#include "core/schedule/transform.h"
#include "mpi/collect/context.h"
#include "mpi/collect/node_team.h"
#include "mpi/collect/prepared.h"

namespace ranktree::mpi::collect {
namespace {

using core::schedule::Plan;
using core::schedule::Program;
using core::schedule::Request;

constexpr std::size_t kMostEntries = 64;
constexpr std::size_t kMostBytes = std::size_t{4} * 1024 * 1024;

bool equal(const Request& a, const Request& b) {
  return a.collective == b.collective && a.count == b.count && a.root == b.root && a.commutative == b.commutative &&
         a.in_place == b.in_place && a.counts == b.counts && a.displacements == b.displacements;
}

Program program_among_leaders(Context& context, const Shape& shape) {
  const NodeTeam& team = *context.node_team();
  const std::int32_t node = context.node_of()[static_cast<std::size_t>(context.rank())];
  Program program = core::schedule::make(shape.request, {shape.algorithms.front(), 0}, node);
  for (core::schedule::Step& step : program.steps) {
    if (step.peer >= 0) step.peer = team.leader(step.peer, shape.leading);
  }
  return program;
}

Program make_program(Context& context, const Shape& shape, const Plan& plan) {
  if (shape.leading >= 0) return program_among_leaders(context, shape);
  return transform(shape.request, context.hierarchy(shape.groups), plan, context.rank());
}

}  // namespace

std::shared_ptr<const Prepared> Programs::get(Context& context, const Shape& shape) {
  {
    const std::lock_guard lock(mutex_);
    if (auto known = find(shape)) return known;
  }
  Plan plan{shape.form, {shape.algorithms.begin(), shape.algorithms.end()}, shape.segment};
  auto made = std::make_shared<const Prepared>(make_program(context, shape, plan));
  const std::size_t bytes = made->bytes() + sizeof(Entry);
  const std::lock_guard lock(mutex_);
  keep({shape.request, std::move(plan), shape.groups, shape.leading, made, bytes});
  return made;
}

bool Programs::fits(const Entry& entry, const Shape& shape) {
  const Plan& plan = entry.plan;
  return equal(entry.request, shape.request) && entry.groups == shape.groups && entry.leading == shape.leading &&
         plan.form == shape.form && plan.segment == shape.segment &&
         std::equal(plan.algorithms.begin(), plan.algorithms.end(), shape.algorithms.begin(), shape.algorithms.end());
}

std::shared_ptr<const Prepared> Programs::find(const Shape& shape) {
  for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
    if (!fits(*entry, shape)) continue;
    entries_.splice(entries_.begin(), entries_, entry);
    return entries_.front().prepared;
  }
  return nullptr;
}

void Programs::keep(Entry entry) {
  if (entry.bytes > kMostBytes) return;
  bytes_ += entry.bytes;
  entries_.push_front(std::move(entry));
  while (entries_.size() > kMostEntries || bytes_ > kMostBytes) {
    bytes_ -= entries_.back().bytes;
    entries_.pop_back();
  }
}

}  // namespace ranktree::mpi::collect
