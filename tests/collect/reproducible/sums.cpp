// Reductions whose result depends on the order in which they combine, compared bit by bit with what the tree of
// core/schedule/tree_order.h gives, which is computed here from its words. Rank 0 prints a digest of all results, to be
// the same wherever ranks sit and whichever MPI this is.
//
//   sums flag          ranktree_Comm_set_reproducible is called
//   sums environment   RANKTREE_REPRODUCIBLE is set
//   sums unmodified    MPI's blocking calls, for the preload library to serve
//   sums nothing       how many elements differ from the tree is printed in place of the digest
//
// A second word is how often all of it is done: `auto` tries other variants after some calls.
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "core/schedule/makers.h"
#include "mpi/check.h"
#include "mpi/collect/call.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/process.h"
#include "mpi/collect/select/reproducible.h"
#include "mpi/collect/variant.h"
#include "mpi/handle.h"

namespace {

namespace mpi = ranktree::mpi;
namespace collect = ranktree::mpi::collect;
using ranktree::core::schedule::Collective;

constexpr int kCounts[] = {1, 7, 513, 4099};

// Of both signs and of sizes that differ by powers of two, so that every order rounds otherwise.
template <typename Number>
Number operand(int rank, int i) {
  std::uint64_t state = 0x9E3779B97F4A7C15U * static_cast<std::uint64_t>(1 + rank * 65537 + i);
  state = (state ^ (state >> 31U)) * 0xBF58476D1CE4E5B9U;
  state ^= state >> 29U;
  const auto fraction = static_cast<Number>(state % 1000003U) / static_cast<Number>(1000003);
  const auto scale = static_cast<Number>(1U << ((state >> 40U) % 20U));
  return ((state >> 62U) % 2U != 0 ? -fraction : fraction) * scale;
}

// Neighbours beyond a power of two first, then pairs with pairs.
template <typename Number>
Number by_tree(std::vector<Number> values) {
  std::size_t power = 1;
  while (2 * power <= values.size()) power *= 2;
  const std::size_t pairs = values.size() - power;
  std::vector<Number> left;
  left.reserve(power);
  for (std::size_t i = 0; i < pairs; ++i) left.push_back(values[2 * i] + values[2 * i + 1]);
  left.insert(left.end(), values.begin() + static_cast<std::ptrdiff_t>(2 * pairs), values.end());
  for (; left.size() > 1;) {
    std::vector<Number> half;
    half.reserve(left.size() / 2);
    for (std::size_t i = 0; i < left.size(); i += 2) half.push_back(left[i] + left[i + 1]);
    left = std::move(half);
  }
  return left[0];
}

template <typename Number>
std::uint64_t bits_of(Number number) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &number, sizeof number);
  return bits;
}

class Sums {
 public:
  // With MPI's own calls, or ours.
  explicit Sums(bool unmodified) : unmodified_(unmodified) {
    mpi::check(MPI_Comm_rank(MPI_COMM_WORLD, &rank_), "MPI_Comm_rank");
    mpi::check(MPI_Comm_size(MPI_COMM_WORLD, &size_), "MPI_Comm_size");
  }

  template <typename Number>
  void all(MPI_Datatype type) {
    for (const int count : kCounts) {
      for (const Collective collective : {Collective::kReduce, Collective::kAllreduce, Collective::kReduceScatter}) {
        one<Number>(type, collective, count, true);
        if (!unmodified_) one<Number>(type, collective, count, false);
      }
    }
    one_element<Number>(type);
    if (!unmodified_) nothing_in_between<Number>(type);
  }

  [[nodiscard]] long others() const { return others_; }
  [[nodiscard]] std::uint64_t digest() const { return digest_; }

