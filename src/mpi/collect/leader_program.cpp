#include "mpi/collect/leader_program.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <utility>

#include "core/schedule/schedule.h"
#include "mpi/collect/errors.h"
#include "mpi/collect/memory.h"
#include "mpi/collect/prepared.h"

namespace ranktree::mpi::collect {

using core::schedule::Action;
using core::schedule::Range;
using core::schedule::Step;

namespace {

// MPI counts elements in ints: both ends cut messages alike.
constexpr std::int64_t kMostAtOnce = std::int64_t{INT_MAX / 2};

}  // namespace

LeaderProgram::LeaderProgram(std::shared_ptr<const Prepared> prepared, const Elements& elements,
                             std::array<std::byte*, 2> bases, MPI_Comm comm, int tag)
    : prepared_(std::move(prepared)),
      elements_(elements),
      scratch_(allocate(static_cast<std::size_t>(prepared_->program().scratch * elements.extent))),
      bases_{bases[0], bases[1], scratch_.get()},
      comm_(comm),
      tag_(tag),
      waits_(prepared_->waits()),
      left_(waits_.size()) {
  for (std::size_t index = 0; index < left_; ++index) {
    if (waits_[index] == 0) ready_.push_back(static_cast<std::int32_t>(index));
  }
  std::make_heap(ready_.begin(), ready_.end(), std::greater<>());
  advance();
}

bool LeaderProgram::progress() {
  while (left_ != 0 && test()) advance();
  return left_ == 0;
}

void LeaderProgram::advance() {
  while (!ready_.empty()) {
    std::pop_heap(ready_.begin(), ready_.end(), std::greater<>());
    const std::int32_t index = ready_.back();
    ready_.pop_back();
    const Step& step = prepared_->step(index);
    if (step.action == Action::kSend || step.action == Action::kReceive) {
      post(index);
      continue;
    }
    combine(step);
    complete(index);
  }
}

void LeaderProgram::post(std::int32_t index) {
  const Step& step = prepared_->step(index);
  const bool sends = step.action == Action::kSend;
  const Range& range = sends ? step.from : step.into;
  std::int64_t done = 0;
  do {  // messages of barriers are empty
    const auto count = static_cast<int>(std::min(range.count - done, kMostAtOnce));
    MPI_Request request = MPI_REQUEST_NULL;
    check_own(sends ? PMPI_Isend(at(range, done), count, elements_.type, step.peer, tag_, comm_, &request)
                    : PMPI_Irecv(at(range, done), count, elements_.type, step.peer, tag_, comm_, &request),
              sends ? "MPI_Isend" : "MPI_Irecv");
    requests_.push_back(request);
    owners_.push_back(index);
    ++waits_[static_cast<std::size_t>(index)];
    done += count;
  } while (done < range.count);
  if (const std::int32_t next = prepared_->next_in_channel(index); next >= 0) release(next);
}

// Copies take gaps along: these are buffers of our own, or have none.
void LeaderProgram::combine(const Step& step) {
  if (step.action == Action::kCopy) {
    std::memcpy(at(step.into, 0) + elements_.shift, at(step.from, 0) + elements_.shift,
                static_cast<std::size_t>(step.from.count * elements_.extent));
    return;
  }
  for (std::int64_t done = 0; done < step.from.count; done += kMostAtOnce) {
    const auto count = static_cast<int>(std::min(step.from.count - done, kMostAtOnce));
    check_own(PMPI_Reduce_local(at(step.from, done), at(step.into, done), count, elements_.type, elements_.op),
              "MPI_Reduce_local");
  }
}

void LeaderProgram::complete(std::int32_t index) {
  --left_;
  for (const std::int32_t follower : prepared_->followers(index)) release(follower);
}

void LeaderProgram::release(std::int32_t index) {
  if (--waits_[static_cast<std::size_t>(index)] != 0) return;
  ready_.push_back(index);
  std::push_heap(ready_.begin(), ready_.end(), std::greater<>());
}

// True when something has ended.
bool LeaderProgram::test() {
  ended_.resize(requests_.size());
  int count = 0;
  check_own(
      PMPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count, ended_.data(), MPI_STATUSES_IGNORE),
      "MPI_Testsome");
  if (count <= 0) return false;
  for (int i = 0; i < count; ++i) {
    const std::int32_t step = owners_[static_cast<std::size_t>(ended_[static_cast<std::size_t>(i)])];
    if (--waits_[static_cast<std::size_t>(step)] == 0) complete(step);
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (requests_[i] == MPI_REQUEST_NULL) continue;
    requests_[kept] = requests_[i];
    owners_[kept++] = owners_[i];
  }
  requests_.resize(kept);
  owners_.resize(kept);
  return true;
}

}  // namespace ranktree::mpi::collect
