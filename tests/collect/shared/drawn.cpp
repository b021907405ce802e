#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "core/schedule/makers.h"
#include "drawn.h"
#include "mpi/collect/operation.h"

using ranktree::core::schedule::Collective;

namespace {

constexpr std::size_t kGuard = 64;

struct Extent {
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  MPI_Aint first = 0;
  MPI_Aint span = 0;
};

Extent extent_of(MPI_Datatype type) {
  Extent e;
  MPI_Type_get_extent(type, &e.lower, &e.extent);
  MPI_Type_get_true_extent(type, &e.first, &e.span);
  return e;
}

// Maps x -> a x + b, two ints wherever the type has them; in(x) first.
void compose(void* in, void* inout, int* count, MPI_Datatype* type) {
  const Extent e = extent_of(*type);
  for (int i = 0; i < *count; ++i) {
    std::array<std::uint32_t, 2> left{};
    std::array<std::uint32_t, 2> right{};
    std::memcpy(left.data(), static_cast<std::byte*>(in) + i * e.extent + e.first, sizeof(left));
    std::memcpy(right.data(), static_cast<std::byte*>(inout) + i * e.extent + e.first, sizeof(right));
    right = {right[0] * left[0], right[0] * left[1] + right[1]};
    std::memcpy(static_cast<std::byte*>(inout) + i * e.extent + e.first, right.data(), sizeof(right));
  }
}

MPI_Datatype committed(MPI_Datatype type) {
  MPI_Type_commit(&type);
  return type;
}

}  // namespace

void Kinds::add_made(MPI_Datatype type, std::vector<MPI_Op> operations, int ints) {
  made_.push_back(type);
  kinds_.push_back({type, std::move(operations), ints});
}

Kinds::Kinds() {
  MPI_Op_create(compose, 0, &compose_);
  kinds_.push_back({MPI_INT, {MPI_SUM, MPI_MAX, MPI_BXOR}, 0});
  kinds_.push_back({MPI_UNSIGNED_SHORT, {MPI_MIN, MPI_BOR, MPI_SUM}, 0});
  kinds_.push_back({MPI_2INT, {MPI_MINLOC, MPI_MAXLOC}, 0});
  kinds_.push_back({MPI_DOUBLE_INT, {MPI_MAXLOC}, 0});
  MPI_Datatype two = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_INT, &two);
  add_made(committed(two), {compose_}, 2);
  MPI_Datatype wide = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(two, 0, 12, &wide);
  add_made(committed(wide), {compose_}, 2);
  // The data begins behind the address, and there is a gap behind it as well.
  MPI_Datatype inside = MPI_DATATYPE_NULL;
  MPI_Datatype shifted = MPI_DATATYPE_NULL;
  const int behind = 1;
  MPI_Type_create_indexed_block(1, 2, &behind, MPI_INT, &inside);
  MPI_Type_create_resized(inside, 0, 16, &shifted);
  MPI_Type_free(&inside);
  add_made(committed(shifted), {compose_}, 2);
  // For moving only.
  MPI_Datatype column = MPI_DATATYPE_NULL;
  MPI_Type_vector(3, 1, 2, MPI_INT, &column);
  add_made(committed(column), {}, 3);
  MPI_Datatype turned = MPI_DATATYPE_NULL;
  const std::array<int, 3> places = {2, 0, 1};
  MPI_Type_create_indexed_block(3, 1, places.data(), MPI_INT, &turned);
  add_made(committed(turned), {}, 3);
}

Kinds::~Kinds() {
  for (MPI_Datatype& type : made_) MPI_Type_free(&type);
  MPI_Op_free(&compose_);
}

Guarded::Guarded(std::int64_t elements, MPI_Datatype type, unsigned seed) : origin_(kGuard) {
  const Extent e = extent_of(type);
  before_.resize(2 * kGuard + static_cast<std::size_t>(elements * e.extent + e.span + e.extent));
  Random random(seed);
  std::size_t i = 0;
  // Small numbers: floating point is exact in any order.
  for (std::byte& one : before_) one = static_cast<std::byte>(++i % 4 == 1 ? random() % 251 : 0);
  ours_ = before_;
  natives_ = before_;
}

