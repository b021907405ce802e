// RANKTREE_COLL_LOG: what is chosen, and why. Without it nothing is ever written.
#pragma once

#include <cstdint>
#include <string>

namespace ranktree::mpi::collect {

class Log {
 public:
  Log() = default;
  // Of the environment: a path, at whose end lines are put, or "stderr". Only rank 0 of a communicator writes.
  explicit Log(int rank);
  [[nodiscard]] bool wanted() const { return !path_.empty(); }
  // One line, in one write, so that those of several processes do not mix. What cannot be written is lost.
  void line(const std::string& text) const noexcept;

 private:
  std::string path_;
};

// "12.3 us", "1.24 ms"; "128", "4K" as RANKTREE_COLL takes them.
std::string time_text(double seconds);
std::string size_text(std::int64_t bytes);

}  // namespace ranktree::mpi::collect
