#include "mpi/exchange.h"

#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <map>
#include <new>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "mpi/check.h"
#include "mpi/handle.h"

namespace ranktree::mpi {
namespace {

constexpr int kAnnouncement = 1;
constexpr int kContent = 2;

int length_of(const Bytes& message) { return static_cast<int>(std::min(message.size(), std::size_t{INT_MAX})); }

// Tells the ranks of `comm` how long the messages for them are.
class Announcements {
 public:
  Announcements(MPI_Comm comm, const std::map<int, Bytes>& messages) : comm_(comm) {
    lengths_.reserve(messages.size());
    for (const auto& [rank, message] : messages) send(rank, length_of(message));
  }

  // Ranks may outnumber cores: a rank that finds nothing to do lets others run.
  std::map<int, int> finish() {
    MPI_Request barrier = MPI_REQUEST_NULL;
    for (int all_sent = 0; all_sent == 0;) {
      const bool busy = receive_one();
      if (barrier != MPI_REQUEST_NULL) {
        check(MPI_Test(&barrier, &all_sent, MPI_STATUS_IGNORE), "MPI_Test");
      } else if (all_arrived()) {
        check(MPI_Ibarrier(comm_, &barrier), "MPI_Ibarrier");
      }
      if (!busy && all_sent == 0) sched_yield();
    }
    return received_;
  }

 private:
  // NOLINTBEGIN(clang-analyzer-optin.mpi.MPI-Checker): all_arrived() waits for it
  void send(int rank, int length) {
    lengths_.push_back(length);
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Issend(&lengths_.back(), 1, MPI_INT, rank, kAnnouncement, comm_, &request), "MPI_Issend");
    requests_.push_back(request);
  }
  // NOLINTEND(clang-analyzer-optin.mpi.MPI-Checker)

  bool receive_one() {
    int waiting = 0;
    MPI_Status status;
    check(MPI_Iprobe(MPI_ANY_SOURCE, kAnnouncement, comm_, &waiting, &status), "MPI_Iprobe");
    if (waiting == 0) return false;
    int length = 0;
    check(MPI_Recv(&length, 1, MPI_INT, status.MPI_SOURCE, kAnnouncement, comm_, MPI_STATUS_IGNORE), "MPI_Recv");
    received_[status.MPI_SOURCE] = length;
    return true;
  }

  // One after the other: asking about all each time would cost the square of their number.
  bool all_arrived() {
    for (int done = 1; !requests_.empty();) {
      check(MPI_Test(&requests_.back(), &done, MPI_STATUS_IGNORE), "MPI_Test");
      if (done == 0) return false;
      requests_.pop_back();
    }
    return true;
  }

  MPI_Comm comm_;
  std::vector<int> lengths_;
  std::vector<MPI_Request> requests_;
  std::map<int, int> received_;
};

std::map<int, Bytes> make_room(const std::map<int, int>& lengths) {
  std::map<int, Bytes> room;
  for (const auto& [rank, length] : lengths) room[rank].resize(static_cast<std::size_t>(length));
  return room;
}

enum class Trouble : std::uint8_t { kNone, kTooLong, kNoMemory };

// The worst that has happened to any rank: nobody may wait for a message that will not come.
void throw_together(MPI_Comm comm, Trouble own) {
  const int mine = static_cast<int>(own);
  int worst = 0;
  check(MPI_Allreduce(&mine, &worst, 1, MPI_INT, MPI_MAX, comm), "MPI_Allreduce");
  switch (static_cast<Trouble>(worst)) {
    case Trouble::kTooLong:
      throw core::Error(core::Fault::kUnsupported,
                        "a message between two ranks: expected at most " + std::to_string(INT_MAX) + " bytes");
    case Trouble::kNoMemory:
      throw std::bad_alloc();
    case Trouble::kNone:
      return;
  }
}

bool too_long(const std::map<int, Bytes>& messages) {
  return std::any_of(messages.begin(), messages.end(), [](const auto& entry) { return entry.second.size() > INT_MAX; });
}

void transfer(MPI_Comm comm, const std::map<int, Bytes>& messages, std::map<int, Bytes>& received) {
  std::vector<MPI_Request> requests;
  requests.reserve(messages.size() + received.size());
  for (auto& [rank, bytes] : received) {
    if (bytes.empty()) continue;
    requests.push_back(MPI_REQUEST_NULL);
    check(MPI_Irecv(bytes.data(), length_of(bytes), MPI_BYTE, rank, kContent, comm, &requests.back()), "MPI_Irecv");
  }
  for (const auto& [rank, bytes] : messages) {
    if (bytes.empty()) continue;
    requests.push_back(MPI_REQUEST_NULL);
    check(MPI_Isend(bytes.data(), length_of(bytes), MPI_BYTE, rank, kContent, comm, &requests.back()), "MPI_Isend");
  }
  check(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
}

}  // namespace

std::map<int, Bytes> exchange_alone(MPI_Comm comm, const std::map<int, Bytes>& messages) {
  const std::map<int, int> lengths = Announcements(comm, messages).finish();
  std::map<int, Bytes> received;
  Trouble trouble = too_long(messages) ? Trouble::kTooLong : Trouble::kNone;
  try {
    received = make_room(lengths);
  } catch (const std::bad_alloc&) {
    trouble = Trouble::kNoMemory;
  }
  throw_together(comm, trouble);
  transfer(comm, messages, received);
  return received;
}

std::map<int, Bytes> exchange(MPI_Comm comm, const std::map<int, Bytes>& messages) {
  Communicator alone;
  check(MPI_Comm_split(comm, 0, 0, alone.receive()), "MPI_Comm_split");
  return exchange_alone(alone.get(), messages);
}

}  // namespace ranktree::mpi
