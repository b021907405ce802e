#include "mpi/collect/programs.h"

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>

#include "core/schedule/hierarchy.h"
#include "core/schedule/makers.h"
#include "core/schedule/schedule.h"
#include "core/schedule/transform.h"
#include "mpi/collect/context.h"
#include "mpi/collect/prepared.h"

namespace ranktree::mpi::collect {
namespace {

using core::schedule::Collective;
using core::schedule::Hierarchy;
using core::schedule::Plan;
using core::schedule::Program;
using core::schedule::Request;

constexpr std::size_t kMostEntries = 64;
constexpr std::size_t kMostBytes = std::size_t{4} * 1024 * 1024;

bool equal(const Request& a, const Request& b) {
  return a.collective == b.collective && a.count == b.count && a.root == b.root && a.commutative == b.commutative &&
         a.in_place == b.in_place && a.counts == b.counts && a.displacements == b.displacements;
}

bool equal(const Plan& a, const Plan& b) {
  return a.form == b.form && a.segment == b.segment && a.algorithms == b.algorithms;
}

bool equal(const Shape& a, const Shape& b) {
  return equal(a.request, b.request) && a.groups == b.groups && equal(a.plan, b.plan);
}

}  // namespace

Program make_program(const Context& context, const Shape& shape) {
  if (shape.request.collective == Collective::kAlltoall) {
    return core::schedule::make(shape.request, {shape.plan.algorithms.at(0), 0}, context.rank());
  }
  if (shape.groups == 0) return transform(shape.request, context.machine(), shape.plan, context.rank());
  const Hierarchy groups = Hierarchy::grouped(context.size(), shape.groups);
  return transform(shape.request, groups, shape.plan, context.rank());
}

std::shared_ptr<const Prepared> Programs::get(const Context& context, const Shape& shape) {
  {
    const std::lock_guard lock(mutex_);
    if (auto known = find(shape)) return known;
  }
  auto made = std::make_shared<const Prepared>(make_program(context, shape));
  const std::size_t bytes = made->bytes() + sizeof(Entry);
  const std::lock_guard lock(mutex_);
  keep({shape, made, bytes});
  return made;
}

std::shared_ptr<const Prepared> Programs::find(const Shape& shape) {
  for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
    if (!equal(entry->shape, shape)) continue;
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
