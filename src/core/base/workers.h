// Threads that share one piece of work by fork and join, and know when to stop.
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

// Whoever makes the object is its owner: the only thread that asks `keep_going`, about every 10 ms of work. With one
// thread all work is done by the owner, in order. Who waits for work of his own helps with other work meanwhile.
class Workers {
 public:
  // `threads` includes the owner. Where the system gives fewer, fewer do the work.
  explicit Workers(int threads, std::function<bool()> keep_going = {});
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  Workers(Workers&&) = delete;
  Workers& operator=(Workers&&) = delete;

  // With the owner.
  [[nodiscard]] int threads() const { return static_cast<int>(threads_.size()) + 1; }

  // work(0) .. work(count - 1), each once, in any order; returns when all have ended. What is thrown goes on to the
  // caller, that of the lowest index first; the rest is then told to stop. `steps` is about what all of it takes, an
  // arc of a graph looked at being one: little is not shared. Any thread may call it, also from within such work.
  void for_each(int count, std::int64_t steps, const std::function<void(int)>& work);
  // work(first, last) for ranges that together are 0 .. count - 1; how many depends on the threads.
  void for_ranges(std::size_t count, std::int64_t steps, const std::function<void(std::size_t, std::size_t)>& work);

  // Says that so many steps were done. False from when keep_going said no, or something was thrown.
  bool go_on(std::int64_t steps);
  // The same, asking keep_going at once.
  bool ask();

 private:
  struct Batch {
    const std::function<void(int)>& work;
    int count;
    int next = 0;     // not begun yet
    int running = 0;  // begun, not ended
    int failed = -1;  // the lowest index that threw
    std::exception_ptr error;
  };
  void wake_owner_after(std::int64_t steps);
  void tell_change();
  void wait_for_change(std::unique_lock<std::mutex>& lock);
  bool begin_thread();  // false: the system gives no more
  Batch* open_batch();
  void run_one(Batch& batch, std::unique_lock<std::mutex>& lock);
  void ask_within(Batch& batch, std::unique_lock<std::mutex>& lock);
  void wait_for(Batch& batch, std::unique_lock<std::mutex>& lock);
  void help();

  std::function<bool()> keep_going_;
  std::thread::id owner_;
  std::atomic<bool> stopped_{false};
  std::int64_t steps_ = 0;  // of the owner since it asked
  std::atomic<std::int64_t> steps_of_others_{0};
  std::atomic<bool> due_{false};  // the others did so much that the owner should ask
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<std::uint64_t> changes_{0};
  std::vector<Batch*> batches_;
  bool closing_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace ranktree::core
