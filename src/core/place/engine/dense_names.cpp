#include "core/place/engine/dense_names.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "core/base/random.h"
#include "core/pattern/matrix.h"
#include "core/pattern/pattern.h"

namespace ranktree::core::place::engine {
namespace {

using pattern::MatrixView;
using pattern::Rank;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

struct Sums {
  double weights = 0;
  double squares = 0;
  void add(double weight) {
    weights += weight;
    squares += weight * weight;
  }
};

template <class Number>
Sums sums_of(const Number* begin, const Number* end) {
  constexpr std::size_t kLanes = 8;
  std::array<double, kLanes> weights{};
  std::array<double, kLanes> squares{};
  Sums sums;
  for (; end - begin >= static_cast<std::ptrdiff_t>(kLanes); begin += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const auto weight = static_cast<double>(begin[lane]);
      weights[lane] += weight;
      squares[lane] += weight * weight;
    }
  }
  for (; begin < end; ++begin) sums.add(static_cast<double>(*begin));
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    sums.weights += weights[lane];
    sums.squares += squares[lane];
  }
  return sums;
}

// Without the rank's own entry.
template <class Number>
Sums sums_of_row(const MatrixView<Number>& matrix, Rank rank) {
  const Number* row = matrix.row(rank);
  const Sums before = sums_of(row, row + rank);
  const Sums after = sums_of(row + rank + 1, row + matrix.ranks);
  return {before.weights + after.weights, before.squares + after.squares};
}

// Of both directions, without ranks' own entries.
template <class Number>
std::vector<Sums> sums_of_ranks(const MatrixView<Number>& matrix, bool symmetric) {
  std::vector<Sums> sums(at(matrix.ranks));
  for (Rank rank = 0; rank < matrix.ranks; ++rank) {
    const Number* row = matrix.row(rank);
    const Sums own = sums_of_row(matrix, rank);
    sums[at(rank)].weights += own.weights;
    sums[at(rank)].squares += own.squares;
    if (symmetric) continue;
    for (Rank other = 0; other < matrix.ranks; ++other) {
      if (other != rank) sums[at(other)].add(static_cast<double>(row[other]));
    }
  }
  return sums;
}

// 24 bits of it: numbering decides how sums are rounded.
std::uint64_t rounded(double sum) {
  constexpr unsigned kRounding = 28;
  return std::bit_cast<std::uint64_t>(sum) >> kRounding;
}

struct Known {
  std::uint64_t weights;
  std::uint64_t squares;
  Rank rank;
  auto operator<=>(const Known&) const = default;
  [[nodiscard]] bool is_like(const Known& other) const { return weights == other.weights && squares == other.squares; }
};

// Whether the sums of some rows are mostly different.
template <class Number>
bool tell_apart(const MatrixView<Number>& matrix) {
  constexpr Rank kRows = 64;
  const Rank rows = std::min(kRows, matrix.ranks);
  std::vector<Known> known;
  for (Rank i = 0; i < rows; ++i) {
    const auto rank = static_cast<Rank>(static_cast<std::int64_t>(i) * matrix.ranks / rows);
    const Sums sums = sums_of_row(matrix, rank);
    known.push_back({rounded(sums.weights), rounded(sums.squares), 0});
  }
  std::sort(known.begin(), known.end());
  return 4 * (std::unique(known.begin(), known.end()) - known.begin()) > 3 * std::int64_t{rows};
}

}  // namespace

template <class Number>
std::vector<Rank> order_by_sums(const MatrixView<Number>& matrix, bool symmetric, std::vector<std::uint32_t>& names) {
  if (!tell_apart(matrix)) {
    names.resize(at(matrix.ranks));
    std::iota(names.begin(), names.end(), 0U);
    return {};
  }
  std::vector<Known> known;
  known.reserve(at(matrix.ranks));
  for (const Sums& sums : sums_of_ranks(matrix, symmetric)) {
    known.push_back({rounded(sums.weights), rounded(sums.squares), static_cast<Rank>(known.size())});
  }
  std::sort(known.begin(), known.end());
  names.resize(known.size());
  std::vector<Rank> order;
  order.reserve(known.size());
  for (std::size_t i = 0; i < known.size(); ++i) {
    const bool shared =
        (i > 0 && known[i - 1].is_like(known[i])) || (i + 1 < known.size() && known[i + 1].is_like(known[i]));
    const std::uint64_t name = seed_of(known[i].weights, known[i].squares);
    const auto number = static_cast<std::uint64_t>(known[i].rank);
    names[at(known[i].rank)] = static_cast<std::uint32_t>(shared ? seed_of(name, number) : name);
    order.push_back(known[i].rank);
  }
  return order;
}

template std::vector<Rank> order_by_sums(const MatrixView<double>&, bool, std::vector<std::uint32_t>&);
template std::vector<Rank> order_by_sums(const MatrixView<float>&, bool, std::vector<std::uint32_t>&);

}  // namespace ranktree::core::place::engine
