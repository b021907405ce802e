// Arrays of numpy, one to a .npy file: a magic, a version, a length, the literal of a Python dictionary (NEP 1), items.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ranktree::io {

// The header of a .npy member.
struct NpyHeader {
  char kind = 'i';       // numpy's letter: b, i, u, f, S, U
  bool swapped = false;  // not in this machine's byte order
  std::size_t item_size = 0;
  std::uint64_t count = 0;           // items
  std::vector<std::uint64_t> shape;  // of each dimension
  bool by_columns = false;           // the first dimension runs fastest
  std::size_t data_offset = 0;       // offset of the first item within the member
};

// Throws Error(kInput), led by `place`.
[[noreturn]] void refuse_at(const std::string& place, const std::string& text);

// Reads a header from the first bytes of a member, which holds `member_size` bytes in all. Throws Error(kInput), led by
// `place`, unless it describes exactly the bytes that follow.
NpyHeader read_npy_header(std::string_view bytes, std::uint64_t member_size, const std::string& place);

// The number stored at `bytes`, which may be in the other byte order. For numbers of 1 to 8 bytes.
template <typename Item>
Item load_item(const char* bytes, bool swapped);

// The items behind a header, in the order of the file; `bytes` is the whole member. Result: std::int64_t, std::int32_t,
// double or float. Throws Error(kInput), led by `place`, for a value that the result cannot hold exactly (an integer
// beyond +-2^53 as double) and for types that hold no numbers.
template <typename Result>
std::vector<Result> items_of(const NpyHeader& header, std::string_view bytes, const std::string& place);

}  // namespace ranktree::io
