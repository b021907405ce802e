#include "symbols.h"
#include "core/base/index.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/schedule/layout.h"
#include "core/schedule/makers.h"
#include "core/schedule/schedule.h"

namespace ranktree::core::schedule {

void fail(const Program& program, std::size_t step, const std::string& what) {
  throw Error(Fault::kMismatch,
              "schedule: rank " + std::to_string(program.rank) + ": step " + std::to_string(step) + ": " + what);
}

namespace {

constexpr std::int64_t kAnything = -3;

std::uint64_t only(Rank rank) { return std::uint64_t{1} << static_cast<unsigned>(rank); }
std::uint64_t all_of(Rank ranks) { return ranks == 64 ? ~std::uint64_t{0} : only(ranks) - 1; }

// Combines the left operand into the right one.
Symbol combined(const Program& program, std::size_t step, const Symbol& left, const Symbol& right) {
  if (left.element != right.element) {
    fail(program, step, "combines element " + std::to_string(left.element) + " with " + std::to_string(right.element));
  }
  if ((left.ranks & right.ranks) != 0) fail(program, step, "combines an operand twice");
  const bool follows = static_cast<int>(std::bit_width(left.ranks)) <= std::countr_zero(right.ranks);
  return {left.element, left.ranks | right.ranks, left.ordered && right.ordered && follows};
}

}  // namespace

const std::vector<Symbol>& Memory::buffer(Buffer which) const {
  if (which == Buffer::kInput) return input;
  return which == Buffer::kOutput ? output : scratch;
}

void Memory::check_ranges(const Program& program, bool empty) const {
  const auto inside = [this](const Range& range) {
    return range.first >= 0 && range.count >= 0 &&
           range.first + range.count <= static_cast<std::int64_t>(buffer(range.buffer).size());
  };
  for (std::size_t step = 0; step < program.steps.size(); ++step) {
    const Step& now = program.steps[step];
    const bool two = now.action == Action::kReduce || now.action == Action::kCopy;
    if (!inside(now.from) || !inside(now.into)) fail(program, step, "is outside of its buffer");
    if (two && now.from.count != now.into.count) fail(program, step, "has two counts");
    if (two && overlap(now.from, now.into)) fail(program, step, "reads what it writes");
    if (now.into.count > 0 && now.into.buffer == Buffer::kInput) fail(program, step, "writes to the input");
    if ((now.from.count + now.into.count == 0) != empty) fail(program, step, "has no elements, or should have none");
  }
}

std::vector<Symbol> Memory::get(const Program& program, std::size_t step) const {
  const Range& from = program.steps[step].from;
  const auto begin = buffer(from.buffer).begin() + from.first;
  std::vector<Symbol> symbols(begin, begin + from.count);
  for (const Symbol& symbol : symbols) {
    if (symbol.element < 0) fail(program, step, "reads an undefined element");
  }
  return symbols;
}

void Memory::put(const Range& into, const std::vector<Symbol>& symbols) {
  std::vector<Symbol>& target = into.buffer == Buffer::kOutput ? output : scratch;
  std::copy(symbols.begin(), symbols.end(), target.begin() + into.first);
}

void Memory::apply(const Program& program, std::size_t step) {
  const Step& now = program.steps[step];
  std::vector<Symbol> symbols = get(program, step);
  if (now.action == Action::kReduce) {
    const std::vector<Symbol>& right = buffer(now.into.buffer);
    for (std::size_t i = 0; i < symbols.size(); ++i) {
      symbols[i] = combined(program, step, symbols[i], right[at(now.into.first) + i]);
    }
  }
  put(now.into, symbols);
}

Symbols::Symbols(const Request& request, const std::vector<bool>& in_place) : request_(request), in_place_(in_place) {
  if (request.ranks > 64) throw Error(Fault::kUnsupported, "schedule: at most 64 ranks can be proved");
}

bool Symbols::in_place(Rank rank) const { return !in_place_.empty() && in_place_[at(rank)]; }

std::int64_t Symbols::first(Rank rank) const {
  std::int64_t sum = 0;
  for (Rank before = 0; before < rank; ++before) sum += block_count(request_, before);
  return sum;
}

std::int64_t Symbols::all() const {
  switch (request_.collective) {
    case Collective::kBarrier:
      return 0;
    case Collective::kBroadcast:
    case Collective::kReduce:
    case Collective::kAllreduce:
      return request_.count;
    default:
      return first(request_.ranks);
  }
}

std::int64_t Symbols::extent() const {
  std::int64_t most = all();
  for (std::size_t rank = 0; rank < request_.displacements.size(); ++rank) {
    most = std::max(most, request_.displacements[rank] + request_.counts[rank]);
  }
  return most;
}

std::int64_t Symbols::output_size(Rank rank) const {
  const bool root = rank == request_.root;
  switch (request_.collective) {
    case Collective::kReduce:
      return root ? all() : 0;
    case Collective::kGather:
      return root ? extent() : 0;
    case Collective::kScatter:
      return in_place(rank) ? 0 : block_count(request_, rank);
    case Collective::kReduceScatter:
      return in_place(rank) ? all() : block_count(request_, rank);
    case Collective::kAllgather:
      return extent();
    default:
      return all();
  }
}

std::int64_t Symbols::input_size(Rank rank) const {
  const bool root = rank == request_.root;
  switch (request_.collective) {
    case Collective::kBroadcast:
      return 0;
    case Collective::kScatter:
      return root ? extent() : 0;
    case Collective::kGather:
    case Collective::kAllgather:
      return in_place(rank) ? 0 : block_count(request_, rank);
    default:
      return in_place(rank) ? 0 : all();
  }
}

// Fills all blocks of the caller's layout with data of `owner`, or only the owner's own block. Without an owner each
// block holds its own rank's data.
void Symbols::fill_all(std::vector<Symbol>& buffer, Rank owner, bool own_only) const {
  for (Rank rank = 0; rank < request_.ranks; ++rank) {
    if (own_only && rank != owner) continue;
    const std::int64_t place = request_.displacements.empty() ? first(rank) : request_.displacements[at(rank)];
    for (std::int64_t i = 0; i < block_count(request_, rank); ++i) {
      buffer[at(place + i)] = {first(rank) + i, only(owner < 0 ? rank : owner), true};
    }
  }
}

void Symbols::fill_operand(std::vector<Symbol>& buffer, Rank rank) const {
  const std::int64_t base = request_.collective == Collective::kAlltoall ? rank * all() : 0;
  for (std::int64_t i = 0; i < all(); ++i) buffer[at(i)] = {base + i, only(rank), true};
}

Memory Symbols::before(const Program& program) const {
  const Rank rank = program.rank;
  Memory memory;
  memory.input.resize(at(input_size(rank)));
  memory.output.resize(at(output_size(rank)));
  memory.scratch.resize(at(program.scratch));
  for (Symbol& symbol : memory.output) symbol.element = Symbol::kCanary;
  std::vector<Symbol>& operand = in_place(rank) ? memory.output : memory.input;
  switch (request_.collective) {
    case Collective::kBarrier:
      break;
    case Collective::kBroadcast:
      if (rank == request_.root) fill_operand(memory.output, rank);
      break;
    case Collective::kScatter:
      if (rank == request_.root) fill_all(memory.input, rank, false);
      break;
    case Collective::kGather:
    case Collective::kAllgather:
      if (in_place(rank)) {
        fill_all(memory.output, rank, true);
      } else {
        for (std::size_t i = 0; i < memory.input.size(); ++i) {
          memory.input[i] = {first(rank) + static_cast<std::int64_t>(i), only(rank), true};
        }
      }
      break;
    default:
      fill_operand(operand, rank);
  }
  return memory;
}

// The own block of a rank with its final content.
std::vector<Symbol> Symbols::expected_blocks(Rank rank) const {
  std::vector<Symbol> result(at(output_size(rank)), Symbol{kAnything, 0, true});
  const std::uint64_t ranks =
      request_.collective == Collective::kScatter ? only(request_.root) : all_of(request_.ranks);
  for (std::int64_t i = 0; i < block_count(request_, rank) && !result.empty(); ++i) {
    result[at(i)] = {first(rank) + i, ranks, true};
  }
  return result;
}

std::vector<Symbol> Symbols::expected(Rank rank) const {
  std::vector<Symbol> result(at(output_size(rank)), Symbol{Symbol::kCanary, 0, true});
  switch (request_.collective) {
    case Collective::kBarrier:
      break;
    case Collective::kScatter:
    case Collective::kReduceScatter:
      return expected_blocks(rank);
    case Collective::kGather:
    case Collective::kAllgather:
      if (!result.empty()) fill_all(result, -1, false);
      break;
    case Collective::kAlltoall:
      for (std::int64_t i = 0; i < all(); ++i) {
        const std::int64_t from = i / std::max<std::int64_t>(request_.count, 1);
        result[at(i)] = {from * all() + rank * request_.count + i % request_.count, only(static_cast<Rank>(from)),
                         true};
      }
      break;
    default:
      for (std::size_t i = 0; i < result.size(); ++i) {
        const bool broadcast = request_.collective == Collective::kBroadcast;
        result[i] = {static_cast<std::int64_t>(i), broadcast ? only(request_.root) : all_of(request_.ranks), true};
      }
  }
  return result;
}

void Symbols::check_after(const Program& program, const Memory& memory) const {
  const std::vector<Symbol> wanted = expected(program.rank);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i].element == kAnything) continue;
    Symbol found = memory.output[i];
    if (request_.commutative) found.ordered = true;
    if (found == wanted[i]) continue;
    throw Error(Fault::kMismatch, "schedule: rank " + std::to_string(program.rank) + ": output element " +
                                      std::to_string(i) + ": expected element " + std::to_string(wanted[i].element) +
                                      " of ranks " + std::to_string(wanted[i].ranks) + ", found " +
                                      std::to_string(found.element) + " of " + std::to_string(found.ranks) +
                                      (found.ordered ? "" : " out of rank order"));
  }
}

}  // namespace ranktree::core::schedule
