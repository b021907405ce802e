#include "mpi/exchange.h"

#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <climits>
#include <cstddef>
#include <map>
#include <new>
#include <utility>
#include <vector>

#include "mpi/agree.h"
#include "mpi/check.h"

namespace ranktree::mpi {
namespace {

constexpr int kAnnouncement = 1;
constexpr int kContent = 2;

int length_of(const Bytes& message) { return static_cast<int>(std::min(message.size(), std::size_t{INT_MAX})); }

// Tells the ranks of `comm` how long the messages for them are. Whatever happens to a rank's memory, it hears the
// others out.
class Announcements {
 public:
  explicit Announcements(MPI_Comm comm) : comm_(comm) {}

  // Throws std::bad_alloc before anything is sent.
  void send(const std::map<int, Bytes>& messages) {
    lengths_.reserve(messages.size());
    requests_.reserve(messages.size());
    for (const auto& [rank, message] : messages) send(rank, length_of(message));
  }

  // Room for what was announced to this rank. Ranks may outnumber cores: one that finds nothing to do lets others run.
  std::map<int, Bytes> finish() {
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
    return std::move(room_);
  }

  // Some message has no room.
  [[nodiscard]] bool lost() const { return lost_; }

 private:
  // NOLINTBEGIN(clang-analyzer-optin.mpi.MPI-Checker): all_arrived() waits for it
  void send(int rank, int length) {
    lengths_.push_back(length);
    requests_.push_back(MPI_REQUEST_NULL);
    check(MPI_Issend(&lengths_.back(), 1, MPI_INT, rank, kAnnouncement, comm_, &requests_.back()), "MPI_Issend");
  }
  // NOLINTEND(clang-analyzer-optin.mpi.MPI-Checker)

  bool receive_one() {
    int waiting = 0;
    MPI_Status status;
    check(MPI_Iprobe(MPI_ANY_SOURCE, kAnnouncement, comm_, &waiting, &status), "MPI_Iprobe");
    if (waiting == 0) return false;
    int length = 0;
    check(MPI_Recv(&length, 1, MPI_INT, status.MPI_SOURCE, kAnnouncement, comm_, MPI_STATUS_IGNORE), "MPI_Recv");
    try {
      room_[status.MPI_SOURCE].resize(static_cast<std::size_t>(length));
    } catch (const std::bad_alloc&) {
      lost_ = true;
    }
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
  std::map<int, Bytes> room_;
  bool lost_ = false;
};

void require_lengths(const std::map<int, Bytes>& messages) {
  const auto too_long = [](const auto& entry) { return entry.second.size() > INT_MAX; };
  if (std::none_of(messages.begin(), messages.end(), too_long)) return;
  throw AgreedError(MPI_ERR_UNSUPPORTED_OPERATION, "a message between two ranks: expected at most 2147483647 bytes");
}

// `requests` has room for all.
void transfer(MPI_Comm comm, const std::map<int, Bytes>& messages, std::map<int, Bytes>& received,
              std::vector<MPI_Request>& requests) {
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
  Announcements announcements(comm);
  const Failure unsent = attempt([&] {
    require_lengths(messages);
    announcements.send(messages);
  });
  std::map<int, Bytes> received = announcements.finish();
  std::vector<MPI_Request> requests;
  const Failure unheard = attempt([&] {
    if (announcements.lost()) throw std::bad_alloc();
    requests.reserve(messages.size() + received.size());
  });
  // Nobody may wait for a message that will not come.
  throw_together(comm, unsent.error_class != MPI_SUCCESS ? unsent : unheard);
  transfer(comm, messages, received, requests);
  return received;
}

}  // namespace ranktree::mpi
