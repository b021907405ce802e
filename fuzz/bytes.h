// The input of a fuzzer as numbers that a program draws.
#pragma once

#include <cstddef>
#include <cstdint>

// The input, byte by byte, then zeros.
class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  [[nodiscard]] bool any() const { return size_ > 0; }
  // From 0; a bound is at most 256.
  int next(int bound) { return size_ == 0 ? 0 : (--size_, *data_++ % bound); }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
};
