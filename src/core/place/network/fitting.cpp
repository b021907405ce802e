#include "core/place/network/fitting.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/index.h"
#include "core/place/network/distances.h"
#include "core/place/order/lattice.h"
#include "core/topo/interconnect.h"

namespace ranktree::core::place::network {
namespace {

using engine::Lattice;

// All factorisations of a number into so many factors.
std::vector<std::vector<int>> products(int number, std::size_t factors) {
  if (factors == 1) return {{number}};
  std::vector<std::vector<int>> found;
  for (int factor = 1; factor <= number; ++factor) {
    if (number % factor != 0) continue;
    for (std::vector<int>& rest : products(number / factor, factors - 1)) {
      rest.push_back(factor);
      found.push_back(std::move(rest));
    }
  }
  return found;
}

class Fitting {
 public:
  Fitting(const Distances& distances, const topo::Torus& torus, const Lattice& lattice)
      : torus_(torus), lattice_(lattice) {
    const auto routers = std::accumulate(torus.sizes.begin(), torus.sizes.end(), std::int64_t{1}, std::multiplies<>());
    slots_.resize(at(routers));
    const topo::Interconnect& network = distances.interconnect();
    for (int host = 0; host < network.hosts(); ++host) {
      auto& there = slots_[at(network.positions()[at(host)] / torus.nodes_per_router)];
      for (Slot i = 0; i < distances.capacity(host); ++i) there.push_back(distances.first_slot(host) + i);
    }
    for (const auto& each : slots_) most_ = std::max(most_, each.size());
  }

  std::vector<std::vector<Slot>> run() {
    std::vector<std::vector<Slot>> found;
    if (lattice_.sizes.size() > torus_.sizes.size()) return found;
    for (const std::vector<int>& block : products(static_cast<int>(most_), torus_.sizes.size())) {
      auto slots = placed(block);
      if (slots) found.push_back(std::move(*slots));
    }
    return found;
  }

 private:
  [[nodiscard]] int side(const std::vector<int>& block, std::size_t i) const { return torus_.sizes[i] * block[i]; }

  // By side of the network the side of the grid along it; nothing where one does not fit. A side that the grid lacks is
  // one long.
  [[nodiscard]] std::optional<std::vector<std::size_t>> along(const std::vector<int>& block) const {
    std::vector<std::size_t> sides(torus_.sizes.size());
    std::iota(sides.begin(), sides.end(), std::size_t{0});
    std::stable_sort(sides.begin(), sides.end(),
                     [&](std::size_t a, std::size_t b) { return side(block, a) > side(block, b); });
    std::vector<std::size_t> result(sides.size(), lattice_.sizes.size());
    for (std::size_t j = 0; j < lattice_.sizes.size(); ++j) {  // the longest first
      const int length = side(block, sides[j]);
      if (lattice_.sizes[j] > length) return std::nullopt;
      const bool closes = lattice_.wraps[j] != 0;
      if (closes && (lattice_.sizes[j] != length || torus_.wraps[sides[j]] == 0)) return std::nullopt;
      result[sides[j]] = j;
    }
    return result;
  }

  [[nodiscard]] std::optional<std::vector<Slot>> placed(const std::vector<int>& block) const {
    const auto dimension = along(block);
    if (!dimension) return std::nullopt;
    std::vector<Slot> slots(lattice_.vertex_at.size());
    for (std::size_t place = 0; place < slots.size(); ++place) {
      std::vector<int> where = lattice_.coordinates(static_cast<std::int64_t>(place));
      where.push_back(0);
      std::size_t router = 0;
      std::size_t inside = 0;
      for (std::size_t i = 0; i < block.size(); ++i) {
        router = router * at(torus_.sizes[i]) + at(where[(*dimension)[i]] / block[i]);
        inside = inside * at(block[i]) + at(where[(*dimension)[i]] % block[i]);
      }
      if (inside >= slots_[router].size()) return std::nullopt;
      slots[at(lattice_.vertex_at[place])] = slots_[router][inside];
    }
    return slots;
  }

  const topo::Torus& torus_;
  const Lattice& lattice_;
  std::vector<std::vector<Slot>> slots_;  // by router
  std::size_t most_ = 0;
};

}  // namespace

std::vector<std::vector<Slot>> fitted_placements(const Distances& distances, const Lattice& lattice) {
  const auto* torus = std::get_if<topo::Torus>(&distances.interconnect().network());
  return torus == nullptr ? std::vector<std::vector<Slot>>{} : Fitting(distances, *torus, lattice).run();
}

}  // namespace ranktree::core::place::network
