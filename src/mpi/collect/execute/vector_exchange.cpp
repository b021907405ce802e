#include "mpi/collect/execute/vector_exchange.h"

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "core/schedule/hierarchy.h"
#include "mpi/collect/context.h"
#include "mpi/collect/datatypes.h"
#include "mpi/collect/errors.h"
#include "mpi/collect/execute/posted.h"
#include "mpi/collect/execute/workspace.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/requests/in_flight.h"

namespace ranktree::mpi::collect {
namespace {

using Rank = std::int32_t;
using Side = Operation::Side;

// From here on blocks gain nothing from company. Less where what may come to one rank, or be forwarded by it, would
// take more memory than kMostMemory.
constexpr std::int64_t kMostTogether = 2048;
constexpr std::int64_t kMostMemory = 16777216;
// In place of a size: the block has a message of its own; the message that should have brought it has failed.
constexpr std::int32_t kDirect = -1;
constexpr std::int32_t kLost = -2;

// Sizes, then blocks: what travels in one message.
class Bundle {
 public:
  Bundle() = default;
  Bundle(std::byte* first, std::size_t entries) : sizes_(first), next_(first + entries * sizeof(std::int32_t)) {}
  [[nodiscard]] std::int32_t size(std::size_t entry) const {
    std::int32_t size = 0;
    std::memcpy(&size, sizes_ + entry * sizeof size, sizeof size);
    return size;
  }
  // Adds a block's size; where its bytes go, which are to be written before the next one is added.
  std::byte* add(std::size_t entry, std::int32_t size) {
    put(entry, size);
    return skip(size);
  }
  // What it holds where nothing is received.
  void lose_all(std::size_t entries) {
    for (std::size_t entry = 0; entry < entries; ++entry) put(entry, kLost);
  }
  // Of the next block of a bundle that has been received.
  std::byte* skip(std::int32_t size) { return std::exchange(next_, next_ + std::max(size, 0)); }
  [[nodiscard]] int bytes() const { return static_cast<int>(next_ - sizes_); }
  [[nodiscard]] std::byte* first() const { return sizes_; }

 private:
  void put(std::size_t entry, std::int32_t size) { std::memcpy(sizes_ + entry * sizeof size, &size, sizeof size); }

  std::byte* sizes_ = nullptr;
  std::byte* next_ = nullptr;
};

// Who forwards what: the nodes of Context::nodes(), each with its ranks, numbered in their order.
class Lanes {
 public:
  explicit Lanes(const Context& context) {
    const core::schedule::Hierarchy& nodes = context.nodes();
    std::size_t largest = 0;
    for (std::int32_t node = 0; node < nodes.children(0, 0); ++node) {
      std::vector<Rank> members(static_cast<std::size_t>(nodes.children(1, node)));
      std::ranges::generate(members,
                            [&, next = nodes.first_child(1, node)]() mutable { return nodes.rank_at(next++); });
      largest = std::max(largest, members.size());
      const auto own = std::ranges::find(members, context.rank());
      if (own == members.end()) {
        elsewhere_.push_back(std::move(members));
      } else {
        own_number_ = static_cast<std::size_t>(own - members.begin());
        here_ = std::move(members);
      }
    }
    most_blocks_ = context.size() + static_cast<std::int64_t>(largest) * nodes.children(0, 0);
    forwarded_.resize(here_.size());
    for (const std::vector<Rank>& node : elsewhere_) {
      for (std::size_t number = 0; number < node.size(); ++number) {
        forwarded_[number % here_.size()].push_back(node[number]);
      }
    }
  }

  [[nodiscard]] const std::vector<Rank>& here() const { return here_; }
  [[nodiscard]] std::size_t own_number() const { return own_number_; }
  // The other nodes, each by its ranks.
  [[nodiscard]] const std::vector<std::vector<Rank>>& elsewhere() const { return elsewhere_; }
  // The ranks elsewhere for which the rank with this number here forwards.
  [[nodiscard]] const std::vector<Rank>& forwarded(std::size_t number) const { return forwarded_[number]; }
  // At least as many blocks as any rank may get in bundles, or forward. Equal on all ranks.
  [[nodiscard]] std::int64_t most_blocks() const { return most_blocks_; }
  // The rank of another node that forwards to this one.
  [[nodiscard]] Rank forwarder(const std::vector<Rank>& node) const { return node[own_number_ % node.size()]; }

