// The calls of ranktree/mpi.h, once for each MPI.
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "core/base/error.h"
#include "core/split/chain.h"
#include "mpi/attribute.h"
#include "mpi/guard.h"
#include "mpi/split/query.h"
#include "mpi/split/split.h"
#include "ranktree/base.h"
#include "ranktree/mpi.h"

namespace {

namespace mpi = ranktree::mpi;
using ranktree::core::Error;
using ranktree::core::Fault;

// A text buffer of the caller.
struct TextBuffer {
  char* text;
  int length;
  int* result;

  void require() const {
    mpi::require(text, "type");
    mpi::require(result, "resultlen");
    if (length < 1) {
      throw Error(Fault::kInput, "len: expected at least 1 for the terminator, found " + std::to_string(length));
    }
  }
  void fill(const std::string& value) const {
    const std::size_t copied = std::min(value.size(), static_cast<std::size_t>(length) - 1);
    std::memcpy(text, value.data(), copied);
    text[copied] = '\0';
    *result = static_cast<int>(value.size());
  }
};

void require_length(int length, const char* name) {
  if (length < 0) {
    throw Error(Fault::kInput, std::string(name) + ": expected 0 or more, found " + std::to_string(length));
  }
}

}  // namespace

int ranktree_Get_version(int* major, int* minor, int* patch) {
  return mpi::guard([&] {
    mpi::require(major, "major");
    mpi::require(minor, "minor");
    mpi::require(patch, "patch");
    *major = RANKTREE_VERSION_MAJOR;
    *minor = RANKTREE_VERSION_MINOR;
    *patch = RANKTREE_VERSION_PATCH;
  });
}

int ranktree_Comm_hsplit(MPI_Comm comm, int key, MPI_Info info, MPI_Comm* newcomm) {
  return mpi::guard(comm, [&] { mpi::hsplit(comm, key, info, newcomm); });
}

int ranktree_Comm_hsplit_with_roots(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm, MPI_Comm* rootscomm) {
  return mpi::guard(comm, [&] { mpi::hsplit_with_roots(comm, info, newcomm, rootscomm); });
}

int ranktree_Comm_hsplit_all(MPI_Comm comm, MPI_Info info, int max, int* nlevels, MPI_Comm levels[], MPI_Comm roots[]) {
  return mpi::guard(comm, [&] { mpi::hsplit_all(comm, info, {max, nlevels, levels, roots}); });
}

int ranktree_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm* newcomm) {
  return mpi::guard(comm, [&] { mpi::split_type(comm, split_type, key, info, newcomm); });
}

int ranktree_Comm_get_hlevel_info(MPI_Comm comm, int* num_comms, int* index, char* type, int len, int* resultlen) {
  return mpi::guard(comm, [&] {
    const TextBuffer buffer{type, len, resultlen};
    buffer.require();
    mpi::require(num_comms, "num_comms");
    mpi::require(index, "index");
    const auto known = mpi::get_annotation(comm).level;
    const mpi::LevelInfo level = known ? *known : mpi::LevelInfo{};
    *num_comms = level.count;
    *index = level.index;
    buffer.fill(level.type);
  });
}

int ranktree_Comm_get_min_hlevel(MPI_Comm comm, int n, const int ranks[], char* type, int len, int* resultlen) {
  return mpi::guard(comm, [&] {
    const TextBuffer buffer{type, len, resultlen};
    const std::span<const int> requested(ranks, n > 0 && ranks != nullptr ? static_cast<std::size_t>(n) : 0);
    buffer.fill(mpi::min_hlevel(comm, requested, [&] {
      buffer.require();
      require_length(n, "n");
      if (n > 0) mpi::require(ranks, "ranks");
    }));
  });
}

int ranktree_Comm_get_location(MPI_Comm comm, int rank, int max, int* nlevels, char types[][RANKTREE_MAX_TYPE],
                               std::int64_t ids[]) {
  return mpi::guard(comm, [&] {
    const auto chain = mpi::location(comm, rank, [&] {
      mpi::require(nlevels, "nlevels");
      require_length(max, "max");
      if (max > 0) mpi::require(types, "types");
      if (max > 0) mpi::require(ids, "ids");
    });
    for (std::size_t i = 0; i < std::min(chain.size(), static_cast<std::size_t>(max)); ++i) {
      int whole = 0;
      TextBuffer{types[i], RANKTREE_MAX_TYPE, &whole}.fill(ranktree::core::split::type_name(chain, i));
      ids[i] = chain[i].id;
    }
    *nlevels = static_cast<int>(chain.size());
  });
}

int ranktree_Get_hw_resource_info(MPI_Info* hw_info) {
  return mpi::guard([&] {
    mpi::require(hw_info, "hw_info");
    *hw_info = mpi::hw_resource_info();
  });
}

int ranktree_Comm_get_message(MPI_Comm comm, char* text, int len, int* resultlen) {
  return mpi::guard(comm, [&] {
    const TextBuffer buffer{text, len, resultlen};
    buffer.require();
    buffer.fill(mpi::get_annotation(comm).message);
  });
}
