#include "recorded_case.h"

#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/pattern/pattern.h"

namespace ranktree::test {
namespace {

using core::pattern::Class;
using core::pattern::Entry;
using core::pattern::Pattern;
using core::pattern::Rank;

std::filesystem::path folder() { return std::filesystem::path(RANKTREE_TEST_DATA) / "real"; }

std::string unpacked(const std::filesystem::path& path) {
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) throw std::runtime_error("cannot open " + path.string());
  std::string text;
  std::vector<char> piece(65536);
  int length = 0;
  while ((length = gzread(file, piece.data(), static_cast<unsigned>(piece.size()))) > 0) {
    text.append(piece.data(), static_cast<std::size_t>(length));
  }
  gzclose(file);
  return text;
}

Rank ranks_of(const std::string& header) {
  const std::size_t place = header.find("ranks=");
  if (place == std::string::npos) throw std::runtime_error("no ranks= in " + header);
  return std::stoi(header.substr(place + 6));
}

Pattern read_pairs(const std::string& file) {
  std::istringstream text(unpacked(folder() / file));
  std::string header;
  std::getline(text, header);
  std::vector<Entry> entries;
  for (Entry entry; text >> entry.from >> entry.to >> entry.messages >> entry.bytes;) entries.push_back(entry);
  return core::pattern::from_entries(ranks_of(header), entries);
}

}  // namespace

std::vector<std::string> recorded_cases() {
  const std::string ending = ".ops.txt";
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder())) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(ending)) names.push_back(name.substr(0, name.size() - ending.size()));
  }
  std::sort(names.begin(), names.end());
  return names;
}

RecordedCase read_case(const std::string& name) {
  RecordedCase found{name, read_pairs(name + ".p2p.txt.gz"), read_pairs(name + ".all.txt.gz"), {}};
  std::ifstream text(folder() / (name + ".ops.txt"));
  std::string header;
  std::getline(text, header);
  for (RecordedCalls calls; text >> calls.operation >> calls.ranks >> calls.callers >> calls.calls >> calls.bytes;) {
    found.calls.push_back(calls);
  }
  return found;
}

}  // namespace ranktree::test
