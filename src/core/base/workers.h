// Threads that share work by fork and join, with a common signal to stop.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace ranktree::core {

// The thread that creates the object is its owner. Only the owner calls `keep_going`, about every 10 ms of work. With
// one thread the owner does all work, in order. A thread that waits for its own batch helps with other batches.
class Workers {
 public:
  // `threads` includes the owner. Where the system provides fewer threads, those do the work.
  explicit Workers(int threads, std::function<bool()> keep_going = {});
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  Workers(Workers&&) = delete;
  Workers& operator=(Workers&&) = delete;

  // The number of threads, the owner included.
  [[nodiscard]] int threads() const { return static_cast<int>(threads_.size()) + 1; }

  // Calls work(0) .. work(count - 1), each once, in any order, and returns when all have finished. After an exception
  // the remaining work stops; the exception of the lowest index is rethrown. `steps` estimates the total work, where
  // one step is one visited arc of a graph; little work is not shared. Any thread may call it, also from such work.
  void for_each(int count, std::int64_t steps, const std::function<void(int)>& work);
  // Calls work(first, last) for ranges that together are 0 .. count - 1; their number depends on the threads.
  void for_ranges(std::size_t count, std::int64_t steps, const std::function<void(std::size_t, std::size_t)>& work);

  // Reports that so many steps were done. Returns false once keep_going has returned false or work has thrown.
  bool go_on(std::int64_t steps);
  // The same without steps; the owner calls keep_going at once.
  bool check_now();

 private:
  struct Batch {
    const std::function<void(int)>& work;
    int count;
    int next = 0;     // not begun yet
    int running = 0;  // begun, not finished
    int failed = -1;  // the lowest index that threw
    std::exception_ptr error;
  };
  void wake_owner_after(std::int64_t steps);
  void notify_change();
  void wait_for_change(std::unique_lock<std::mutex>& lock);
  bool begin_thread();  // false: the system provides no more threads
  Batch* open_batch();
  void run_one(Batch& batch, std::unique_lock<std::mutex>& lock);
  void check_in_batch(Batch& batch, std::unique_lock<std::mutex>& lock);
  void wait_for(Batch& batch, std::unique_lock<std::mutex>& lock);
  void help();

  std::function<bool()> keep_going_;
  std::thread::id owner_;
  std::atomic<bool> stopped_{false};
  std::int64_t steps_ = 0;  // by the owner since it last called keep_going
  std::atomic<std::int64_t> steps_of_others_{0};
  std::atomic<bool> due_{false};  // the others did so many steps that the owner should call keep_going
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<std::uint64_t> changes_{0};
  std::vector<Batch*> batches_;
  bool closing_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace ranktree::core
