#include "mpi/split/level.h"

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "core/split/chain.h"
#include "core/split/summary.h"
#include "core/topo/kind.h"
#include "mpi/attribute.h"
#include "mpi/check.h"
#include "mpi/handle.h"
#include "mpi/split/options.h"

namespace ranktree::mpi {
namespace {

using core::split::Leftover;
using core::split::Part;
using core::split::Summary;

Communicator split(MPI_Comm comm, int color, int key) {
  Communicator part;
  check(PMPI_Comm_split(comm, color, key, part.receive()), "MPI_Comm_split");
  return part;
}

bool is_root(const Communicator& part) {
  if (part.get() == MPI_COMM_NULL) return false;
  int rank = 0;
  check(PMPI_Comm_rank(part.get(), &rank), "MPI_Comm_rank");
  return rank == 0;
}

bool parts_are_nodes(const Summary& all) {
  return !core::split::is_leftover(all.code_or) && core::split::link_of(all.code_or).kind == core::topo::Kind::kNode &&
         core::split::link_of(all.code_and).kind == core::topo::Kind::kNode;
}

// Codes have more bits than colours: one split for each 31 bits in which some codes differ.
Communicator split_by_code(MPI_Comm comm, std::optional<std::uint64_t> code, int key, std::uint64_t differing) {
  constexpr unsigned kColorBits = 31;
  constexpr std::uint64_t kColorMask = (std::uint64_t{1} << kColorBits) - 1;
  Communicator part;
  MPI_Comm current = comm;
  for (unsigned shift = 0; shift < 64 && current != MPI_COMM_NULL; shift += kColorBits) {
    if (((differing >> shift) & kColorMask) == 0) continue;
    const int color = code ? static_cast<int>((*code >> shift) & kColorMask) : MPI_UNDEFINED;
    Communicator finer = split(current, color, key);
    part.swap(finer);
    current = part.get();
  }
  return part;
}

// Counts the roots in the order of their ranks, which needs no list of them.
Part count_roots(MPI_Comm comm, const Communicator& part) {
  std::array<int, 2> own{0, is_root(part) ? 1 : 0};  // roots before this rank and this one; is a root
  check(PMPI_Scan(&own[1], own.data(), 1, MPI_INT, MPI_SUM, comm), "MPI_Scan");
  int size = 0;
  check(PMPI_Comm_size(comm, &size), "MPI_Comm_size");
  int count = own[0];
  check(PMPI_Bcast(&count, 1, MPI_INT, size - 1, comm), "MPI_Bcast");
  int index = own[0] - 1;
  if (part.get() != MPI_COMM_NULL) check(PMPI_Bcast(&index, 1, MPI_INT, 0, part.get()), "MPI_Bcast");
  return {count, index};
}

std::string warning(const Caller& caller, const Summary& all) {
  if (caller.options.node_identity || !core::split::nodes_disagree(all)) return "";
  return "nodes: MPI_COMM_TYPE_SHARED and the host names disagree; MPI_COMM_TYPE_SHARED counts unless the info key "
         "ranktree_node_id is set";
}

void annotate(const Communicator& comm, const Caller& caller, std::shared_ptr<const LevelInfo> level) {
  if (comm.get() == MPI_COMM_NULL) return;
  Annotation annotation = caller.annotation;
  annotation.level = std::move(level);
  annotation.options = std::make_shared<const SplitOptions>(caller.options);
  annotation.reordering.reset();  // of the parent, not of its parts
  set_annotation(comm.get(), annotation);
}

// Only options on which all ranks have agreed: ranks that take no part have given none.
void remember_options(Caller& caller) {
  Annotation& annotation = caller.annotation;
  if (annotation.options && *annotation.options == caller.options) return;
  annotation.options = std::make_shared<const SplitOptions>(caller.options);
  annotation.changed = true;
}

std::pair<Communicator, LevelInfo> make_part(MPI_Comm comm, Caller& caller, const Summary& all, const Share& share) {
  const Leftover leftover = caller.options.leftover;
  const bool has_part = caller.takes_part && core::split::gets_part(all, share.code, leftover);
  const int key = caller.member.key;
  const auto part = core::split::number_part(all, share.code, leftover);
  const bool reuse =
      caller.node.get() != MPI_COMM_NULL && !caller.options.node_identity && all.absent == 0 && parts_are_nodes(all);
  Communicator made;
  if (reuse) {
    made = std::move(caller.node);
  } else if (all.overflow == 0) {
    made = split(comm, has_part && part ? part->index : MPI_UNDEFINED, key);
  } else {
    const auto code = has_part ? std::optional(share.code) : std::nullopt;
    made = split_by_code(comm, code, key, all.code_or ^ all.code_and);
  }
  const Part number = all.overflow != 0 ? count_roots(comm, made) : part.value_or(Part{});
  return {std::move(made), LevelInfo{number.count, number.index, share.type}};
}

}  // namespace

Share share_of_level(const Caller& caller, const Summary& all) {
  const std::uint64_t code = own_code(all, caller.chain, caller.member.rank, caller.options.leftover);
  if (!core::split::is_leftover(code)) return {code, core::split::type_name(caller.chain, all.depth)};
  const std::span<const core::split::Link> chain(caller.chain);
  return {code, all.depth == 0 ? "Cluster" : core::split::type_name(chain, all.depth - std::size_t{1})};
}

Level make_level(MPI_Comm comm, Caller& caller, const Summary& all, const Share& share, bool with_roots) {
  Level level;
  set_message(caller.annotation, warning(caller, all));
  if (all.absent == 0) remember_options(caller);
  if (all.children == 0) return level;
  auto [part, info] = make_part(comm, caller, all, share);
  annotate(part, caller, std::make_shared<const LevelInfo>(std::move(info)));
  if (with_roots) {
    level.roots = split(comm, is_root(part) ? 0 : MPI_UNDEFINED, 0);
    annotate(level.roots, caller, nullptr);
  }
  level.part = std::move(part);
  return level;
}

}  // namespace ranktree::mpi
