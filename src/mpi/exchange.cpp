#include "mpi/exchange.h"

#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <new>

#include "mpi/agree.h"
#include "mpi/check.h"
#include "mpi/simulated.h"

namespace ranktree::mpi {
namespace {

constexpr std::size_t kPiece = 32768;  // bytes

// An empty message is one piece, too.
std::size_t pieces_of(const Bytes& message) { return std::max<std::size_t>(1, (message.size() + kPiece - 1) / kPiece); }

}  // namespace

void Mailbox::reserve(const Messages& messages) {
  std::size_t pieces = 0;
  for (const auto& [rank, message] : messages) pieces += pieces_of(message);
  requests_.reserve(pieces);
}

// A synchronous send is complete when its message has arrived.
// NOLINTBEGIN(clang-analyzer-optin.mpi.MPI-Checker): all_arrived() waits for them
void Mailbox::send_all(const Messages& messages) {
  for (const auto& [rank, message] : messages) {
    for (std::size_t i = 0; i < pieces_of(message); ++i) {
      const std::size_t begin = i * kPiece;
      const int length = static_cast<int>(std::min(kPiece, message.size() - begin));
      requests_.push_back(MPI_REQUEST_NULL);
      check(PMPI_Issend(message.data() + begin, length, MPI_BYTE, rank, tag(), alone_.get(), &requests_.back()),
            "MPI_Issend");
    }
  }
}
// NOLINTEND(clang-analyzer-optin.mpi.MPI-Checker)

// One after the other: testing all each time would cost the square of their number.
bool Mailbox::all_arrived() {
  for (int done = 1; !requests_.empty();) {
    check(PMPI_Test(&requests_.back(), &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done == 0) return false;
    requests_.pop_back();
  }
  return true;
}

bool Mailbox::receive_piece(Messages& received) {
  int waiting = 0;
  MPI_Status status;
  check(PMPI_Iprobe(MPI_ANY_SOURCE, tag(), alone_.get(), &waiting, &status), "MPI_Iprobe");
  if (waiting == 0) return false;
  std::array<std::byte, kPiece> piece;
  int length = 0;
  check(PMPI_Get_count(&status, MPI_BYTE, &length), "MPI_Get_count");
  check(PMPI_Recv(piece.data(), length, MPI_BYTE, status.MPI_SOURCE, tag(), alone_.get(), MPI_STATUS_IGNORE),
        "MPI_Recv");
  try {
    Bytes& message = received[status.MPI_SOURCE];
    message.insert(message.end(), piece.begin(), piece.begin() + length);
  } catch (const std::bad_alloc&) {
    lost_ = true;
  }
  return true;
}

// Ranks may outnumber cores: one that finds nothing to do lets others run.
//
// Simulated ranks wait within MPI, since each poll would take simulated time, and without MPI_Iallreduce, which SMPI
// carries out by messages between all pairs. There a message can be probed for as soon as MPI_Issend returns: after an
// allreduce all messages are seen.
// NOLINTBEGIN(clang-analyzer-optin.mpi.MPI-Checker): MPI_Test completes the allreduce, which starts once
int Mailbox::exchange(int word, const Messages& messages, Messages& received) {
  if (alone_.get() == MPI_COMM_NULL) check(PMPI_Comm_split(all_, 0, 0, alone_.receive()), "MPI_Comm_split");
  received.clear();
  lost_ = false;
  send_all(messages);
  int merged = 0;
  if (kRanksShareProcess) {
    check(PMPI_Allreduce(&word, &merged, 1, MPI_INT, MPI_MAX, alone_.get()), "MPI_Allreduce");
    while (receive_piece(received)) {
    }
    check(PMPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
    requests_.clear();
    round_ = 1 - round_;
    return merged;
  }
  MPI_Request agreement = MPI_REQUEST_NULL;
  for (int done = 0; done == 0;) {
    const bool busy = receive_piece(received);
    if (agreement != MPI_REQUEST_NULL) {
      check(PMPI_Test(&agreement, &done, MPI_STATUS_IGNORE), "MPI_Test");
    } else if (all_arrived()) {
      check(PMPI_Iallreduce(&word, &merged, 1, MPI_INT, MPI_MAX, alone_.get(), &agreement), "MPI_Iallreduce");
    }
    if (!busy && done == 0) sched_yield();
  }
  round_ = 1 - round_;
  return merged;
}
// NOLINTEND(clang-analyzer-optin.mpi.MPI-Checker)

Messages exchange(Mailbox& mailbox, LocalSteps& steps, const Messages& messages) {
  const Messages nothing;
  const bool sends = steps.run([&] { mailbox.reserve(messages); });
  Messages received;
  steps.require(mailbox.exchange(steps.word(), sends ? messages : nothing, received));
  steps.run([&] {
    if (mailbox.lost()) throw std::bad_alloc();
  });
  return received;
}

}  // namespace ranktree::mpi
