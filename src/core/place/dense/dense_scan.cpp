#include "core/place/dense/dense_scan.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <sstream>
#include <vector>

#include "core/base/error.h"
#include "core/base/index.h"
#include "core/base/random.h"
#include "core/base/workers.h"
#include "core/pattern/matrix.h"
#include "core/pattern/pattern.h"
#include "core/place/dense/dense_weights.h"
#include "core/place/graph/graph.h"

namespace ranktree::core::place::engine {
namespace {

using pattern::MatrixView;
using pattern::Rank;

constexpr Rank kTile = 32;
constexpr std::size_t kLanes = 8;  // sums that are added up side by side, in vectors
constexpr int kBlocks = 16;        // of rows that threads share, as many however many threads there are

// Calls work(block, first, last) for ranges of ranks that begin with a tile.
void for_each_block(Rank ranks, Workers& workers, const std::function<void(int, Rank, Rank)>& work) {
  const std::int64_t tiles = (std::int64_t{ranks} + kTile - 1) / kTile;
  const auto begin = [&](int block) {
    return static_cast<Rank>(std::min<std::int64_t>(ranks, block * tiles / kBlocks * kTile));
  };
  workers.for_each(kBlocks, steps_of_entries(at(ranks) * at(ranks)),
                   [&](int block) { work(block, begin(block), begin(block + 1)); });
}

template <class Number>
bool sound(Number value) {
  return value >= 0 && value <= std::numeric_limits<Number>::max();
}

template <class Number>
void refuse_unsound(const MatrixView<Number>& matrix) {
  for (Rank i = 0; i < matrix.ranks; ++i) {
    const Number* row = matrix.row(i);
    for (Rank j = 0; j < matrix.ranks; ++j) {
      if (sound(row[j])) continue;
      std::ostringstream text;
      text << "weights: [" << i << ", " << j << "]: expected a finite number, at least 0, found " << row[j];
      throw Error(Fault::kInput, text.str());
    }
  }
}

// Rows of the matrix from the diagonal on, tile by tile beside their mirror images.
template <class Number>
class Mirror {
 public:
  explicit Mirror(const MatrixView<Number>& matrix) : matrix_(matrix) {}

  struct Found {
    bool symmetric = true;
    // Where it is symmetric:
    bool sound = true;
    Number lowest = 0;
    // Anyhow:
    Number highest = 0;
  };

  Found look(Rank first, Rank last) {
    lowest_.fill(std::numeric_limits<Number>::infinity());
    for (Rank row = first; row < last; row += kTile) {
      for (Rank column = row; column < matrix_.ranks; column += kTile) look_at(row, column);
    }
    Found found;
    found.symmetric = std::all_of(differs_.begin(), differs_.end(), [](unsigned each) { return each == 0; });
    found.highest = *std::max_element(highest_.begin(), highest_.end());
    found.lowest = *std::min_element(lowest_.begin(), lowest_.end());
    found.sound = sound_ && sound(found.highest) && found.lowest >= 0;
    return found;
  }

  // sums[i][j]: what goes from row + i to column + j and back.
  void add_directions(Rank row, Rank column, double scale, std::span<double> sums) {
    const Rank columns = transpose(row, column);
    for (Rank i = 0; i < std::min<Rank>(kTile, matrix_.ranks - row); ++i) {
      const Number* there = matrix_.row(row + i) + column;
      double* sum = &sums[at(i) * at(matrix_.ranks) + at(column)];
      for (Rank j = 0; j < columns; ++j) {
        sum[j] = static_cast<double>(there[j]) * scale + static_cast<double>(turned_[at(i)][at(j)]) * scale;
      }
    }
  }

 private:
  // turned_[i][j] becomes the entry from column + j to row + i. The number of columns.
  Rank transpose(Rank row, Rank column) {
    const Rank rows = std::min<Rank>(kTile, matrix_.ranks - row);
    const Rank columns = std::min<Rank>(kTile, matrix_.ranks - column);
    for (Rank j = 0; j < columns; ++j) {
      const Number* from = matrix_.row(column + j) + row;
      for (Rank i = 0; i < rows; ++i) turned_[at(i)][at(j)] = from[i];
    }
    return columns;
  }

