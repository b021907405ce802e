#include "core/pattern/expand_rabenseifner.h"

#include <bit>
#include <cstdint>

#include "core/pattern/expand_call.h"
#include "core/pattern/pattern.h"

namespace ranktree::core::pattern::expansion {
namespace {

// The halving needs a power of two ranks: of the first 2 * extra ranks, either the even or the odd ones drop out.
struct Survivors {
  Survivors(Rank all, bool odd_ones) : ranks(power_of_two(all)), extra(all - ranks), odd(odd_ones ? 1 : 0) {}
  [[nodiscard]] Rank real(Rank survivor) const { return survivor < extra ? 2 * survivor + odd : survivor + extra; }

  Rank ranks;
  Rank extra;
  Rank odd;
};

// The distance of the partners in a step.
Rank distance(int step) { return static_cast<Rank>(1U << static_cast<unsigned>(step)); }

// The step in which two ranks are on different sides: the highest bit in which they differ.
int highest_difference(Rank a, Rank b) {
  return static_cast<int>(std::bit_width(static_cast<std::uint32_t>(a) ^ static_cast<std::uint32_t>(b))) - 1;
}

// Bytes that a survivor is responsible for after `steps` halvings with the partners at distance 1, 2, 4, ...
using Window = double (*)(const Call&, Rank ranks, Rank survivor, int steps);

// The window is cut in two at every step; the upper part takes the odd element.
double window_halved(const Call& call, Rank /*ranks*/, Rank survivor, int steps) {
  std::int64_t elements = call.bytes / call.element;
  for (int step = 0; step < steps; ++step) {
    const std::int64_t lower = elements / 2;
    elements = is_upper(survivor, distance(step)) ? elements - lower : lower;
  }
  return static_cast<double>(elements * call.element);
}

// The vector is cut once, into as many blocks as there are survivors.
double window_of_blocks(const Call& call, Rank ranks, Rank survivor, int steps) {
  const Blocks blocks(call.bytes, call.element, ranks);
  std::int64_t first = 0;
  std::int64_t count = ranks;
  for (int step = 0; step < steps; ++step) {
    count /= 2;
    if (is_upper(survivor, distance(step))) first += count;
  }
  return blocks.offset(first + count) - blocks.offset(first);
}

class Rabenseifner {
 public:
  Rabenseifner(const Call& call, const Sends& sends, const Survivors& survivors, Window owned)
      : call_(call), sends_(sends), survivors_(survivors), owned_(owned) {}

  void reduce_scatter() const {
    for (Rank rank = 0; rank < survivors_.ranks; ++rank) {
      for (int step = 0; step < steps(); ++step) {
        sends_.add(survivors_.real(rank), survivors_.real(across(rank, distance(step))),
                   window(rank, step) - window(rank, step + 1));
      }
    }
  }

  void allgather() const {
    for (Rank rank = 0; rank < survivors_.ranks; ++rank) {
      for (int step = 0; step < steps(); ++step) {
        sends_.add(survivors_.real(rank), survivors_.real(across(rank, distance(step))), window(rank, step + 1));
      }
    }
  }

  // A survivor passes all it holds to the partner across the highest bit in which it differs from the root. A root that
  // did not survive takes the place of survivor 0.
  void gather() const {
    const bool lost = call_.root < 2 * survivors_.extra && call_.root % 2 != 0;
    const Rank root = lost ? 0 : call_.root < 2 * survivors_.extra ? call_.root / 2 : call_.root - survivors_.extra;
    const auto real = [&](Rank rank) { return lost && rank == 0 ? call_.root : survivors_.real(rank); };
    if (lost) sends_.add(survivors_.real(0), call_.root, window(0, steps()));
    for (Rank rank = 0; rank < survivors_.ranks; ++rank) {
      if (rank == root) continue;
      const int step = highest_difference(rank, root);
      sends_.add(real(rank), real(across(rank, distance(step))), window(rank, step + 1));
    }
  }

 private:
  [[nodiscard]] int steps() const { return highest_difference(survivors_.ranks, 0); }
  [[nodiscard]] double window(Rank rank, int step) const { return owned_(call_, survivors_.ranks, rank, step); }

  const Call& call_;
  const Sends& sends_;
  Survivors survivors_;
  Window owned_;
};

// Neighbours swap halves and reduce them; the odd one returns its half and drops out.
void fold_by_halves(const Call& call, const Sends& sends, const Survivors& survivors) {
  const std::int64_t left_elements = call.bytes / call.element / 2;
  const auto left = static_cast<double>(left_elements * call.element);
  const auto right = static_cast<double>(call.bytes) - left;
  for (Rank even = 0; even < 2 * survivors.extra; even += 2) {
    sends.add(even, even + 1, right);
    sends.add(even + 1, even, left);
    sends.add(even + 1, even, right);
  }
}

// The whole vector goes from the rank that drops out to its neighbour, or the result goes back.
void fold_whole(const Call& call, const Sends& sends, const Survivors& survivors, bool back) {
  for (Rank even = 0; even < 2 * survivors.extra; even += 2) {
    const Rank survivor = even + survivors.odd;
    const Rank dropped = even + 1 - survivors.odd;
    sends.add(back ? survivor : dropped, back ? dropped : survivor, static_cast<double>(call.bytes));
  }
}

}  // namespace

void allreduce_rabenseifner_openmpi(const Call& call, const Sends& sends) {
  const Survivors survivors(call.ranks, false);
  const Rabenseifner halving(call, sends, survivors, window_halved);
  fold_by_halves(call, sends, survivors);
  halving.reduce_scatter();
  halving.allgather();
  fold_whole(call, sends, survivors, true);
}

void allreduce_rabenseifner_mpich(const Call& call, const Sends& sends) {
  const Survivors survivors(call.ranks, true);
  const Rabenseifner halving(call, sends, survivors, window_of_blocks);
  fold_whole(call, sends, survivors, false);
  halving.reduce_scatter();
  halving.allgather();
  fold_whole(call, sends, survivors, true);
}

void reduce_rabenseifner_openmpi(const Call& call, const Sends& sends) {
  const Survivors survivors(call.ranks, false);
  const Rabenseifner halving(call, sends, survivors, window_halved);
  fold_by_halves(call, sends, survivors);
  halving.reduce_scatter();
  halving.gather();
}

void reduce_rabenseifner_mpich(const Call& call, const Sends& sends) {
  const Survivors survivors(call.ranks, false);
  const Rabenseifner halving(call, sends, survivors, window_of_blocks);
  fold_whole(call, sends, survivors, false);
  halving.reduce_scatter();
  halving.gather();
}

}  // namespace ranktree::core::pattern::expansion
