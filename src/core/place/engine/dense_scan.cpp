#include "core/place/engine/dense_scan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/pattern/matrix.h"
#include "core/pattern/pattern.h"
#include "core/place/engine/graph.h"

namespace ranktree::core::place::engine {
namespace {

using pattern::MatrixView;
using pattern::Rank;

constexpr Rank kTile = 32;
constexpr Rank kPitch =
    36;  // of the turned block: with a power of two its columns would meet in a few lines of a cache
constexpr std::size_t kLanes = 8;

constexpr std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

// Symmetric in its ends, without any order.
std::uint32_t pair_hash(Rank a, Rank b) {
  const auto low = static_cast<std::uint64_t>(std::min(a, b));
  const auto high = static_cast<std::uint64_t>(std::max(a, b));
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

// The strongest pairs of each rank so far. What is below least(rank) cannot be one of them.
class Strongest {
 public:
  Strongest(Rank ranks, std::size_t count, double floor)
      : count_(count),
        room_(2 * count + 8),
        held_(at(ranks), 0),
        least_(at(ranks), std::nextafter(floor, std::numeric_limits<double>::infinity())),
        hash_(at(ranks), 0),
        candidates_(at(ranks) * room_) {}

  [[nodiscard]] const double* least() const { return least_.data(); }

  void offer(Rank rank, Rank to, double weight) {
    const std::size_t i = at(rank);
    if (weight < least_[i]) return;
    const std::uint32_t hash = pair_hash(rank, to);
    if (weight == least_[i] && hash < hash_[i]) return;
    candidates_[i * room_ + held_[i]++] = {weight, to, hash};
    if (held_[i] == room_) keep_strongest(i);
  }

  // Those of a rank, in no order.
  [[nodiscard]] std::vector<Candidate> take(Rank rank) {
    const std::size_t i = at(rank);
    if (held_[i] > count_) keep_strongest(i);
    const auto begin = candidates_.begin() + static_cast<std::ptrdiff_t>(i * room_);
    return {begin, begin + static_cast<std::ptrdiff_t>(held_[i])};
  }

 private:
  void keep_strongest(std::size_t i) {
    const auto begin = candidates_.begin() + static_cast<std::ptrdiff_t>(i * room_);
    const auto last = begin + static_cast<std::ptrdiff_t>(count_) - 1;
    std::nth_element(begin, last, begin + static_cast<std::ptrdiff_t>(held_[i]), stronger);
    held_[i] = count_;
    least_[i] = last->weight;
    hash_[i] = last->hash;
  }

  std::size_t count_, room_;
  std::vector<std::size_t> held_;
  std::vector<double> least_;
  std::vector<std::uint32_t> hash_;  // of the weakest of as many as are kept
  std::vector<Candidate> candidates_;
};

template <class Number>
class Scanner {
 public:
  Scanner(const MatrixView<Number>& matrix, std::size_t strongest, double scale)
      : matrix_(matrix), scale_(scale), floor_(sampled_floor()), strongest_(matrix.ranks, strongest, floor_) {}

  void run() {
    for (Rank row = 0; row < matrix_.ranks; row += kTile) {
      for (Rank column = row; column < matrix_.ranks; column += kTile) add_tiles(row, column);
    }
  }

  [[nodiscard]] double highest() const { return static_cast<double>(highest_); }

  DenseScan result() {
    DenseScan result;
    result.scale = scale_;
    result.symmetric = symmetric_;
    result.total = total_;
    result.strongest = graph();
    return result;
  }

 private:
  // The least weight of some pairs; no pair at all weighs less than what is taken off everywhere in the end.
  [[nodiscard]] double sampled_floor() const {
    constexpr Rank kRows = 4;
    double floor = std::numeric_limits<double>::infinity();
    for (Rank i = 0; i < std::min(kRows, matrix_.ranks); ++i) {
      const Rank row = static_cast<Rank>(static_cast<std::int64_t>(i) * matrix_.ranks / kRows);
      for (Rank column = 0; column < matrix_.ranks; ++column) {
        if (column != row) floor = std::min(floor, weight(row, column));
      }
    }
    return floor >= 0 && std::isfinite(floor) ? floor : 0;
  }

  [[nodiscard]] double weight(Rank a, Rank b) const {
    return static_cast<double>(matrix_.at(a, b)) * scale_ + static_cast<double>(matrix_.at(b, a)) * scale_;
  }

  // A block and its mirror image.
  void add_tiles(Rank row, Rank column) {
    const Rank rows = std::min<Rank>(kTile, matrix_.ranks - row);
    const Rank columns = std::min<Rank>(kTile, matrix_.ranks - column);
    const bool whole = rows == kTile && columns == kTile;
    if (whole) {
      turn(column, row, kTile, kTile);
    } else {
      turn(column, row, columns, rows);
    }
    if (!(whole ? sound_tile(row, column) : sound_edge(row, column, rows, columns))) refuse(row, column, rows, columns);
    for (Rank i = 0; i < rows; ++i) add_row(row + i, column, columns, row == column ? i + 1 : 0);
  }

  // turned_[i][j] is the entry from column + j to row + i.
  void turn(Rank column, Rank row, Rank columns, Rank rows) {
    for (Rank j = 0; j < columns; ++j) {
      const Number* from = matrix_.row(column + j) + row;
      for (Rank i = 0; i < rows; ++i) turned_[at(i * kPitch + j)] = from[i];
    }
  }

  [[nodiscard]] const Number* turned_row(Rank i) const { return turned_.data() + at(i) * at(kPitch); }

  struct Lanes {
    std::array<Number, kLanes> low{};  // what is no number becomes the lowest and stays
    std::array<Number, kLanes> high{};
    std::array<Number, kLanes> apart{};  // not 0: an entry and its mirror image differ

    void take(const Number* there, const Number* back) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const Number a = there[lane];
        const Number b = back[lane];
        low[lane] = a >= 0 ? low[lane] : -1;
        low[lane] = b >= 0 ? low[lane] : -1;
        high[lane] = high[lane] < a ? a : high[lane];
        high[lane] = high[lane] < b ? b : high[lane];
        apart[lane] = a == b ? apart[lane] : 1;
      }
    }
  };

