// Random collective operations, each carried out by the native call and by a random variant of ours, on equal buffers
// with canaries. random_calls SEED CASES [serial]: prints "ok N cases ..." or what differs, and exits with 1 then.
//
// "serial" is for an MPI whose own reductions write where they must not: their results are combined here, operand by
// operand.
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/predict/choice.h"
#include "core/schedule/makers.h"
#include "core/schedule/transform.h"
#include "hw/node_here.h"
#include "mpi/attribute.h"
#include "mpi/collect/context.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/variant.h"
#include "mpi/split/options.h"
#include "samples.h"

namespace {

namespace collect = ranktree::mpi::collect;
using collect::Operation;
using ranktree::core::predict::Choice;
using ranktree::core::predict::choice_from_text;
using ranktree::core::predict::Variant;
using ranktree::core::schedule::Collective;

// One side of a call on this rank.
struct Side {
  const Kind* kind = nullptr;
  std::int64_t elements = 0;  // the area has
  std::vector<int> counts;
  std::vector<int> displacements;
  int count = 0;
  bool in_place = false;
  std::vector<Run> written;  // what the operation may write; of the send side what it reads
  bool kept = false;         // nothing is written after all
};

struct Case {
  Collective collective = Collective::kBarrier;
  bool vector = false;
  int root = 0;
  MPI_Op op = MPI_OP_NULL;
  Side send;
  Side receive;
};

int random_count(Dice& dice) {
  constexpr int kSmall = 9;
  constexpr int kLarge = 3000;
  const int choice = roll(dice, 8);
  if (choice == 0) return 0;
  if (choice == 1) return 1;
  return choice < 6 ? roll(dice, kSmall) : roll(dice, kLarge);
}

class Random {
 public:
  Random(MPI_Comm comm, const Kinds& kinds) : comm_(comm), kinds_(kinds) {
    MPI_Comm_rank(comm, &rank_);
    MPI_Comm_size(comm, &size_);
  }

  // The same dice on all ranks; what may differ between ranks is drawn from `own`.
  Case draw(Dice& dice) {
    Dice own(dice() + static_cast<unsigned>(rank_) * 7919U);
    Case drawn;
    drawn.collective = static_cast<Collective>(roll(dice, 9));
    drawn.root = has_root(drawn.collective) ? roll(dice, size_) : 0;
    drawn.vector = roll(dice, 2) == 0 && drawn.collective >= Collective::kGather;
    if (reduces(drawn.collective)) {
      draw_reduction(drawn, dice);
    } else if (drawn.collective != Collective::kBarrier) {
      draw_movement(drawn, dice, own);
    }
    return drawn;
  }

 private:
  // The type, and an operation for it.
  const Kind* draw_operand(Case& drawn, Dice& dice) const {
    const int type = roll(dice, 8);
    if (type == 7) {
      drawn.op = MPI_MINLOC;
      return &kinds_.pair();
    }
    if (type == 6) {
      drawn.op = roll(dice, 2) == 0 ? MPI_SUM : MPI_MAX;
      return &kinds_.real();
    }
    drawn.op = roll(dice, 3) == 0 ? kinds_.commutative() : kinds_.ordered();
    if (type == 0 && roll(dice, 2) == 0) drawn.op = roll(dice, 2) == 0 ? MPI_SUM : MPI_BXOR;
    return &kinds_.of_ints()[static_cast<std::size_t>(type)];
  }

  void draw_reduction(Case& drawn, Dice& dice) {
    const Kind* kind = draw_operand(drawn, dice);
    const bool in_place = roll(dice, 3) == 0;
    const int count = random_count(dice);
    const bool scatters = drawn.collective == Collective::kReduceScatter;
    std::vector<int> counts(static_cast<std::size_t>(size_), count);
    for (int& block : counts) block = drawn.vector ? random_count(dice) % 400 : count % 400;
    std::int64_t all = 0;
    for (const int block : counts) all += block;
    const int own = scatters ? counts[static_cast<std::size_t>(rank_)] : count;
    const std::int64_t operand = scatters ? all : count;
    drawn.send = {kind, operand, {}, {}, count, in_place && (drawn.collective != Collective::kReduce || at_root(drawn)),
                  {}};
    const bool gets = drawn.collective != Collective::kReduce || at_root(drawn);
    drawn.receive = {kind, drawn.send.in_place ? operand : own, {}, {}, own, false, {}};
    if (gets) drawn.receive.written = {{0, own}};
    // In place the rest of the operand may be used as scratch space.
    if (gets && drawn.send.in_place) drawn.receive.written = {{0, drawn.receive.elements}};
    block_ = {0, own};
    for (int i = 0; scatters && i < rank_; ++i) block_.first += counts[static_cast<std::size_t>(i)];
    if (drawn.vector) drawn.receive.counts = counts;
  }

