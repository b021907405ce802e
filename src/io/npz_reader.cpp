#include <zconf.h>
#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/npy.h"
#include "io/npz.h"
#include "io/zip_format.h"

namespace ranktree::io {
namespace {

// Decompresses a deflate stream in parts, never beyond what the caller requests.
class Inflater {
 public:
  explicit Inflater(std::string_view input) : input_(input) { ready_ = inflateInit2(&stream_, -MAX_WBITS) == Z_OK; }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  Inflater(Inflater&&) = delete;
  Inflater& operator=(Inflater&&) = delete;

  // Fills `size` bytes and returns how many the stream had. A damaged stream is cut short.
  std::size_t fill(char* output, std::size_t size) {
    std::size_t filled = 0;
    while (ready_ && !ended_ && filled < size) {
      const auto space = static_cast<uInt>(std::min<std::size_t>(size - filled, kStep));
      stream_.next_out = reinterpret_cast<Bytef*>(output + filled);
      stream_.avail_out = space;
      feed();
      const int status = inflate(&stream_, Z_NO_FLUSH);
      filled += space - stream_.avail_out;
      ended_ = status != Z_OK;
      clean_end_ = status == Z_STREAM_END;
    }
    return filled;
  }
  // True when the stream is complete and has consumed its input.
  bool finished() {
    char extra = 0;
    if (!ended_ && fill(&extra, 1) != 0) return false;
    return clean_end_ && input_.empty() && stream_.avail_in == 0;
  }

 private:
  static constexpr std::size_t kStep = std::size_t{1} << 30U;
  void feed() {
    if (stream_.avail_in != 0) return;
    const std::size_t step = std::min(input_.size(), kStep);
    // Old interfaces of zlib declare the input pointer as writable but only read through it.
    stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(input_.data()));
    stream_.avail_in = static_cast<uInt>(step);
    input_.remove_prefix(step);
  }

