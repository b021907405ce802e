#include "core/base/workers.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

namespace ranktree::core {
namespace {

constexpr std::int64_t kStepsPerCheck = 1'000'000;  // about 10 ms
constexpr std::int64_t kStepsToShare = 5'000;
constexpr int kMostThreads = 256;  // more would not share more work
constexpr int kYields = 100;       // about 50 us where no other thread needs the processor

}  // namespace

Workers::Workers(int threads, std::function<bool()> keep_going)
    : keep_going_(std::move(keep_going)), owner_(std::this_thread::get_id()) {
  if (threads < 2) return;
  threads = std::min(threads, kMostThreads);
  threads_.reserve(static_cast<std::size_t>(threads) - 1);
  for (int i = 1; i < threads; ++i) {
    if (!begin_thread()) break;
  }
}

bool Workers::begin_thread() {
  try {
    threads_.emplace_back([this] { help(); });
    return true;
  } catch (const std::system_error&) {
    return false;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

Workers::~Workers() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  notify_change();
  for (std::thread& thread : threads_) thread.join();
}

bool Workers::check_now() {
  if (keep_going_ && std::this_thread::get_id() == owner_) {
    steps_ = 0;
    if (!stopped_ && !keep_going_()) stopped_ = true;
  }
  return !stopped_;
}

bool Workers::go_on(std::int64_t steps) {
  if (stopped_.load(std::memory_order_relaxed)) return false;
  if (!keep_going_) return true;
  if (std::this_thread::get_id() != owner_) {
    wake_owner_after(steps);
    return true;
  }
  steps_ += steps;
  return steps_ < kStepsPerCheck || check_now();
}

// The owner may be waiting for others when keep_going is due. There is no clock here, so their steps measure the time.
void Workers::wake_owner_after(std::int64_t steps) {
  if (steps_of_others_.fetch_add(steps, std::memory_order_relaxed) + steps < kStepsPerCheck) return;
  steps_of_others_ = 0;
  due_ = true;
  notify_change();
}

void Workers::notify_change() {
  ++changes_;
  changed_.notify_all();
}

// Most waits are shorter than waking a thread takes.
void Workers::wait_for_change(std::unique_lock<std::mutex>& lock) {
  const std::uint64_t seen = changes_;
  lock.unlock();
  for (int i = 0; i < kYields && changes_ == seen; ++i) std::this_thread::yield();
  lock.lock();
  if (changes_ == seen) changed_.wait(lock);
}

void Workers::for_each(int count, std::int64_t steps, const std::function<void(int)>& work) {
  if (count < 2 || threads_.empty() || steps < kStepsToShare) {
    for (int i = 0; i < count; ++i) work(i);
    return;
  }
  Batch batch{work, count, 0, 0, -1, nullptr};
  std::unique_lock lock(mutex_);
  batches_.push_back(&batch);
  notify_change();
  while (batch.next < batch.count) run_one(batch, lock);
  wait_for(batch, lock);
  batches_.erase(std::find(batches_.begin(), batches_.end(), &batch));
  lock.unlock();
  if (batch.error) std::rethrow_exception(batch.error);
}

void Workers::for_ranges(std::size_t count, std::int64_t steps,
                         const std::function<void(std::size_t, std::size_t)>& work) {
  constexpr std::size_t kRangesOfThread = 4;
  const std::size_t ranges = threads_.empty() || steps < kStepsToShare ? 1 : kRangesOfThread * (threads_.size() + 1);
  for_each(static_cast<int>(ranges), steps, [&](int i) {
    const auto range = static_cast<std::size_t>(i);
    work(range * count / ranges, (range + 1) * count / ranges);
  });
}

// The latest batch with work to begin, because the batch that it belongs to waits for it.
Workers::Batch* Workers::open_batch() {
  for (auto batch = batches_.rbegin(); batch != batches_.rend(); ++batch) {
    if ((*batch)->next < (*batch)->count) return *batch;
  }
  return nullptr;
}

void Workers::run_one(Batch& batch, std::unique_lock<std::mutex>& lock) {
  const int index = batch.next++;
  ++batch.running;
  lock.unlock();
  std::exception_ptr error;
  try {
    batch.work(index);
  } catch (...) {
    error = std::current_exception();
    stopped_ = true;
  }
  lock.lock();
  if (error && (batch.failed < 0 || index < batch.failed)) {
    batch.failed = index;
    batch.error = error;
    batch.next = batch.count;
  }
  if (--batch.running == 0 && batch.next == batch.count) notify_change();
}

// An exception of keep_going is kept until the batch has finished.
void Workers::check_in_batch(Batch& batch, std::unique_lock<std::mutex>& lock) {
  lock.unlock();
  std::exception_ptr error;
  try {
    check_now();
  } catch (...) {
    error = std::current_exception();
    stopped_ = true;
  }
  lock.lock();
  if (!batch.error) batch.error = error;
}

void Workers::wait_for(Batch& batch, std::unique_lock<std::mutex>& lock) {
  const bool owner = keep_going_ && std::this_thread::get_id() == owner_;
  while (batch.running > 0) {
    if (Batch* other = open_batch(); other != nullptr) {
      run_one(*other, lock);
    } else if (owner && due_.exchange(false)) {
      check_in_batch(batch, lock);
    } else {
      wait_for_change(lock);
    }
  }
}

void Workers::help() {
  std::unique_lock lock(mutex_);
  while (!closing_) {
    if (Batch* batch = open_batch(); batch != nullptr) {
      run_one(*batch, lock);
    } else {
      wait_for_change(lock);
    }
  }
}

}  // namespace ranktree::core
