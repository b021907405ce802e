#include "mpi/collect/programs.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>

#include "core/schedule/makers.h"
#include "core/schedule/transform.h"
#include "mpi/collect/prepared.h"

namespace ranktree::mpi::collect {
namespace {

using core::schedule::Plan;
using core::schedule::Request;

bool equal(const Request& a, const Request& b) {
  return a.collective == b.collective && a.count == b.count && a.root == b.root && a.commutative == b.commutative &&
         a.in_place == b.in_place && a.counts == b.counts && a.displacements == b.displacements;
}

}  // namespace

bool Programs::fits(const Entry& entry, const Shape& shape) {
  const Plan& plan = entry.plan;
  return equal(entry.request, shape.request) && entry.groups == shape.groups && entry.leading == shape.leading &&
         plan.form == shape.form && plan.segment == shape.segment &&
         std::equal(plan.algorithms.begin(), plan.algorithms.end(), shape.algorithms.begin(), shape.algorithms.end());
}

std::shared_ptr<const Prepared> Programs::find(const Shape& shape) {
  const std::lock_guard lock(mutex_);
  for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
    if (!fits(*entry, shape)) continue;
    entries_.splice(entries_.begin(), entries_, entry);
    return entries_.front().prepared;
  }
  return nullptr;
}

void Programs::keep(const Shape& shape, std::shared_ptr<const Prepared> prepared) {
  const std::size_t bytes = prepared->bytes() + sizeof(Entry);
  if (bytes > kMostBytes) return;
  Plan plan{shape.form, {shape.algorithms.begin(), shape.algorithms.end()}, shape.segment};
  const std::lock_guard lock(mutex_);
  entries_.push_front({shape.request, std::move(plan), shape.groups, shape.leading, std::move(prepared), bytes});
  bytes_ += bytes;
  while (entries_.size() > kMostEntries || bytes_ > kMostBytes) {
    bytes_ -= entries_.back().bytes;
    entries_.pop_back();
  }
}

}  // namespace ranktree::mpi::collect
