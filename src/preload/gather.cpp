#include "preload/gather.h"

#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "io/trace_records.h"
#include "preload/process.h"

namespace ranktree::preload {
namespace {

constexpr int kTag = 0;
constexpr std::uint64_t kChunkBytes = std::uint64_t{1} << 30U;  // an int counts the bytes of one message

// Runs what may throw; false when it did. A rank that gave up in the middle would leave the others waiting.
template <typename Body>
bool attempt(Body body) noexcept {
  try {
    body();
    return true;
  } catch (const std::exception& error) {
    print_verbose(error.what());
    return false;
  }
}

// How long a rank waits for others before it leaves its records in its parts and goes on. In a job of which some
// processes are not traced the others would otherwise wait for ever.
double patience_seconds() {
  const char* seconds = std::getenv("RANKTREE_PATIENCE");  // NOLINT(concurrency-mt-unsafe): read once, in MPI_Finalize
  const double value = seconds == nullptr ? 0 : std::strtod(seconds, nullptr);
  return value > 0 ? value : 300;
}

// A private copy of MPI_COMM_WORLD whose errors come back as codes, and whose operations give up when nothing has
// happened for too long. After one has given up no other is tried: `good` stays false, and the object must not be
// destroyed, as MPI may still come back to what is in it.
class PrivateWorld {
 public:
  PrivateWorld() {
    MPI_Request request = MPI_REQUEST_NULL;
    good_ = PMPI_Comm_idup(MPI_COMM_WORLD, &comm_, &request) == MPI_SUCCESS && wait(request);
    if (!good_) return;
    PMPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    PMPI_Comm_rank(comm_, &rank_);
    PMPI_Comm_size(comm_, &size_);
  }
  PrivateWorld(const PrivateWorld&) = delete;
  PrivateWorld& operator=(const PrivateWorld&) = delete;
  PrivateWorld(PrivateWorld&&) = delete;
  PrivateWorld& operator=(PrivateWorld&&) = delete;
  ~PrivateWorld() {
    if (good_) PMPI_Comm_free(&comm_);
  }

  [[nodiscard]] bool good() const { return good_; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }

  bool send(std::string&& bytes, int to) {
    bytes_ = std::move(bytes);
    length_ = bytes_.size();
    send_chunk(&length_, sizeof length_, to);
    for (std::uint64_t at = 0; at < length_; at += kChunkBytes) {
      send_chunk(bytes_.data() + at, std::min(kChunkBytes, length_ - at), to);
    }
    return good_;
  }

  // The bytes stay valid until the next operation. Empty when the sender has lost its own, or when there is no memory
  // for them: they are then received into an empty buffer (MPI reports a truncation), so that the sender does not wait.
  std::string_view receive(int from) {
    if (!receive_chunk(&length_, sizeof length_, from)) return {};
    const bool allocated = attempt([&] { bytes_.resize(length_); });
    bool received = allocated;
    for (std::uint64_t at = 0; at < length_; at += kChunkBytes) {
      const std::uint64_t chunk = allocated ? std::min(kChunkBytes, length_ - at) : 0;
      received = receive_chunk(allocated ? bytes_.data() + at : nullptr, chunk, from) && received;
    }
    return received ? std::string_view(bytes_) : std::string_view();
  }

  // Broadcasts the value of rank 0.
  bool agree(bool good_at_root) {
    word_ = good_at_root ? 1 : 0;
    MPI_Request request = MPI_REQUEST_NULL;
    good_ = good_ && PMPI_Ibcast(&word_, 1, MPI_INT, 0, comm_, &request) == MPI_SUCCESS && wait(request);
    return good_ && word_ == 1;
  }

 private:
  bool send_chunk(const void* from, std::uint64_t bytes, int to) {
    MPI_Request request = MPI_REQUEST_NULL;
    good_ = good_ && PMPI_Isend(from, static_cast<int>(bytes), MPI_BYTE, to, kTag, comm_, &request) == MPI_SUCCESS &&
            wait(request);
    return good_;
  }

  // False also when the message was longer than `bytes`, which is no reason to give up.
  bool receive_chunk(void* to, std::uint64_t bytes, int from) {
    MPI_Request request = MPI_REQUEST_NULL;
    good_ = good_ && PMPI_Irecv(to, static_cast<int>(bytes), MPI_BYTE, from, kTag, comm_, &request) == MPI_SUCCESS;
    return good_ && wait(request);
  }

  // Whether the request came to its end in time, and well.
  bool wait(MPI_Request& request) {
    const auto begin = std::chrono::steady_clock::now();
    for (int tries = 0;; ++tries) {
      int done = 0;
      const int code = PMPI_Test(&request, &done, MPI_STATUS_IGNORE);
      if (code != MPI_SUCCESS || done != 0) return code == MPI_SUCCESS;
      if (tries % 64 == 63) sched_yield();
      if (tries % 4096 == 4095 && std::chrono::steady_clock::now() - begin > patience_) break;
    }
    good_ = false;
    return false;
  }

  std::chrono::duration<double> patience_{patience_seconds()};
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
  bool good_ = false;
  std::string bytes_;
  std::uint64_t length_ = 0;
  int word_ = 0;
};

// Merges the subtree of this rank into `records` and sends it on. False when a part of it is lost: the ranks above
// learn it from an empty message.
bool climb(PrivateWorld& world, io::TraceRecords& records, bool whole) {
  for (int step = 1; step < world.size(); step *= 2) {
    if (world.rank() % (2 * step) != 0) {
      std::string bytes;
      whole = whole && attempt([&] { bytes = io::pack(records); });
      return world.send(std::move(bytes), world.rank() - step) && whole;
    }
    if (world.rank() + step >= world.size()) continue;
    const std::string_view bytes = world.receive(world.rank() + step);
    whole = whole && !bytes.empty() && attempt([&] { io::merge(records, io::unpack(bytes, "records")); });
  }
  return whole;
}

}  // namespace

bool gather_records(const std::function<io::TraceRecords()>& own,
                    const std::function<void(io::TraceRecords&&)>& write) {
  auto world = std::make_unique<PrivateWorld>();
  bool good = false;
  if (world->good()) {
    io::TraceRecords records;
    const bool own_read = attempt([&] { records = own(); });
    good = climb(*world, records, own_read);
    if (world->rank() == 0) good = good && attempt([&] { write(std::move(records)); });
    good = world->agree(good);
  }
  if (!world->good()) static_cast<void>(world.release());  // NOLINT(bugprone-unused-return-value): left behind
  return good;
}

}  // namespace ranktree::preload
