// Messages between ranks that do not know who will write to them.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <map>
#include <vector>

#include "mpi/agree.h"
#include "mpi/handle.h"

namespace ranktree::mpi {

using Bytes = std::vector<std::byte>;
using Messages = std::map<int, Bytes>;  // by rank

// On a communicator of its own, made for the first exchange. A rank sends what it has, receives what comes, and enters
// a nonblocking allreduce when its own messages have arrived; the end of that is the end of the exchange (T. Hoefler,
// C. Siebert, A. Lumsdaine: Scalable Communication Protocols for Dynamic Sparse Data Exchange, PPoPP 2010). The
// allreduce carries a word of each rank, MPI_MAX. Messages travel in pieces, so that a rank without memory for one can
// still receive it: it drops the pieces.
class Mailbox {
 public:
  explicit Mailbox(MPI_Comm comm) : all_(comm) {}

  // Local: memory for sending. Throws std::bad_alloc.
  void reserve(const Messages& messages);

  // Collective: sends messages (one to the rank itself included) for which there is memory, replaces `received` by what
  // came, by sender, and returns the largest word. O(messages) memory and time a rank. Consecutive exchanges do not
  // mix. Throws MpiError.
  int exchange(int word, const Messages& messages, Messages& received);

  // Some message of the last exchange did not fit into memory.
  [[nodiscard]] bool lost() const noexcept { return lost_; }

 private:
  void send_all(const Messages& messages);
  bool all_arrived();
  bool receive_piece(Messages& received);
  [[nodiscard]] int tag() const noexcept { return 1 + round_; }

  MPI_Comm all_;
  Communicator alone_;
  int round_ = 0;  // no rank is two exchanges ahead of another, so two tags distinguish the rounds
  std::vector<MPI_Request> requests_;
  bool lost_ = false;
};

// Collective: an exchange by which `steps` are agreed on. A rank whose steps have failed sends nothing, and AgreedError
// is thrown on all ranks. A message that is lost is this rank's next failure.
Messages exchange(Mailbox& mailbox, LocalSteps& steps, const Messages& messages);

}  // namespace ranktree::mpi
