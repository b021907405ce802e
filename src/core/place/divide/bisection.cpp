#include "core/place/divide/bisection.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "core/base/index.h"
#include "core/base/workers.h"
#include "core/place/divide/coarsening.h"
#include "core/place/graph/graph.h"

namespace ranktree::core::place::engine {
namespace {

constexpr int kWord = 64;  // bits

// Whether a neighbour is on the other side is a coin toss: arithmetic instead of branches. `condition` is 0 or 1.
float weight_if(unsigned condition, float weight) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(weight) & (0U - condition));
}
double negative_if(unsigned condition, double weight) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(weight) ^ (std::uint64_t{condition} << 63U));
}

constexpr std::int64_t kCoarsest = 60;  // vertices at which coarsening ends
constexpr int kGrowths = 6;             // first divisions of the coarsest graph, at most
constexpr int kPasses = 4;              // of refinement on each graph

std::int64_t largest(const Guide& graph) { return *std::max_element(graph.size.begin(), graph.size.end()); }

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

// False when the graph is small already or does not shrink.
bool Bisection::coarsen_once(const Guide& graph, std::size_t level) {
  if (graph.vertices() <= kCoarsest) return false;
  if (level == coarse_.size()) coarse_.emplace_back();
  const std::int64_t most = std::max<std::int64_t>(2, std::min(size_ / 20, 3 * size_ / kCoarsest));
  coarsening_.run(graph, total_of(level), most, random_, coarse_[level]);
  return coarse_[level].graph.vertices() <= 0.95 * graph.vertices();
}

// The coarsest graph, so many levels above the graph itself.
const Guide& Bisection::coarsen(const Guide& graph, std::size_t& level) {
  const Guide* smallest = &graph;
  while (go_on(*smallest) && coarsen_once(*smallest, level)) smallest = &coarse_[level++].graph;
  return *smallest;
}

// The vertex with the strongest ties, or the next that has none; -1: all were looked at.
Vertex Bisection::next_to_grow(const Sides& sides, std::size_t first, std::size_t& scanned) {
  const std::size_t count = sides.size();
  if (queue_.empty()) {
    while (scanned < count && (sides[(first + scanned) % count] == 0 || refused_[(first + scanned) % count] != 0)) {
      ++scanned;
    }
    if (scanned == count) return -1;
    return static_cast<Vertex>((first + scanned) % count);
  }
  const Vertex vertex = queue_.top();
  queue_.erase(vertex);
  return vertex;
}

void Bisection::join_side(const Guide& graph, Vertex vertex, Sides& sides) {
  sides[at(vertex)] = 0;
  for (const GuideArc& arc : graph.arcs_of(vertex)) {
    if (sides[at(arc.to)] == 0 || refused_[at(arc.to)] != 0) continue;
    tie_[at(arc.to)] += 2 * arc.weight;
    if (queue_.holds(arc.to)) {
      queue_.update(arc.to);
    } else {
      queue_.push(arc.to);
    }
  }
}

// Side 0 grows from a random vertex by the vertex with the strongest ties to it less those to the rest, to the size
// nearest to the aim. O(arcs log vertices).
void Bisection::grow(const Guide& graph, std::size_t level, std::int64_t aim, Sides& sides) {
  const std::size_t count = graph.size.size();
  sides.assign(count, 1);
  refused_.assign(count, 0);
  tie_.resize(count);
  std::transform(total_of(level).begin(), total_of(level).end(), tie_.begin(), [](double total) { return -total; });
  queue_.reset(count, tie_.data());
  const std::size_t first = random_.below(count);
  std::size_t scanned = 0;
  std::int64_t size = 0;
  while (size < aim) {
    const Vertex vertex = next_to_grow(sides, first, scanned);
    if (vertex < 0) break;
    const std::int64_t over = size + graph.size[at(vertex)] - aim;
    if (over > aim - size) {
      refused_[at(vertex)] = 1;
      continue;
    }
    size += graph.size[at(vertex)];
    join_side(graph, vertex, sides);
  }
}

