#include "mpi/collect/context.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/schedule/hierarchy.h"
#include "core/schedule/makers.h"
#include "core/schedule/schedule.h"
#include "core/split/chain.h"
#include "core/topo/kind.h"
#include "mpi/agree.h"
#include "mpi/attribute.h"
#include "mpi/check.h"
#include "mpi/collect/communicator_state.h"
#include "mpi/collect/execute/levels.h"
#include "mpi/collect/execute/programs.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/process.h"
#include "mpi/collect/requests/in_flight.h"
#include "mpi/collect/select/chooser.h"
#include "mpi/collect/shared/node_team.h"
#include "mpi/collect/thread_state.h"
#include "mpi/collect/variant.h"
#include "mpi/handle.h"
#include "mpi/simulated.h"
#include "mpi/split/chains.h"
#include "mpi/split/location.h"
#include "mpi/split/options.h"

namespace ranktree::mpi::collect {
namespace {

using core::schedule::Hierarchy;
using core::schedule::Rank;
using core::split::Chain;

const Chain& longest(const std::vector<Chain>& chains) {
  return *std::max_element(chains.begin(), chains.end(),
                           [](const Chain& a, const Chain& b) { return a.size() < b.size(); });
}

// -1: the chain has ended. No link has a code of 64 bits.
std::int64_t colour_at(const Chain& chain, std::size_t level) {
  return level < chain.size() ? static_cast<std::int64_t>(core::split::code_of(chain[level])) : -1;
}

// Numbers 0, 1, ... for different values, in the order in which they are met.
std::vector<std::int32_t> numbered(const std::vector<std::int64_t>& values) {
  std::map<std::int64_t, std::int32_t> known;
  std::vector<std::int32_t> numbers;
  numbers.reserve(values.size());
  for (const std::int64_t value : values) {
    numbers.push_back(known.emplace(value, static_cast<std::int32_t>(known.size())).first->second);
  }
  return numbers;
}

struct Levels {
  Hierarchy hierarchy;
  std::vector<std::string> names;  // of the given levels but the last
};

// One level for each link of the longest chain: ranks with the same beginnings come together, and so do those whose
// chains have ended. O(ranks x depth x log).
Levels levels_of(const std::vector<Chain>& chains) {
  const Chain& deepest = longest(chains);
  std::vector<std::vector<std::int32_t>> colours;
  std::vector<std::string> names;
  for (std::size_t level = 0; level < deepest.size(); ++level) {
    std::vector<std::int64_t> values;
    values.reserve(chains.size());
    for (const Chain& chain : chains) values.push_back(colour_at(chain, level));
    colours.push_back(numbered(values));
    names.push_back(core::split::type_name(deepest, level));
  }
  return {Hierarchy::from_colours(colours), std::move(names)};
}

constexpr const char* kNone = "the communicator cannot have what ranktree's collectives need";

// The communicator's errors come back as codes meanwhile: what fails here is not the program's fault.
class QuietErrors {
 public:
  explicit QuietErrors(MPI_Comm comm) : comm_(comm) {
    check(PMPI_Comm_get_errhandler(comm, &before_), "MPI_Comm_get_errhandler");
    check(PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  }
  ~QuietErrors() {
    if (before_ == MPI_ERRHANDLER_NULL) return;  // SMPI's default
    PMPI_Comm_set_errhandler(comm_, before_);
    PMPI_Errhandler_free(&before_);
  }
  QuietErrors(const QuietErrors&) = delete;
  QuietErrors& operator=(const QuietErrors&) = delete;
  QuietErrors(QuietErrors&&) = delete;
  QuietErrors& operator=(QuietErrors&&) = delete;

 private:
  MPI_Comm comm_;
  MPI_Errhandler before_ = MPI_ERRHANDLER_NULL;
};

// A row of the allgather: the node by MPI_COMM_TYPE_SHARED, the length of the chain, its links. Only as many links as
// the longest chain has are sent.
using Row = std::array<std::uint64_t, 1 + std::tuple_size_v<ChainRow>>;

// Where a chain cannot be had, the node alone.
Chain chain_or_node(Annotation& annotation, Context::Depth depth) {
  try {
    const SplitOptions options = annotation.options ? *annotation.options : SplitOptions{};
    return depth == Context::Depth::kNodes ? chain_to_node(options, annotation) : chain_here(options, annotation);
  } catch (const core::Error&) {
    return {{core::topo::Kind::kNode, node_of(annotation).id}};
  }
}

}  // namespace

struct Context::Locations {
  Annotation annotation;
  bool queried = false;             // the MPI: which ranks share a node
  std::vector<std::uint64_t> rows;  // no larger than reserved: no rank can fail alone
};

Context::Context(std::shared_ptr<Process> process) : process_(std::move(process)) {
  table_.context = this;
  if (process_->contexts.fetch_add(1, std::memory_order_relaxed) < kMost) return;
  process_->contexts.fetch_sub(1, std::memory_order_relaxed);
  throw AgreedError(MPI_ERR_UNSUPPORTED_OPERATION, kNone);
}

Context::~Context() { process_->contexts.fetch_sub(1, std::memory_order_relaxed); }

std::shared_ptr<Context> Context::find(MPI_Comm comm) {
  const CommunicatorState* const state = comm == MPI_COMM_NULL ? nullptr : find_state(comm);
  return state == nullptr ? nullptr : state->context;
}

std::shared_ptr<Context> Context::of(MPI_Comm comm, Depth depth) {
  CommunicatorState* state = find_state(comm);
  if (state != nullptr && state->context) return state->context;
  if (state != nullptr && state->refused) throw AgreedError(MPI_ERR_UNSUPPORTED_OPERATION, kNone);
  std::shared_ptr<Process> process;
  LocalSteps steps(comm);
  steps.run([&] {
    process = Process::here();
    state = &state_of(comm, thread_state());
  });
  // Served by the preload library, what ranks agree by here would make another context meanwhile.
  const Entered entered;
  agree_driving(comm, steps);
  std::shared_ptr<Context> made;
  Locations locations;
  Failure failure = share(comm, attempt([&] {
                            made.reset(new Context(process));
                            made->reserve(comm, locations);
                          }));
  if (failure.error_class == MPI_SUCCESS) {
    failure = attempt([&] {
      made->make_communicators(comm, locations);
      made->learn_locations(depth, locations);
    });
    failure = share(comm, failure);
  }
  state->refused = failure.error_class != MPI_SUCCESS;
  if (state->refused) throw AgreedError(failure);
  state->context = std::move(made);
  return state->context;
}

// Not a duplicate, which would copy the attributes that the program keeps with its communicators. On one node the
// node's communicator has all ranks, in their order.
void Context::make_communicators(MPI_Comm comm, Locations& locations) {
  const QuietErrors quiet(comm);
  node_comm_ = learn_node(comm, 0, locations.annotation);
  int node_ranks = 0;
  locations.queried = node_comm_.get() != MPI_COMM_NULL;
  if (locations.queried) check(PMPI_Comm_size(node_comm_.get(), &node_ranks), "MPI_Comm_size");
  if (node_ranks == size()) {
    comm_ = std::move(node_comm_);
  } else {
    Group group;
    check(PMPI_Comm_group(comm, group.receive()), "MPI_Comm_group");
    check(PMPI_Comm_create(comm, group.get(), comm_.receive()), "MPI_Comm_create");
  }
  check(PMPI_Comm_set_errhandler(comm_.get(), MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  constexpr int kTagsEverywhere = 32767;
  int* most = nullptr;
  int found = 0;
  check(PMPI_Comm_get_attr(comm_.get(), MPI_TAG_UB, static_cast<void*>(&most), &found), "MPI_Comm_get_attr");
  tags_ = static_cast<std::uint32_t>(found != 0 ? *most : kTagsEverywhere);
}

// Local: what needs memory, before any rank waits for another one.
void Context::reserve(MPI_Comm comm, Locations& locations) {
  check(PMPI_Comm_rank(comm, &table_.rank), "MPI_Comm_rank");
  check(PMPI_Comm_size(comm, &table_.size), "MPI_Comm_size");
  locations.annotation = get_annotation(comm);
  locations.rows.reserve(std::tuple_size_v<Row> * static_cast<std::size_t>(size()));
  programs_ = std::make_unique<Programs>();
  levels_ = std::make_unique<LevelCommunicators>();
  node_of_.resize(static_cast<std::size_t>(size()));
}

// Collective. All ranks throw or none, but for what the last step throws.
void Context::learn_locations(Depth depth, Locations& locations) {
  auto& [annotation, queried, rows] = locations;
  Row own{};
  LocalSteps steps(comm_.get());
  steps.run([&] {
    const ChainRow chain = packed(chain_or_node(annotation, depth));
    std::copy(chain.begin(), chain.end(), own.begin() + 1);
    own[0] = static_cast<std::uint64_t>(mpi::node_of(annotation).id);
  });
  std::array<int, 2> merged{steps.word(), static_cast<int>(own[1])};
  check(PMPI_Allreduce(MPI_IN_PLACE, merged.data(), merged.size(), MPI_INT, MPI_MAX, comm_.get()), "MPI_Allreduce");
  steps.require(merged[0]);
  const std::size_t width = 2 + static_cast<std::size_t>(merged[1]);
  rows.resize(width * static_cast<std::size_t>(size()));
  // NOLINTNEXTLINE(mpi-type-mismatch): the check does not know the types of fixed length
  check(PMPI_Allgather(own.data(), static_cast<int>(width), MPI_UINT64_T, rows.data(), static_cast<int>(width),
                       MPI_UINT64_T, comm_.get()),
        "MPI_Allgather");
  const auto read = [&] { read_locations(rows, width); };
  if (queried) {
    read();
  } else {
    attempt_together(comm_.get(), read);
    const std::int32_t node = node_of_[static_cast<std::size_t>(rank())];
    if (node_count_ > 1) check(PMPI_Comm_split(comm_.get(), node, rank(), node_comm_.receive()), "MPI_Comm_split");
  }
  check(PMPI_Comm_set_errhandler(node_comm(), MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
}

void Context::read_locations(std::span<const std::uint64_t> rows, std::size_t width) {
  std::vector<Chain> chains;
  std::vector<std::int64_t> nodes;
  for (; !rows.empty(); rows = rows.subspan(width)) {
    chains.push_back(unpacked(rows.subspan(1, width - 1)));
    nodes.push_back(static_cast<std::int64_t>(rows.front()));
  }
  node_of_ = numbered(nodes);
  node_count_ = 1 + *std::max_element(node_of_.begin(), node_of_.end());
  nodes_ = Hierarchy::from_colours(std::span(&node_of_, 1));
  Levels levels = levels_of(chains);
  machine_ = std::move(levels.hierarchy);
  level_names_ = std::move(levels.names);
}

const Hierarchy& Context::hierarchy(Rank groups) {
  if (groups == 0) return machine_;
  const std::lock_guard lock(mutex_);
  const auto known = groupings_.find(groups);
  if (known != groupings_.end()) return known->second;
  return groupings_.emplace(groups, Hierarchy::grouped(size(), groups)).first->second;
}

// SMPI's nonblocking barrier is a message between the root and each rank.
void Context::synchronise() {
  if (!kRanksShareProcess) return collect::synchronise(comm(), process_->in_flight);
  finish(*this, barrier(comm()), by_messages(core::schedule::Algorithm::kBinomial));
}

NodeTeam* Context::node_team() {
  if (!node_team_tried_) {
    synchronise();
    node_team_ = NodeTeam::make(*this);
    node_team_tried_ = true;
  }
  return node_team_.get();
}

Chooser& Context::chooser() {
  if (!chooser_) {
    synchronise();
    chooser_ = Chooser::make(*this);
  }
  return *chooser_;
}

// Where there is no memory to remember it by, it is lost.
void Context::keep(Memory memory) noexcept {
  if (!memory) return;
  try {
    const std::lock_guard lock(mutex_);
    kept_.reserve(kept_.size() + 1);
    kept_.push_back(std::move(memory));
  } catch (...) {
    [[maybe_unused]] const std::byte* lost = memory.release();
  }
}

int Context::next_tag() { return 1 + static_cast<int>(tag_.fetch_add(1, std::memory_order_relaxed) % tags_); }

}  // namespace ranktree::mpi::collect
