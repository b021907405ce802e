// Rank reordering for C++20: the new communicator as an object, which its destructor frees. Link with
// libranktree_mpi_<mpi>. ranktree/mpi.h explains meaning, info keys and errors. Source: reorder-2011 §3.
//
//   const ranktree::Reordered grid = ranktree::Reordered::cart(MPI_COMM_WORLD, dims, periods);
//   MPI_Cart_shift(grid.comm(), 0, 1, &left, &right);
#ifndef RANKTREE_REORDER_HPP
#define RANKTREE_REORDER_HPP

#include <mpi.h>

#include <cstddef>
#include <locale>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "ranktree/mpi.h"
#include "ranktree/mpi_error.hpp"

namespace ranktree {

/** Edges that this rank declares, as MPI_Dist_graph_create() takes them. Borrowed for the call. */
struct GraphEdges {
  std::span<const int> sources;
  std::span<const int> degrees; /**< number of edges of each source */
  std::span<const int> destinations;
  std::span<const int> weights; /**< one each edge; empty on all ranks: every edge counts once */
};

/** A communicator in a new order. Owns it: move only. Freeing is collective, so all of its ranks must destroy theirs;
 * after MPI_Finalize the destructor frees nothing. Factories are collective over the old communicator and throw Error
 * where its error handler returns. */
class Reordered {
 public:
  /** As ranktree_Cart_create(). Ranks beyond the grid get an empty object. \param periods one each dimension */
  static Reordered cart(MPI_Comm old, std::span<const int> dims, std::span<const int> periods, bool reorder = true) {
    if (dims.size() != periods.size()) throw Error(RANKTREE_ERROR_INPUT, "periods: expected one each dimension");
    return make("ranktree_Cart_create", old, [&](MPI_Comm* made) {
      return ranktree_Cart_create(old, static_cast<int>(dims.size()), dims.data(), periods.data(), reorder ? 1 : 0,
                                  made);
    });
  }

  /** As ranktree_Cart_create_weighted(): a grid that fits the machine. \param weights one each dimension, or none: all
   * equal \param periods one each dimension \param[in,out] dims one each dimension; 0: to be chosen */
  static Reordered cart_weighted(MPI_Comm old, std::span<const double> weights, std::span<const int> periods,
                                 std::span<int> dims, MPI_Info info = MPI_INFO_NULL) {
    if (dims.size() != periods.size()) throw Error(RANKTREE_ERROR_INPUT, "periods: expected one each dimension");
    if (!weights.empty() && dims.size() != weights.size()) {
      throw Error(RANKTREE_ERROR_INPUT, "weights: expected one each dimension");
    }
    return make("ranktree_Cart_create_weighted", old, [&](MPI_Comm* made) {
      return ranktree_Cart_create_weighted(old, static_cast<int>(dims.size()),
                                           weights.empty() ? nullptr : weights.data(), periods.data(), info,
                                           dims.data(), made);
    });
  }

  /**
   * As ranktree_Dist_graph_create().
   * \throws Error where the lengths of `edges` do not fit each other, before any communication: other ranks wait
   */
  static Reordered graph(MPI_Comm old, const GraphEdges& edges, bool reorder = true, MPI_Info info = MPI_INFO_NULL) {
    require_lengths(edges);
    return make("ranktree_Dist_graph_create", old, [&](MPI_Comm* made) {
      const bool none = edges.weights.empty() && !edges.destinations.empty();
      const int* weights = none ? MPI_UNWEIGHTED : edges.weights.data();
      if (edges.destinations.empty()) weights = MPI_WEIGHTS_EMPTY;
      return ranktree_Dist_graph_create(old, static_cast<int>(edges.sources.size()), edges.sources.data(),
                                        edges.degrees.data(), edges.destinations.data(), weights, info, reorder ? 1 : 0,
                                        made);
    });
  }

  /** As ranktree_Comm_rebalance(): empty where the present order stays. */
  static Reordered rebalanced(MPI_Comm comm, MPI_Info info = MPI_INFO_NULL) {
    return make("ranktree_Comm_rebalance", comm,
                [&](MPI_Comm* made) { return ranktree_Comm_rebalance(comm, info, nullptr, made); });
  }