  void look_at(Rank row, Rank column) {
    const Rank columns = transpose(row, column);
    const Rank rows = std::min<Rank>(kTile, matrix_.ranks - row);
    for (Rank i = 0; i < rows; ++i) {
      const Number* there = matrix_.row(row + i) + column;
      const Number* back = turned_[at(i)].data();
      if (row == column) {  // what a rank sends to itself counts for nothing but has to be sound
        sound_ = sound_ && sound(there[i]);
        compare(there + i + 1, back + i + 1, at(columns - i - 1));
      } else if (columns == kTile) {  // a length that the compiler knows makes vectors
        compare(there, back, at(kTile));
      } else {
        compare(there, back, at(columns));
      }
    }
  }

  // By column of a tile: sums and extremes of one number each could not be vectors. NaN differs from itself.
  void compare(const Number* there, const Number* back, std::size_t count) {
    for (std::size_t j = 0; j < count; ++j) {
      differs_[j] |= there[j] == back[j] ? 0U : 1U;
      lowest_[j] = there[j] < lowest_[j] ? there[j] : lowest_[j];
      const Number higher = there[j] > back[j] ? there[j] : back[j];
      highest_[j] = higher > highest_[j] ? higher : highest_[j];
    }
  }

  // A pitch that is no power of two: columns of a tile would otherwise share a few lines of a cache.
  static constexpr std::size_t kPitch = at(kTile) + 4;
  const MatrixView<Number>& matrix_;
  std::array<std::array<Number, kPitch>, at(kTile)> turned_{};
  std::array<unsigned, at(kTile)> differs_{};
  std::array<Number, at(kTile)> lowest_{}, highest_{};
  bool sound_ = true;  // what ranks send to themselves
};

// The whole matrix.
template <class Number>
typename Mirror<Number>::Found mirrored(const MatrixView<Number>& matrix, Workers& workers) {
  using Found = typename Mirror<Number>::Found;
  std::array<Found, at(kBlocks)> blocks{};
  for_each_block(matrix.ranks, workers, [&](int block, Rank first, Rank last) {
    blocks.at(at(block)) = Mirror<Number>(matrix).look(first, last);
  });
  Found all = blocks.back();
  for (const Found& each : blocks) {
    all.symmetric = all.symmetric && each.symmetric;
    all.sound = all.sound && each.sound;
    all.lowest = std::min(all.lowest, each.lowest);
    all.highest = std::max(all.highest, each.highest);
  }
  return all;
}

// Calls `visitor` with each rank and what it exchanges with all, both directions added; its own entry counts as any.
// Threads share the ranks; each block of them has a copy of the visitor.
template <class Number, class Visitor>
void for_each_row(const MatrixView<Number>& matrix, bool symmetric, double scale, Workers& workers,
                  const Visitor& visitor) {
  const std::size_t ranks = at(matrix.ranks);
  for_each_block(matrix.ranks, workers, [&](int, Rank first, Rank last) {
    Visitor visit = visitor;
    std::vector<double> rows((symmetric ? 1 : at(kTile)) * ranks);
    Mirror<Number> mirror(matrix);
    for (Rank rank = first; rank < last; ++rank) {
      if (symmetric) {
        const Number* row = matrix.row(rank);
        for (std::size_t i = 0; i < ranks; ++i) rows[i] = 2 * scale * static_cast<double>(row[i]);
        visit(rank, rows.data());
        continue;
      }
      if (rank % kTile == 0) {
        for (Rank column = 0; column < matrix.ranks; column += kTile) mirror.add_directions(rank, column, scale, rows);
      }
      visit(rank, &rows[at(rank % kTile) * ranks]);
    }
  });
}

struct Sums {
  double weights = 0;
  double squares = 0;
};

// Of a part of a row.
Sums sums_of(const double* begin, const double* end) {
  std::array<double, kLanes> weights{};
  std::array<double, kLanes> squares{};
  const double* const whole = begin + (end - begin) / static_cast<std::ptrdiff_t>(kLanes * kLanes) * kLanes * kLanes;
  const auto add = [&](std::size_t lane, double weight) {
    weights[lane] += weight;
    squares[lane] += weight * weight;
  };
  for (; begin < whole; begin += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) add(lane, begin[lane]);
  }
  for (; begin < end; ++begin) add(0, *begin);
  Sums sums;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    sums.weights += weights[lane];
    sums.squares += squares[lane];
  }
  return sums;
}

