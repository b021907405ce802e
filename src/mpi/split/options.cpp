#include "mpi/split/options.h"

#include <mpi.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/split/chain.h"
#include "core/split/summary.h"
#include "hw/node_here.h"
#include "mpi/check.h"

namespace ranktree::mpi {
namespace {

using core::split::Leftover;

constexpr std::array<Word<Leftover>, 3> kLeftovers{
    {{"null", Leftover::kNull}, {"self", Leftover::kSelf}, {"group", Leftover::kGroup}}};

constexpr std::array<Word<std::optional<hw::NodeIdentity>>, 5> kNodeIdentities{
    {{"shared", std::nullopt},
     {"hostname", hw::NodeIdentity::kHostname},
     {"boot_id", hw::NodeIdentity::kBootId},
     {"env", hw::NodeIdentity::kEnvironment},
     {"file", hw::NodeIdentity::kFile}}};

}  // namespace

std::optional<std::string> info_value(MPI_Info info, const char* key) {
  if (info == MPI_INFO_NULL) return std::nullopt;
  std::string value(MPI_MAX_INFO_VAL, '\0');
  int found = 0;
#if MPI_VERSION >= 4
  int length = static_cast<int>(value.size());
  check(PMPI_Info_get_string(info, key, &length, value.data(), &found), "MPI_Info_get_string");
#else
  check(PMPI_Info_get(info, key, static_cast<int>(value.size()) - 1, value.data(), &found), "MPI_Info_get");
#endif
  if (found == 0) return std::nullopt;
  value.resize(std::string_view(value).find('\0'));
  return value;
}

SplitOptions read_split_options(MPI_Info info) {
  SplitOptions options;
  if (const auto word = info_value(info, "ranktree_leftover")) {
    options.leftover = choose("ranktree_leftover", *word, kLeftovers);
  }
  if (const auto word = info_value(info, "ranktree_node_id")) {
    options.node_identity = choose("ranktree_node_id", *word, kNodeIdentities);
  }
  if (const auto word = info_value(info, "ranktree_network")) options.network = *word;
  return options;
}

std::uint64_t fingerprint(const SplitOptions& options, Call call) {
  constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15U;  // odd: nothing is lost by multiplying
  const int identity = options.node_identity ? static_cast<int>(*options.node_identity) : -1;
  auto hash = static_cast<std::uint64_t>(core::split::name_id(call.name));
  for (const int number : {call.number, static_cast<int>(options.leftover), identity}) {
    hash = hash * kFactor + static_cast<std::uint64_t>(number);
  }
  hash = hash * kFactor + static_cast<std::uint64_t>(core::split::name_id(options.network));
  return hash == 0 ? 1 : hash;
}

}  // namespace ranktree::mpi