  std::string_view input_;
  z_stream stream_{};
  bool ready_ = false;
  bool ended_ = false;
  bool clean_end_ = false;
};

std::uint32_t crc_of(std::string_view bytes) {
  return static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

void append_utf8(std::string& text, std::uint32_t point) {
  constexpr unsigned kPayload = 0x3f;
  if (point < 0x80) {
    text += static_cast<char>(point);
  } else if (point < 0x800) {
    text += static_cast<char>(0xc0U | (point >> 6U));
    text += static_cast<char>(0x80U | (point & kPayload));
  } else if (point < 0x10000) {
    text += static_cast<char>(0xe0U | (point >> 12U));
    text += static_cast<char>(0x80U | ((point >> 6U) & kPayload));
    text += static_cast<char>(0x80U | (point & kPayload));
  } else {
    text += static_cast<char>(0xf0U | ((point >> 18U) & 0x07U));
    text += static_cast<char>(0x80U | ((point >> 12U) & kPayload));
    text += static_cast<char>(0x80U | ((point >> 6U) & kPayload));
    text += static_cast<char>(0x80U | (point & kPayload));
  }
}

}  // namespace

NpzReader::NpzReader(std::string_view bytes, std::string origin) : bytes_(bytes), origin_(std::move(origin)) {
  if (bytes_.empty()) refuse("the file is empty");
  if (!bytes_.starts_with("PK")) refuse("expected an .npz file (a zip, beginning with 'PK')");
  const Directory directory = find_directory();
  if (directory.offset > bytes_.size() || directory.size > bytes_.size() - directory.offset ||
      directory.members > directory.size / zip::kCentralSize) {
    refuse("zip directory: does not fit the file, which is truncated or damaged");
  }
  std::size_t position = directory.offset;
  for (std::uint64_t i = 0; i < directory.members; ++i) position = read_member(position);
  check_overlaps(directory.offset);
}

void NpzReader::refuse(const std::string& text) const { refuse_at(origin_, text); }

std::string NpzReader::place(const std::string& name) const { return origin_ + ": array '" + name + "'"; }

// The end record is the last part of the file, except for a comment of at most 65535 bytes.
NpzReader::Directory NpzReader::find_directory() const {
  constexpr std::size_t kLongestComment = 65535;
  if (bytes_.size() < zip::kEndSize) refuse("zip end record: missing, the file is truncated");
  const std::size_t last = bytes_.size() - zip::kEndSize;
  const std::size_t first = last > kLongestComment ? last - kLongestComment : 0;
  for (std::size_t position = last + 1; position-- > first;) {
    if (zip::read<std::uint32_t>(bytes_, position) != zip::kEnd ||
        zip::read<std::uint16_t>(bytes_, position + 20) != last - position) {
      continue;
    }
    const Directory directory{zip::read<std::uint32_t>(bytes_, position + 16),
                              zip::read<std::uint32_t>(bytes_, position + 12),
                              zip::read<std::uint16_t>(bytes_, position + 10)};
    const bool zip64 =
        directory.offset == zip::kInExtra || directory.size == zip::kInExtra || directory.members == zip::kInZip64End;
    return zip64 ? find_zip64_directory(position) : directory;
  }
  refuse("zip end record: missing, the file is truncated");
}

NpzReader::Directory NpzReader::find_zip64_directory(std::size_t end) const {
  const std::size_t locator = end - zip::kZip64LocatorSize;
  if (end < zip::kZip64LocatorSize || zip::read<std::uint32_t>(bytes_, locator) != zip::kZip64Locator) {
    refuse("zip64 locator: missing, the file is truncated or damaged");
  }
  const auto position = zip::read<std::uint64_t>(bytes_, locator + 8);
  if (position > bytes_.size() || bytes_.size() - position < zip::kZip64EndSize ||
      zip::read<std::uint32_t>(bytes_, position) != zip::kZip64End) {
    refuse("zip64 end record: missing, the file is truncated or damaged");
  }
  return {zip::read<std::uint64_t>(bytes_, position + 48), zip::read<std::uint64_t>(bytes_, position + 40),
          zip::read<std::uint64_t>(bytes_, position + 32)};
}

// Reads one entry of the directory and returns where the next one begins.
std::size_t NpzReader::read_member(std::size_t position) {
  if (bytes_.size() - position < zip::kCentralSize ||
      zip::read<std::uint32_t>(bytes_, position) != zip::kCentralHeader) {
    refuse("zip directory: entry " + std::to_string(members_.size()) + " is damaged");
  }
  const auto flags = zip::read<std::uint16_t>(bytes_, position + 8);
  const auto method = zip::read<std::uint16_t>(bytes_, position + 10);
  const std::size_t name_size = zip::read<std::uint16_t>(bytes_, position + 28);
  const std::size_t extra_size = zip::read<std::uint16_t>(bytes_, position + 30);
  const std::size_t comment_size = zip::read<std::uint16_t>(bytes_, position + 32);
  const std::size_t after = position + zip::kCentralSize;
  if (bytes_.size() - after < name_size + extra_size + comment_size) {
    refuse("zip directory: entry " + std::to_string(members_.size()) + " is truncated");
  }
  const std::string name(bytes_.substr(after, name_size));
  Member member{.deflated = method == zip::kDeflated,
                .crc = zip::read<std::uint32_t>(bytes_, position + 16),
                .stored_size = zip::read<std::uint32_t>(bytes_, position + 20),
                .size = zip::read<std::uint32_t>(bytes_, position + 24),
                .offset = zip::read<std::uint32_t>(bytes_, position + 42)};
  read_zip64_extra(bytes_.substr(after + name_size, extra_size), name, member);
  const std::string where = "zip member '" + name + "': ";
  if ((flags & 1U) != 0) refuse(where + "is encrypted");
  if (method != zip::kStored && method != zip::kDeflated) {
    refuse(where + "expected method stored or deflated, found " + std::to_string(method));
  }
  if (!members_.emplace(name, member).second) refuse(where + "is in the file twice");
  return after + name_size + extra_size + comment_size;
}

// The extra field holds, in this order, those of size, stored size and offset that did not fit 32 bits.
void NpzReader::read_zip64_extra(std::string_view extra, const std::string& name, Member& member) const {
  constexpr std::size_t kHeader = 4;
  while (extra.size() >= kHeader) {
    const auto tag = zip::read<std::uint16_t>(extra, 0);
    const std::size_t size = zip::read<std::uint16_t>(extra, 2);
    if (extra.size() - kHeader < size) refuse("zip member '" + name + "': its extra field is damaged");
    if (tag == zip::kZip64Extra) {
      std::string_view values = extra.substr(kHeader, size);
      for (std::uint64_t* value : {&member.size, &member.stored_size, &member.offset}) {
        if (*value != zip::kInExtra) continue;
        if (values.size() < sizeof(std::uint64_t)) refuse("zip member '" + name + "': its ZIP64 sizes are missing");
        *value = zip::read<std::uint64_t>(values, 0);
        values.remove_prefix(sizeof(std::uint64_t));
      }
      return;
    }
    extra.remove_prefix(kHeader + size);
  }
}

// Members that share bytes indicate a zip bomb, or damage.
void NpzReader::check_overlaps(std::uint64_t directory) const {
  std::vector<std::pair<std::uint64_t, const std::string*>> starts;
  starts.reserve(members_.size());
  for (const auto& [name, member] : members_) starts.emplace_back(member.offset, &name);
  std::sort(starts.begin(), starts.end());
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::uint64_t next = i + 1 < starts.size() ? starts[i + 1].first : directory;
    const Member& member = members_.at(*starts[i].second);
    if (next < member.offset || next - member.offset < zip::kLocalSize ||
        next - member.offset - zip::kLocalSize < member.stored_size) {
      refuse("zip member '" + *starts[i].second + "': overlaps the next part of the file");
    }
  }
}

const NpzReader::Member& NpzReader::find(const std::string& name) const {
  const auto found = members_.find(name + ".npy");
  if (found == members_.end()) refuse_at(place(name), "missing");
  return found->second;
}

