// Named arrays in one file: a zip of .npy members, as numpy.load, numpy.savez and numpy.savez_compressed know it.
//
// Only what patterns need: arrays of one dimension (or none) of integers, floats, bytes or text, and matrices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/npy.h"

namespace ranktree::io {

// Reads from bytes held by the caller. Every error is an Error(kInput) naming file and array. Memory is allocated for
// an array only after its sizes in the zip, in its own header and in the caller's expectation agree, and never more
// than the compressed bytes can expand to.
class NpzReader {
 public:
  NpzReader(std::string_view bytes, std::string origin);

  [[nodiscard]] bool has(const std::string& name) const { return members_.contains(name + ".npy"); }
  // The names of all arrays, sorted.
  [[nodiscard]] std::vector<std::string> names() const;
  // Of an array with any number of dimensions, without decompressing its items.
  [[nodiscard]] NpyHeader header_of(const std::string& name) const;
  // The whole member, its checksum verified: at most kLargestUnfolding times its stored bytes.
  [[nodiscard]] std::string bytes(const std::string& name) const;
  // How errors name an array.
  [[nodiscard]] std::string place(const std::string& name) const;
  // The number of items of an array of at most one dimension, without decompressing them.
  [[nodiscard]] std::uint64_t count(const std::string& name) const;

  // The array's items; its length must be `expected`. Integers: the file's dtype may be any integer whose values fit.
  [[nodiscard]] std::vector<std::int64_t> int64s(const std::string& name, std::uint64_t expected) const;
  [[nodiscard]] std::vector<std::int32_t> int32s(const std::string& name, std::uint64_t expected) const;
  // Integers, floats or truth values; an integer beyond +-2^53 is refused.
  [[nodiscard]] std::vector<double> doubles(const std::string& name, std::uint64_t expected) const;
  // True when both arrays exist and are stored in the very same bytes, so that comparing them decompressed is needless.
  [[nodiscard]] bool same(const std::string& one, const std::string& other) const;
  // A text held as uint8 bytes, as numpy bytes ('S') or as numpy text ('U'): UTF-8.
  [[nodiscard]] std::string text(const std::string& name) const;

 private:
  struct Member {
    bool deflated = false;
    std::uint32_t crc = 0;
    std::uint64_t stored_size = 0;
    std::uint64_t size = 0;
    std::uint64_t offset = 0;  // of the local header
  };
  struct Directory {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    std::uint64_t members = 0;
  };
  struct Array {
    NpyHeader header;
    std::string bytes;  // the whole member
  };

  [[noreturn]] void refuse(const std::string& text) const;
  [[nodiscard]] Directory find_directory() const;
  [[nodiscard]] Directory find_zip64_directory(std::size_t end) const;
  std::size_t read_member(std::size_t position);
  void read_zip64_extra(std::string_view extra, const std::string& name, Member& member) const;
  void check_overlaps(std::uint64_t directory) const;
  [[nodiscard]] const Member& find(const std::string& name) const;
  [[nodiscard]] std::string_view stored(const std::string& name, const Member& member) const;
  [[nodiscard]] NpyHeader list_header_of(const std::string& name) const;
  [[nodiscard]] Array array(const std::string& name, std::uint64_t expected, std::string_view kinds) const;

  std::string_view bytes_;
  std::string origin_;
  std::map<std::string, Member> members_;
};

// Builds the file in memory; members are deflated. Sizes of 4 GiB and more are written in ZIP64.
class NpzWriter {
 public:
  // kAlways writes the ZIP64 records even where they are not needed, for tests.
  enum class Zip64 : std::uint8_t { kWhereNeeded, kAlways };
  explicit NpzWriter(Zip64 zip64 = Zip64::kWhereNeeded) : zip64_(zip64) {}

  void add(const std::string& name, std::span<const std::int64_t> values);
  void add(const std::string& name, std::span<const std::int32_t> values);
  void add(const std::string& name, std::span<const double> values);
  // int64 when every value is a whole number within +-2^53, float64 otherwise.
  void add_numbers(const std::string& name, std::span<const double> values);
  void add_text(const std::string& name, std::string_view text);  // as uint8
  // Adds the last array again under another name, without compressing it again.
  void add_again(const std::string& name);

  [[nodiscard]] std::string finish() &&;

 private:
  // A member as it is stored in the file.
  struct Packed {
    std::string bytes;
    std::uint64_t size = 0;  // decompressed
    std::uint32_t crc = 0;
  };
  void add_member(const std::string& name, const char* descriptor, std::size_t count, std::string_view bytes);
  void append_entry(std::string& record, bool central, const std::string& name, std::uint64_t offset) const;

  std::string file_;
  std::string directory_;
  Packed last_;
  std::uint64_t members_ = 0;
  Zip64 zip64_;
};

}  // namespace ranktree::io