// What ranks are called by: a hash of what each exchanges in all. Ranks that share it get their numbers in it.
struct Names {
  std::vector<std::uint32_t> of;
  bool differ = false;  // three quarters of them
};

// 24 bits of a sum's mantissa: the numbering decides how sums are rounded, and the exponent depends on the scale.
std::uint64_t rounded(double sum) {
  return (std::bit_cast<std::uint64_t>(sum) & ((std::uint64_t{1} << 52U) - 1)) >> 28U;
}

Names names_of(const std::vector<Sums>& sums) {
  std::vector<std::uint64_t> name;
  name.reserve(sums.size());
  for (const Sums& each : sums) name.push_back(seed_of(rounded(each.weights), rounded(each.squares)));
  std::vector<std::uint64_t> sorted = name;
  std::sort(sorted.begin(), sorted.end());
  const auto is_shared = [&](std::uint64_t one) {
    const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), one);
    return last - first > 1;
  };
  Names names;
  for (std::size_t i = 0; i < name.size(); ++i) {
    names.of.push_back(static_cast<std::uint32_t>(is_shared(name[i]) ? seed_of(name[i], i) : name[i]));
  }
  const auto different = std::unique(sorted.begin(), sorted.end()) - sorted.begin();
  names.differ = 4 * at(different) > 3 * sums.size();
  return names;
}

// Symmetric in its ends, without any order.
std::uint32_t pair_hash(std::uint32_t a, std::uint32_t b) {
  const auto low = std::uint64_t{std::min(a, b)};
  const auto high = std::uint64_t{std::max(a, b)};
  std::uint64_t value = (low << 32U | high) * 0x9e3779b97f4a7c15U;
  value = (value ^ (value >> 29U)) * 0xbf58476d1ce4e5b9U;
  return static_cast<std::uint32_t>(value >> 32U);
}

struct Partner {
  double weight;
  Rank to;
  std::uint32_t hash;
};

// The strongest pairs of one rank after the other, of those that weigh more than the lightest.
class Strongest {
 public:
  Strongest(const Names& names, std::size_t count, double lightest)
      : names_(names),
        count_(count),
        lightest_(lightest),
        buffer_size_(2 * count + 128),
        length_(std::max<std::size_t>(1, names.of.size() / kPieces / kLanes) * kLanes) {}

  // In no order. `row`: with 0 for the rank itself.
  std::span<const Partner> of(Rank rank, std::span<const double> row) {
    partners_.clear();
    hash_ = 0;
    highest_.clear();
    for (std::size_t begin = 0; begin < row.size(); begin += length_) highest_.push_back(highest_of(piece(row, begin)));
    least_ = std::max(std::nextafter(lightest_, std::numeric_limits<double>::infinity()), least_of_strongest());
    for (std::size_t i = 0; i < highest_.size(); ++i) {
      if (highest_[i] < least_) continue;
      Rank to = static_cast<Rank>(i * length_);
      for (const double weight : piece(row, i * length_)) {
        if (weight >= least_) offer(rank, to, weight);
        ++to;
      }
    }
    if (partners_.size() > count_) keep_strongest();
    return partners_;
  }

 private:
  static constexpr std::size_t kPieces = 128;  // of a row: more than pairs are sought

  [[nodiscard]] std::span<const double> piece(std::span<const double> row, std::size_t begin) const {
    return row.subspan(begin, std::min(length_, row.size() - begin));
  }

  static double highest_of(std::span<const double> piece) {
    std::array<double, kLanes> high{};
    const std::size_t whole = piece.size() / kLanes * kLanes;
    for (std::size_t i = 0; i < whole; i += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) high[lane] = std::max(high[lane], piece[i + lane]);
    }
    for (std::size_t i = whole; i < piece.size(); ++i) high[0] = std::max(high[0], piece[i]);
    return *std::max_element(high.begin(), high.end());
  }

  // As many pieces have a pair that weighs so much as pairs are sought. 0: there are fewer pieces.
  double least_of_strongest() {
    if (highest_.size() < count_) return 0;
    ordered_ = highest_;
    const auto last = ordered_.begin() + static_cast<std::ptrdiff_t>(count_) - 1;
    std::nth_element(ordered_.begin(), last, ordered_.end(), std::greater<>());
    return *last;
  }

  void offer(Rank rank, Rank to, double weight) {
    const std::uint32_t hash = pair_hash(names_.of[at(rank)], names_.of[at(to)]);
    if (weight < least_ || (weight == least_ && hash < hash_)) return;
    partners_.push_back({weight, to, hash});
    if (partners_.size() == buffer_size_) keep_strongest();
  }

  void keep_strongest() {
    const auto last = partners_.begin() + static_cast<std::ptrdiff_t>(count_) - 1;
    std::nth_element(partners_.begin(), last, partners_.end(), [](const Partner& a, const Partner& b) {
      return a.weight != b.weight ? a.weight > b.weight : a.hash > b.hash;
    });
    partners_.resize(count_);
    least_ = partners_.back().weight;
    hash_ = partners_.back().hash;
  }

  const Names& names_;
  std::size_t count_;
  double lightest_;
  std::size_t buffer_size_;
  std::size_t length_;           // of a piece
  std::vector<double> highest_;  // of each piece
  std::vector<double> ordered_;
  std::vector<Partner> partners_;
  double least_ = 0;
  std::uint32_t hash_ = 0;  // of the weakest of as many as are kept
};

