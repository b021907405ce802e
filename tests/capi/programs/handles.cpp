// The C++ handles of reordering and collectives as a program uses them, on any number of ranks. Rank 0 prints "ok".
// Usage: handles [objective]: orders by objectives too, on the machine of test_handles.py.
#include <mpi.h>

#include <array>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "ranktree/collect.hpp"
#include "ranktree/reorder.hpp"

namespace {

int failures = 0;
int rank = 0;
int size = 0;

void expect(bool holds, const char* what) {
  if (holds) return;
  ++failures;
  std::fprintf(stderr, "rank %d: expected %s\n", rank, what);
}

int keyval = MPI_KEYVAL_INVALID;
int freed = 0;

int count_free(MPI_Comm, int, void*, void*) {
  ++freed;
  return MPI_SUCCESS;
}

void mark(MPI_Comm comm) { MPI_Comm_set_attr(comm, keyval, nullptr); }

void check_reordered() {
  const std::array<int, 1> dims{size};
  const std::array<int, 1> periods{1};
  {
    ranktree::Reordered ring = ranktree::Reordered::cart(MPI_COMM_WORLD, dims, periods);
    mark(ring.comm());
    ranktree::Reordered moved(std::move(ring));
    ranktree::Reordered kept;
    kept = std::move(moved);
    int status = MPI_UNDEFINED;
    MPI_Topo_test(kept.comm(), &status);
    expect(status == MPI_CART, "a grid");
    expect(!kept.how().empty(), "how the order was found");
    expect(kept.how() == "identity" ? !kept.reason().empty() : kept.reason().empty(), "a reason where nothing changed");
    if (kept.cost_before() && kept.cost_after()) expect(*kept.cost_after() <= *kept.cost_before(), "no higher cost");
    expect(freed == 0, "nothing freed by moves");
  }
  expect(freed == 1, "a communicator freed once");
  const std::array<double, 2> weights_of_planes{1, 100};
  const std::array<int, 2> open{0, 0};
  std::array<int, 2> chosen{0, 0};
  const ranktree::Reordered grid = ranktree::Reordered::cart_weighted(MPI_COMM_WORLD, weights_of_planes, open, chosen);
  expect(!grid.empty() && chosen == std::array<int, 2>{size, 1}, "a grid cut where little is exchanged");
  const std::vector<int> sources{rank};
  const std::vector<int> degrees{1};
  const std::vector<int> destinations{(rank + 1) % size};
  const std::vector<int> weights{3};
  for (const bool weighted : {true, false}) {
    const auto given = weighted ? std::span<const int>(weights) : std::span<const int>();
    ranktree::Reordered graph = ranktree::Reordered::graph(MPI_COMM_WORLD, {sources, degrees, destinations, given});
    int in = 0;
    int out = 0;
    int has_weights = 0;
    MPI_Dist_graph_neighbors_count(graph.comm(), &in, &out, &has_weights);
    expect(in == 1 && out == 1 && (has_weights != 0) == weighted, "the graph's edges");
    MPI_Comm mine = graph.release();
    expect(graph.empty() && mine != MPI_COMM_NULL, "the released communicator");
    MPI_Comm_free(&mine);
  }
  const auto refused = [&](const std::vector<int>& all, const char* text) {
    try {
      ranktree::Reordered::graph(MPI_COMM_WORLD, {sources, degrees, destinations, all});
    } catch (const ranktree::Error& error) {
      return std::string(error.what()).find(text) != std::string::npos;
    }
    return false;
  };
  expect(refused({3, 4}, "weights: expected one each destination"), "lists that do not fit together");
}

// How a chain 3-0-1-2 is ordered, in which 0 and 3 exchange most bytes, by an objective.
std::string order_of_chain(const char* objective, bool weighted = true) {
  const bool declares = rank == 0;
  const std::vector<int> sources = declares ? std::vector<int>{0, 1} : std::vector<int>{};
  const std::vector<int> degrees = declares ? std::vector<int>{2, 1} : std::vector<int>{};
  const std::vector<int> destinations = declares ? std::vector<int>{3, 1, 2} : std::vector<int>{};
  const std::vector<int> weights = declares && weighted ? std::vector<int>{1000, 1, 1} : std::vector<int>{};
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "ranktree_objective", objective);
  const auto graph = ranktree::Reordered::graph(MPI_COMM_WORLD, {sources, degrees, destinations, weights}, true, info);
  MPI_Info_free(&info);
  return graph.how();
}

// The ranks are in an order that has the fewest hops of edges already.
void check_objective() {
  expect(order_of_chain("bytes") == "central", "another order by bytes");
  expect(order_of_chain("messages") == "identity", "no other order by messages");
  expect(order_of_chain("bytes", false) == "identity",
         "no other order without weights, which most ranks need not give");
}

void check_requests(MPI_Comm comm) {
  int mine = rank + 1;
  int sum = 0;
  ranktree::Request request(ranktree_Iallreduce, &mine, &sum, 1, MPI_INT, MPI_SUM, comm);
  ranktree::Request moved(std::move(request));
  moved.wait();
  moved.wait();  // complete: returns at once
  expect(sum == size * (size + 1) / 2, "the sum");
  ranktree::Request persistent(ranktree_Bcast_init, &mine, 1, MPI_INT, 0, comm, MPI_INFO_NULL);
  for (int turn = 0; turn < 3; ++turn) {
    mine = rank == 0 ? 10 + turn : -1;
    persistent.start();
    while (!persistent.test()) {
    }
    expect(mine == 10 + turn, "the root's number");
  }
  sum = 0;
  mine = 1;
  {
    const ranktree::Request dropped(ranktree_Iallreduce, &mine, &sum, 1, MPI_INT, MPI_SUM, comm);
  }
  expect(sum == size, "a request that its destructor completed");
}

void check_errors(MPI_Comm comm) {
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const std::array<int, 1> dims{size + 1};
  const std::array<int, 1> periods{0};
  bool thrown = false;
  try {
    (void)ranktree::Reordered::cart(comm, dims, periods);
  } catch (const ranktree::Error& error) {
    thrown = error.status() == RANKTREE_ERROR_MPI && error.mpi_code() != MPI_SUCCESS &&
             ranktree::mpi_class(error) != MPI_SUCCESS;
  }
  expect(thrown, "an exception for a grid that is too large");
  thrown = false;
  try {
    int mine = 0;
    const ranktree::Request wrong(ranktree_Ibcast, &mine, 1, MPI_INT, size, comm);
  } catch (const ranktree::Error& error) {
    thrown = ranktree::mpi_class(error) == MPI_ERR_ROOT;
  }
  expect(thrown, "an exception for a root that is none");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, count_free, &keyval, nullptr);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  ranktree::Reordered late;
  check_reordered();
  if (argc == 2) check_objective();
  check_requests(comm);
  check_errors(comm);
  MPI_Comm_free(&comm);
  MPI_Comm_free_keyval(&keyval);
  const std::array<int, 1> dims{size};
  const std::array<int, 1> periods{0};
  late = ranktree::Reordered::cart(MPI_COMM_WORLD, dims, periods);
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) std::puts(failures == 0 ? "ok" : "failed");
  MPI_Finalize();  // after it, late frees nothing
  return failures == 0 ? 0 : 1;
}
