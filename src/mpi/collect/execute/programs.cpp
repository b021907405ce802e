#include "mpi/collect/execute/programs.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <utility>
#include <vector>

#include "core/schedule/channels.h"
#include "core/schedule/makers.h"
#include "core/schedule/schedule.h"
#include "core/schedule/transform.h"

namespace ranktree::mpi::collect {

using core::schedule::Action;
using core::schedule::Program;
using core::schedule::Rank;
using core::schedule::Step;

Prepared::Prepared(Program program) : program_(std::move(program)), waits_(program_.steps.size(), 0) {
  std::vector<Edge> edges;
  edges.reserve(program_.dependencies.size() + program_.steps.size());
  for (std::size_t index = 0; index < program_.steps.size(); ++index) {
    for (const std::int32_t before : program_.dependencies_of(program_.steps[index])) {
      edges.push_back({before, static_cast<std::int32_t>(index)});
    }
  }
  order_channels(edges);
  list_followers(edges);
}

void Prepared::order_channels(std::vector<Edge>& edges) {
  next_in_channel_.assign(program_.steps.size(), -1);
  std::map<std::pair<Rank, bool>, std::vector<std::int32_t>> channels;
  for (std::size_t at = 0; at < program_.steps.size(); ++at) {
    const Step& step = program_.steps[at];
    if (!core::schedule::is_message(step)) continue;
    std::vector<std::int32_t>& channel = channels[{step.peer, step.action == Action::kSend}];
    const auto index = static_cast<std::int32_t>(at);
    if (!channel.empty()) {
      next_in_channel_[static_cast<std::size_t>(channel.back())] = index;
      ++waits_[at];
    }
    if (channel.size() >= kWindow) edges.push_back({channel[channel.size() - kWindow], index});
    channel.push_back(index);
  }
}

void Prepared::list_followers(const std::vector<Edge>& edges) {
  first_follower_.assign(program_.steps.size() + 1, 0);
  for (const Edge& edge : edges) {
    ++first_follower_[static_cast<std::size_t>(edge.first) + 1];
    ++waits_[static_cast<std::size_t>(edge.then)];
  }
  std::partial_sum(first_follower_.begin(), first_follower_.end(), first_follower_.begin());
  followers_.resize(edges.size());
  std::vector<std::uint32_t> next(first_follower_.begin(), first_follower_.end() - 1);
  for (const Edge& edge : edges) followers_[next[static_cast<std::size_t>(edge.first)]++] = edge.then;
}

std::size_t Prepared::bytes() const {
  return sizeof *this + program_.steps.capacity() * sizeof(Step) +
         (program_.dependencies.capacity() + waits_.capacity() + first_follower_.capacity() + followers_.capacity() +
          next_in_channel_.capacity()) *
             sizeof(std::int32_t);
}

namespace {

using core::schedule::Composition;
using core::schedule::Request;

bool equal(const Request& a, const Request& b) {
  return a.collective == b.collective && a.count == b.count && a.root == b.root && a.commutative == b.commutative &&
         a.in_place == b.in_place && a.counts == b.counts && a.displacements == b.displacements;
}

}  // namespace

bool Programs::fits(const Entry& entry, const Shape& shape) {
  const Composition& composition = entry.composition;
  return equal(entry.request, shape.request) && entry.groups == shape.groups && entry.element == shape.element &&
         entry.leading == shape.leading && composition.form == shape.form && composition.segment == shape.segment &&
         std::equal(composition.algorithms.begin(), composition.algorithms.end(), shape.algorithms.begin(),
                    shape.algorithms.end());
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
  Composition composition{shape.form, {shape.algorithms.begin(), shape.algorithms.end()}, shape.segment};
  const std::lock_guard lock(mutex_);
  entries_.push_front(
      {shape.request, std::move(composition), shape.groups, shape.element, shape.leading, std::move(prepared), bytes});
  bytes_ += bytes;
  while (entries_.size() > kMostEntries || bytes_ > kMostBytes) {
    bytes_ -= entries_.back().bytes;
    entries_.pop_back();
  }
}

}  // namespace ranktree::mpi::collect
