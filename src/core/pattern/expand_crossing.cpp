// Facts from ompi/mca/coll/inter and coll/basic of Open MPI v4.1.x and src/mpi/coll of MPICH 4.0: data crosses between
// the first ranks of both groups, except where every rank sends across directly.
#include "core/pattern/expand_crossing.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base/error.h"
#include "core/pattern/expand.h"
#include "core/pattern/expand_call.h"
#include "core/pattern/expand_local.h"
#include "core/pattern/expand_trees.h"
#include "core/pattern/pattern.h"

namespace ranktree::core::pattern::expansion {
namespace {

class Crossing {
 public:
  Crossing(CollectiveModel model, const CollectiveCalls& record, const Communicator& communicator, Collector& collector)
      : model_(model),
        operation_(record.operation),
        root_(record.root),
        own_(static_cast<Rank>(communicator.members.size())),
        other_(static_cast<Rank>(communicator.remote.size())),
        mean_(record, callers_of(record, communicator)),
        weight_(record.operation == Operation::kBarrier ? Weight{mean_.weight.calls, mean_.weight.calls}
                                                        : mean_.weight),
        within_own_(collector, communicator.members, communicator.members, weight_),
        within_other_(collector, communicator.remote, communicator.remote, weight_),
        out_(collector, communicator.members, communicator.remote, weight_),
        in_(collector, communicator.remote, communicator.members, weight_) {
    if (root_ >= own_) {
      throw Error(Fault::kInput, "pattern: expected a root in 0.." + std::to_string(own_ - 1) + " of an " +
                                     "intercommunicator's first group, found " + std::to_string(root_));
    }
  }

  void expand() const {
    if (mean_.bytes == 0 && operation_ != Operation::kBarrier) return;
    if (model_ == CollectiveModel::kFlat) return flat();
    root_ >= 0 ? with_root() : without_root();
  }

 private:
  void flat() const {
    const bool shared = operation_ == Operation::kReduceScatter || operation_ == Operation::kReduceScatterBlock;
    const std::int64_t bytes = operation_ == Operation::kBarrier ? 0 : mean_.bytes / (shared ? other_ : 1);
    if (root_ < 0) {
      for (Rank to = 0; to < other_; ++to) all_to(to, bytes);
    } else {
      root_with_all();
    }
  }

  void with_root() const {
    const bool spreads = operation_ == Operation::kBcast || operation_ == Operation::kScatter;
    const bool blocks = operation_ == Operation::kGather || operation_ == Operation::kScatter;
    const std::int64_t crossing = blocks ? whole(mean_.bytes, other_) : mean_.bytes;
    // MPICH's switch, meant as 2048 bytes, counts elements (measured).
    const bool is_long = crossing / likely_element(mean_.bytes) >= 2048;
    if (blocks && is_long && model_ == CollectiveModel::kMpich) return root_with_all();
    if (spreads) {
      out_.add(root_, 0, static_cast<double>(crossing));
    } else {
      in_.add(0, root_, static_cast<double>(crossing));
    }
    in_other(operation_, mean_.bytes);
  }

  void without_root() const {
    switch (operation_) {
      case Operation::kAlltoall:
        for (Rank to = 0; to < other_; ++to) all_to(to, mean_.bytes);
        return;
      case Operation::kAllgather:
        in_own(Operation::kGather, mean_.bytes);
        return first_to_first(whole(mean_.bytes, own_), Operation::kBcast, whole(mean_.bytes, own_));
      case Operation::kAllgatherv:
        return allgatherv();
      case Operation::kReduceScatter:
      case Operation::kReduceScatterBlock:
        return reduce_scatter();
      case Operation::kBarrier:
        return barrier();
      default:
        in_own(Operation::kReduce, mean_.bytes);
        return first_to_first(mean_.bytes, Operation::kBcast, mean_.bytes);
    }
  }

  // Open MPI gathers the counts (4 bytes) and then the blocks before they cross; MPICH sends the blocks across to be
  // gathered.
  void allgatherv() const {
    const std::int64_t all = whole(mean_.bytes, own_);
    if (model_ == CollectiveModel::kMpich) {
      all_to(0, mean_.bytes);
      return in_other(Operation::kBcast, all);
    }
    in_own(Operation::kGather, 4);
    gather_linear({.ranks = own_, .root = 0, .bytes = mean_.bytes, .element = 1}, within_own_);
    first_to_first(all, Operation::kBcast, all);
  }

  // In Open MPI the first rank itself receives every vector of the other group.
  void reduce_scatter() const {
    if (model_ == CollectiveModel::kMpich) {
      in_own(Operation::kReduce, mean_.bytes);
      out_.add(0, 0, static_cast<double>(mean_.bytes));
    } else {
      all_to(0, mean_.bytes);
    }
    if (operation_ == Operation::kReduceScatterBlock) return in_other(Operation::kScatter, mean_.bytes / other_);
    const Blocks blocks(mean_.bytes, likely_element(mean_.bytes), other_);
    for (Rank rank = 1; rank < other_; ++rank) within_other_.add(0, rank, blocks.size(rank));
  }

  // Open MPI crosses with an allreduce of one int; in MPICH one byte releases a group.
  void barrier() const {
    const bool open_mpi = model_ == CollectiveModel::kOpenMpi;
    in_own(open_mpi ? Operation::kReduce : Operation::kBarrier, open_mpi ? 4 : 0);
    first_to_first(open_mpi ? 4 : 1, Operation::kBcast, open_mpi ? 4 : 1);
  }

  void first_to_first(std::int64_t crossing, Operation then, std::int64_t bytes) const {
    out_.add(0, 0, static_cast<double>(crossing));
    in_other(then, bytes);
  }

  void all_to(Rank to, std::int64_t bytes) const {
    for (Rank from = 0; from < own_; ++from) out_.add(from, to, static_cast<double>(bytes));
  }

  void root_with_all() const {
    const bool inward = operation_ == Operation::kReduce || operation_ == Operation::kGather;
    for (Rank rank = 0; rank < other_; ++rank) {
      inward ? in_.add(rank, root_, static_cast<double>(mean_.bytes))
             : out_.add(root_, rank, static_cast<double>(mean_.bytes));
    }
  }

  void in_own(Operation operation, std::int64_t bytes) const {
    expand_local(model_, operation, {.ranks = own_, .root = 0, .bytes = bytes, .element = likely_element(bytes)},
                 within_own_);
  }
  void in_other(Operation operation, std::int64_t bytes) const {
    expand_local(model_, operation, {.ranks = other_, .root = 0, .bytes = bytes, .element = likely_element(bytes)},
                 within_other_);
  }

  CollectiveModel model_;
  Operation operation_;
  Rank root_;
  Rank own_;
  Rank other_;
  MeanCall mean_;
  Weight weight_;
  Sends within_own_;
  Sends within_other_;
  Sends out_;
  Sends in_;
};

}  // namespace

Rank callers_of(const CollectiveCalls& record, const Communicator& communicator) {
  const std::size_t remote = communicator.remote.size();
  return static_cast<Rank>(remote > 0 && record.root >= 0 ? remote + 1 : communicator.members.size());
}

void expand_crossing(CollectiveModel model, const CollectiveCalls& record, const Communicator& communicator,
                     Collector& collector) {
  Crossing(model, record, communicator, collector).expand();
}

}  // namespace ranktree::core::pattern::expansion
