#include "core/place/engine/dense_scan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <span>
#include <sstream>
#include <vector>

#include "core/base/error.h"
#include "core/pattern/matrix.h"
#include "core/pattern/pattern.h"
#include "core/place/engine/dense_names.h"
#include "core/place/engine/graph.h"

namespace ranktree::core::place::engine {
namespace {

using pattern::MatrixView;
using pattern::Rank;

constexpr Rank kTile = 32;
constexpr Rank kBlock = 8 * kTile;
constexpr Rank kPitch =
    36;  // of the turned block: with a power of two its columns would meet in a few lines of a cache
constexpr std::size_t kLanes = 8;

constexpr std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

// Symmetric in its ends, without any order.
std::uint32_t pair_hash(std::uint32_t a, std::uint32_t b) {
  const auto low = std::uint64_t{std::min(a, b)};
  const auto high = std::uint64_t{std::max(a, b)};
  std::uint64_t value = (low << 32U | high) * 0x9e3779b97f4a7c15U;
  value = (value ^ (value >> 29U)) * 0xbf58476d1ce4e5b9U;
  return static_cast<std::uint32_t>(value >> 32U);
}

struct Candidate {
  double weight;
  Rank to;
  std::uint32_t hash;
};

bool stronger(const Candidate& a, const Candidate& b) {
  return a.weight != b.weight ? a.weight > b.weight : a.hash > b.hash;
}

// The strongest pairs of one rank after the other.
class Strongest {
 public:
  explicit Strongest(std::size_t count) : count_(count), room_(2 * count + 128) { candidates_.reserve(room_); }

  // Of each rank, by which equal pairs are drawn.
  [[nodiscard]] std::vector<std::uint32_t>& names() { return names_; }

  [[nodiscard]] std::size_t count() const { return count_; }
  // What is below that cannot be one of them.
  [[nodiscard]] double least() const { return least_; }

  void begin(Rank rank, double least) {
    candidates_.clear();
    rank_ = rank;
    least_ = least;
    hash_ = 0;
  }

  void offer(Rank to, double weight) {
    const std::uint32_t hash = pair_hash(names_[at(rank_)], names_[at(to)]);
    if (weight < least_ || (weight == least_ && hash < hash_)) return;
    candidates_.push_back({weight, to, hash});
    if (candidates_.size() == room_) keep_strongest();
  }

  // In no order.
  [[nodiscard]] std::span<const Candidate> found() {
    if (candidates_.size() > count_) keep_strongest();
    return candidates_;
  }

 private:
  void keep_strongest() {
    const auto last = candidates_.begin() + static_cast<std::ptrdiff_t>(count_) - 1;
    std::nth_element(candidates_.begin(), last, candidates_.end(), stronger);
    candidates_.resize(count_);
    least_ = candidates_.back().weight;
    hash_ = candidates_.back().hash;
  }

  std::size_t count_, room_;
  std::vector<std::uint32_t> names_;
  std::vector<Candidate> candidates_;
  Rank rank_ = 0;
  double least_ = 0;
  std::uint32_t hash_ = 0;  // of the weakest of as many as are kept
};

// One row of numbers in pieces: the highest of each, the lowest and the sum of all, without the rank's own.
template <class Value>
class RowPieces {
 public:
  explicit RowPieces(Rank ranks) : ranks_(at(ranks)), length_(length_of(ranks_)) {
    highest_.resize((ranks_ + length_ - 1) / length_);
  }

  // The sum is scaled, as that of the largest numbers may not be finite.
  void read(const Value* row, std::size_t own, double factor) {
    factor_ = factor;
    lowest_ = std::numeric_limits<Value>::infinity();
    sum_ = 0;
    for (std::size_t piece = 0; piece < highest_.size(); ++piece) {
      const std::size_t begin = piece * length_;
      const std::size_t end = std::min(begin + length_, ranks_);
      if (end - begin == length_ && (own < begin || own >= end)) {
        highest_[piece] = read_whole(row + begin);
      } else {
        highest_[piece] = read_part(row, begin, end, own);
      }
    }
  }

  [[nodiscard]] std::size_t length() const { return length_; }
  [[nodiscard]] const std::vector<Value>& highest() const { return highest_; }
  [[nodiscard]] Value lowest() const { return lowest_; }
  [[nodiscard]] double sum() const { return sum_; }

 private:
  // So that there are more pieces than pairs to be found.
  static std::size_t length_of(std::size_t ranks) {
    constexpr std::size_t kPieces = 128;
    return std::max<std::size_t>(1, ranks / kPieces / kLanes) * kLanes;
  }

