// Texts of different lengths gathered at one rank.
#pragma once

#include <mpi.h>

#include <string>
#include <string_view>
#include <vector>

namespace ranktree::mpi {

// Collective over `comm`. Every rank's text by rank at `root`, nothing elsewhere. Throws core::Error(kUnsupported) at
// the root when the texts together exceed 2 GiB (MPI's displacements are ints); other ranks then wait in vain, so the
// caller must abort.
std::vector<std::string> gather_texts(MPI_Comm comm, std::string_view text, int root);

}  // namespace ranktree::mpi
