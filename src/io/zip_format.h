// The records of a zip file (PKWARE APPNOTE 6.3), shared by reader and writer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ranktree::io::zip {

inline constexpr std::uint32_t kLocalHeader = 0x04034b50;
inline constexpr std::uint32_t kCentralHeader = 0x02014b50;
inline constexpr std::uint32_t kEnd = 0x06054b50;
inline constexpr std::uint32_t kZip64End = 0x06064b50;
inline constexpr std::uint32_t kZip64Locator = 0x07064b50;

inline constexpr std::size_t kLocalSize = 30;
inline constexpr std::size_t kCentralSize = 46;
inline constexpr std::size_t kEndSize = 22;
inline constexpr std::size_t kZip64EndSize = 56;
inline constexpr std::size_t kZip64LocatorSize = 20;

inline constexpr std::uint16_t kZip64Extra = 0x0001;
inline constexpr std::uint16_t kStored = 0;
inline constexpr std::uint16_t kDeflated = 8;
inline constexpr std::uint32_t kInExtra = 0xffffffff;     // the value is in the ZIP64 extra field
inline constexpr std::uint16_t kInZip64End = 0xffff;      // the count is in the ZIP64 end record
inline constexpr std::uint64_t kLargestUnfolding = 1032;  // deflate expands one byte to at most so many

// Little-endian numbers for any byte order of this machine. The caller has checked that the bytes exist.
template <typename Number>
Number read(std::string_view bytes, std::size_t position) {
  Number value = 0;
  for (std::size_t i = sizeof(Number); i-- > 0;) {
    value = static_cast<Number>((static_cast<std::uint64_t>(value) << 8U) |
                                static_cast<unsigned char>(bytes[position + i]));
  }
  return value;
}

template <typename Number>
void append(std::string& bytes, Number value) {
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    bytes += static_cast<char>((static_cast<std::uint64_t>(value) >> (8U * i)) & 0xffU);
  }
}

}  // namespace ranktree::io::zip
