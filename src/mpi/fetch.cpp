#include "mpi/fetch.h"

#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "core/split/chain.h"
#include "mpi/check.h"
#include "mpi/handle.h"

namespace ranktree::mpi {
namespace {

using core::split::Chain;
using core::split::kMaxDepth;

constexpr int kQuestion = 1;
constexpr int kAnswer = 2;

// The length of a chain and its codes.
using Packed = std::array<std::uint64_t, 1 + kMaxDepth>;
constexpr int kPackedLength = static_cast<int>(1 + kMaxDepth);

Packed pack(const Chain& chain) {
  Packed packed{};
  packed[0] = std::min(chain.size(), kMaxDepth);
  std::transform(chain.begin(), chain.begin() + static_cast<std::ptrdiff_t>(packed[0]), packed.begin() + 1,
                 core::split::code_of);
  return packed;
}

Chain unpack(const Packed& packed) {
  Chain chain(packed[0]);
  std::transform(packed.begin() + 1, packed.begin() + 1 + static_cast<std::ptrdiff_t>(packed[0]), chain.begin(),
                 core::split::link_of);
  return chain;
}

class Exchange {
 public:
  Exchange(MPI_Comm comm, const Chain& own) : own_(pack(own)) {
    // Messages of the program must not meet ours, nor its attributes be copied.
    check(MPI_Comm_split(comm, 0, 0, comm_.receive()), "MPI_Comm_split");
  }

  // NOLINTBEGIN(clang-analyzer-optin.mpi.MPI-Checker): finish() waits for both requests
  void ask(int rank) {
    MPI_Request reply = MPI_REQUEST_NULL;
    MPI_Request question = MPI_REQUEST_NULL;
    Packed& answer = answers_[rank];
    check(MPI_Irecv(answer.data(), kPackedLength, MPI_UINT64_T, rank, kAnswer, comm_.get(), &reply), "MPI_Irecv");
    replies_.push_back(reply);
    check(MPI_Issend(nullptr, 0, MPI_BYTE, rank, kQuestion, comm_.get(), &question), "MPI_Issend");
    questions_.push_back(question);
  }
  // NOLINTEND(clang-analyzer-optin.mpi.MPI-Checker)

  // Ranks may outnumber cores: a rank that finds nothing to do lets others run.
  std::map<int, Chain> finish() {
    MPI_Request barrier = MPI_REQUEST_NULL;
    for (int all_asked = 0; all_asked == 0; sched_yield()) {
      answer_one();
      if (barrier != MPI_REQUEST_NULL) {
        check(MPI_Test(&barrier, &all_asked, MPI_STATUS_IGNORE), "MPI_Test");
      } else if (all_done(questions_)) {
        check(MPI_Ibarrier(comm_.get(), &barrier), "MPI_Ibarrier");
      }
    }
    wait(replies_);
    wait(sent_);
    std::map<int, Chain> chains;
    for (const auto& [rank, packed] : answers_) chains.emplace(rank, unpack(packed));
    return chains;
  }

 private:
  void answer_one() {
    int waiting = 0;
    MPI_Status status;
    check(MPI_Iprobe(MPI_ANY_SOURCE, kQuestion, comm_.get(), &waiting, &status), "MPI_Iprobe");
    if (waiting == 0) return;
    check(MPI_Recv(nullptr, 0, MPI_BYTE, status.MPI_SOURCE, kQuestion, comm_.get(), MPI_STATUS_IGNORE), "MPI_Recv");
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Isend(own_.data(), kPackedLength, MPI_UINT64_T, status.MPI_SOURCE, kAnswer, comm_.get(), &request),
          "MPI_Isend");
    sent_.push_back(request);
  }  // NOLINT(clang-analyzer-optin.mpi.MPI-Checker): finish() waits for it

  static bool all_done(std::vector<MPI_Request>& requests) {
    int done = 0;
    check(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE), "MPI_Testall");
    return done != 0;
  }

  static void wait(std::vector<MPI_Request>& requests) {
    check(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
  }

  Communicator comm_;
  Packed own_;
  std::map<int, Packed> answers_;
  std::vector<MPI_Request> questions_, replies_, sent_;
};

}  // namespace

std::map<int, Chain> fetch_chains(MPI_Comm comm, const Chain& own, const std::set<int>& wanted) {
  int rank = 0;
  check(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  Exchange exchange(comm, own);
  for (const int other : wanted) {
    if (other != rank) exchange.ask(other);
  }
  std::map<int, Chain> chains = exchange.finish();
  if (wanted.contains(rank)) chains.emplace(rank, own);
  return chains;
}

}  // namespace ranktree::mpi
