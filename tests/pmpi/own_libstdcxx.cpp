// A program with a C++ library of its own, whose symbols all others see: exceptions, streams and strings between calls.
#include <mpi.h>

#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

long sum_of(const std::vector<long>& mine) {
  std::vector<long> sums(mine.size());
  MPI_Allreduce(mine.data(), sums.data(), static_cast<int>(mine.size()), MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  long sum = 0;
  for (const long one : sums) sum += one;
  if (sum % 2 != 0) throw std::runtime_error("odd " + std::to_string(sum));
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::ostringstream text;
  int odd = 0;
  for (long round = 0; round < 30; ++round) {
    try {
      text << sum_of(std::vector<long>(3, round + rank)) << ' ';
    } catch (const std::exception& error) {
      text << error.what() << ' ';
      ++odd;
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  // In one piece: lines of several ranks would mix.
  std::cout << std::to_string(rank) + ": " + std::to_string(odd) + " odd: " + text.str() + "\n" << std::flush;
  return MPI_Finalize();
}