  Value read_whole(const Value* values) {
    std::array<Value, kLanes> high{};
    std::array<Value, kLanes> low;
    std::array<double, kLanes> sums{};
    low.fill(lowest_);
    for (std::size_t i = 0; i < length_; i += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const Value value = values[i + lane];
        high[lane] = high[lane] < value ? value : high[lane];
        low[lane] = value < low[lane] ? value : low[lane];
        sums[lane] += static_cast<double>(value) * factor_;
      }
    }
    for (std::size_t half = kLanes / 2; half > 0; half /= 2) {
      for (std::size_t lane = 0; lane < half; ++lane) {
        high[lane] = std::max(high[lane], high[lane + half]);
        low[lane] = std::min(low[lane], low[lane + half]);
        sums[lane] += sums[lane + half];
      }
    }
    lowest_ = low[0];
    sum_ += sums[0];
    return high[0];
  }

  Value read_part(const Value* row, std::size_t begin, std::size_t end, std::size_t own) {
    Value high = 0;
    for (std::size_t i = begin; i < end; ++i) {
      if (i == own) continue;
      high = std::max(high, row[i]);
      lowest_ = std::min(lowest_, row[i]);
      sum_ += static_cast<double>(row[i]) * factor_;
    }
    return high;
  }

  std::size_t ranks_;
  std::size_t length_;
  std::vector<Value> highest_;
  Value lowest_ = 0;
  double factor_ = 1;
  double sum_ = 0;
};

template <class Number>
class Scanner {
 public:
  Scanner(const MatrixView<Number>& matrix, std::size_t strongest, double scale)
      : matrix_(matrix), scale_(scale), strongest_(strongest) {}

  void run() {
    symmetric_ = is_symmetric();
    const std::vector<Rank> order = order_by_sums(matrix_, symmetric_, strongest_.names());
    named_ = !order.empty();
    floor_ = sampled_floor(order);
    least_ = std::nextafter(floor_, std::numeric_limits<double>::infinity());
    begin_.push_back(0);
    if (symmetric_) {
      RowPieces<Number> pieces(matrix_.ranks);
      for (Rank rank = 0; rank < matrix_.ranks; ++rank) add_row(rank, matrix_.row(rank), 2 * scale_, pieces);
    } else {
      add_sums();
    }
  }

  [[nodiscard]] double highest() const { return highest_; }

  DenseScan result() {
    DenseScan result;
    result.scale = scale_;
    result.symmetric = symmetric_;
    result.named = named_;
    result.total = total_ / 2;
    result.strongest = graph();
    result.whole = none_left_out_ && floor_ == lowest_;
    return result;
  }

 private:
  // Block by block with its mirror image, in larger blocks whose rows stay near; ends at the first that differ.
  [[nodiscard]] bool is_symmetric() {
    for (Rank row = 0; row < matrix_.ranks; row += kBlock) {
      for (Rank column = row; column < matrix_.ranks; column += kBlock) {
        if (!blocks_mirror(row, column)) return false;
      }
    }
    return true;
  }

  [[nodiscard]] bool blocks_mirror(Rank row, Rank column) {
    for (Rank i = row; i < std::min(row + kBlock, matrix_.ranks); i += kTile) {
      for (Rank j = std::max(i, column); j < std::min(column + kBlock, matrix_.ranks); j += kTile) {
        if (!tiles_mirror(i, j)) return false;
      }
    }
    return true;
  }

  [[nodiscard]] bool tiles_mirror(Rank row, Rank column) {
    const Rank rows = std::min<Rank>(kTile, matrix_.ranks - row);
    const Rank columns = std::min<Rank>(kTile, matrix_.ranks - column);
    unsigned apart = 0;
    if (rows == kTile && columns == kTile) {  // known at compile time, which makes vectors
      turn(column, row, kTile, kTile);
      for (Rank i = 0; i < kTile; ++i) apart |= differ(matrix_.row(row + i) + column, turned_row(i), kTile);
    } else {
      turn(column, row, columns, rows);
      for (Rank i = 0; i < rows; ++i) apart |= differ(matrix_.row(row + i) + column, turned_row(i), columns);
    }
    return apart == 0;
  }

  static unsigned differ(const Number* there, const Number* back, Rank count) {
    unsigned apart = 0;
    for (Rank i = 0; i < count; ++i) apart |= there[i] == back[i] ? 0U : 1U;
    return apart;
  }

  // turned_[i][j] is the entry from column + j to row + i.
  void turn(Rank column, Rank row, Rank columns, Rank rows) {
    for (Rank j = 0; j < columns; ++j) {
      const Number* from = matrix_.row(column + j) + row;
      for (Rank i = 0; i < rows; ++i) turned_[at(i * kPitch + j)] = from[i];
    }
  }

