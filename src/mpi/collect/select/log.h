// RANKTREE_COLL_LOG: what is chosen, and why. Without it nothing is ever written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "core/predict/choice.h"
#include "core/schedule/makers.h"
#include "mpi/collect/call_kind.h"
#include "mpi/collect/environment.h"
#include "mpi/collect/select/tuning_entry.h"

namespace ranktree::mpi::collect {

class Log {
 public:
  Log() = default;
  // Of Environment::log: a path, at whose end lines are put, or "stderr". Only rank 0 of a communicator writes.
  Log(std::string path, int rank) : path_(rank == 0 ? std::move(path) : std::string()) {}
  [[nodiscard]] bool wanted() const { return !path_.empty(); }
  // One line, in one write, so that those of several processes do not mix. What cannot be written is lost.
  void line(const std::string& text) const noexcept;

 private:
  std::string path_;
};

// "12.3 us", "1.24 ms"; "128", "4K" as RANKTREE_COLL takes them.
std::string time_text(double seconds);
std::string size_text(std::int64_t bytes);
// "allreduce 1K-2K, user's operation": from the first size to the next power of two, which is not in it.
std::string kind_text(const Kind& call);

// The lines of RANKTREE_COLL_LOG for one communicator.

// One line each:
//   4 ranks on 1 node: allreduce 1K-2K: shared:flat | native 12.1 us | shared:flat 4 us (model 3.2 us) | ...
//   4 ranks on 1 node: bcast by rule: native, since levels cannot carry it out
//   4 ranks on 1 node: calls: allreduce 1040 of 1200 not by the MPI, bcast 0 of 7
class DecisionLog {
 public:
  DecisionLog(const Environment& environment, int rank, int ranks, int nodes);
  [[nodiscard]] bool wanted() const { return log_.wanted(); }
  void line(const std::string& text) const;
  // Rank 0 alone has a log: none of these lines may end a step of all ranks. Without memory there is no line.
  void decision(const Kind& kind, const TuningEntry& entry) const noexcept;
  // Once for each kind of call.
  void rule(const Kind& kind, const core::predict::Choice& choice, bool can) noexcept;
  // When the communicator goes.
  void counts(const CallTable& table) const noexcept;

 private:
  Log log_;
  std::string who_;
  std::set<std::size_t> logged_;
};

}  // namespace ranktree::mpi::collect
