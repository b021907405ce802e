#include <zconf.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/npz.h"
#include "io/text.h"
#include "io/zip_format.h"

namespace ranktree::io {
namespace {

static_assert(std::endian::native == std::endian::little, "arrays are written in this machine's byte order");

constexpr std::uint16_t kVersionNeeded = 45;  // 4.5, the first with ZIP64
constexpr std::uint16_t kDate = 0x21;         // 1980-01-01: so that equal patterns give equal files

std::string npy_header(const char* descriptor, std::size_t count) {
  constexpr std::size_t kFixed = 10;
  constexpr std::size_t kAlignment = 64;
  std::string literal = std::string("{'descr': '") + descriptor + "', 'fortran_order': False, 'shape': (" +
                        std::to_string(count) + ",), }";
  const std::size_t used = (kFixed + literal.size() + 1) % kAlignment;
  literal.append(used == 0 ? 0 : kAlignment - used, ' ');
  literal += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  zip::append(header, static_cast<std::uint16_t>(literal.size()));
  return header + literal;
}

// Appends deflated parts one after another to `output`. Level 1: counters compress nearly as well as with 6, and 3x
// faster.
class Deflater {
 public:
  explicit Deflater(std::string& output) : output_(output) {
    if (deflateInit2(&stream_, 1, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK) throw std::bad_alloc();
  }
  ~Deflater() { deflateEnd(&stream_); }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;
  Deflater(Deflater&&) = delete;
  Deflater& operator=(Deflater&&) = delete;

  void add(std::string_view part) {
    constexpr std::size_t kStep = std::size_t{1} << 30U;
    while (!part.empty()) {
      const std::size_t step = std::min(part.size(), kStep);
      stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(part.data()));
      stream_.avail_in = static_cast<uInt>(step);
      run(Z_NO_FLUSH);
      part.remove_prefix(step);
    }
  }
  void finish() { run(Z_FINISH); }

 private:
  void run(int flush) {
    do {
      stream_.next_out = buffer_.data();
      stream_.avail_out = static_cast<uInt>(buffer_.size());
      deflate(&stream_, flush);
      output_.append(reinterpret_cast<const char*>(buffer_.data()), buffer_.size() - stream_.avail_out);
    } while (stream_.avail_out == 0);
  }

  std::string& output_;
  z_stream stream_{};
  std::vector<Bytef> buffer_ = std::vector<Bytef>(std::size_t{1} << 17U);
};

template <typename Item>
std::string_view bytes_of(std::span<const Item> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

}  // namespace

void NpzWriter::add(const std::string& name, std::span<const std::int64_t> values) {
  add_member(name, "<i8", values.size(), bytes_of(values));
}

void NpzWriter::add(const std::string& name, std::span<const std::int32_t> values) {
  add_member(name, "<i4", values.size(), bytes_of(values));
}

void NpzWriter::add(const std::string& name, std::span<const double> values) {
  add_member(name, "<f8", values.size(), bytes_of(values));
}

void NpzWriter::add_numbers(const std::string& name, std::span<const double> values) {
  if (!std::all_of(values.begin(), values.end(), is_whole)) return add(name, values);
  const std::vector<std::int64_t> whole(values.begin(), values.end());
  add(name, std::span<const std::int64_t>(whole));
}

void NpzWriter::add_text(const std::string& name, std::string_view text) { add_member(name, "|u1", text.size(), text); }

void NpzWriter::add_member(const std::string& name, const char* descriptor, std::size_t count, std::string_view bytes) {
  const std::string header = npy_header(descriptor, count);
  last_ = {};
  Deflater deflater(last_.bytes);
  deflater.add(header);
  deflater.add(bytes);
  deflater.finish();
  uLong crc = crc32_z(0, reinterpret_cast<const Bytef*>(header.data()), header.size());
  // zlib restarts for a null pointer, which an empty array may have.
  if (!bytes.empty()) crc = crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  last_.crc = static_cast<std::uint32_t>(crc);
  last_.size = header.size() + bytes.size();
  add_again(name);
}

void NpzWriter::add_again(const std::string& name) {
  const std::uint64_t offset = file_.size();
  append_entry(file_, false, name + ".npy", offset);
  append_entry(directory_, true, name + ".npy", offset);
  file_ += last_.bytes;
  ++members_;
}

// The local header of the last packed member, or its entry in the directory. The extra field of a ZIP64 member holds
// size, stored size and, in the directory, the offset.
void NpzWriter::append_entry(std::string& record, bool central, const std::string& name, std::uint64_t offset) const {
  const std::uint64_t stored_size = last_.bytes.size();
  const bool large = zip64_ == Zip64::kAlways || std::max({last_.size, stored_size, offset}) >= zip::kInExtra;
  const auto extra = static_cast<std::uint16_t>(central ? 24 : 16);
  zip::append(record, central ? zip::kCentralHeader : zip::kLocalHeader);
  if (central) zip::append(record, kVersionNeeded);
  zip::append(record, kVersionNeeded);
  zip::append(record, std::uint16_t{0});
  zip::append(record, zip::kDeflated);
  zip::append(record, std::uint16_t{0});
  zip::append(record, kDate);
  zip::append(record, last_.crc);
  zip::append(record, large ? zip::kInExtra : static_cast<std::uint32_t>(stored_size));
  zip::append(record, large ? zip::kInExtra : static_cast<std::uint32_t>(last_.size));
  zip::append(record, static_cast<std::uint16_t>(name.size()));
  zip::append(record, static_cast<std::uint16_t>(large ? 4 + extra : 0));
  if (central) {
    record.append(10, '\0');  // no comment, first disk, no attributes
    zip::append(record, large ? zip::kInExtra : static_cast<std::uint32_t>(offset));
  }
  record += name;
  if (!large) return;
  zip::append(record, zip::kZip64Extra);
  zip::append(record, extra);
  zip::append(record, last_.size);
  zip::append(record, stored_size);
  if (central) zip::append(record, offset);
}

std::string NpzWriter::finish() && {
  const std::uint64_t offset = file_.size();
  const std::uint64_t size = directory_.size();
  file_ += directory_;
  const bool large = zip64_ == Zip64::kAlways || std::max(offset, size) >= zip::kInExtra;
  if (large) {
    const std::uint64_t end = file_.size();
    zip::append(file_, zip::kZip64End);
    zip::append(file_, std::uint64_t{zip::kZip64EndSize - 12});
    zip::append(file_, kVersionNeeded);
    zip::append(file_, kVersionNeeded);
    zip::append(file_, std::uint64_t{0});  // this disk and the directory's: the first
    for (const std::uint64_t value : {members_, members_, size, offset}) zip::append(file_, value);
    zip::append(file_, zip::kZip64Locator);
    zip::append(file_, std::uint32_t{0});
    zip::append(file_, end);
    zip::append(file_, std::uint32_t{1});
  }
  zip::append(file_, zip::kEnd);
  zip::append(file_, std::uint32_t{0});
  for (int i = 0; i < 2; ++i) zip::append(file_, large ? zip::kInZip64End : static_cast<std::uint16_t>(members_));
  zip::append(file_, large ? zip::kInExtra : static_cast<std::uint32_t>(size));
  zip::append(file_, large ? zip::kInExtra : static_cast<std::uint32_t>(offset));
  zip::append(file_, std::uint16_t{0});
  return std::move(file_);
}

}  // namespace ranktree::io