  // Whether all entries of both blocks are numbers that count; in lanes, which compilers make vectors of.
  bool sound_tile(Rank row, Rank column) {
    Lanes lanes;
    for (Rank i = 0; i < kTile; ++i) {
      const Number* there = matrix_.row(row + i) + column;
      const Number* back = turned_row(i);
      for (std::size_t j = 0; j < at(kTile); j += kLanes) lanes.take(there + j, back + j);
    }
    const auto& [low, high, apart] = lanes;
    return sound(*std::min_element(low.begin(), low.end()), *std::max_element(high.begin(), high.end()),
                 *std::max_element(apart.begin(), apart.end()));
  }
  bool sound_edge(Rank row, Rank column, Rank rows, Rank columns) {
    Number low = 0;
    Number high = 0;
    Number apart = 0;
    for (Rank i = 0; i < rows; ++i) {
      const Number* there = matrix_.row(row + i) + column;
      const Number* back = turned_row(i);
      for (Rank j = 0; j < columns; ++j) {
        low = there[j] >= 0 && back[j] >= 0 ? low : -1;
        high = std::max({high, there[j], back[j]});
        apart = there[j] == back[j] ? apart : 1;
      }
    }
    return sound(low, high, apart);
  }
  bool sound(Number low, Number high, Number apart) {
    highest_ = std::max(highest_, high);
    symmetric_ = symmetric_ && apart == 0;
    return low == 0 && high <= std::numeric_limits<Number>::max();
  }