 private:
  std::vector<Rank> here_;
  std::size_t own_number_ = 0;
  std::vector<std::vector<Rank>> elsewhere_;
  std::vector<std::vector<Rank>> forwarded_;  // by the number of the forwarding rank
  std::int64_t most_blocks_ = 0;
};

// One side of the call.
class Blocks {
 public:
  explicit Blocks(const Side& side) : side_(side), layout_(layout_of(side.type)) {}
  [[nodiscard]] std::int64_t bytes(Rank rank) const { return count(rank) * layout_.size; }
  [[nodiscard]] int count(Rank rank) const { return side_.counts[static_cast<std::size_t>(rank)]; }
  // Where there is nothing to send or receive, a program may have no displacements.
  [[nodiscard]] std::byte* address(Rank rank) const {
    if (side_.displacements.empty()) return static_cast<std::byte*>(side_.buffer);
    return static_cast<std::byte*>(side_.buffer) +
           side_.displacements[static_cast<std::size_t>(rank)] * static_cast<std::int64_t>(layout_.extent);
  }
  [[nodiscard]] MPI_Datatype type() const { return side_.type; }
  void pack(Rank rank, std::byte* into) const { collect::pack(address(rank), count(rank), type(), layout_, into); }
  // As many bytes as whole elements have.
  void unpack(Rank rank, const std::byte* from, std::int64_t bytes) const {
    if (bytes > 0) collect::unpack(from, address(rank), bytes / layout_.size, type(), layout_);
  }

 private:
  Side side_;
  TypeLayout layout_;
};

class VectorExchange final : public Running {
 public:
  VectorExchange(const std::shared_ptr<Context>& context, const Operation& operation)
      : context_(context),
        tag_(context->next_tag()),
        direct_tag_(context->next_tag()),
        lanes_(*context),
        send_(operation.send),
        receive_(operation.receive),
        together_(std::min<std::int64_t>(kMostTogether, kMostMemory / lanes_.most_blocks())),
        work_(context->workspaces().take()) {
    work_->requests.clear();
    work_->owners.clear();
    take_memory();
  }
  ~VectorExchange() override {
    if (work_->requests.empty()) {
      context_->workspaces().give(std::move(work_));
      return;
    }
    abandon_posted(*work_, [](std::int32_t owner) { return owner != kSend; });
    context_->keep(std::move(work_->scratch));
  }
  VectorExchange(const VectorExchange&) = delete;
  VectorExchange& operator=(const VectorExchange&) = delete;
  VectorExchange(VectorExchange&&) = delete;
  VectorExchange& operator=(VectorExchange&&) = delete;

  // Once.
  void begin() {
    post_receives();
    post_direct_receives();
    send_bundles();
    send_directly();
  }

  bool progress() override {
    for (;;) {
      if (bundles_left_ == 0 && !std::exchange(has_forwarded_, true)) forward();
      if (has_forwarded_ && lanes_left_ == 0 && !std::exchange(has_placed_, true)) place();
      if (has_placed_ && work_->requests.empty()) break;
      if (!test_posted(*work_, context_->process().in_flight.may_wait(), errors_, [&](std::int32_t owner) {
            bundles_left_ -= owner == kBundle ? 1 : 0;
            lanes_left_ -= owner == kLane ? 1 : 0;
          })) {
        return false;
      }
    }
    errors_.check();
    return true;
  }

 private:
  // Owners of requests; that of a direct receive is the rank it comes from.
  static constexpr std::int32_t kBundle = -1;  // from a rank here
  static constexpr std::int32_t kLane = -2;    // from a rank that forwards to this one
  static constexpr std::int32_t kSend = -3;

