// Sleeping as mpi/collect does it.
#pragma once

#include <chrono>

#include "core/shared/team.h"
#include "mpi/collect/shared/segment.h"

namespace ranktree::tests {

// False once the time is over.
inline bool sleep(core::shared::Team& team, const core::shared::Awaited& awaited, std::chrono::microseconds most) {
  const core::shared::Team::Word word = team.announce_sleep(awaited);
  return mpi::collect::sleep_while(word.word, word.value, most);
}

}  // namespace ranktree::tests
