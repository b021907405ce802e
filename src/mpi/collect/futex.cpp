#include "mpi/collect/futex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>  // NOLINT(modernize-deprecated-headers): timespec is POSIX
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdint>

namespace ranktree::mpi::collect {

bool sleep_while(const std::uint32_t* word, std::uint32_t value, std::chrono::microseconds most) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(most);
  const timespec time{.tv_sec = seconds.count(), .tv_nsec = std::chrono::nanoseconds(most - seconds).count()};
  return syscall(SYS_futex, word, FUTEX_WAIT, value, &time, nullptr, 0) == 0 || errno != ETIMEDOUT;
}

void wake(const std::uint32_t* word) { syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0); }

}  // namespace ranktree::mpi::collect
