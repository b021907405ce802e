// The cost of one variant of an operation on one machine.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/predict/candidates.h"
#include "core/predict/choice.h"
#include "core/predict/closed_forms.h"
#include "core/predict/evaluate.h"
#include "core/predict/parameters.h"
#include "core/schedule/hierarchy.h"
#include "core/schedule/schedule.h"

namespace ranktree::core::predict {

// A hierarchy with the parameters measured on its levels.
class Machine {
 public:
  // Levels beyond the parameters' use their last level. Keeps references to both arguments.
  Machine(const schedule::Hierarchy& hierarchy, const Parameters& parameters);

  [[nodiscard]] const schedule::Hierarchy& hierarchy() const { return *hierarchy_; }
  [[nodiscard]] const Parameters& parameters() const { return *parameters_; }
  [[nodiscard]] schedule::Rank ranks() const { return hierarchy_->ranks(); }

  // Levels of the hierarchy whose ranks are on different nodes.
  [[nodiscard]] int across() const { return across_; }
  [[nodiscard]] schedule::Rank nodes() const { return nodes_; }
  // The number of ranks on the fullest node.
  [[nodiscard]] schedule::Rank ranks_of_node() const { return ranks_of_node_; }
  // The number of ranks on the node of rank 0, the root of what is predicted.
  [[nodiscard]] schedule::Rank ranks_of_root() const { return ranks_of_root_; }
  // The largest number of children of a group on a level.
  [[nodiscard]] schedule::Rank children(int level) const { return children_[static_cast<std::size_t>(level)]; }
  [[nodiscard]] const LevelParameters& level(int level) const;
  // The link of a level when `senders` ranks of each node send over it at once.
  [[nodiscard]] Line link(int level, schedule::Rank senders) const;
  // The node of each rank, counted along the hierarchy.
  [[nodiscard]] std::vector<std::int32_t> node_of() const;
  // The level of the lowest common ancestor of two ranks. O(levels log groups).
  [[nodiscard]] int common_level(schedule::Rank a, schedule::Rank b) const;

 private:
  // The position of its first rank; of the number of nodes: all ranks.
  [[nodiscard]] std::int32_t first_of_node(std::int32_t node) const;

  const schedule::Hierarchy* hierarchy_;
  const Parameters* parameters_;
  int across_ = 0;
  schedule::Rank nodes_ = 1;
  schedule::Rank ranks_of_node_ = 1;
  schedule::Rank ranks_of_root_ = 1;
  std::vector<schedule::Rank> children_;
};

// In closed form, for any segment; nothing where there is none. An estimate for kShared, and where ranks on one level
// of the choice span several levels of the machine: the most expensive link counts. O(levels).
std::optional<ClosedForm> form_of(const Question& question, const Choice& choice, const Machine& machine);

// Follows every message: kMessages only, with elements of one byte and root 0. O(steps log steps). Throws as
// transform() does, and Error(kUnsupported) for other variants.
double evaluated(const Question& question, const Choice& choice, const Machine& machine);

// The machine's links under Hockney's model.
Hockney hockney_of(const Machine& machine);

// The schedule of a kMessages choice.
schedule::Schedule schedule_of(const Question& question, const Choice& choice, const schedule::Hierarchy& machine);

}  // namespace ranktree::core::predict
