#include "mpi/collect/decisions.h"

#include <cmath>
#include <cstddef>
#include <exception>
#include <string>

#include "core/predict/choice.h"
#include "core/schedule/makers.h"
#include "mpi/collect/cell.h"
#include "mpi/collect/size_class.h"

namespace ranktree::mpi::collect {
namespace {

using core::schedule::Collective;

std::string several(int number, const char* what) {
  return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

// "allreduce 1K-2K, user operation": from the first size to the next power of two, which is not in it.
std::string kind_text(std::size_t index) {
  const std::size_t size = index % kSizes;
  const std::size_t kind = index / kSizes % kKinds;
  const auto collective = static_cast<Collective>(index / kSizes / kKinds);
  std::string text(core::schedule::collective_name(collective));
  const bool reduction = reduces(collective);
  const bool vector = kind == (reduction ? kCounts : kUnknown);
  if (size > 0) text += " " + size_text(least_bytes(size)) + "-" + size_text(least_bytes(size + 1));
  if (vector) text += " of unequal blocks";
  if (reduction && !vector && kind != 0) text += kind == 1 ? ", user's operation" : ", not commutative";
  return text;
}

std::string contestant_text(const Cell::Contestant& contestant) {
  std::string text = " | " + to_text(contestant.choice);
  const auto is_time = [](double seconds) { return seconds > 0 && std::isfinite(seconds); };
  if (is_time(contestant.measured)) text += " " + time_text(contestant.measured);
  if (is_time(contestant.apart)) text += ", " + time_text(contestant.apart) + " apart";
  if (contestant.model > 0) text += " (model " + time_text(contestant.model) + ")";
  return text + (contestant.dropped ? " dropped" : "");
}

}  // namespace

DecisionLog::DecisionLog(int rank, int ranks, int nodes)
    : log_(rank), who_(several(ranks, "rank") + " on " + several(nodes, "node") + ": ") {}

void DecisionLog::line(const std::string& text) const { log_.line(who_ + text); }

void DecisionLog::decision(std::size_t index, const Cell& cell) const {
  if (!wanted()) return;
  std::string text = kind_text(index) + ": " + to_text(cell.winner());
  for (const Cell::Contestant& each : cell.contestants()) text += contestant_text(each);
  if (cell.contestants().size() == 1) {
    text += " | no other way";
  } else if (cell.settled() == Cell::kForEver) {
    text += " | for good";
  } else {
    text += " | for " + std::to_string(cell.settled()) + " calls";
  }
  line(text);
}

void DecisionLog::rule(Collective collective, std::size_t index, const core::predict::Choice& choice, bool can) {
  if (!told_.insert(index).second) return;
  const std::string way = to_text(choice);
  line(kind_text(index) + ": " +
       (can ? way + " | by rule"
            : "native | " + way + " cannot carry out this " + std::string(collective_name(collective))));
}

void DecisionLog::counts(const Shortcuts& shortcuts) const noexcept {
  if (!wanted()) return;
  try {
    std::string text = "calls:";
    for (std::size_t i = 0; i < kCollectives; ++i) {
      if (shortcuts.calls.at(i) == 0) continue;
      text += std::string(text.ends_with(':') ? " " : ", ") +
              std::string(core::schedule::collective_name(static_cast<Collective>(i))) + " " +
              std::to_string(shortcuts.ours.at(i)) + " of " + std::to_string(shortcuts.calls.at(i)) + " not by the MPI";
    }
    line(text);
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): no memory for a line
  }
}

}  // namespace ranktree::mpi::collect
