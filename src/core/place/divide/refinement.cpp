#include "core/place/divide/refinement.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/place/graph/graph.h"

namespace ranktree::core::place::engine {
namespace {

constexpr int kWord = 64;  // bits

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

// Whether a neighbour is on the other side is a coin toss: arithmetic instead of branches. `condition` is 0 or 1.
float weight_if(unsigned condition, float weight) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(weight) & (0U - condition));
}
double negative_if(unsigned condition, double weight) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(weight) ^ (std::uint64_t{condition} << 63U));
}

}  // namespace

std::int64_t size_of_side_zero(const Guide& graph, const Sides& sides) {
  std::int64_t size = 0;
  for (std::size_t i = 0; i < sides.size(); ++i) size += sides[i] == 0 ? graph.size[i] : 0;
  return size;
}

double cut_of(const Guide& graph, const Sides& sides) {
  double cut = 0;
  for (Vertex vertex = 0; vertex < graph.vertices(); ++vertex) {
    if (sides[at(vertex)] != 0) continue;
    for (const GuideArc& arc : graph.arcs_of(vertex)) cut += weight_if(sides[at(arc.to)], arc.weight);
  }
  return cut;
}

double Refinement::run(const Guide& graph, const Known& known, Window window, std::int64_t slack, int passes,
                       Sides& sides) {
  window_ = window;
  slack_ = slack;
  load(graph, known, sides);
  for (int i = 0; i < passes && pass(); ++i) {
  }
  for (std::size_t i = 0; i < sides.size(); ++i) sides[i] = nodes_[i].side;
  return cut_;
}

// The size, the cut, and the gains of all vertices. Of large graphs in blocks, as many however many threads there are,
// so that sums round the same.
void Refinement::load(const Guide& graph, const Known& known, const Sides& sides) {
  constexpr std::size_t kBlocks = 16;
  constexpr std::size_t kLarge = 1024;
  graph_ = &graph;
  nodes_.resize(graph.size.size());
  std::array<Sums, kBlocks> sums{};
  const std::size_t blocks = nodes_.size() < kLarge ? 1 : kBlocks;
  const auto begin = [&](std::size_t block) { return static_cast<Vertex>(block * nodes_.size() / blocks); };
  workers_.for_each(static_cast<int>(blocks), static_cast<std::int64_t>(graph.arcs.size() / 4), [&](int i) {
    const auto block = static_cast<std::size_t>(i);
    sums.at(block) = load(begin(block), begin(block + 1), known, sides);
  });
  Sums all;
  for (const Sums& each : sums) {
    all.size += each.size;
    all.cut += each.cut;
    all.largest = std::max(all.largest, each.largest);
    all.degree = std::max(all.degree, each.degree);
  }
  size_ = all.size;
  cut_ = all.cut / 2;
  inverse_of_largest_ = all.largest > 0 ? 1 / all.largest : 1;
  leaving_.resize(std::max(leaving_.size(), all.degree));
}

Refinement::Sums Refinement::load(Vertex first, Vertex last, const Known& known, const Sides& sides) {
  Sums sums;
  for (Vertex vertex = first; vertex < last; ++vertex) {
    const std::uint8_t side = sides[at(vertex)];
    const double total = known.total[at(vertex)];
    const auto arcs = graph_->arcs_of(vertex);
    double outside = 0;
    if (known.inner.empty() || known.inner[at(vertex)] == 0) {
      for (const GuideArc& arc : arcs) outside += weight_if(sides[at(arc.to)] ^ side, arc.weight);
    }
    const double pull = known.pull.empty() ? 0 : known.pull[at(vertex)];
    if (pull != 0 && (pull > 0) == (side == 0)) {
      outside += std::abs(pull);
      sums.cut += std::abs(pull);  // that arc has no other end to be counted from
    }
    nodes_[at(vertex)] = {2 * outside - total, static_cast<float>(total), -1, -1, -1, side, 0};
    sums.cut += outside;
    sums.largest = std::max(sums.largest, total);
    sums.degree = std::max(sums.degree, arcs.size());
    sums.size += side == 0 ? graph_->size[at(vertex)] : 0;
  }
  return sums;
}

// Monotone in the gain: the exponent and the first bits of the mantissa of its share of the largest.
int Refinement::bucket_of(double gain) const {
  constexpr int kFirst = (127 - 16) * kToPowerOfTwo;
  const auto share = static_cast<float>(gain * inverse_of_largest_);
  const auto bits = std::bit_cast<std::uint32_t>(share);
  const int rank = static_cast<int>((bits & 0x7fffffffU) >> (23U - kSubBits)) - kFirst;
  const int distance = std::clamp(rank, 0, kHalf - 1);
  return bits >> 31U != 0 ? kHalf - 1 - distance : kHalf + distance;
}

void Refinement::push(Vertex vertex, int bucket) {
  Node& node = nodes_[at(vertex)];
  Side& side = waiting_[node.side];
  std::uint64_t& word = side.marked[at(bucket / kWord)];
  const std::uint64_t bit = std::uint64_t{1} << (static_cast<unsigned>(bucket) & 63U);
  node.bucket = static_cast<std::int16_t>(bucket);
  node.previous = -1;
  node.next = (word & bit) != 0 ? side.head[at(bucket)] : -1;
  if (node.next >= 0) nodes_[at(node.next)].previous = vertex;
  side.head[at(bucket)] = vertex;
  word |= bit;
  side.best_word = std::max(side.best_word, bucket / kWord);
}

