#include "io/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/base/error.h"

namespace ranktree::io {
namespace {

[[noreturn]] void fail(const std::string& path, const std::string& action, int reason) {
  throw core::Error(core::Fault::kSystem, path + ": cannot " + action + ": " + std::generic_category().message(reason));
}

// Owns a file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor(Descriptor&&) = delete;
  Descriptor& operator=(Descriptor&&) = delete;

  [[nodiscard]] int number() const { return number_; }
  // Closing may be the moment at which a full disk is reported.
  [[nodiscard]] bool close() { return ::close(std::exchange(number_, -1)) == 0; }

 private:
  int number_;
};

// Writes everything or returns false with errno set.
bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// Creates a new file beside `path` with the permissions of the umask (mkstemp would make it private) and sets its name;
// returns -1 with errno on failure. Names left by killed processes are skipped.
int create_beside(const std::string& path, std::string& name) {
  constexpr int kAttempts = 100;
  constexpr mode_t kReadWrite = 0666;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    name = path + "." + std::to_string(::getpid()) + "." + std::to_string(attempt) + ".tmp";
    const int descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kReadWrite);
    if (descriptor >= 0 || errno != EEXIST) return descriptor;
  }
  return -1;
}

// A name of any process's open file, as /dev/stdout is: what it leads to may be a regular file.
bool names_open_file(const std::string& path) {
  std::array<char, 16> target{};
  const ssize_t length = ::readlink(path.c_str(), target.data(), target.size());
  return length > 0 && std::string_view(target.data(), static_cast<std::size_t>(length)).starts_with("/proc/");
}

// A complete, synced file under a temporary name, which is removed unless the file is renamed to its path.
class Draft {
 public:
  Draft(const std::string& path, std::string_view bytes) : path_(path) {
    struct stat status{};
    if (names_open_file(path) || (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode))) {
      throw core::Error(core::Fault::kSystem, path + ": cannot write: it exists and is not a regular file");
    }
    Descriptor file(create_beside(path, temporary_));
    if (file.number() < 0) fail(path, "write", errno);
    if (write_all(file.number(), bytes) && ::fsync(file.number()) == 0 && file.close()) return;
    const int reason = errno;
    ::unlink(temporary_.c_str());
    fail(path, "write", reason);
  }
  ~Draft() {
    if (!published_) ::unlink(temporary_.c_str());
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;
  Draft(Draft&&) = delete;
  Draft& operator=(Draft&&) = delete;

  void publish() {
    if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail(path_, "write", errno);
    published_ = true;
  }

 private:
  std::string path_;
  std::string temporary_;
  bool published_ = false;  // then the temporary name may be that of another process's draft
};

}  // namespace

std::string read_file(const std::string& path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // never waits for a fifo's writer
  if (file.number() < 0) fail(path, "open", errno);
  struct stat status{};
  if (::fstat(file.number(), &status) != 0) fail(path, "read", errno);
  if (!S_ISREG(status.st_mode)) {
    throw core::Error(core::Fault::kSystem, path + ": expected a regular file, found " +
                                                (S_ISDIR(status.st_mode) ? "a folder" : "a device, pipe or socket"));
  }
  std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t length = 0;
  while (length < bytes.size()) {
    const ssize_t got = ::read(file.number(), bytes.data() + length, bytes.size() - length);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(path, "read", errno);
    if (got == 0) break;  // the file was truncated meanwhile
    length += static_cast<std::size_t>(got);
  }
  bytes.resize(length);
  return bytes;
}

void write_file_atomically(const std::string& path, std::string_view bytes) {
  Draft draft(path, bytes);
  draft.publish();
}

void write_files_atomically(const std::vector<NamedBytes>& files) {
  std::vector<std::unique_ptr<Draft>> drafts;
  drafts.reserve(files.size());
  for (const NamedBytes& file : files) drafts.push_back(std::make_unique<Draft>(file.path, file.bytes));
  for (const auto& draft : drafts) draft->publish();
}

}  // namespace ranktree::io
