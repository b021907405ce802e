#include "mpi/collect/log.h"

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

namespace ranktree::mpi::collect {
namespace {

// An interrupted or short write loses the rest of a line: a log is not worth waiting for.
void put(int file, const std::string& text) noexcept {
  if (write(file, text.data(), text.size()) < 0) return;
}

}  // namespace

Log::Log(int rank) {
  if (rank != 0) return;
  const char* const path = std::getenv("RANKTREE_COLL_LOG");  // NOLINT(concurrency-mt-unsafe): nobody writes to it
  if (path != nullptr) path_ = path;
}

void Log::line(const std::string& text) const noexcept {
  if (!wanted()) return;
  try {
    const std::string whole = "ranktree: " + text + "\n";
    if (path_ == "stderr") {
      put(STDERR_FILENO, whole);
      return;
    }
    constexpr mode_t kReadable = 0644;
    const int file = open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, kReadable);
    if (file < 0) return;
    put(file, whole);
    close(file);
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): no memory for a line
  }
}

std::string time_text(double seconds) {
  constexpr double kMicro = 1e6;
  constexpr double kMilli = 1e3;
  std::array<char, 32> text{};
  const bool small = seconds * kMilli < 1;
  std::snprintf(text.data(), text.size(), small ? "%.3g us" : "%.3g ms", seconds * (small ? kMicro : kMilli));
  return text.data();
}

std::string size_text(std::int64_t bytes) {
  constexpr std::array<char, 4> kUnits{'\0', 'K', 'M', 'G'};
  constexpr std::int64_t kStep = 1024;
  std::size_t unit = 0;
  while (unit + 1 < kUnits.size() && bytes != 0 && bytes % kStep == 0) {
    bytes /= kStep;
    ++unit;
  }
  std::string text = std::to_string(bytes);
  if (unit > 0) text += kUnits.at(unit);
  return text;
}

}  // namespace ranktree::mpi::collect
