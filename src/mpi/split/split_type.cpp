// MPI_Comm_split_type by MPI 5.0 §7.4.2, for every MPI.
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/split/chain.h"
#include "core/split/summary.h"
#include "core/topo/kind.h"
#include "hw/node_here.h"
#include "hw/place_here.h"
#include "mpi/agree.h"
#include "mpi/check.h"
#include "mpi/split/level.h"
#include "mpi/split/location.h"
#include "mpi/split/native_types.h"
#include "mpi/split/options.h"
#include "mpi/split/split.h"
#include "ranktree/mpi.h"

namespace ranktree::mpi {
namespace {

using core::split::Chain;
using core::split::Link;
using core::split::Summary;
using core::topo::Kind;

enum class Type : std::uint8_t { kShared, kUnguided, kGuided, kResourceGuided, kAbsent, kUnknown };

Type type_of(int type) {
  if (type == MPI_UNDEFINED) return Type::kAbsent;
  if (type == MPI_COMM_TYPE_SHARED) return Type::kShared;
  switch (our_type(type).value_or(0)) {
    case RANKTREE_COMM_TYPE_SHARED:
      return Type::kShared;
    case RANKTREE_COMM_TYPE_HW_UNGUIDED:
      return Type::kUnguided;
    case RANKTREE_COMM_TYPE_HW_GUIDED:
      return Type::kGuided;
    case RANKTREE_COMM_TYPE_RESOURCE_GUIDED:
      return Type::kResourceGuided;
    default:
      return Type::kUnknown;
  }
}

constexpr std::string_view kScheme = "hwloc://";
constexpr std::string_view kSharedMemory = "mpi_shared_memory";

// What the caller wants to be split by.
struct Wish {
  std::string resource;  // without its scheme; empty: none
  std::string process_set;
};

Wish read_wish(Type type, MPI_Info info) {
  Wish wish;
  if (type == Type::kShared) wish.resource = kSharedMemory;
  if (type != Type::kGuided && type != Type::kResourceGuided) return wish;
  wish.resource = info_value(info, "mpi_hw_resource_type").value_or("");
  if (wish.resource.starts_with(kScheme)) wish.resource.erase(0, kScheme.size());
  if (type == Type::kResourceGuided) wish.process_set = info_value(info, "mpi_pset_name").value_or("");
  return wish;
}

std::optional<Kind> kind_of(const std::string& resource) {
  return resource == kSharedMemory ? Kind::kNode : core::topo::kind_from_name(resource);
}

// The switch, the node, or the outermost object of a kind that contains the caller.
std::optional<Link> find_resource(const Caller& caller, const std::string& resource) {
  for (std::size_t i = 0; i < caller.chain.size() && caller.chain[i].kind == Kind::kSwitch; ++i) {
    if (core::split::type_name(caller.chain, i) == resource) return caller.chain[i];
  }
  const auto kind = kind_of(resource);
  if (!kind || *kind < Kind::kNode) return std::nullopt;
  Chain around{*std::find_if(caller.chain.begin(), caller.chain.end(),
                             [](const Link& link) { return link.kind == Kind::kNode; })};
  const Chain inside = hw::node_map().locate_all(hw::pus_here());
  around.insert(around.end(), inside.begin(), inside.end());
  const auto found = std::find_if(around.begin(), around.end(), [&](const Link& link) { return link.kind == *kind; });
  return found == around.end() ? std::nullopt : std::optional(*found);
}

// Different for different objects of all nodes. Numbers that MPI gave nodes are small and exact; a hash of a node's
// name leaves no bits for the object, and both are hashed again.
std::uint64_t instance_code(const Caller& caller, const Link& object) {
  if (object.kind <= Kind::kNode) return core::split::code_of(object);
  constexpr std::int64_t kMostObjects = 16'777'216;
  const auto node =
      std::find_if(caller.chain.begin(), caller.chain.end(), [](const Link& link) { return link.kind == Kind::kNode; });
  if (!caller.options.node_identity && object.id < kMostObjects) {
    return core::split::code_of({object.kind, node->id * kMostObjects + object.id});
  }
  return core::split::code_of(
      {object.kind, core::split::name_id(std::to_string(node->id) + ' ' + std::to_string(object.id))});
}

struct Instance {
  std::optional<std::uint64_t> code;
  std::string type;
};

Instance instance_of(const Caller& caller, const std::string& resource) {
  const auto object = find_resource(caller, resource);
  if (!object) return {};
  const bool is_switch = object->kind == Kind::kSwitch;
  return {instance_code(caller, *object), is_switch ? resource : std::string(core::topo::kind_name(object->kind))};
}

// One call of split_type on one rank.
struct Query {
  Type type = Type::kUnknown;
  Wish wish;
  Instance instance;
};

Summary own_summary(const Start& begun, const Query& query, int type) {
  const Caller& caller = begun.caller;
  Summary own = core::split::summarize_absent();
  if (begun.failure.error_class == MPI_SUCCESS && query.type != Type::kAbsent) {
    own = query.type == Type::kUnguided ? core::split::summarize(caller.chain, caller.member, caller.options.leftover)
                                        : core::split::summarize_instance(query.instance.code, caller.member);
    const int shown = query.type == Type::kUnknown ? type : static_cast<int>(query.type) - 1000;
    own.arguments = fingerprint(caller.options, {"split_type", shown});
    own.native = query.wish.process_set.empty() ? 0 : 1;
    own.request =
        static_cast<std::uint64_t>(core::split::name_id(query.wish.resource + '\n' + query.wish.process_set)) + 1;
  }
  own.hosts_differ = node_of(caller.annotation).host_differs ? 1 : 0;
  return own;
}

// MPI 5.0 §7.4.2: the caller's info receives the type of the resource.
void set_resource_type(MPI_Info info, const std::string& type) {
  if (info == MPI_INFO_NULL) return;
  const auto kind = core::topo::kind_from_name(type);
  const std::string name = std::string(kScheme) + (kind ? std::string(core::split::resource_name(*kind)) : type);
  check(PMPI_Info_set(info, "mpi_hw_resource_type", name.c_str()), "MPI_Info_set");
}

MPI_Comm split_by_process_set([[maybe_unused]] MPI_Comm comm, [[maybe_unused]] const Query& query,
                              [[maybe_unused]] int key, [[maybe_unused]] MPI_Info info) {
  MPI_Comm part = MPI_COMM_NULL;
#if RANKTREE_HAS_MPI_COMM_TYPE_RESOURCE_GUIDED
  const int type = query.type == Type::kAbsent ? int{MPI_UNDEFINED} : int{MPI_COMM_TYPE_RESOURCE_GUIDED};
  check(PMPI_Comm_split_type(comm, type, key, info, &part), "MPI_Comm_split_type");
#endif
  return part;
}

// Of a rank outside of all instances, or one that takes no part: the code of those who get nothing.
Share share_of(const Instance& instance, const Summary& all) {
  return {instance.code.value_or(core::split::own_code(all, {}, 0, core::split::Leftover::kNull)), instance.type};
}

}  // namespace

void split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* newcomm) {
  Query query{type_of(type), {}, {}};
  Start begun = start(comm, key, &info, [&](Caller& caller) {
    require(newcomm, "newcomm");
    query.wish = read_wish(query.type, info);
    if (!query.wish.resource.empty()) query.instance = instance_of(caller, query.wish.resource);
  });
  Caller& caller = begun.caller;
  caller.takes_part = query.type != Type::kAbsent;
  keep(comm, caller);
  const Summary all = agree_or_throw(comm, own_summary(begun, query, type), begun.failure);
  if (all.native != 0 && all.requests_differ == 0) {
    *newcomm = split_by_process_set(comm, query, key, info);
    return;
  }
  const bool nothing = all.present == 0 || all.requests_differ != 0 || all.children == 0;
  if (nothing) {
    *newcomm = MPI_COMM_NULL;
    return;
  }
  const Share share = query.type == Type::kUnguided ? share_of_level(caller, all) : share_of(query.instance, all);
  if (query.type != Type::kUnguided) caller.options.leftover = core::split::Leftover::kNull;
  Level level = make_level(comm, caller, all, share, false);
  keep(comm, caller);
  if (query.type == Type::kUnguided && level.part.get() != MPI_COMM_NULL) set_resource_type(info, share.type);
  *newcomm = level.part.release();
}

}  // namespace ranktree::mpi
