// The lines of RANKTREE_COLL_LOG for one communicator.
#pragma once

#include <cstddef>
#include <set>
#include <string>

#include "core/predict/choice.h"
#include "core/schedule/makers.h"
#include "mpi/collect/cell.h"
#include "mpi/collect/log.h"
#include "mpi/collect/size_class.h"

namespace ranktree::mpi::collect {

// One line each:
//   4 ranks on 1 node: allreduce 1K-2K: shared:flat | native 12.1 us | shared:flat 4 us (model 3.2 us) | ...
//   4 ranks on 1 node: bcast by rule: native, since levels cannot carry it out
//   4 ranks on 1 node: calls: allreduce 1040 of 1200 not by the MPI, bcast 0 of 7
class DecisionLog {
 public:
  DecisionLog(int rank, int ranks, int nodes);
  [[nodiscard]] bool wanted() const { return log_.wanted(); }
  void say(const std::string& text) const { line(text); }
  void decision(std::size_t index, const Cell& cell) const;
  // Once for each kind of call.
  void rule(core::schedule::Collective collective, std::size_t index, const core::predict::Choice& choice, bool can);
  // When the communicator goes.
  void counts(const Shortcuts& shortcuts) const noexcept;

 private:
  void line(const std::string& text) const;

  Log log_;
  std::string who_;
  std::set<std::size_t> told_;
};

}  // namespace ranktree::mpi::collect