  // Most bytes of a message with so many blocks.
  [[nodiscard]] std::size_t most_bytes(std::size_t blocks) const {
    return blocks * (static_cast<std::size_t>(together_) + sizeof(std::int32_t));
  }
  [[nodiscard]] bool is_direct(std::int64_t bytes) const { return bytes > together_; }
  [[nodiscard]] std::int32_t size_in_bundle(Rank rank) const {
    const std::int64_t bytes = send_.bytes(rank);
    return is_direct(bytes) ? kDirect : static_cast<std::int32_t>(bytes);
  }
  [[nodiscard]] const std::vector<Rank>& forwards() const { return lanes_.forwarded(lanes_.own_number()); }

  // From each rank here, to each, from each other node, to each rank for which this one forwards.
  void take_memory() {
    const std::size_t here = lanes_.here().size();
    std::size_t bytes = here * most_bytes(1 + forwards().size()) + forwards().size() * most_bytes(here);
    for (std::size_t number = 0; number < here; ++number) bytes += most_bytes(1 + lanes_.forwarded(number).size());
    for (const std::vector<Rank>& node : lanes_.elsewhere()) bytes += most_bytes(node.size());
    next_ = work_->scratch_of(bytes);
  }
  Bundle bundle_of(std::size_t blocks) { return {std::exchange(next_, next_ + most_bytes(blocks)), blocks}; }

  // What cannot be posted is noted: others wait for what this rank forwards.
  bool is_posted(int code, const char* call) {
    if (code == MPI_SUCCESS) return true;
    errors_.note(code, call);
    work_->requests.pop_back();
    work_->owners.pop_back();
    return false;
  }
  // Whether it will end.
  bool receive_bundle(Bundle& bundle, std::size_t blocks, Rank from, std::int32_t owner) {
    bundle.lose_all(blocks);
    return is_posted(PMPI_Irecv(bundle.first(), static_cast<int>(most_bytes(blocks)), MPI_BYTE, from, tag_,
                                context_->comm(), post_for(*work_, owner)),
                     "MPI_Irecv");
  }
  void send_bundle(const Bundle& bundle, Rank to) {
    is_posted(PMPI_Isend(bundle.first(), bundle.bytes(), MPI_BYTE, to, tag_, context_->comm(), post_for(*work_, kSend)),
              "MPI_Isend");
  }

  void post_receives() {
    for (const Rank rank : lanes_.here()) {
      from_here_.push_back(bundle_of(1 + forwards().size()));
      if (rank == context_->rank()) continue;
      bundles_left_ += receive_bundle(from_here_.back(), 1 + forwards().size(), rank, kBundle) ? 1 : 0;
    }
    for (const std::vector<Rank>& node : lanes_.elsewhere()) {
      from_elsewhere_.push_back(bundle_of(node.size()));
      lanes_left_ += receive_bundle(from_elsewhere_.back(), node.size(), lanes_.forwarder(node), kLane) ? 1 : 0;
    }
  }

  // Of blocks that are expected to come so. A rank's own block does.
  void post_direct_receives() {
    for (Rank rank = 0; rank < context_->size(); ++rank) {
      if (rank == context_->rank() || is_direct(receive_.bytes(rank))) receive_directly(rank);
    }
  }
  void receive_directly(Rank from) {
    is_posted(PMPI_Irecv(receive_.address(from), receive_.count(from), receive_.type(), from, direct_tag_,
                         context_->comm(), post_for(*work_, from)),
              "MPI_Irecv");
  }

  // To each other rank here: its own block, then those that it forwards.
  void send_bundles() {
    for (std::size_t number = 0; number < lanes_.here().size(); ++number) {
      if (number == lanes_.own_number()) continue;
      const std::vector<Rank>& forwarded = lanes_.forwarded(number);
      Bundle bundle = bundle_of(1 + forwarded.size());
      add_own(bundle, 0, lanes_.here()[number]);
      for (std::size_t i = 0; i < forwarded.size(); ++i) add_own(bundle, 1 + i, forwarded[i]);
      send_bundle(bundle, lanes_.here()[number]);
    }
  }
  void add_own(Bundle& bundle, std::size_t entry, Rank to) {
    const std::int32_t size = size_in_bundle(to);
    std::byte* const into = bundle.add(entry, size);
    if (size > 0) send_.pack(to, into);
  }

