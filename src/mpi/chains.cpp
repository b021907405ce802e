#include "mpi/chains.h"

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "core/split/chain.h"
#include "mpi/gather.h"

namespace ranktree::mpi {
namespace {

using core::split::Chain;

std::string packed(const Chain& chain) {
  std::vector<std::uint64_t> codes(std::min(chain.size(), core::split::kMaxDepth));
  std::transform(chain.begin(), chain.begin() + static_cast<std::ptrdiff_t>(codes.size()), codes.begin(),
                 core::split::code_of);
  return {reinterpret_cast<const char*>(codes.data()), codes.size() * sizeof(std::uint64_t)};
}

Chain unpacked(std::string_view text) {
  std::vector<std::uint64_t> codes(text.size() / sizeof(std::uint64_t));
  if (!codes.empty()) std::memcpy(codes.data(), text.data(), text.size());
  Chain chain;
  chain.reserve(codes.size());
  std::transform(codes.begin(), codes.end(), std::back_inserter(chain), core::split::link_of);
  return chain;
}

}  // namespace

std::vector<Chain> gather_chains(MPI_Comm comm, const Chain& own, int root) {
  std::vector<Chain> chains;
  for (const std::string& text : gather_texts(comm, packed(own), root)) chains.push_back(unpacked(text));
  return chains;
}

}  // namespace ranktree::mpi