bool Guarded::as_expected(const std::vector<std::pair<std::int64_t, std::int64_t>>& written, MPI_Datatype type) const {
  std::vector<std::byte> expected = before_;
  int size = 0;
  MPI_Type_size(type, &size);
  const Extent e = extent_of(type);
  for (const auto& [first, count] : written) {
    std::vector<std::byte> packed(static_cast<std::size_t>(count * size) + 1);
    const int bytes = static_cast<int>(count) * size;
    int position = 0;
    MPI_Pack(natives_.data() + origin_ + first * e.extent, static_cast<int>(count), type, packed.data(), bytes,
             &position, MPI_COMM_SELF);
    position = 0;
    MPI_Unpack(packed.data(), bytes, &position, expected.data() + origin_ + first * e.extent, static_cast<int>(count),
               type, MPI_COMM_SELF);
  }
  return expected == ours_;
}

Drawn::Drawn(Random& random, const Kinds& kinds, MPI_Comm comm, std::int64_t most_bytes) {
  MPI_Comm_rank(comm, &rank_);
  MPI_Comm_size(comm, &size_);
  operation_.comm = comm;
  const unsigned drawn = random() % 8;
  operation_.collective = static_cast<Collective>(drawn);
  const bool combines = reduces(operation_.collective);
  std::size_t kind = random() % kinds.all().size();
  while (combines && kinds.all()[kind].operations.empty()) kind = random() % kinds.all().size();
  const Kinds::Kind& of = kinds.all()[kind];
  operation_.send.type = operation_.receive.type = of.type;
  if (combines) operation_.op = of.operations[random() % of.operations.size()];
  operation_.root = static_cast<int>(random() % static_cast<unsigned>(size_));
  in_place_ = random() % 3 == 0;
  operation_.vector = random() % 3 == 0 && (operation_.collective == Collective::kAllgather ||
                                            operation_.collective == Collective::kReduceScatter);
  draw_sizes(random, most_bytes);
  make_sides(of, random());
}

void Drawn::draw_sizes(Random& random, std::int64_t most_bytes) {
  const auto most = static_cast<unsigned>(most_bytes / extent_of(operation_.send.type).extent + 1);
  const bool blocks = operation_.collective >= Collective::kGather;
  const std::array<unsigned, 5> limits = {2, 20, 600, most / 8, most};
  const unsigned limit = std::max(limits[random() % limits.size()] / static_cast<unsigned>(blocks ? size_ : 1), 2U);
  count_ = static_cast<int>(random() % limit);
  int end = 0;
  for (int rank = 0; operation_.vector && rank < size_; ++rank) {
    counts_.push_back(static_cast<int>(random() % limit));
    if (operation_.collective == Collective::kAllgather) end += static_cast<int>(random() % 2);
    displacements_.push_back(end);
    end += counts_.back();
  }
  if (operation_.vector) count_ = counts_[static_cast<std::size_t>(rank_)];
}

std::int64_t Drawn::all_elements() const {
  if (!operation_.vector) return std::int64_t{count_} * size_;
  return displacements_.back() + counts_.back();
}

void Drawn::make_sides(const Kinds::Kind& kind, unsigned seed) {
  const unsigned own = seed + static_cast<unsigned>(rank_) * 77;
  operation_.send.count = operation_.receive.count = count_;
  if (operation_.collective == Collective::kBroadcast && kind.ints != 0 && rank_ % 2 == 1) {
    operation_.receive.type = MPI_INT;
    operation_.receive.count = std::int64_t{count_} * kind.ints;
  }
  if (operation_.collective == Collective::kBroadcast) {
    receive_ = Guarded(operation_.receive.count, operation_.receive.type, own);
  } else if (reduces(operation_.collective)) {
    make_reduction_sides(own);
  } else if (operation_.collective != Collective::kBarrier) {
    make_block_sides(own);
  }
  operation_.receive.buffer = receive_.ours();
  operation_.send.buffer = send_.ours();
  if (!is_in_place()) return;
  (operation_.collective == Collective::kScatter ? operation_.receive : operation_.send).buffer = MPI_IN_PLACE;
}

void Drawn::make_reduction_sides(unsigned seed) {
  const bool scatters = operation_.collective == Collective::kReduceScatter;
  const std::int64_t elements = scatters ? all_elements() : count_;
  send_ = Guarded(elements, operation_.send.type, seed);
  receive_ = Guarded(elements, operation_.send.type, seed + 1);
  if (operation_.vector) operation_.receive.counts = counts_;
}

void Drawn::make_block_sides(unsigned seed) {
  const bool scatters = operation_.collective == Collective::kScatter;
  send_ = Guarded(scatters ? all_elements() : count_, operation_.send.type, seed);
  receive_ = Guarded(scatters ? count_ : all_elements(), operation_.send.type, seed + 1);
  if (!operation_.vector) return;
  operation_.receive.counts = counts_;
  operation_.receive.displacements = displacements_;
}

