// A collective on all ranks and level by level (hsplit-2018 §7.2), or by Ranktree.
//
//   levels broadcast|reduce|allreduce native|chains=N|binary=SEGMENT|variant|ranktree BYTES...
//
// Level by level, the collective runs on the communicator of the roots of each level, and at the end of the hierarchy
// on the smallest parts. "native": the native collective, "chains=N" and "binary=SEGMENT": those of broadcasts.h, on
// all communicators. "variant": ranktree_Bcast on all communicators, by the one that RANKTREE_COLL names. "ranktree":
// ranktree_Bcast, ranktree_Reduce or ranktree_Allreduce on all ranks, by the variant that RANKTREE_COLL names. Writes,
// but for "ranktree", "parts,N...": the ranks of rank 0's communicators, the outermost first; then for each size
// "form,flat|levels|ranktree,BYTES,SECONDS".
#include <mpi.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "../mpi_main.h"
#include "broadcasts.h"
#include "ranktree/mpi.h"

namespace {

using namespace papers;

constexpr int kMostLevels = 32;

struct Operation {
  std::string collective;
  int chains = 0;   // 0: none
  int segment = 0;  // bytes; 0: no binary tree
  bool variant = false;
  int bytes = 0;
  void* in = nullptr;
  void* out = nullptr;
};

// The communicators of this rank from the smallest part up; in all but the last one it is the root. With
// ranktree_leftover=group all ranks of a smallest part have it as their last level, whatever the depth of others.
std::vector<MPI_Comm> hierarchy() {
  MPI_Comm levels[kMostLevels];
  MPI_Comm roots[kMostLevels];
  MPI_Info info = MPI_INFO_NULL;
  int depth = 0;
  MPI_Info_create(&info);
  MPI_Info_set(info, "ranktree_leftover", "group");
  if (ranktree_Comm_hsplit_all(MPI_COMM_WORLD, info, kMostLevels, &depth, levels, roots) != MPI_SUCCESS || depth == 0) {
    throw std::runtime_error("levels: the machine has no levels");
  }
  MPI_Info_free(&info);
  std::vector<MPI_Comm> comms;
  if (size_of(levels[depth - 1]) > 1) comms.push_back(levels[depth - 1]);
  for (int i = depth; i-- > 0;) {
    if (roots[i] != MPI_COMM_NULL) comms.push_back(roots[i]);
  }
  return comms;
}

void call(const Operation& operation, const void* in, MPI_Comm comm) {
  if (operation.collective == "broadcast" && operation.chains > 0) {
    broadcast_by_chains(operation.out, operation.bytes, operation.chains, comm);
  } else if (operation.collective == "broadcast" && operation.segment > 0) {
    broadcast_by_binary_tree(operation.out, operation.bytes, operation.segment, 0, comm);
  } else if (operation.variant) {
    ranktree_Bcast(operation.out, operation.bytes, MPI_BYTE, 0, comm);
  } else if (operation.collective == "broadcast") {
    MPI_Bcast(operation.out, operation.bytes, MPI_BYTE, 0, comm);
  } else {
    MPI_Reduce(in, operation.out, operation.bytes, MPI_UNSIGNED_CHAR, MPI_MAX, 0, comm);
  }
}

void by_levels(const Operation& operation, const std::vector<MPI_Comm>& comms) {
  if (operation.collective == "broadcast") {
    for (auto comm = comms.rbegin(); comm != comms.rend(); ++comm) call(operation, nullptr, *comm);
    return;
  }
  const void* in = operation.in;  // then the result of the level below
  for (const MPI_Comm comm : comms) {
    call(operation, in == operation.in || rank_in(comm) > 0 ? in : MPI_IN_PLACE, comm);
    in = operation.out;
  }
}

void by_ranktree(const Operation& operation) {
  if (operation.collective == "broadcast") {
    ranktree_Bcast(operation.out, operation.bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
  } else if (operation.collective == "allreduce") {
    ranktree_Allreduce(operation.in, operation.out, operation.bytes, MPI_UNSIGNED_CHAR, MPI_MAX, MPI_COMM_WORLD);
  } else {
    ranktree_Reduce(operation.in, operation.out, operation.bytes, MPI_UNSIGNED_CHAR, MPI_MAX, 0, MPI_COMM_WORLD);
  }
}

template <class Call>
void measure(const char* form, const Operation& operation, const Call& measured) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  measured();
  const double took = longest(MPI_Wtime() - begin);
  if (rank_in(MPI_COMM_WORLD) == 0) std::printf("form,%s,%d,%.6g\n", form, operation.bytes, took);
}

void print_parts(const std::vector<MPI_Comm>& comms) {
  std::string line = "parts";
  for (auto comm = comms.rbegin(); comm != comms.rend(); ++comm) line += "," + std::to_string(size_of(*comm));
  if (rank_in(MPI_COMM_WORLD) == 0) std::puts(line.c_str());
}

void measure_all(const std::string& method, Operation operation, const std::vector<MPI_Comm>& comms) {
  const auto bytes = static_cast<std::size_t>(operation.bytes);
  operation.in = SMPI_SHARED_MALLOC(bytes);
  operation.out = SMPI_SHARED_MALLOC(bytes);
  if (method == "ranktree") {
    by_ranktree(operation);  // the first call prepares it
    measure("ranktree", operation, [&] { by_ranktree(operation); });
  } else {
    const auto flat = [&] { call(operation, operation.in, MPI_COMM_WORLD); };
    const auto levels = [&] { by_levels(operation, comms); };
    if (operation.variant) {  // the first calls prepare it
      flat();
      levels();
    }
    measure("flat", operation, flat);
    measure("levels", operation, levels);
  }
  SMPI_SHARED_FREE(operation.in);
  SMPI_SHARED_FREE(operation.out);
}

void run(int argc, char** argv) {
  if (argc < 4) throw std::runtime_error("levels: expected at least 3 arguments");
  const std::string method = argv[2];
  Operation operation{.collective = argv[1]};
  if (method.starts_with("chains=")) operation.chains = std::stoi(method.substr(7));
  operation.variant = method == "variant";
  if (operation.variant && operation.collective != "broadcast") throw std::runtime_error("levels: expected broadcast");
  if (method.starts_with("binary=")) operation.segment = std::stoi(method.substr(7));
  std::vector<MPI_Comm> comms;
  if (method != "ranktree") {
    comms = hierarchy();
    print_parts(comms);
  }
  for (int i = 3; i < argc; ++i) {
    operation.bytes = std::stoi(argv[i]);
    measure_all(method, operation, comms);
  }
  for (MPI_Comm comm : comms) MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) { return bench::mpi_main(argc, argv, run); }