  [[nodiscard]] const Number* turned_row(Rank i) const { return turned_.data() + at(i) * at(kPitch); }

  // The least weight of some pairs; no pair at all weighs less than what is taken off everywhere in the end.
  [[nodiscard]] double sampled_floor(const std::vector<Rank>& order) const {
    constexpr Rank kRows = 4;
    double floor = std::numeric_limits<double>::infinity();
    for (Rank i = 0; i < std::min(kRows, matrix_.ranks); ++i) {
      const auto apart = static_cast<Rank>(static_cast<std::int64_t>(i) * matrix_.ranks / kRows);
      const Rank row = named_ ? order[at(i)] : apart;
      for (Rank column = 0; column < matrix_.ranks; ++column) {
        if (column != row) floor = std::min(floor, weight(row, column));
      }
    }
    return floor >= 0 && std::isfinite(floor) ? floor : 0;
  }

  [[nodiscard]] double weight(Rank a, Rank b) const {
    return static_cast<double>(matrix_.at(a, b)) * scale_ + static_cast<double>(matrix_.at(b, a)) * scale_;
  }

  // Both directions added, some ranks at a time.
  void add_sums() {
    RowPieces<double> pieces(matrix_.ranks);
    std::vector<double> sums(at(kTile) * at(matrix_.ranks));
    for (Rank row = 0; row < matrix_.ranks; row += kTile) {
      const Rank rows = std::min<Rank>(kTile, matrix_.ranks - row);
      for (Rank column = 0; column < matrix_.ranks; column += kTile) add_directions(row, rows, column, sums);
      for (Rank i = 0; i < rows; ++i) {
        check_row(row + i);
        add_row(row + i, &sums[at(i) * at(matrix_.ranks)], 1.0, pieces);
      }
    }
  }

  void add_directions(Rank row, Rank rows, Rank column, std::vector<double>& sums) {
    const Rank columns = std::min<Rank>(kTile, matrix_.ranks - column);
    turn(column, row, columns, rows);
    for (Rank i = 0; i < rows; ++i) {
      const Number* there = matrix_.row(row + i) + column;
      const Number* back = turned_row(i);
      double* sum = &sums[at(i) * at(matrix_.ranks) + at(column)];
      for (Rank j = 0; j < columns; ++j) {
        sum[j] = static_cast<double>(there[j]) * scale_ + static_cast<double>(back[j]) * scale_;
      }
    }
  }

  // What one rank exchanges with all, of which a part is given; the strongest are kept.
  template <class Value>
  void add_row(Rank rank, const Value* row, double factor, RowPieces<Value>& pieces) {
    pieces.read(row, at(rank), factor);
    const auto& highest = pieces.highest();
    if (!sound(matrix_.at(rank, rank)) || !(pieces.lowest() >= 0) || !std::isfinite(pieces.sum())) check_row(rank);
    highest_ = std::max(highest_, static_cast<double>(*std::max_element(highest.begin(), highest.end())));
    lowest_ = std::min(lowest_, static_cast<double>(pieces.lowest()) * factor);
    total_ += pieces.sum();
    strongest_.begin(rank, least_of(highest, factor));
    near_.resize(pieces.length() + 1);
    for (std::size_t piece = 0; piece < highest.size(); ++piece) {
      if (static_cast<double>(highest[piece]) * factor < strongest_.least()) continue;
      const std::size_t end = std::min((piece + 1) * pieces.length(), at(matrix_.ranks));
      const std::size_t begin = piece * pieces.length();
      std::size_t found = 0;  // without a branch: nobody can foresee who is one
      for (std::size_t i = begin; i < end; ++i) {
        near_[found] = static_cast<Rank>(i);
        found += static_cast<double>(row[i]) * factor >= strongest_.least() && i != at(rank) ? 1 : 0;
      }
      for (std::size_t i = 0; i < found; ++i) {
        strongest_.offer(near_[i], static_cast<double>(row[at(near_[i])]) * factor);
      }
    }
    const auto found = strongest_.found();
    none_left_out_ = none_left_out_ && found.size() < strongest_.count();
    kept_.insert(kept_.end(), found.begin(), found.end());
    begin_.push_back(kept_.size());
  }

  // As many pieces have a pair that weighs so much as pairs are sought.
  template <class Value>
  double least_of(const std::vector<Value>& highest, double factor) {
    const std::size_t count = strongest_.count();
    if (highest.size() < count) return least_;
    ordered_.assign(highest.begin(), highest.end());
    const auto last = ordered_.begin() + static_cast<std::ptrdiff_t>(count) - 1;
    std::nth_element(ordered_.begin(), last, ordered_.end(), std::greater<>());
    return std::max(least_, *last * factor);
  }

