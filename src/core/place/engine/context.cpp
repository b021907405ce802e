#include "core/place/engine/context.h"

#include <cstdint>
#include <limits>

#include "core/place/engine.h"

namespace ranktree::core::place::engine {

Context context_of(Preset preset) {
  constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();
  switch (preset) {
    case Preset::kFast:
      return {.runs = 6,
              .repeats = 1,
              .most_repeats = 1,
              .regroupings = 0,
              .annealing = 0,
              .search_passes = 1,
              .search_groups = 1,
              .search_arcs = 16000};
    case Preset::kDefault:
      return {.runs = 8,
              .repeats = 2,
              .most_repeats = 2,
              .regroupings = 1,
              .annealing = 150,
              .search_passes = 2,
              .search_groups = 3,
              .search_arcs = kAny};
    case Preset::kStrong:
      break;
  }
  return {.runs = 16,
          .repeats = 4,
          .most_repeats = 12,
          .regroupings = 3,
          .annealing = 1500,
          .search_passes = 20,
          .search_groups = 6,
          .search_arcs = kAny};
}

}  // namespace ranktree::core::place::engine
