// shared_check CHOICE SEED ROUNDS [MOST_BYTES]: random operations by shared memory against the native calls, one by one
// and several at a time. Prints "no team" where there is no shared memory, and passes.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "core/predict/choice.h"
#include "drawn.h"
#include "mpi/collect/context.h"
#include "mpi/collect/shared/node_team.h"
#include "mpi/collect/shared/shared_call.h"
#include "mpi/collect/shared/shared_variant.h"
#include "mpi/collect/variant.h"

namespace {

using ranktree::core::predict::Choice;
using ranktree::core::predict::choice_from_text;
using ranktree::mpi::collect::can_share;
using ranktree::mpi::collect::Context;
using ranktree::mpi::collect::finish_shared;
using ranktree::mpi::collect::Running;
using ranktree::mpi::collect::SharedCall;
using ranktree::mpi::collect::start_shared;

class Checker {
 public:
  Checker(std::string choice, unsigned seed, std::int64_t most)
      : choice_(std::move(choice)),
        random_(seed),
        most_(most),
        context_(Context::of(MPI_COMM_WORLD)),
        own_(seed + static_cast<unsigned>(context_->rank())) {}

  [[nodiscard]] bool has_team() { return context_->node_team() != nullptr; }
  [[nodiscard]] int failed() const { return failed_; }
  [[nodiscard]] int shared() const { return shared_; }

  // Each rank decides by itself between finish_shared() and a SharedCall, which must work together.
  void one() {
    Drawn drawn(random_, kinds_, MPI_COMM_WORLD, most_);
    const Choice choice = choice_from_text(choice_, drawn.operation().collective);
    if (!can_share(*context_, drawn.operation(), choice)) return;
    if (own_() % 2 == 0) {
      finish_shared(context_, drawn.operation(), choice);
    } else {
      SharedCall(context_, drawn.operation(), choice).finish();
    }
    judge(drawn);
  }

  // Begun in one order on all ranks, ended in another on each.
  void several() {
    std::deque<Drawn> drawn;
    std::vector<std::unique_ptr<Running>> running;
    for (unsigned i = 0; i < 2 + random_() % 3; ++i) {
      drawn.emplace_back(random_, kinds_, MPI_COMM_WORLD, most_);
      const Choice choice = choice_from_text(choice_, drawn.back().operation().collective);
      if (can_share(*context_, drawn.back().operation(), choice)) {
        running.push_back(start_shared(context_, drawn.back().operation(), choice));
      } else {
        drawn.pop_back();
      }
    }
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (std::size_t i = 0; i < running.size(); ++i) {
      ranktree::mpi::collect::finish(*running[(i + static_cast<std::size_t>(rank)) % running.size()],
                                     context_->process().in_flight);
    }
    for (Drawn& each : drawn) judge(each);
  }

 private:
  void judge(Drawn& drawn) {
    ++shared_;
    if (drawn.agrees()) return;
    ++failed_;
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::printf("rank %d: %s\n", rank, drawn.text().c_str());
  }

  std::string choice_;
  Random random_;
  std::int64_t most_;
  Kinds kinds_;
  std::shared_ptr<Context> context_;
  Random own_;
  int failed_ = 0;
  int shared_ = 0;
};

int run(int count, char** words) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Checker checker(words[1], static_cast<unsigned>(std::atoi(words[2])), count > 4 ? std::atoll(words[4]) : 600000);
  if (!checker.has_team()) {
    if (rank == 0) std::puts("no team");
    return 0;
  }
  for (int round = 0; round < std::atoi(words[3]); ++round) round % 4 == 3 ? checker.several() : checker.one();
  int failed = checker.failed();
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%d operations, %d wrong results\n", checker.shared(), failed);
  return failed == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
  int given = 0;
  MPI_Init_thread(&count, &words, MPI_THREAD_SINGLE, &given);
  const int code = count > 3 ? run(count, words) : 2;
  MPI_Finalize();
  return code;
}