void Refinement::erase(Vertex vertex) {
  Node& node = nodes_[at(vertex)];
  Side& side = waiting_[node.side];
  if (node.next >= 0) nodes_[at(node.next)].previous = node.previous;
  if (node.previous >= 0) {
    nodes_[at(node.previous)].next = node.next;
  } else if (node.next >= 0) {
    side.head[at(node.bucket)] = node.next;
  } else {
    side.marked[at(node.bucket / kWord)] &= ~(std::uint64_t{1} << (static_cast<unsigned>(node.bucket) & 63U));
  }
  node.bucket = -1;
}

// -1: no vertex waits.
Vertex Refinement::top(Side& side) {
  while (side.best_word >= 0 && side.marked[at(side.best_word)] == 0) --side.best_word;
  if (side.best_word < 0) return -1;
  const int bit = 63 - std::countl_zero(side.marked[at(side.best_word)]);
  return side.head[at(side.best_word * kWord + bit)];
}

// Those on the border wait; all when the balance is to be mended.
void Refinement::open_pass() {
  const bool all = window_.excess(size_) > 0;
  moved_.clear();
  for (Side& side : waiting_) {
    side.marked.fill(0);
    side.best_word = -1;
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    Node& node = nodes_[i];
    node.locked = 0;
    node.bucket = -1;
    if (all || !is_inner(node)) push(static_cast<Vertex>(i), bucket_of(node.gain));
  }
}

bool Refinement::may_leave(Vertex vertex) const {
  if (vertex < 0) return false;
  const std::int64_t size = graph_->size[at(vertex)];
  const std::int64_t excess = window_.excess(size_ + (nodes_[at(vertex)].side == 0 ? -size : size));
  return excess <= slack_ || excess < window_.excess(size_);
}

// -1: none may.
Vertex Refinement::next_to_move() {
  const Vertex zero = top(waiting_[0]);
  const Vertex one = top(waiting_[1]);
  const bool zero_may = may_leave(zero);
  const bool one_may = may_leave(one);
  if (window_.excess(size_) > 0) {
    if (size_ > window_.most) return zero_may ? zero : -1;
    return one_may ? one : -1;
  }
  if (zero_may != one_may) return zero_may ? zero : one;
  if (!zero_may) return -1;
  const double gain_zero = nodes_[at(zero)].gain;
  const double gain_one = nodes_[at(one)].gain;
  if (gain_zero != gain_one) return gain_zero > gain_one ? zero : one;
  return 2 * size_ > window_.least + window_.most ? zero : one;
}

// Whether a neighbour leaves its bucket is a coin toss, too: gains and those who leave first, without a branch.
void Refinement::move(Vertex vertex) {
  erase(vertex);
  Node& node = nodes_[at(vertex)];
  node.locked = 1;
  moved_.push_back(vertex);
  cut_ -= node.gain;
  size_ += node.side == 0 ? -graph_->size[at(vertex)] : graph_->size[at(vertex)];
  node.gain = -node.gain;
  const std::uint8_t side = node.side ^= 1U;
  std::size_t leave = 0;
  for (const GuideArc& arc : graph_->arcs_of(vertex)) {
    Node& other = nodes_[at(arc.to)];
    other.gain += negative_if(1U ^ other.side ^ side, 2.0 * arc.weight);
    const int bucket = bucket_of(other.gain);
    leaving_[leave] = {arc.to, bucket};
    leave += static_cast<std::size_t>(other.locked == 0) & static_cast<std::size_t>(other.bucket != bucket);
  }
  for (std::size_t i = 0; i < leave; ++i) {
    const auto [other, bucket] = leaving_[i];
    if (nodes_[at(other)].bucket >= 0) erase(other);
    push(other, bucket);
  }
}

void Refinement::take_back(Vertex vertex) {
  Node& node = nodes_[at(vertex)];
  node.gain = -node.gain;
  const std::uint8_t side = node.side ^= 1U;
  for (const GuideArc& arc : graph_->arcs_of(vertex)) {
    Node& other = nodes_[at(arc.to)];
    other.gain += negative_if(1U ^ other.side ^ side, 2.0 * arc.weight);
  }
}

// V. Osipov and P. Sanders. n-Level Graph Partitioning. ESA 2010, §4: the gains since the best are seen as a random
// walk; it is left when it is unlikely to come back.
bool Refinement::hopeless(std::size_t steps, double lost, double squares) {
  constexpr std::size_t kFewest = 10;
  constexpr double kDoubt = 3;
  if (steps <= kFewest) return false;
  const double mean = lost / static_cast<double>(steps);
  return static_cast<double>(steps) * mean * mean > kDoubt * (squares / static_cast<double>(steps) - mean * mean);
}

// True when it made something better.
bool Refinement::pass() {
  open_pass();
  const double tolerance = 1e-8 * cut_;  // what rounding may pretend
  std::int64_t best_excess = window_.excess(size_);
  double best_cut = cut_;
  std::int64_t best_size = size_;
  std::size_t best_moves = 0;
  double squares = 0;                                                          // of the gains since
  const std::size_t patience = std::max<std::size_t>(50, nodes_.size() / 20);  // moves without a gain
  for (Vertex vertex = next_to_move(); vertex >= 0; vertex = next_to_move()) {
    const double gain = nodes_[at(vertex)].gain;
    move(vertex);
    squares += gain * gain;
    const std::int64_t excess = window_.excess(size_);
    const std::size_t steps = moved_.size() - best_moves;
    if (excess < best_excess || (excess == best_excess && cut_ < best_cut - tolerance)) {
      best_excess = excess;
      best_cut = cut_;
      best_size = size_;
      best_moves = moved_.size();
      squares = 0;
    } else if (best_excess == 0 && (steps > patience || hopeless(steps, cut_ - best_cut, squares))) {
      break;
    }
  }
  while (moved_.size() > best_moves) {
    take_back(moved_.back());
    moved_.pop_back();
  }
  cut_ = best_cut;
  size_ = best_size;
  return best_moves > 0;
}

}  // namespace ranktree::core::place::engine