  void send_directly() {
    for (Rank rank = 0; rank < context_->size(); ++rank) {
      if (rank != context_->rank() && !is_direct(send_.bytes(rank))) continue;
      is_posted(PMPI_Isend(send_.address(rank), send_.count(rank), send_.type(), rank, direct_tag_, context_->comm(),
                           post_for(*work_, kSend)),
                "MPI_Isend");
    }
  }

  // All ranks here have sent: to each rank that this one forwards to, the blocks of all of them, in their order.
  void forward() {
    for (std::size_t number = 0; number < from_here_.size(); ++number) {
      if (number != lanes_.own_number()) take(from_here_[number], 0, lanes_.here()[number]);
    }
    for (std::size_t i = 0; i < forwards().size(); ++i) {
      Bundle bundle = bundle_of(from_here_.size());
      for (std::size_t number = 0; number < from_here_.size(); ++number) {
        if (number == lanes_.own_number()) {
          add_own(bundle, number, forwards()[i]);
          continue;
        }
        const std::int32_t size = size_of(from_here_[number], 1 + i);
        const std::byte* const from = from_here_[number].skip(size);
        std::byte* const into = bundle.add(number, size);
        if (size > 0) std::memcpy(into, from, static_cast<std::size_t>(size));
      }
      send_bundle(bundle, forwards()[i]);
    }
  }

  void place() {
    const std::vector<std::vector<Rank>>& nodes = lanes_.elsewhere();
    for (std::size_t node = 0; node < nodes.size(); ++node) {
      for (std::size_t number = 0; number < nodes[node].size(); ++number) {
        take(from_elsewhere_[node], number, nodes[node][number]);
      }
    }
  }

  // Whatever a message that failed has left there.
  [[nodiscard]] std::int32_t size_of(const Bundle& bundle, std::size_t entry) const {
    const std::int32_t size = bundle.size(entry);
    return size < kDirect || is_direct(size) ? kLost : size;
  }

  // The block of a bundle that has come from `rank`. The sender decides whether it comes here: where its size differs
  // from the one expected, as MPI does not allow, what was expected is undone, and what does not fit is an error.
  void take(Bundle& bundle, std::size_t entry, Rank rank) {
    const std::int32_t size = size_of(bundle, entry);
    const std::int64_t expected = receive_.bytes(rank);
    const std::byte* const from = bundle.skip(size);
    if (size == kDirect) {
      if (!is_direct(expected)) receive_directly(rank);
      return;
    }
    if (is_direct(expected)) cancel_direct(rank);
    if (size == kLost) errors_.note(MPI_ERR_OTHER, "a message with a block for this rank");
    if (size > expected) errors_.note(MPI_ERR_TRUNCATE, "a block that is longer than the space for it");
    receive_.unpack(rank, from, std::min<std::int64_t>(size, expected));
  }
  void cancel_direct(Rank from) {
    for (std::size_t i = 0; i < work_->requests.size(); ++i) {
      if (work_->owners[i] == from) PMPI_Cancel(&work_->requests[i]);
    }
  }

  std::shared_ptr<Context> context_;
  int tag_;
  int direct_tag_;
  Lanes lanes_;
  Blocks send_;
  Blocks receive_;
  std::int64_t together_;  // longer blocks are sent directly; equal on all ranks
  std::unique_ptr<Workspace> work_;
  std::byte* next_ = nullptr;           // of the memory for bundles
  std::vector<Bundle> from_here_;       // by number; the own one is not used
  std::vector<Bundle> from_elsewhere_;  // by node
  std::size_t bundles_left_ = 0;
  std::size_t lanes_left_ = 0;
  bool has_forwarded_ = false;
  bool has_placed_ = false;
  FirstError errors_;
};

}  // namespace

bool has_lanes(const Context& context) { return context.node_count() > 1 && context.node_count() < context.size(); }

std::unique_ptr<Running> start_vector_exchange(const std::shared_ptr<Context>& context, const Operation& operation) {
  auto running = std::make_unique<VectorExchange>(context, operation);
  running->begin();
  running->progress();
  return running;
}

}  // namespace ranktree::mpi::collect
