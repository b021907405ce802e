// How a datatype was made.
#pragma once

#include <mpi.h>

#include <array>

// Null where the MPI has no functions for large counts, whatever the mpi.h that this is compiled with.
// NOLINTNEXTLINE(readability-identifier-naming): MPI's name
extern "C" [[gnu::weak]] int PMPI_Type_get_envelope_c(MPI_Datatype type, MPI_Count* integers, MPI_Count* addresses,
                                                      MPI_Count* counts, MPI_Count* types, int* combiner);

namespace ranktree::mpi {

struct Envelope {
  int combiner = MPI_COMBINER_DUP;
  std::array<int, 3> numbers{};  // of integers, addresses and datatypes
  bool large = false;            // made with counts of type MPI_Count: MPI_Type_get_contents refuses it
};

// MPI_SUCCESS, or the MPI's code. For a large type MPI_Type_get_envelope calls the error handler of MPI_COMM_WORLD.
inline int query_envelope(MPI_Datatype type, Envelope& envelope) noexcept {
  auto& [integers, addresses, types] = envelope.numbers;
  if (&PMPI_Type_get_envelope_c == nullptr) {
    return PMPI_Type_get_envelope(type, &integers, &addresses, &types, &envelope.combiner);
  }
  std::array<MPI_Count, 4> numbers{};
  const int code =
      PMPI_Type_get_envelope_c(type, &numbers[0], &numbers[1], &numbers[2], &numbers[3], &envelope.combiner);
  envelope.large = numbers[2] > 0;
  integers = static_cast<int>(numbers[0]);
  addresses = static_cast<int>(numbers[1]);
  types = static_cast<int>(numbers[3]);
  return code;
}

}  // namespace ranktree::mpi
