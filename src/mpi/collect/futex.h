// Sleeping in memory that processes share.
#pragma once

#include <chrono>
#include <cstdint>

namespace ranktree::mpi::collect {

// Until somebody calls wake() of this word, for as long as it is `value`. False once the time is over; may return
// early.
bool sleep_while(const std::uint32_t* word, std::uint32_t value, std::chrono::microseconds most);

// All that sleep on the word.
void wake(const std::uint32_t* word);

}  // namespace ranktree::mpi::collect
