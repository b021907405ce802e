// What the tests of core/shared have in common: memory of a team, threads as its ranks, and what ranks contribute.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <thread>
#include <vector>

namespace ranktree::core::shared {

using Bytes = std::vector<std::byte>;

// Memory as the system gives it: zero, at the beginning of a page.
class Memory {
 public:
  explicit Memory(std::size_t bytes) : bytes_(bytes), data_(new (kPage) std::byte[bytes]()) {}
  [[nodiscard]] std::span<std::byte> span() const { return {data_.get(), bytes_}; }

 private:
  static constexpr std::align_val_t kPage{4096};
  struct Free {
    void operator()(std::byte* data) const { operator delete[](data, kPage); }
  };
  std::size_t bytes_;
  std::unique_ptr<std::byte[], Free> data_;
};

// work(rank), each rank in a thread of its own.
template <class Work>
void on_ranks(int ranks, const Work& work) {
  std::vector<std::jthread> threads(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    threads[static_cast<std::size_t>(rank)] = std::jthread([&work, rank] { work(rank); });
  }
}

// x -> a x + b modulo 2^32: composition is associative and not commutative.
struct Map {
  std::uint32_t a = 1;
  std::uint32_t b = 0;
  bool operator==(const Map&) const = default;
};

inline Map after(const Map& first, const Map& second) { return {second.a * first.a, second.a * first.b + second.b}; }

inline void compose(void* calls, const std::byte* in, std::byte* inout, std::size_t elements) {
  ++*static_cast<std::size_t*>(calls);
  for (std::size_t i = 0; i < elements; ++i) {
    Map left;
    Map right;
    std::memcpy(&left, in + i * sizeof(Map), sizeof(Map));
    std::memcpy(&right, inout + i * sizeof(Map), sizeof(Map));
    right = after(left, right);
    std::memcpy(inout + i * sizeof(Map), &right, sizeof(Map));
  }
}

// What rank `rank` contributes at a place in the operation number `number`; odd factors keep information.
inline std::uint32_t mixed(std::uint64_t number, int rank, std::size_t place) {
  std::uint64_t value = number * 1000003 + static_cast<std::uint64_t>(rank) * 7919 + place * 31 + 17;
  value ^= value >> 15U;
  value *= 0x2c1b3c6d;
  return static_cast<std::uint32_t>(value ^ (value >> 12U));
}
inline std::byte byte_of(std::uint64_t number, int rank, std::size_t place) {
  return static_cast<std::byte>(mixed(number, rank, place));
}
inline Map map_of(std::uint64_t number, int rank, std::size_t place) {
  return {mixed(number, rank, place) | 1U, mixed(number, rank + 50, place)};
}

}  // namespace ranktree::core::shared