// The bytes of a member as stored, after its local header.
std::string_view NpzReader::stored(const std::string& name, const Member& member) const {
  if (bytes_.size() - member.offset < zip::kLocalSize ||
      zip::read<std::uint32_t>(bytes_, member.offset) != zip::kLocalHeader) {
    refuse_at(place(name), "its zip header is damaged");
  }
  const std::uint64_t start = member.offset + zip::kLocalSize + zip::read<std::uint16_t>(bytes_, member.offset + 26) +
                              zip::read<std::uint16_t>(bytes_, member.offset + 28);
  if (start > bytes_.size() || bytes_.size() - start < member.stored_size) {
    refuse_at(place(name), "truncated: expected " + std::to_string(member.stored_size) + " stored bytes");
  }
  const bool possible =
      member.deflated ? member.size / zip::kLargestUnfolding <= member.stored_size : member.size == member.stored_size;
  if (!possible) {
    refuse_at(place(name), "declares " + std::to_string(member.size) + " bytes, impossible from " +
                               std::to_string(member.stored_size) + " stored bytes");
  }
  return bytes_.substr(start, member.stored_size);
}

NpyHeader NpzReader::header_of(const std::string& name) const {
  const Member& member = find(name);
  const std::string_view raw = stored(name, member);
  constexpr std::uint64_t kEnough = 4096;
  std::string head(std::min(kEnough, member.size), '\0');
  if (member.deflated) {
    head.resize(Inflater(raw).fill(head.data(), head.size()));
  } else {
    head = raw.substr(0, head.size());
  }
  return read_npy_header(head, member.size, place(name));
}

std::vector<std::string> NpzReader::names() const {
  constexpr std::string_view kEnd = ".npy";
  std::vector<std::string> names;
  names.reserve(members_.size());
  for (const auto& [name, member] : members_) {
    names.push_back(name.ends_with(kEnd) ? name.substr(0, name.size() - kEnd.size()) : name);
  }
  return names;
}

std::uint64_t NpzReader::count(const std::string& name) const { return list_header_of(name).count; }

NpyHeader NpzReader::list_header_of(const std::string& name) const {
  NpyHeader header = header_of(name);
  if (header.shape.size() > 1) {
    refuse_at(place(name), "expected one dimension, found " + std::to_string(header.shape.size()));
  }
  return header;
}

NpzReader::Array NpzReader::array(const std::string& name, std::uint64_t expected, std::string_view kinds) const {
  Array array{list_header_of(name), {}};
  if (kinds.find(array.header.kind) == std::string_view::npos) {
    refuse_at(place(name), std::string("expected ") + (kinds == "iu" ? "integers" : "numbers") + ", found type '" +
                               array.header.kind + std::to_string(array.header.item_size) + "'");
  }
  if (array.header.count != expected) {
    refuse_at(place(name),
              "expected " + std::to_string(expected) + " items, found " + std::to_string(array.header.count));
  }
  array.bytes = bytes(name);
  return array;
}

std::string NpzReader::bytes(const std::string& name) const {
  const Member& member = find(name);
  const std::string_view raw = stored(name, member);
  std::string bytes;
  if (member.deflated) {
    Inflater inflater(raw);
    bytes.resize(member.size);
    if (inflater.fill(bytes.data(), bytes.size()) != bytes.size() || !inflater.finished()) {
      refuse_at(place(name), "its compressed bytes are damaged");
    }
  } else {
    bytes = raw;
  }
  if (crc_of(bytes) != member.crc) refuse_at(place(name), "its checksum (CRC-32) does not match its bytes");
  return bytes;
}

std::vector<std::int64_t> NpzReader::int64s(const std::string& name, std::uint64_t expected) const {
  const Array found = array(name, expected, "iu");
  return items_of<std::int64_t>(found.header, found.bytes, place(name));
}

std::vector<std::int32_t> NpzReader::int32s(const std::string& name, std::uint64_t expected) const {
  const Array found = array(name, expected, "iu");
  return items_of<std::int32_t>(found.header, found.bytes, place(name));
}

std::vector<double> NpzReader::doubles(const std::string& name, std::uint64_t expected) const {
  const Array found = array(name, expected, "biuf");
  return items_of<double>(found.header, found.bytes, place(name));
}

bool NpzReader::same(const std::string& one, const std::string& other) const {
  if (!has(one) || !has(other)) return false;
  const Member& first = find(one);
  const Member& second = find(other);
  return first.deflated == second.deflated && first.crc == second.crc && first.size == second.size &&
         stored(one, first) == stored(other, second);
}

std::string NpzReader::text(const std::string& name) const {
  const Array found = array(name, count(name), "uSU");
  const std::string_view items = std::string_view(found.bytes).substr(found.header.data_offset);
  if (found.header.kind != 'U') {
    const std::size_t end = items.find_last_not_of('\0');  // numpy pads its bytes with zeros
    return std::string(items.substr(0, end == std::string_view::npos ? 0 : end + 1));
  }
  std::string text;
  for (std::size_t i = 0; i + sizeof(std::uint32_t) <= items.size(); i += sizeof(std::uint32_t)) {
    const auto point = load_item<std::uint32_t>(items.data() + i, found.header.swapped);
    if (point != 0) append_utf8(text, point);
  }
  return text;
}

}  // namespace ranktree::io
