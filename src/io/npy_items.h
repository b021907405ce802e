// The items of a .npy array as numbers of C++.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "io/npz.h"

namespace ranktree::io {

// The number stored at `bytes`, which may be in the other byte order. For numbers of 1 to 8 bytes.
template <typename Item>
Item load_item(const char* bytes, bool swapped);

// The items behind a header, in the order of the file; `bytes` is the whole member. Result: std::int64_t, std::int32_t,
// double or float. Throws Error(kInput), led by `place`, for a value that the result cannot hold exactly (an integer
// beyond +-2^53 as double) and for types that hold no numbers.
template <typename Result>
std::vector<Result> items_of(const NpyHeader& header, std::string_view bytes, const std::string& place);

}  // namespace ranktree::io
