// forms: which native collectives each call of ours makes under a `levels` rule, counted on every rank. A blocking call
// and a nonblocking one do not match each other, so all members of a level must make the same: blocking ones where ours
// blocks, else one nonblocking call of the whole communicator. Prints "ok".
#include <dlfcn.h>
#include <mpi.h>
#include <ranktree/mpi.h>

#include <array>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

namespace {

struct Made {
  int blocking = 0;
  int nonblocking = 0;
  bool operator==(const Made&) const = default;
};

Made& made() {
  static Made only;
  return only;
}

template <typename Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

// Before the MPI's: what the libraries call.
// NOLINTBEGIN(bugprone-macro-parentheses): arguments are argument lists
#define COUNTED(Form, Name, Parameters, ...)                 \
  extern "C" int Name Parameters {                           \
    static const auto real = next<decltype(&(Name))>(#Name); \
    ++made().Form;                                           \
    return real(__VA_ARGS__);                                \
  }
// NOLINTEND(bugprone-macro-parentheses)

#pragma GCC visibility push(default)
COUNTED(blocking, PMPI_Bcast, (void* b, int n, MPI_Datatype t, int r, MPI_Comm c), b, n, t, r, c)
COUNTED(blocking, PMPI_Reduce, (const void* a, void* b, int n, MPI_Datatype t, MPI_Op o, int r, MPI_Comm c), a, b, n, t,
        o, r, c)
COUNTED(blocking, PMPI_Allreduce, (const void* a, void* b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c), a, b, n, t, o,
        c)
COUNTED(blocking, PMPI_Barrier, (MPI_Comm c), c)
COUNTED(nonblocking, PMPI_Ibcast, (void* b, int n, MPI_Datatype t, int r, MPI_Comm c, MPI_Request* q), b, n, t, r, c, q)
COUNTED(nonblocking, PMPI_Ireduce,
        (const void* a, void* b, int n, MPI_Datatype t, MPI_Op o, int r, MPI_Comm c, MPI_Request* q), a, b, n, t, o, r,
        c, q)
COUNTED(nonblocking, PMPI_Iallreduce,
        (const void* a, void* b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c, MPI_Request* q), a, b, n, t, o, c, q)
COUNTED(nonblocking, PMPI_Ibarrier, (MPI_Comm c, MPI_Request* q), c, q)
#pragma GCC visibility pop

namespace {

void fail(const std::string& what) {
  std::printf("%s\n", what.c_str());
  std::fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

class Forms {
 public:
  explicit Forms(MPI_Comm comm) : comm_(comm), from_(kCount), into_(kCount) {
    MPI_Comm_rank(comm, &rank_);
    MPI_Comm_size(comm, &size_);
    std::iota(from_.begin(), from_.end(), rank_);
  }

  // The native calls, one of each.
  void nonblocking() {
    for (int root = 0; root < size_; ++root) {
      each("a nonblocking", root, {0, 1},
           [&](int call, ranktree_Request* request) { return begin(call, root, request); });
    }
  }
  void persistent() {
    for (int root = 0; root < size_; ++root) {
      for (int call = 0; call < kCalls; ++call) {
        ranktree_Request request = RANKTREE_REQUEST_NULL;
        prepare(call, root);
        if (make(call, root, &request) != MPI_SUCCESS) fail("the initialisation of a persistent call");
        made() = {};
        if (ranktree_Start(&request) != MPI_SUCCESS || ranktree_Wait(&request) != MPI_SUCCESS) fail("a start");
        judge("a persistent", call, root, {0, 1});
        ranktree_Request_free(&request);
      }
    }
  }
  // One on each level that this rank is in, of which there is one at least.
  void blocking() {
    for (int root = 0; root < size_; ++root) {
      for (int call = 0; call < kCalls; ++call) {
        prepare(call, root);
        carry_out(call, root);  // makes what it needs
        prepare(call, root);
        made() = {};
        carry_out(call, root);
        const int levels = made().blocking;
        judge("a blocking", call, root, {levels, 0});
        if (levels < 1) fail("a rule that is not followed");
        all_ += levels;
      }
    }
    int all = 0;
    MPI_Allreduce(&all_, &all, 1, MPI_INT, MPI_SUM, comm_);
    if (all <= size_ * size_ * kCalls) fail("a rule without levels");
  }

 private:
  static constexpr int kCount = 500;
  static constexpr int kCalls = 4;

  template <typename Begin>
  void each(const char* form, int root, const Made& expected, const Begin& begin) {
    for (int call = 0; call < kCalls; ++call) {
      ranktree_Request request = RANKTREE_REQUEST_NULL;
      prepare(call, root);
      made() = {};
      if (begin(call, &request) != MPI_SUCCESS || ranktree_Wait(&request) != MPI_SUCCESS) fail(form);
      judge(form, call, root, expected);
    }
  }

  void prepare(int call, int root) {
    into_.assign(kCount, -1);
    if (call == 0 && rank_ == root) std::iota(into_.begin(), into_.end(), 7);
  }

  int begin(int call, int root, ranktree_Request* request) {
    if (call == 0) return ranktree_Ibcast(into_.data(), kCount, MPI_INT, root, comm_, request);
    if (call == 1) return ranktree_Ireduce(from_.data(), into_.data(), kCount, MPI_INT, MPI_SUM, root, comm_, request);
    if (call == 2) return ranktree_Iallreduce(from_.data(), into_.data(), kCount, MPI_INT, MPI_SUM, comm_, request);
    return ranktree_Ibarrier(comm_, request);
  }
  int make(int call, int root, ranktree_Request* request) {
    int* const from = from_.data();
    int* const into = into_.data();
    if (call == 0) return ranktree_Bcast_init(into, kCount, MPI_INT, root, comm_, MPI_INFO_NULL, request);
    if (call == 1)
      return ranktree_Reduce_init(from, into, kCount, MPI_INT, MPI_SUM, root, comm_, MPI_INFO_NULL, request);
    if (call == 2) return ranktree_Allreduce_init(from, into, kCount, MPI_INT, MPI_SUM, comm_, MPI_INFO_NULL, request);
    return ranktree_Barrier_init(comm_, MPI_INFO_NULL, request);
  }
  void carry_out(int call, int root) {
    if (call == 0) ranktree_Bcast(into_.data(), kCount, MPI_INT, root, comm_);
    if (call == 1) ranktree_Reduce(from_.data(), into_.data(), kCount, MPI_INT, MPI_SUM, root, comm_);
    if (call == 2) ranktree_Allreduce(from_.data(), into_.data(), kCount, MPI_INT, MPI_SUM, comm_);
    if (call == 3) ranktree_Barrier(comm_);
  }

  void judge(const char* form, int call, int root, const Made& expected) {
    constexpr std::array<const char*, kCalls> kNames{"broadcast", "reduction", "allreduce", "barrier"};
    const std::string what = std::string(form) + " " + kNames.at(static_cast<std::size_t>(call));
    if (made() != expected) {
      fail(what + ": " + std::to_string(made().blocking) + " blocking and " + std::to_string(made().nonblocking) +
           " nonblocking calls");
    }
    const bool receives = call == 0 || call == 2 || (call == 1 && rank_ == root);
    for (int i = 0; i < kCount && receives; ++i) {
      const int right = call == 0 ? 7 + i : i * size_ + size_ * (size_ - 1) / 2;
      if (into_[static_cast<std::size_t>(i)] != right) fail(what + ": wrong result");
    }
  }

  MPI_Comm comm_;
  int rank_ = 0;
  int size_ = 1;
  int all_ = 0;
  std::vector<int> from_;
  std::vector<int> into_;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  Forms forms(comm);
  forms.nonblocking();  // before anything is known of the communicator
  forms.persistent();
  forms.blocking();
  forms.nonblocking();
  forms.persistent();
  MPI_Comm_free(&comm);
  if (rank == 0) std::puts("ok");
  MPI_Finalize();
  return 0;
}