  // Every block has a multiple of 12 ints, so that each rank may take another type. The longest broadcasts, and the
  // scatters of many ranks, exceed 64 KiB, from where sends across nodes leave in turn.
  void draw_movement(Case& drawn, Dice& dice, Dice& own) {
    const Kind& sends = kinds_.of_ints()[static_cast<std::size_t>(roll(own, 6))];
    const Kind& receives = kinds_.of_ints()[static_cast<std::size_t>(roll(own, 6))];
    const int dozens = random_count(dice) % 300;
    std::vector<int> blocks(static_cast<std::size_t>(size_), dozens * 12);
    const bool exchanges = drawn.vector && drawn.collective == Collective::kAlltoall;
    for (int& block : blocks) block = drawn.vector && !exchanges ? random_count(dice) % 60 * 12 : block;
    const bool in_place = roll(dice, 3) == 0;
    const std::vector<std::vector<int>> pairs = exchanges ? draw_pairs(dice) : std::vector<std::vector<int>>{};
    const int mine = blocks[static_cast<std::size_t>(rank_)];
    switch (drawn.collective) {
      case Collective::kBroadcast:
        drawn.receive = whole(receives, blocks[0] * 12);
        drawn.receive.kept = at_root(drawn);
        break;
      case Collective::kGather:
        drawn.send = whole(sends, mine);
        drawn.send.in_place = in_place && at_root(drawn);
        if (at_root(drawn)) drawn.receive = all(receives, blocks, drawn.vector, own);
        break;
      case Collective::kScatter:
        if (at_root(drawn)) drawn.send = all(sends, blocks, drawn.vector, own);
        drawn.receive = whole(receives, mine);
        drawn.receive.in_place = in_place && at_root(drawn);
        break;
      case Collective::kAlltoall:
        drawn.send = all(sends, pairs.empty() ? blocks : pairs[static_cast<std::size_t>(rank_)], drawn.vector, own);
        for (std::size_t i = 0; i < pairs.size(); ++i) blocks[i] = pairs[i][static_cast<std::size_t>(rank_)];
        drawn.receive = all(receives, blocks, drawn.vector, own);
        break;
      default:
        drawn.send = whole(sends, mine);
        drawn.receive = all(receives, blocks, drawn.vector, own);
        break;
    }
    if (!has_root(drawn.collective)) drawn.send.in_place = in_place;
  }

  // Of an alltoallv: what each rank sends to each. Some blocks exceed 2048 bytes, from where they travel alone.
  [[nodiscard]] std::vector<std::vector<int>> draw_pairs(Dice dice) const {
    std::vector<std::vector<int>> pairs(static_cast<std::size_t>(size_));
    for (std::vector<int>& row : pairs) {
      for (int to = 0; to < size_; ++to) row.push_back(random_count(dice) % 120 * 12);
    }
    return pairs;
  }

  static Side whole(const Kind& kind, int ints) {
    const int count = ints / static_cast<int>(kind.ints.size());
    return {&kind, count, {}, {}, count, false, {{0, count}}};
  }

  // Blocks in any order, with elements between them.
  Side all(const Kind& kind, const std::vector<int>& blocks, bool vector, Dice& own) const {
    Side side{&kind, 0, {}, {}, 0, false, {}};
    const auto per = static_cast<int>(kind.ints.size());
    if (!vector) {
      side.count = blocks[0] / per;
      side.elements = static_cast<std::int64_t>(side.count) * size_;
      side.written = {{0, side.elements}};
      return side;
    }
    side.displacements.resize(blocks.size());
    side.written.resize(blocks.size());
    const bool apart = roll(own, 3) != 0;
    const int turn = apart ? roll(own, size_) : 0;
    for (int i = 0; i < size_; ++i) {
      const auto rank = static_cast<std::size_t>((i + turn) % size_);
      side.displacements[rank] = static_cast<int>(side.elements);
      side.written[rank] = {side.elements, blocks[rank] / per};
      side.elements += blocks[rank] / per + (apart ? roll(own, 3) : 0);
    }
    for (const int block : blocks) side.counts.push_back(block / per);
    return side;
  }