// The best of some growths: of what is outside the window the least, then the smallest cut, which it returns.
double Bisection::first_division(const Guide& graph, std::size_t level, Window window, std::int64_t aim, Sides& sides) {
  constexpr std::int64_t kStart = 48;  // ranks; one start more for so many
  double best_cut = 0;
  std::int64_t best_excess = -1;
  const std::int64_t slack = largest(graph);
  const Window soft = window.widened(slack > 1 ? slack / 2 : 0);
  const int starts = std::clamp(static_cast<int>(size_ / kStart), 2, kGrowths);
  for (int start = 0; start < starts; ++start) {
    grow(graph, level, aim, next_);
    const double cut = refinement_.run(graph, {total_of(level), {}}, soft, slack, kPasses + 1, next_);
    const std::int64_t excess = soft.excess(size_of_side_zero(graph, next_));
    if (best_excess >= 0 && (excess > best_excess || (excess == best_excess && cut >= best_cut))) continue;
    best_cut = cut;
    best_excess = excess;
    std::swap(sides, next_);
  }
  return best_cut;
}

// `known`: the coarser graph's last refinement has found the vertices that are tied to their own side only.
double Bisection::refine_projected(const Guide& finer, std::size_t level, Window window, bool known, Sides& sides) {
  const auto& part_of = coarse_[level].part_of;
  projected_.resize(part_of.size());
  inner_.resize(known ? part_of.size() : 0);
  workers_.for_ranges(part_of.size(), finer.vertices(), [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; known && i < last; ++i) inner_[i] = refinement_.is_inner(part_of[i]);
    for (std::size_t i = first; i < last; ++i) projected_[i] = sides[at(part_of[i])];
  });
  std::swap(sides, projected_);
  const std::int64_t slack = level == 0 ? 1 : largest(finer);
  const Window allowed = window.widened(slack == 1 ? 0 : slack / 2);
  return refinement_.run(finer, {total_of(level), inner_}, allowed, slack, kPasses, sides);
}

// `sides` belongs to the smallest graph and ends up belonging to `graph`, unless the workers are to stop.
double Bisection::refine_upwards(const Guide& graph, std::size_t coarser, Window window, Sides& sides) {
  double cut = 0;
  for (std::size_t i = coarser; i-- > 0;) {
    const Guide& finer = i == 0 ? graph : coarse_[i - 1].graph;
    if (!go_on(finer)) break;
    cut = refine_projected(finer, i, window, i + 1 < coarser, sides);
  }
  return cut;
}

bool Bisection::go_on(const Guide& graph) { return workers_.go_on(static_cast<std::int64_t>(graph.arcs.size())); }

double Bisection::any_division(const Guide& graph, std::int64_t aim, Sides& sides) {
  sides.assign(graph.size.size(), 1);
  std::fill(sides.begin(), sides.begin() + aim, std::uint8_t{0});
  return cut_of(graph, sides);
}

std::span<const double> Bisection::total_of(std::size_t level) const {
  return level == 0 ? total_ : coarse_[level - 1].total;
}

double Bisection::divide(const Guide& graph, std::span<const double> total, Window window, std::int64_t aim,
                         Sides& sides) {
  size_ = std::accumulate(graph.size.begin(), graph.size.end(), std::int64_t{0});
  total_ = total;
  std::size_t level = 0;
  const Guide& smallest = coarsen(graph, level);
  if (!go_on(smallest)) return any_division(graph, aim, sides);
  first_division(smallest, level, window, aim, sides);
  if (level > 0) {
    const double cut = refine_upwards(graph, level, window, sides);
    return go_on(smallest) ? cut : any_division(graph, aim, sides);
  }
  if (window.excess(size_of_side_zero(graph, sides)) == 0) return cut_of(graph, sides);
  return refinement_.run(graph, {total_, {}}, window, largest(graph), kPasses, sides);
}

Bisections::Loan Bisections::lend(std::uint64_t seed) {
  std::unique_ptr<Bisection> bisection;
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      bisection = std::move(free_.back());
      free_.pop_back();
    }
  }
  if (!bisection) bisection = std::make_unique<Bisection>(workers_);
  bisection->reseed(seed);
  return {bisection.release(), Return{this}};
}

void Bisections::Return::operator()(Bisection* bisection) const {
  std::unique_ptr<Bisection> mine(bisection);
  const std::lock_guard lock(owner->mutex_);
  try {
    owner->free_.push_back(std::move(mine));
  } catch (const std::bad_alloc&) {  // a deleter does not throw: what finds no memory in the list is freed
    mine.reset();
  }
}

}  // namespace ranktree::core::place::engine
