#include "mpi/collect/context.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
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
#include "mpi/collect/device_buffers.h"
#include "mpi/collect/execute/levels.h"
#include "mpi/collect/execute/programs.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/places.h"
#include "mpi/collect/process.h"
#include "mpi/collect/requests/in_flight.h"
#include "mpi/collect/select/chooser.h"
#include "mpi/collect/select/log.h"
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

constexpr const char* kDevice =
    "calls stay native: the program uses a GPU, in whose memory buffers may be (RANKTREE_COLL_HOST_BUFFERS=1: none is)";
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

// What each rank sends: the node by MPI_COMM_TYPE_SHARED, the length of the chain, its links. Only as many links as
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
  std::vector<std::uint64_t> rows;  // as for the longest chains: no rank can fail alone
  std::shared_ptr<Places> places;   // filled by the first to know all rows
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
                            if (!process->environment.host_buffers && may_have_device_buffers()) {
                              throw AgreedError(MPI_ERR_UNSUPPORTED_OPERATION, kDevice);
                            }
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
  if (state->refused) {
    [[maybe_unused]] const Failure lost = attempt([&] {
      const Log log(process->environment.log, state->rank);
      if (log.wanted()) log.line(std::string(failure.text.view()));
    });
    throw AgreedError(failure);
  }
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
  if (!kRanksShareProcess || rank() == 0) {
    locations.rows.resize(std::tuple_size_v<Row> * static_cast<std::size_t>(size()));
    locations.places = std::make_shared<Places>();
  }
  programs_ = std::make_unique<Programs>();
  levels_ = std::make_unique<LevelCommunicators>();
}

// Collective. All ranks throw or none, but for what the last step throws. Ranks that share a process keep one object,
// that of rank 0, which waits for them here: 16,384 ranks with a copy each had too little memory.
void Context::learn_locations(Depth depth, Locations& own) {
  Row row{};
  LocalSteps steps(comm_.get());
  steps.run([&] {
    const ChainRow chain = packed(chain_or_node(own.annotation, depth));
    std::copy(chain.begin(), chain.end(), row.begin() + 1);
    row[0] = static_cast<std::uint64_t>(mpi::node_of(own.annotation).id);
  });
  const std::uint64_t address = kRanksShareProcess && rank() == 0 ? std::bit_cast<std::uintptr_t>(&own) : 0;
  std::array<std::uint64_t, 3> merged{static_cast<std::uint64_t>(steps.word()), row[1], address};
  // NOLINTBEGIN(mpi-type-mismatch): the check does not know the types of fixed length
  check(PMPI_Allreduce(MPI_IN_PLACE, merged.data(), merged.size(), MPI_UINT64_T, MPI_MAX, comm_.get()),
        "MPI_Allreduce");
  steps.require(static_cast<int>(merged[0]));
  Locations& kept = kRanksShareProcess ? *std::bit_cast<Locations*>(static_cast<std::uintptr_t>(merged[2])) : own;
  places_ = kept.places;
  const std::size_t width = 2 + static_cast<std::size_t>(merged[1]);
  const auto rows = std::span(kept.rows).first(width * static_cast<std::size_t>(size()));
  check(PMPI_Gather(row.data(), static_cast<int>(width), MPI_UINT64_T, rows.data(), static_cast<int>(width),
                    MPI_UINT64_T, 0, comm_.get()),
        "MPI_Gather");
  check(PMPI_Bcast(rows.data(), static_cast<int>(rows.size()), MPI_UINT64_T, 0, comm_.get()), "MPI_Bcast");
  // NOLINTEND(mpi-type-mismatch)
  const auto read = [&] {
    if (places_->node_of.empty()) *places_ = places_of(rows, width);
  };
  if (own.queried) {
    read();
  } else {
    attempt_together(comm_.get(), read);
    const std::int32_t node = node_of()[static_cast<std::size_t>(rank())];
    if (node_count() > 1) check(PMPI_Comm_split(comm_.get(), node, rank(), node_comm_.receive()), "MPI_Comm_split");
  }
  check(PMPI_Comm_set_errhandler(node_comm(), MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
}

const Hierarchy& Context::hierarchy(Rank groups) {
  if (groups == 0) return machine();
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
