#include "mpi/collect/select/log.h"

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>

#include "core/predict/choice.h"
#include "core/schedule/makers.h"
#include "mpi/agree.h"
#include "mpi/collect/call_kind.h"
#include "mpi/collect/select/tuning_entry.h"

namespace ranktree::mpi::collect {
namespace {

// An interrupted or short write loses the rest of a line: a log is not worth waiting for.
void put(int file, const std::string& text) noexcept {
  if (write(file, text.data(), text.size()) < 0) return;
}

}  // namespace

void Log::line(const std::string& text) const noexcept {
  if (!wanted()) return;
  try {
    const std::string whole = "ranktree: " + text + "\n";
    if (path_ == "stderr") {
      put(STDERR_FILENO, whole);
      return;
    }
    constexpr mode_t kReadable = 0644;
    const int file = open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, kReadable);
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

namespace {

using core::schedule::Collective;

std::string several(int number, const char* what) {
  return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

std::string contestant_text(const TuningEntry::Contestant& contestant) {
  std::string text = " | " + to_text(contestant.choice);
  const auto is_time = [](double seconds) { return seconds > 0 && std::isfinite(seconds); };
  if (is_time(contestant.measured)) text += " " + time_text(contestant.measured);
  if (contestant.model > 0) text += " (model " + time_text(contestant.model) + ")";
  return text + (contestant.dropped ? " dropped" : "");
}

}  // namespace

std::string kind_text(const Kind& call) {
  const auto [collective, kind, size, index, bytes] = call;
  std::string text(core::schedule::collective_name(collective));
  const bool reduction = reduces(collective);
  const bool vector = kind == (reduction ? kCounts : kUnknown);
  if (size > 0) text += " " + size_text(least_bytes(size)) + "-" + size_text(least_bytes(size + 1));
  if (vector) text += " of unequal blocks";
  if (reduction && !vector && kind != 0) text += kind == 1 ? ", user's operation" : ", not commutative";
  return text;
}

DecisionLog::DecisionLog(const Environment& environment, int rank, int ranks, int nodes)
    : log_(environment.log, rank), who_(several(ranks, "rank") + " on " + several(nodes, "node") + ": ") {}

void DecisionLog::line(const std::string& text) const { log_.line(who_ + text); }

void DecisionLog::decision(const Kind& kind, const TuningEntry& entry) const noexcept {
  if (!wanted()) return;
  [[maybe_unused]] const Failure lost = attempt([&] {
    std::string text = kind_text(kind) + ": " + to_text(entry.winner());
    for (const TuningEntry::Contestant& each : entry.contestants()) text += contestant_text(each);
    if (entry.runs_ahead()) {
      text += " | for good: a rank runs ahead";
    } else if (entry.settled() == TuningEntry::kForEver) {
      text += entry.contestants().size() == 1 ? " | no other variant" : " | for good";
    } else if (entry.settled() == 0) {
      text += " | for now";
    } else {
      text += " | for " + std::to_string(entry.settled()) + " calls";
    }
    line(text);
  });
}

void DecisionLog::rule(const Kind& kind, const core::predict::Choice& choice, bool can) noexcept {
  [[maybe_unused]] const Failure lost = attempt([&] {
    if (!logged_.insert(kind.index).second) return;
    const std::string variant = to_text(choice);
    const std::string refused = " cannot carry out this " + std::string(collective_name(kind.collective));
    line(kind_text(kind) + ": " + (can ? variant + " | by rule" : "native | " + variant + refused));
  });
}

void DecisionLog::counts(const CallTable& table) const noexcept {
  if (!wanted()) return;
  [[maybe_unused]] const Failure lost = attempt([&] {
    std::string text = "calls:";
    for (std::size_t i = 0; i < kCollectives; ++i) {
      if (table.calls.at(i) == 0) continue;
      text += std::string(text.ends_with(':') ? " " : ", ") +
              std::string(core::schedule::collective_name(static_cast<Collective>(i))) + " " +
              std::to_string(table.ours.at(i)) + " of " + std::to_string(table.calls.at(i)) + " not by the MPI";
    }
    line(text);
  });
}

}  // namespace ranktree::mpi::collect