 private:
  template <typename Number>
  void one(MPI_Datatype type, Collective collective, int count, bool blocking) {
    const bool blocks = collective == Collective::kReduceScatter;
    const int length = blocks ? count * size_ : count;
    const int root = size_ / 2;
    std::vector<Number> input;
    input.reserve(static_cast<std::size_t>(length));
    for (int i = 0; i < length; ++i) input.push_back(operand<Number>(rank_, i));
    std::vector<Number> output(static_cast<std::size_t>(count));
    collect::Operation operation{.collective = collective, .op = MPI_SUM, .root = root, .comm = MPI_COMM_WORLD};
    operation.send = {input.data(), count, type, {}, {}};
    operation.receive = {output.data(), count, type, {}, {}};
    if (unmodified_) {
      mpi::check(collect::native(operation), "a reduction");
    } else if (blocking) {
      mpi::check(collect::call(operation), "a reduction");
    } else {
      collect::finish(*collect::call_nonblocking(operation), collect::Process::here()->in_flight);
    }
    const bool has_result = collective != Collective::kReduce || rank_ == root;
    for (int i = 0; i < count && has_result; ++i)
      compare(output[static_cast<std::size_t>(i)], blocks ? rank_ * count + i : i);
  }

  // For rank 0 only: perhaps fewer bytes in all than ranks.
  template <typename Number>
  void one_element(MPI_Datatype type) {
    const Number input = operand<Number>(rank_, 0);
    Number output = 0;
    std::vector<int> counts(static_cast<std::size_t>(size_));
    counts[0] = 1;
    const collect::Operation operation = collect::reduce_scatter(
        &input, &output, {counts.data(), nullptr, counts.size()}, type, MPI_SUM, MPI_COMM_WORLD);
    mpi::check(unmodified_ ? collect::native(operation) : collect::call(operation), "a reduction");
    if (rank_ == 0) compare(output, 0);
  }

  // A broadcast is in flight, on all ranks but the root, while all combine nothing at all.
  template <typename Number>
  void nothing_in_between(MPI_Datatype type) {
    int word = rank_;
    const Number input = operand<Number>(rank_, 0);
    Number output = 0;
    collect::InFlightList& in_flight = collect::Process::here()->in_flight;
    const auto broadcast = collect::call_nonblocking(collect::broadcast(&word, 1, MPI_INT, 0, MPI_COMM_WORLD));
    if (rank_ == 0) collect::finish(*broadcast, in_flight);
    for (const int count : {0, 1}) {
      const auto operation = collect::allreduce(&input, &output, count, type, MPI_SUM, MPI_COMM_WORLD);
      mpi::check(collect::call(operation), "a reduction");
    }
    if (rank_ != 0) collect::finish(*broadcast, in_flight);
    compare(output, 0);
    if (word != 0) ++others_;
  }

  template <typename Number>
  void compare(Number found, int element) {
    std::vector<Number> values;
    values.reserve(static_cast<std::size_t>(size_));
    for (int rank = 0; rank < size_; ++rank) values.push_back(operand<Number>(rank, element));
    const std::uint64_t bits = bits_of(found);
    if (bits != bits_of(by_tree(values))) ++others_;
    digest_ = (digest_ ^ bits) * 0x100000001B3U;
  }

  bool unmodified_;
  int rank_ = 0;
  int size_ = 1;
  long others_ = 0;
  std::uint64_t digest_ = 0xCBF29CE484222325U;
};

void run(const std::string& how, int rounds) {
  mpi::return_errors();
  int rank = 0;
  mpi::check(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  if (how == "flag") collect::set_reproducible(MPI_COMM_WORLD, true);
  if (how == "environment") mpi::check(collect::call({.comm = MPI_COMM_WORLD}), "a barrier");
  long others = 0;
  std::uint64_t digest = 0;  // of the last round
  for (int round = 0; round < rounds; ++round) {
    Sums sums(how == "unmodified");
    sums.all<double>(MPI_DOUBLE);
    sums.all<float>(MPI_FLOAT);
    others += sums.others();
    digest = sums.digest();
  }
  mpi::check(MPI_Allreduce(MPI_IN_PLACE, &others, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD), "MPI_Allreduce");
  mpi::check(MPI_Allreduce(MPI_IN_PLACE, &digest, 1, MPI_UINT64_T, MPI_BXOR, MPI_COMM_WORLD), "MPI_Allreduce");
  if (rank == 0) std::printf("other bits: %ld, digest %016llx\n", others, static_cast<unsigned long long>(digest));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const mpi::Session session(&argc, &argv);
  try {
    run(argc > 1 ? argv[1] : "flag", argc > 2 ? std::stoi(argv[2]) : 1);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sums: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return 0;
}
