#include "preload/gather.h"

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
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
    say(error.what());
    return false;
  }
}

// A private copy of MPI_COMM_WORLD whose errors come back as codes.
class PrivateWorld {
 public:
  PrivateWorld() {
    good_ = PMPI_Comm_dup(MPI_COMM_WORLD, &comm_) == MPI_SUCCESS;
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
    if (comm_ != MPI_COMM_NULL) PMPI_Comm_free(&comm_);
  }

  [[nodiscard]] bool good() const { return good_; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }

  [[nodiscard]] bool send(const std::string& bytes, int to) const {
    std::uint64_t length = bytes.size();
    bool sent = PMPI_Send(&length, 1, MPI_UINT64_T, to, kTag, comm_) == MPI_SUCCESS;
    for (std::uint64_t at = 0; sent && at < length; at += kChunkBytes) {
      const int chunk = static_cast<int>(std::min(kChunkBytes, length - at));
      sent = PMPI_Send(bytes.data() + at, chunk, MPI_BYTE, to, kTag, comm_) == MPI_SUCCESS;
    }
    return sent;
  }

  // When there is no memory for them the bytes are received into nothing (and MPI says "truncated"), so that the sender
  // is not left waiting.
  [[nodiscard]] bool receive(std::string& bytes, int from) const {
    std::uint64_t length = 0;
    if (PMPI_Recv(&length, 1, MPI_UINT64_T, from, kTag, comm_, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
    const bool room = attempt([&] { bytes.resize(length); });
    bool received = true;
    for (std::uint64_t at = 0; at < length; at += kChunkBytes) {
      const int chunk = room ? static_cast<int>(std::min(kChunkBytes, length - at)) : 0;
      char* to = room ? bytes.data() + at : nullptr;
      received = PMPI_Recv(to, chunk, MPI_BYTE, from, kTag, comm_, MPI_STATUS_IGNORE) == MPI_SUCCESS && received;
    }
    return room && received;
  }

  // What rank 0 says, everywhere.
  [[nodiscard]] bool agree(bool good_at_root) const {
    int word = good_at_root ? 1 : 0;
    return PMPI_Bcast(&word, 1, MPI_INT, 0, comm_) == MPI_SUCCESS && word == 1;
  }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
  bool good_ = false;
};

// Merges the subtree of this rank into `records` and sends it on. False when a part of it is lost: the ranks above
// learn it from an empty message.
bool climb(const PrivateWorld& world, io::TraceRecords& records, bool whole) {
  for (int step = 1; step < world.size(); step *= 2) {
    if (world.rank() % (2 * step) != 0) {
      std::string bytes;
      whole = whole && attempt([&] { bytes = io::pack(records); });
      return world.send(bytes, world.rank() - step) && whole;
    }
    if (world.rank() + step >= world.size()) continue;
    std::string bytes;
    whole = world.receive(bytes, world.rank() + step) && !bytes.empty() && whole;
    whole = whole && attempt([&] { io::merge(records, io::unpack(bytes, "records")); });
  }
  return whole;
}

}  // namespace

bool gather_records(const std::function<io::TraceRecords()>& own,
                    const std::function<void(io::TraceRecords&&)>& write) {
  const PrivateWorld world;
  if (!world.good()) return false;
  io::TraceRecords records;
  const bool own_read = attempt([&] { records = own(); });
  bool good = climb(world, records, own_read);
  if (world.rank() == 0) good = good && attempt([&] { write(std::move(records)); });
  return world.agree(good);
}

}  // namespace ranktree::preload