  /** Empty. Local. */
  Reordered() noexcept = default;
  Reordered(const Reordered&) = delete;
  Reordered& operator=(const Reordered&) = delete;
  Reordered(Reordered&& other) noexcept : comm_(std::exchange(other.comm_, MPI_COMM_NULL)) {}
  Reordered& operator=(Reordered&& other) noexcept {
    if (this != &other) {
      free();
      comm_ = std::exchange(other.comm_, MPI_COMM_NULL);
    }
    return *this;
  }
  ~Reordered() { free(); }

  [[nodiscard]] bool empty() const noexcept { return comm_ == MPI_COMM_NULL; }
  /** MPI_COMM_NULL where empty. Never free it: release() passes it to the caller. */
  [[nodiscard]] MPI_Comm comm() const noexcept { return comm_; }
  [[nodiscard]] MPI_Comm release() noexcept { return std::exchange(comm_, MPI_COMM_NULL); }

  /** How the order was found: "identity", "central", "node", "distributed" or "tiling"; "" where empty. Local. */
  [[nodiscard]] std::string how() const { return value("ranktree_reorder").value_or(""); }
  /** Why no rank has changed; "" where one has. Local. */
  [[nodiscard]] std::string reason() const { return value("ranktree_reorder_reason").value_or(""); }
  /** Cost in hops x weight before and after; nothing where it is not known. Local. */
  [[nodiscard]] std::optional<double> cost_before() const { return number("ranktree_reorder_before"); }
  [[nodiscard]] std::optional<double> cost_after() const { return number("ranktree_reorder_after"); }

 private:
  // What C would read beyond. The degrees themselves are checked by the call.
  static void require_lengths(const GraphEdges& edges) {
    std::size_t count = 0;
    for (const int degree : edges.degrees) count += degree > 0 ? static_cast<std::size_t>(degree) : 0;
    if (edges.degrees.size() != edges.sources.size()) {
      throw Error(RANKTREE_ERROR_INPUT, "degrees: expected one each source");
    }
    if (edges.destinations.size() != count) {
      throw Error(RANKTREE_ERROR_INPUT, "destinations: expected as many as the degrees' sum");
    }
    if (!edges.weights.empty() && edges.weights.size() != count) {
      throw Error(RANKTREE_ERROR_INPUT, "weights: expected one each destination, or none");
    }
  }

  explicit Reordered(MPI_Comm comm) noexcept : comm_(comm) {}

  template <class Call>
  static Reordered make(const char* name, MPI_Comm old, const Call& call) {
    MPI_Comm made = MPI_COMM_NULL;
    detail::check(call(&made), name, old);
    return Reordered(made);
  }

  [[nodiscard]] std::optional<std::string> value(const char* key) const {
    if (empty()) return std::nullopt;
    MPI_Info info = MPI_INFO_NULL;
    detail::check(ranktree_Comm_get_info(comm_, &info), "ranktree_Comm_get_info", comm_);
    int length = 0;
    int found = 0;
    MPI_Info_get_valuelen(info, key, &length, &found);
    std::vector<char> text(static_cast<std::size_t>(length) + 1, '\0');
    if (found != 0) MPI_Info_get(info, key, length, text.data(), &found);
    MPI_Info_free(&info);
    return found != 0 ? std::optional<std::string>(text.data()) : std::nullopt;
  }

  [[nodiscard]] std::optional<double> number(const char* key) const {
    const std::optional<std::string> text = value(key);
    if (!text) return std::nullopt;
    std::istringstream words(*text);
    words.imbue(std::locale::classic());
    double number = 0;
    return words >> number ? std::optional<double>(number) : std::nullopt;
  }

  void free() noexcept {
    int finalized = 0;
    if (!empty() && MPI_Finalized(&finalized) == MPI_SUCCESS && finalized == 0) MPI_Comm_free(&comm_);
    comm_ = MPI_COMM_NULL;
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
};

}  // namespace ranktree

#endif
