// Memory that processes of one node share.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace ranktree::mpi::collect {

// Mapped from construction to destruction. Pages are the system's from the beginning: where /dev/shm is too small,
// there is no segment, and nothing that touches one gets SIGBUS.
class Segment {
 public:
  // Of zeros, under a new name. Empty where the system refuses, and where less would be left than is taken.
  static std::optional<Segment> create(std::size_t bytes);
  // Maps what another process has created. Empty where there is no such name, or the segment of that name is smaller.
  static std::optional<Segment> open(const std::string& name, std::size_t bytes);

  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;
  Segment(Segment&& other) noexcept;
  Segment& operator=(Segment&& other) noexcept;

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::span<std::byte> memory() const { return memory_; }
  // Removes the name: processes that have mapped it keep it, no other can open it, and the system frees it with the
  // last of them.
  void forget_name();

 private:
  Segment(std::string name, std::span<std::byte> memory, bool named)
      : name_(std::move(name)), memory_(memory), named_(named) {}
  static std::optional<Segment> map(int file, const std::string& name, std::size_t bytes, bool named);

  std::string name_;
  std::span<std::byte> memory_;
  bool named_ = false;  // by this process, which must remove the name
};

// Sleeping in memory that processes share.

// Sleeps until a process calls wake() of this word, for as long as it is `value`. False once the time is over; may
// return early.
bool sleep_while(const std::uint32_t* word, std::uint32_t value, std::chrono::microseconds most);

// Wakes all that sleep on the word.
void wake(const std::uint32_t* word);

}  // namespace ranktree::mpi::collect