  static bool sound(Number value) { return std::isfinite(value) && value >= 0; }

  void check_row(Rank row) const {
    for (Rank j = 0; j < matrix_.ranks; ++j) {
      const Number found = matrix_.at(row, j);
      if (sound(found)) continue;
      std::ostringstream text;
      text << "weights: [" << row << ", " << j << "]: expected a finite number, at least 0, found " << found;
      throw Error(Fault::kInput, text.str());
    }
  }

  // What a rank keeps, and what others keep of it, ascending. Whoever is told something by all in turn has it in order.
  [[nodiscard]] Graph graph() const {
    const std::size_t ranks = at(matrix_.ranks);
    std::vector<std::vector<Arc>> told(ranks);
    for (std::size_t i = 0; i < ranks; ++i) {
      for (std::size_t j = begin_[i]; j < begin_[i + 1]; ++j) {
        const Candidate& one = kept_[j];
        if (one.weight > lowest_) told[at(one.to)].push_back({static_cast<Vertex>(i), one.weight - lowest_});
      }
    }
    std::vector<std::vector<Arc>> own(ranks);
    for (std::size_t i = 0; i < ranks; ++i) {
      for (const Arc& arc : told[i]) own[at(arc.to)].push_back({static_cast<Vertex>(i), arc.weight});
    }
    Graph result;
    result.size.assign(ranks, 1);
    for (std::size_t i = 0; i < ranks; ++i) {
      std::set_union(own[i].begin(), own[i].end(), told[i].begin(), told[i].end(), std::back_inserter(result.arcs),
                     [](const Arc& a, const Arc& b) { return a.to < b.to; });
      result.offset.push_back(static_cast<std::int64_t>(result.arcs.size()));
    }
    return result;
  }

  const MatrixView<Number>& matrix_;
  double scale_;
  double floor_ = 0;           // of the pairs looked at first
  double least_ = 0;           // of a pair that counts
  bool none_left_out_ = true;  // no rank has more of those than are kept
  Strongest strongest_;
  std::vector<Candidate> kept_;
  std::vector<std::size_t> begin_;  // by rank, in kept_
  std::vector<double> ordered_;
  std::vector<Rank> near_;  // of a piece
  std::array<Number, at(kTile) * at(kPitch)> turned_{};
  double highest_ = 0;
  bool named_ = false;
  bool symmetric_ = true;
  double lowest_ = std::numeric_limits<double>::infinity();
  double total_ = 0;  // of all pairs, each twice
};

}  // namespace

template <class Number>
DenseScan scan(const MatrixView<Number>& matrix, std::size_t strongest) {
  Scanner<Number> scanner(matrix, strongest, 1);
  scanner.run();
  // Weights so large that their sums might overflow are rare enough to be read twice.
  constexpr int kLargest = 900;
  if (scanner.highest() == 0 || std::ilogb(scanner.highest()) < kLargest) return scanner.result();
  Scanner<Number> again(matrix, strongest, std::ldexp(1.0, kLargest - 1024));
  again.run();
  return again.result();
}

bool is_shapeless(const Graph& guide) {
  constexpr std::size_t kMany = 24;  // partners on the mean; of fewer, none in common says little
  constexpr Vertex kSample = 64;
  constexpr std::size_t kStep = 3;
  constexpr double kRare = 0.1;
  if (guide.arcs.size() < kMany * guide.size.size()) return false;
  double partners = 0;
  double shared = 0;
  std::vector<Vertex> seen(guide.size.size(), -1);  // by whom last, of the first ones of pairs
  for (Vertex i = 0; i < kSample; ++i) {
    const auto arcs = guide.arcs_of(static_cast<Vertex>(std::int64_t{i} * guide.vertices() / kSample));
    for (std::size_t j = kStep; j < arcs.size(); j += kStep) {
      const Vertex one = arcs[j - kStep].to;
      for (const Arc& arc : guide.arcs_of(one)) seen[at(arc.to)] = one;
      const auto others = guide.arcs_of(arcs[j].to);
      shared += static_cast<double>(
          std::count_if(others.begin(), others.end(), [&](const Arc& arc) { return seen[at(arc.to)] == one; }) - 1);
      partners += static_cast<double>(std::min(guide.arcs_of(one).size(), others.size()) - 1);
    }
  }
  return shared < kRare * partners;
}

template DenseScan scan(const MatrixView<double>& matrix, std::size_t strongest);
template DenseScan scan(const MatrixView<float>& matrix, std::size_t strongest);

}  // namespace ranktree::core::place::engine