  [[noreturn]] void refuse(Rank row, Rank column, Rank rows, Rank columns) const {
    for (Rank i = row; i < row + rows; ++i) check_row(i, column, columns);
    for (Rank i = column; i < column + columns; ++i) check_row(i, row, rows);
    throw Error(Fault::kInput, "weights: expected finite numbers, at least 0");
  }
  void check_row(Rank row, Rank column, Rank columns) const {
    for (Rank j = column; j < column + columns; ++j) {
      const Number found = matrix_.at(row, j);
      if (std::isfinite(found) && found >= 0) continue;
      std::ostringstream text;
      text << "weights: [" << row << ", " << j << "]: expected a finite number, at least 0, found " << found;
      throw Error(Fault::kInput, text.str());
    }
  }

  // Pairs of one rank with those of a block, from its `first` column on.
  void add_row(Rank row, Rank column, Rank columns, Rank first) {
    const Number* there = matrix_.row(row) + column;
    const Number* back = turned_row(row % kTile);
    std::array<double, kTile> sums{};
    for (Rank j = 0; j < columns; ++j) {
      sums[at(j)] = static_cast<double>(there[j]) * scale_ + static_cast<double>(back[j]) * scale_;
    }
    std::array<double, kLanes> added{};
    if (first == 0 && columns == kTile) {
      for (std::size_t j = 0; j < at(kTile); j += kLanes) {
        for (std::size_t lane = 0; lane < kLanes; ++lane) added[lane] += sums[j + lane];
      }
    } else {
      for (Rank j = first; j < columns; ++j) added[at(j) % kLanes] += sums[at(j)];
    }
    for (const double part : added) total_ += part;
    offer_row(row, column, columns, first, sums);
  }

  void offer_row(Rank row, Rank column, Rank columns, Rank first, const std::array<double, kTile>& sums) {
    const double* least = strongest_.least() + column;
    double lowest = lowest_;
    for (Rank begin = first; begin < columns;) {
      const Rank end = std::min<Rank>((begin / static_cast<Rank>(kLanes) + 1) * static_cast<Rank>(kLanes), columns);
      const double own = strongest_.least()[row];
      bool any = false;
      for (Rank j = begin; j < end; ++j) {
        any |= sums[at(j)] >= std::min(own, least[j]);
        lowest = std::min(lowest, sums[at(j)]);
      }
      for (Rank j = begin; any && j < end; ++j) {
        strongest_.offer(row, column + j, sums[at(j)]);
        strongest_.offer(column + j, row, sums[at(j)]);
      }
      begin = end;
    }
    lowest_ = lowest;
  }

  Graph graph() {
    std::vector<std::vector<Arc>> rows(at(matrix_.ranks));
    for (Rank rank = 0; rank < matrix_.ranks; ++rank) {
      for (const Candidate& one : strongest_.take(rank)) {
        if (one.weight <= lowest_) continue;
        rows[at(rank)].push_back({one.to, one.weight - lowest_});
        rows[at(one.to)].push_back({rank, one.weight - lowest_});
      }
    }
    Graph result;
    result.size.assign(rows.size(), 1);
    for (auto& arcs : rows) {
      std::sort(arcs.begin(), arcs.end(), [](const Arc& a, const Arc& b) { return a.to < b.to; });
      const auto end = std::unique(arcs.begin(), arcs.end(), [](const Arc& a, const Arc& b) { return a.to == b.to; });
      result.arcs.insert(result.arcs.end(), arcs.begin(), end);
      result.offset.push_back(static_cast<std::int64_t>(result.arcs.size()));
    }
    return result;
  }

  const MatrixView<Number>& matrix_;
  double scale_;
  double floor_;
  Strongest strongest_;
  std::array<Number, at(kTile) * at(kPitch)> turned_{};
  Number highest_ = 0;
  bool symmetric_ = true;
  double lowest_ = std::numeric_limits<double>::infinity();
  double total_ = 0;
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
