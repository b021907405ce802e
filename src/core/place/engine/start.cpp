#include "core/place/engine/start.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/pattern/pattern.h"
#include "core/place/engine/seat_tree.h"
#include "core/place/placement.h"
#include "core/topo/tree.h"

namespace ranktree::core::place::engine {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

}  // namespace

std::vector<SeatTree::Seat> seats_of(const SeatTree& tree, const Placement& placement) {
  std::vector<SeatTree::Seat> next;  // by leaf
  for (SeatTree::Seat seat = tree.seats(); seat-- > 0;) {
    const auto leaf = at(tree.leaf(seat));
    if (next.size() <= leaf) next.resize(leaf + 1);
    next[leaf] = seat;
  }
  std::vector<SeatTree::Seat> seats;
  seats.reserve(placement.leaf_of.size());
  for (const topo::Leaf leaf : placement.leaf_of) seats.push_back(next[at(leaf)]++);
  return seats;
}

Placement placement_of(const SeatTree& tree, const std::vector<SeatTree::Seat>& seats) {
  Placement placement;
  placement.leaf_of.reserve(seats.size());
  for (const SeatTree::Seat seat : seats) placement.leaf_of.push_back(tree.leaf(seat));
  return placement;
}

void check_start(const topo::Tree& tree, const Placement& start, pattern::Rank ranks, const Constraints& constraints) {
  try {
    validate(tree, start, ranks, constraints);
  } catch (const Error& error) {
    throw Error(Fault::kInput, std::string("start: ") + error.what());
  }
}

}  // namespace ranktree::core::place::engine