bool Drawn::is_in_place() const {
  switch (operation_.collective) {
    case Collective::kBarrier:
    case Collective::kBroadcast:
      return false;
    case Collective::kReduce:
    case Collective::kGather:
    case Collective::kScatter:
      return in_place_ && is_root();
    default:
      return in_place_;
  }
}

void Drawn::call_native() {
  const auto& o = operation_;
  const void* const send = o.send.buffer == MPI_IN_PLACE ? MPI_IN_PLACE : send_.natives();
  void* const receive = o.receive.buffer == MPI_IN_PLACE ? MPI_IN_PLACE : receive_.natives();
  switch (o.collective) {
    case Collective::kBarrier:
      MPI_Barrier(o.comm);
      return;
    case Collective::kBroadcast:
      MPI_Bcast(receive, static_cast<int>(o.receive.count), o.receive.type, o.root, o.comm);
      return;
    case Collective::kReduce:
      // Not in place: MPICH 4.0.2 dies of it at roots other than 0.
      MPI_Reduce(send == MPI_IN_PLACE ? receive_.before() : send, receive, count_, o.receive.type, o.op, o.root,
                 o.comm);
      return;
    case Collective::kAllreduce:
      MPI_Allreduce(send, receive, count_, o.receive.type, o.op, o.comm);
      return;
    default:
      call_native_blocks(send, receive);
  }
}

void Drawn::call_native_blocks(const void* send, void* receive) {
  const auto& o = operation_;
  const MPI_Datatype type = o.send.type;
  if (o.collective == Collective::kGather) {
    MPI_Gather(send, count_, type, receive, count_, type, o.root, o.comm);
  } else if (o.collective == Collective::kScatter) {
    MPI_Scatter(send, count_, type, receive, count_, type, o.root, o.comm);
  } else if (o.collective == Collective::kAllgather && o.vector) {
    MPI_Allgatherv(send, count_, type, receive, counts_.data(), displacements_.data(), type, o.comm);
  } else if (o.collective == Collective::kAllgather) {
    MPI_Allgather(send, count_, type, receive, count_, type, o.comm);
  } else {
    call_native_reduction(send == MPI_IN_PLACE ? receive_.before() : send);
  }
}

// This rank's block of a reduction for all. MPICH 4.0.2 dies of reduce-scatters whose operation does not commute and
// whose type's data begins behind its address.
void Drawn::call_native_reduction(const void* operand) {
  const MPI_Datatype type = operation_.send.type;
  const auto elements = static_cast<int>(all_elements());
  Guarded whole(elements, type, 0);
  MPI_Allreduce(operand, whole.natives(), elements, type, operation_.op, operation_.comm);
  const auto me = static_cast<std::size_t>(rank_);
  const std::int64_t first = operation_.vector ? displacements_[me] : std::int64_t{rank_} * count_;
  const MPI_Aint extent = extent_of(type).extent;
  std::memcpy(receive_.natives(), static_cast<const std::byte*>(whole.natives()) + first * extent,
              static_cast<std::size_t>(count_ * extent));
}

// In elements of the receive side.
std::vector<std::pair<std::int64_t, std::int64_t>> Drawn::written() const {
  const auto& o = operation_;
  const bool rooted = o.collective == Collective::kReduce || o.collective == Collective::kGather;
  if (o.collective == Collective::kBarrier || (rooted && !is_root())) return {};
  if (o.receive.buffer == MPI_IN_PLACE) return {};
  if (o.collective == Collective::kGather) return {{0, all_elements()}};
  if (o.collective != Collective::kAllgather) return {{0, o.receive.count}};
  if (!o.vector) return {{0, all_elements()}};
  std::vector<std::pair<std::int64_t, std::int64_t>> blocks;
  for (std::size_t i = 0; i < counts_.size(); ++i) blocks.emplace_back(displacements_[i], counts_[i]);
  return blocks;
}

bool Drawn::agrees() {
  call_native();
  return send_.as_expected({}, operation_.send.type) && receive_.as_expected(written(), operation_.receive.type);
}

std::string Drawn::text() const {
  std::ostringstream text;
  text << collective_name(operation_.collective) << (operation_.vector ? " vector" : "") << " root " << operation_.root
       << " count " << count_ << (in_place_ ? " in place" : "");
  return text.str();
}