// What each rank keeps, and what others keep of it, ascending.
Graph graph_of(const std::vector<std::vector<Arc>>& kept) {
  std::vector<std::vector<Arc>> rows(kept.size());
  for (std::size_t i = 0; i < kept.size(); ++i) {
    for (const Arc& arc : kept[i]) {
      rows[i].push_back(arc);
      rows[at(arc.to)].push_back({static_cast<Vertex>(i), arc.weight});
    }
  }
  Graph graph;
  graph.size.assign(rows.size(), 1);
  for (auto& row : rows) {
    std::sort(row.begin(), row.end(), [](const Arc& a, const Arc& b) { return a.to < b.to; });
    const auto end = std::unique(row.begin(), row.end(), [](const Arc& a, const Arc& b) { return a.to == b.to; });
    graph.arcs.insert(graph.arcs.end(), row.begin(), end);
    graph.offset.push_back(static_cast<std::int64_t>(graph.arcs.size()));
  }
  return graph;
}

}  // namespace

template <class Number>
DenseScan scan(const MatrixView<Number>& matrix, std::size_t strongest, Workers& workers) {
  constexpr int kLargest = 900;  // the exponent from which sums might overflow
  const auto found = mirrored(matrix, workers);
  if (!found.symmetric || !found.sound) refuse_unsound(matrix);
  DenseScan result;
  result.symmetric = found.symmetric;
  const double highest = static_cast<double>(found.highest);
  if (highest > 0 && std::ilogb(highest) >= kLargest) result.scale = std::ldexp(1.0, kLargest - 1024);
  std::vector<Sums> sums(at(matrix.ranks));
  std::vector<double> lightest(at(matrix.ranks), 2 * result.scale * static_cast<double>(found.lowest));
  for_each_row(matrix, result.symmetric, result.scale, workers, [&](Rank rank, double* row) {
    const Sums before = sums_of(row, row + rank);
    const Sums after = sums_of(row + rank + 1, row + matrix.ranks);
    sums[at(rank)] = {before.weights + after.weights, before.squares + after.squares};
    if (result.symmetric) return;
    row[at(rank)] = std::numeric_limits<double>::infinity();
    lightest[at(rank)] = *std::min_element(row, row + matrix.ranks);
  });
  for (const Sums& each : sums) result.total += each.weights / 2;
  const double least = *std::min_element(lightest.begin(), lightest.end());
  const Names names = names_of(sums);
  result.named = names.differ;
  std::vector<std::vector<Arc>> kept(at(matrix.ranks));
  const auto keep = [&, search = Strongest(names, strongest, least)](Rank rank, double* row) mutable {
    row[at(rank)] = 0;
    for (const Partner& pair : search.of(rank, {row, at(matrix.ranks)})) {
      kept[at(rank)].push_back({pair.to, pair.weight - least});
    }
  };
  for_each_row(matrix, result.symmetric, result.scale, workers, keep);
  result.whole = std::all_of(kept.begin(), kept.end(), [&](const auto& pairs) { return pairs.size() < strongest; });
  result.strongest = graph_of(kept);
  return result;
}

template DenseScan scan(const MatrixView<double>& matrix, std::size_t strongest, Workers& workers);
template DenseScan scan(const MatrixView<float>& matrix, std::size_t strongest, Workers& workers);

}  // namespace ranktree::core::place::engine
