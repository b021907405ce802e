#include "mpi/collect/shared/segment.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>  // NOLINT(modernize-deprecated-headers): timespec is POSIX
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>

namespace ranktree::mpi::collect {
namespace {

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  File(File&&) = delete;
  File& operator=(File&&) = delete;
  [[nodiscard]] int get() const { return descriptor_; }

 private:
  int descriptor_;
};

std::string new_name() {
  std::random_device random;
  return "/ranktree-" + std::to_string(getpid()) + "-" + std::to_string(random());
}

// At most half of what is free: others need it too, MPIs among them, which crash where there is too little.
bool leaves_space(int file, std::size_t bytes) {
  struct statvfs status{};
  if (fstatvfs(file, &status) != 0 || status.f_blocks == 0) return true;  // unknown, or there is no limit
  return status.f_bavail * status.f_frsize / 2 >= bytes;
}

bool give_pages(int file, std::size_t bytes) {
  int code = EINTR;
  while (code == EINTR) code = posix_fallocate(file, 0, static_cast<off_t>(bytes));
  return code == 0;
}

bool holds(int file, std::size_t bytes) {
  struct stat status{};
  return fstat(file, &status) == 0 && static_cast<std::size_t>(status.st_size) >= bytes;
}

}  // namespace

std::optional<Segment> Segment::map(int file, const std::string& name, std::size_t bytes, bool named) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return std::nullopt;
  return Segment(name, {static_cast<std::byte*>(memory), bytes}, named);
}

std::optional<Segment> Segment::create(std::size_t bytes) {
  const std::string name = new_name();
  const File file(shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (file.get() < 0) return std::nullopt;
  std::optional<Segment> made;
  if (leaves_space(file.get(), bytes) && give_pages(file.get(), bytes)) made = map(file.get(), name, bytes, true);
  if (!made) shm_unlink(name.c_str());
  return made;
}

std::optional<Segment> Segment::open(const std::string& name, std::size_t bytes) {
  const File file(shm_open(name.c_str(), O_RDWR | O_CLOEXEC, 0));
  if (file.get() < 0 || !holds(file.get(), bytes)) return std::nullopt;
  return map(file.get(), name, bytes, false);
}

Segment::~Segment() {
  forget_name();
  if (!memory_.empty()) munmap(memory_.data(), memory_.size());
}

Segment::Segment(Segment&& other) noexcept
    : name_(std::move(other.name_)),
      memory_(std::exchange(other.memory_, {})),
      named_(std::exchange(other.named_, false)) {}

Segment& Segment::operator=(Segment&& other) noexcept {
  std::swap(name_, other.name_);
  std::swap(memory_, other.memory_);
  std::swap(named_, other.named_);
  return *this;
}

void Segment::forget_name() {
  if (std::exchange(named_, false)) shm_unlink(name_.c_str());
}

bool sleep_while(const std::uint32_t* word, std::uint32_t value, std::chrono::microseconds most) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(most);
  const timespec time{.tv_sec = seconds.count(), .tv_nsec = std::chrono::nanoseconds(most - seconds).count()};
  return syscall(SYS_futex, word, FUTEX_WAIT, value, &time, nullptr, 0) == 0 || errno != ETIMEDOUT;
}

void wake(const std::uint32_t* word) { syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0); }

}  // namespace ranktree::mpi::collect
