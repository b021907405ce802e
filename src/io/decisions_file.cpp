#include "io/decisions_file.h"

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include "core/base/error.h"
#include "io/file.h"

namespace ranktree::io {
namespace {

using core::Error;
using core::Fault;

constexpr std::string_view kHead = "ranktree decisions 1";

std::string_view take_line(std::string_view& bytes) {
  const std::size_t end = bytes.find('\n');
  if (end == std::string_view::npos) return {};
  const std::string_view line = bytes.substr(0, end);
  bytes.remove_prefix(end + 1);
  return line;
}

// Whole lines only, of three parts.
void add(const Decisions& decisions, const Decisions* unless, std::size_t& left, std::string& text) {
  for (const auto& [where, variant] : decisions) {
    if (left == 0) return;
    if (unless != nullptr && unless->contains(where)) continue;
    std::string line = where;
    line.append(1, '|').append(variant).append(1, '\n');
    if (text.size() + line.size() > kMostDecisionBytes) return;
    text += line;
    --left;
  }
}

}  // namespace

Decisions read_decisions(std::string_view bytes, const std::string& origin) {
  if (bytes.size() > kMostDecisionBytes) throw Error(Fault::kInput, origin + ": expected at most 1 MiB");
  if (take_line(bytes) != kHead) {
    throw Error(Fault::kInput, origin + ":1: expected '" + std::string(kHead) + "'");
  }
  Decisions found;
  for (std::size_t number = 2; !bytes.empty(); ++number) {
    const std::string_view line = take_line(bytes);
    const std::size_t first = line.find('|');
    const std::size_t last = line.rfind('|');
    const bool has_three = first != std::string_view::npos && first != last && last + 1 < line.size() &&
                           line.find('|', first + 1) == last && number <= kMostDecisions + 1;
    if (!has_three) {
      throw Error(Fault::kInput, origin + ":" + std::to_string(number) + ": expected PLACE|KIND|VARIANT");
    }
    found.emplace(line.substr(0, last), line.substr(last + 1));
  }
  return found;
}

std::string write_decisions(const Decisions& newer, const Decisions& older) {
  std::string text = std::string(kHead) + '\n';
  std::size_t left = kMostDecisions;
  add(newer, nullptr, left, text);
  add(older, &newer, left, text);
  return text;
}

Decisions load_decisions(const std::string& path) {
  std::error_code unknown;
  if (std::filesystem::status(path, unknown).type() == std::filesystem::file_type::not_found) return {};
  return read_decisions(read_file(path), path);
}

void save_decisions(const std::string& path, const Decisions& newer) {
  Decisions older;
  try {
    older = load_decisions(path);
  } catch (const Error& error) {
    // On a network another job may have replaced the file between its opening and reading.
    if (error.fault() != Fault::kInput) older = load_decisions(path);
  }
  std::error_code failed;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), failed);
  write_file_atomically(path, write_decisions(newer, older));
}

}  // namespace ranktree::io
