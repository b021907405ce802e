// The main of benchmarks that are MPI programs.
#pragma once

#include <mpi.h>

#include <cstdio>
#include <exception>

namespace bench {

// Runs `body(argc, argv)` between MPI_Init and MPI_Finalize. An exception's text goes to stderr, and all ranks abort.
template <class Body>
int mpi_main(int argc, char** argv, const Body& body) {
  MPI_Init(&argc, &argv);
  try {
    body(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}

}  // namespace bench