  [[nodiscard]] bool at_root(const Case& drawn) const { return rank_ == drawn.root; }

 public:
  // Of a reduction's result, what this rank receives.
  [[nodiscard]] Run block() const { return block_; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }

 private:
  MPI_Comm comm_;
  const Kinds& kinds_;
  int rank_ = 0;
  int size_ = 1;
  Run block_;
};

struct Areas {
  Area send;
  Area receive;
};

Areas make_areas(const Case& drawn, unsigned seed) {
  Areas areas;
  if (drawn.send.kind != nullptr) {
    areas.send = make_area(*drawn.send.kind, drawn.send.elements);
    fill(areas.send, *drawn.send.kind, drawn.send.elements, seed);
  }
  if (drawn.receive.kind != nullptr) {
    areas.receive = make_area(*drawn.receive.kind, drawn.receive.elements);
    fill(areas.receive, *drawn.receive.kind, drawn.receive.elements, seed + 1);
  }
  return areas;
}

Operation::Side argument(const Side& side, Area& area) {
  if (side.in_place) return {MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, {}, {}};
  if (side.kind == nullptr) return {};
  return {area.address(), side.count, side.kind->type, side.counts, side.displacements};
}

Operation make_operation(const Case& drawn, Areas& areas, MPI_Comm comm) {
  Operation made;
  made.collective = drawn.collective;
  made.vector = drawn.vector;
  made.root = drawn.root;
  made.op = drawn.op;
  made.comm = comm;
  made.send = argument(drawn.send, areas.send);
  made.receive = argument(drawn.receive, areas.receive);
  return made;
}

// What a reduction gives, by combining all ranks' operands here, one after the other. `block`: of the sum, this rank's.
void reduce_serially(const Case& drawn, Areas& areas, const Run& block, MPI_Comm comm) {
  const Kind& kind = *drawn.send.kind;
  Area sum = drawn.send.in_place ? areas.receive : areas.send;
  int size = 0;
  MPI_Comm_size(comm, &size);
  const std::size_t bytes = sum.bytes.size();
  Bytes all(bytes * static_cast<std::size_t>(size));
  MPI_Allgather(sum.bytes.data(), static_cast<int>(bytes), MPI_BYTE, all.data(), static_cast<int>(bytes), MPI_BYTE,
                comm);
  std::memcpy(sum.bytes.data(), all.data() + all.size() - bytes, bytes);
  for (std::size_t rank = static_cast<std::size_t>(size) - 1; rank-- > 0;) {
    MPI_Reduce_local(all.data() + rank * bytes + sum.first, sum.address(), static_cast<int>(drawn.send.elements),
                     kind.type, drawn.op);
  }
  if (drawn.receive.written.empty()) return;
  std::memcpy(areas.receive.address(), static_cast<unsigned char*>(sum.address()) + block.first * kind.extent,
              static_cast<std::size_t>(block.count * kind.extent));
}

// The same with MPI's ints side by side on all ranks: MPIs choose algorithms by their own types' sizes, and wait for
// ever where ranks differ.
Side plain_side(const Side& side, const Kind& ints) {
  Side plain = side;
  if (side.kind == nullptr) return plain;
  const auto per = static_cast<int>(side.kind->ints.size());
  plain.kind = &ints;
  plain.count *= per;
  plain.elements = 0;
  for (std::size_t i = 0; i < side.written.size(); ++i) {
    plain.written[i] = {plain.elements, side.written[i].count * per};
    plain.elements += side.written[i].count * per;
  }
  std::int64_t end = 0;
  for (std::size_t i = 0; i < plain.counts.size(); ++i) {
    plain.counts[i] *= per;
    plain.displacements[i] = static_cast<int>(end);
    end += plain.counts[i];
  }
  for (std::size_t i = 0; i < plain.counts.size(); ++i) plain.written[i] = {plain.displacements[i], plain.counts[i]};
  return plain;
}

Case plain_case(const Case& drawn, const Kind& ints) {
  Case plain = drawn;
  plain.send = plain_side(drawn.send, ints);
  plain.receive = plain_side(drawn.receive, ints);
  return plain;
}

template <typename Visit>
void visit_ints(const Side& side, Area& area, const Visit& visit) {
  for (const Run& run : side.written) {
    for (std::int64_t element = run.first; element < run.first + run.count; ++element) {
      for (const int offset : side.kind->ints) {
        visit(static_cast<unsigned char*>(area.address()) + element * side.kind->extent + offset);
      }
    }
  }
}

std::vector<std::int32_t> ints_of(const Side& side, Area area) {
  std::vector<std::int32_t> values;
  if (side.kind == nullptr) return values;
  visit_ints(side, area, [&](const unsigned char* at) { std::memcpy(&values.emplace_back(), at, 4); });
  return values;
}

Area plain_area(const Side& side, const Area& area, const Side& plain) {
  if (side.kind == nullptr) return {};
  Area made = make_area(*plain.kind, plain.elements);
  const std::vector<std::int32_t> values = ints_of(side, area);
  std::size_t next = 0;
  visit_ints(plain, made, [&](unsigned char* at) { std::memcpy(at, &values.at(next++), 4); });
  return made;
}

bool moved_right(const Case& drawn, const Areas& before, const Areas& ours, const Case& plain, const Areas& native) {
  if (ours.send.bytes != before.send.bytes) return false;
  if (drawn.receive.kind == nullptr) return true;
  if (drawn.receive.kept) return ours.receive.bytes == before.receive.bytes;
  if (ints_of(drawn.receive, ours.receive) != ints_of(plain.receive, native.receive)) return false;
  const std::vector<bool> data = data_of(ours.receive, *drawn.receive.kind, drawn.receive.written);
  for (std::size_t at = 0; at < data.size(); ++at) {
    if (!data[at] && ours.receive.bytes[at] != before.receive.bytes[at]) return false;
  }
  return true;
}

// Of a reduction: the first byte that is wrong, -1 where none is.
std::int64_t first_wrong(const Case& drawn, const Areas& before, const Areas& native, const Areas& ours,
                         const Run& result) {
  if (ours.send.bytes != before.send.bytes) return 0;
  if (drawn.receive.kind == nullptr) return -1;
  const Kind& kind = *drawn.receive.kind;
  const bool scratch = reduces(drawn.collective) && !drawn.receive.written.empty();
  const std::vector<Run> compared = scratch ? std::vector<Run>{result} : drawn.receive.written;
  const std::vector<bool> data = data_of(ours.receive, kind, compared);
  const std::vector<bool> written = data_of(ours.receive, kind, drawn.receive.written);
  for (std::size_t at = 0; at < data.size(); ++at) {
    if (data[at] && ours.receive.bytes[at] != native.receive.bytes[at]) return static_cast<std::int64_t>(at);
    // MPI's own pairs may be combined whole, with the bytes between them.
    const bool kept = !written[at] && (kind.type != MPI_DOUBLE_INT || !scratch);
    if (kept && ours.receive.bytes[at] != before.receive.bytes[at]) return static_cast<std::int64_t>(at);
  }
  return -1;
}

Choice random_choice(Collective collective, int size, Dice& dice) {
  constexpr std::int64_t kSegments[] = {0, 0, 16, 200, 4096};
  Choice choice;
  choice.variant = roll(dice, 6) == 0 ? Variant::kLevels : Variant::kMessages;
  const auto algorithms = ranktree::core::schedule::algorithms_of(collective);
  choice.composition.algorithms = {
      algorithms[static_cast<std::size_t>(roll(dice, static_cast<int>(algorithms.size())))]};
  const auto forms = ranktree::core::schedule::forms_of(collective);
  if (!forms.empty())
    choice.composition.form = forms[static_cast<std::size_t>(roll(dice, static_cast<int>(forms.size())))];
  choice.composition.segment = kSegments[roll(dice, 5)];
  const int groups = roll(dice, 3);
  choice.groups = groups < 2 ? groups : 1 + roll(dice, size);
  return choice;
}

// As many nodes as the environment variable sets: this machine has one.
void emulate_nodes(MPI_Comm comm, int rank, Dice& dice) {
  const std::string node = std::to_string(dice() % 2 == 0 ? rank % 3 : rank / 3);
  setenv("RANKTREE_NODE_ID", node.c_str(), 1);  // NOLINT(concurrency-mt-unsafe): one thread
  ranktree::mpi::Annotation annotation;
  ranktree::mpi::SplitOptions options;
  options.node_identity = ranktree::hw::NodeIdentity::kEnvironment;
  annotation.options = std::make_shared<const ranktree::mpi::SplitOptions>(options);
  ranktree::mpi::set_annotation(comm, std::move(annotation));
}

struct Count {
  int done = 0;
  int refused = 0;
};

// The arguments on the command line.
struct Arguments {
  unsigned seed = 1;
  int cases = 1000;
  bool serial = false;
};

// The native result, or one that is made without the MPI's reductions.
bool make_expected(const Case& drawn, Areas& areas, const Run& block, MPI_Comm comm, bool serial) {
  if (!serial || !reduces(drawn.collective)) return collect::native(make_operation(drawn, areas, comm)) == MPI_SUCCESS;
  reduce_serially(drawn, areas, block, comm);
  return true;
}

bool run_case(MPI_Comm comm, const Kinds& kinds, Random& random, Dice& dice, Count& count, bool serial) {
  const auto context = collect::Context::of(comm);
  const Case drawn = random.draw(dice);
  const Areas before = make_areas(drawn, dice() + static_cast<unsigned>(random.rank()));
  const bool moves = !reduces(drawn.collective);
  const Case plain = moves ? plain_case(drawn, kinds.of_ints()[0]) : drawn;
  Areas native = before;
  if (moves) native.send = plain_area(drawn.send, before.send, plain.send);
  if (moves) native.receive = plain_area(drawn.receive, before.receive, plain.receive);
  Areas ours = before;
  const Operation made = make_operation(drawn, ours, comm);
  Choice choice = random_choice(drawn.collective, random.size(), dice);
  if (drawn.vector && drawn.collective == Collective::kAlltoall) {  // the only one
    choice = choice_from_text("messages:flat:form=lanes", drawn.collective);
  }
  if (!can_run(*context, made, choice)) {
    ++count.refused;
    return true;
  }
  ++count.done;
  if (!make_expected(plain, native, random.block(), comm, serial)) return false;
  finish(*start(context, made, choice), context->process().in_flight);
  if (moves && moved_right(drawn, before, ours, plain, native)) return true;
  const std::int64_t wrong = moves ? 0 : first_wrong(drawn, before, native, ours, {0, random.block().count});
  if (wrong < 0) return true;
  std::printf("rank %d of %d: %s %s%s: root %d, count %d, byte %lld differs\n", random.rank(), random.size(),
              std::string(collective_name(drawn.collective)).c_str(), to_text(choice).c_str(),
              drawn.vector ? " (vector)" : "", drawn.root, drawn.receive.count, static_cast<long long>(wrong));
  return false;
}

// At once: the others may be waiting.
void give_up() {
  std::fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// Ranks in another order than the world's, on machines of several nodes.
void run_cases(const Arguments& arguments, int most, Count& count) {
  Dice dice(arguments.seed);
  const Kinds kinds;
  int world_rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  constexpr int kTogether = 40;
  for (int begun = 0; begun < arguments.cases; begun += kTogether) {
    const int size = 1 + roll(dice, most);
    const bool backwards = roll(dice, 2) == 0;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, world_rank < size ? 0 : MPI_UNDEFINED, backwards ? -world_rank : world_rank, &comm);
    if (comm != MPI_COMM_NULL) {
      Dice own = dice;
      Random random(comm, kinds);
      Dice places(arguments.seed + static_cast<unsigned>(begun));
      emulate_nodes(comm, random.rank(), places);
      for (int i = 0; i < kTogether; ++i) {
        if (!run_case(comm, kinds, random, own, count, arguments.serial)) give_up();
      }
      MPI_Comm_free(&comm);
    }
    dice.discard(1000);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  Arguments arguments;
  if (argc > 1) arguments.seed = static_cast<unsigned>(std::strtol(argv[1], nullptr, 10));
  if (argc > 2) arguments.cases = static_cast<int>(std::strtol(argv[2], nullptr, 10));
  if (argc > 3) arguments.serial = std::strcmp(argv[3], "serial") == 0;
  Count count;
  try {
    run_cases(arguments, size, count);
  } catch (const std::exception& error) {
    std::printf("rank %d: %s\n", rank, error.what());
    give_up();
  }
  if (rank == 0) std::printf("ok %d cases, %d refused\n", count.done, count.refused);
  MPI_Finalize();
  return 0;
}
