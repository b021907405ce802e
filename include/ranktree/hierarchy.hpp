// The levels that a rank belongs to, as an object of C++17: the constructor makes the communicators, the destructor
// frees them. Link with libranktree_mpi_<mpi>. ranktree/mpi.h explains levels, info keys and errors. Source:
// hsplit-2018 §3.4.
//
//   const ranktree::Hierarchy levels(MPI_COMM_WORLD);
//   for (const ranktree::Level& level : levels) {
//     MPI_Barrier(level.comm());  // the widest first
//   }
#ifndef RANKTREE_HIERARCHY_HPP
#define RANKTREE_HIERARCHY_HPP

#include <mpi.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "ranktree/mpi.h"
#include "ranktree/mpi_error.hpp"

namespace ranktree {

/** One communicator of a Hierarchy, which owns it: use it only while that object lives, and never free it. */
class Level {
 public:
  /** The ranks of this object of the machine, this rank among them. */
  [[nodiscard]] MPI_Comm comm() const noexcept { return comm_; }
  /** The roots of all parts with the same parent; MPI_COMM_NULL where this rank is not a root. */
  [[nodiscard]] MPI_Comm roots() const noexcept { return roots_; }
  /** "Switch0", "Node", "Package", "NUMANode", "L3Cache", ... */
  [[nodiscard]] const std::string& type() const noexcept { return type_; }
  /** The index of this part among those with the same parent, 0 .. count() - 1. */
  [[nodiscard]] int index() const noexcept { return index_; }
  [[nodiscard]] int count() const noexcept { return count_; }

 private:
  friend class Hierarchy;
  Level(MPI_Comm comm, MPI_Comm roots) noexcept : comm_(comm), roots_(roots) {}

  MPI_Comm comm_;
  MPI_Comm roots_;
  std::string type_;
  int index_ = 0;
  int count_ = 1;
};

/** All levels of a communicator that this rank belongs to, the widest first; empty when there is none. Owns the
 * communicators: move only. Freeing them is collective over each, so all ranks of a level must destroy their Hierarchy.
 * After MPI_Finalize the destructor frees nothing.
 */
class Hierarchy {
 public:
  using const_iterator = std::vector<Level>::const_iterator;

  /** Levels that one call makes; further calls make deeper ones. */
  static constexpr int kLevelsAtOnce = 64;

  /** An empty hierarchy. Local. */
  Hierarchy() noexcept = default;

  /** Collective over comm. Throws Error, and then leaves no communicator behind.
   *
   * \param info MPI_INFO_NULL or the keys of ranktree/mpi.h
   * \param levels_at_once at least 1, equal on all ranks; changes nothing but the number of calls
   */
  explicit Hierarchy(MPI_Comm comm, MPI_Info info = MPI_INFO_NULL, int levels_at_once = kLevelsAtOnce) {
    if (levels_at_once < 1) {
      throw Error(MPI_ERR_ARG,
                  "Hierarchy: levels_at_once: expected at least 1, found " + std::to_string(levels_at_once));
    }
    try {
      make(comm, info, levels_at_once);
      for (Level& level : levels_) describe(level);
    } catch (...) {
      free();
      throw;
    }
  }

  Hierarchy(const Hierarchy&) = delete;
  Hierarchy& operator=(const Hierarchy&) = delete;
  Hierarchy(Hierarchy&& other) noexcept : levels_(std::exchange(other.levels_, {})) {}
  Hierarchy& operator=(Hierarchy&& other) noexcept {
    if (this != &other) {
      free();
      levels_ = std::exchange(other.levels_, {});
    }
    return *this;
  }
  ~Hierarchy() { free(); }

  [[nodiscard]] std::size_t size() const noexcept { return levels_.size(); }
  [[nodiscard]] bool empty() const noexcept { return levels_.empty(); }
  /** \param i less than size(); 0 is the widest */
  [[nodiscard]] const Level& operator[](std::size_t i) const noexcept { return levels_[i]; }
  [[nodiscard]] const_iterator begin() const noexcept { return levels_.begin(); }
  [[nodiscard]] const_iterator end() const noexcept { return levels_.end(); }

 private:
  // A call that fills its arrays may have left deeper levels; all ranks of its last level then request those.
  void make(MPI_Comm comm, MPI_Info info, int levels_at_once) {
    const auto capacity = static_cast<std::size_t>(levels_at_once);
    std::vector<MPI_Comm> comms(capacity, MPI_COMM_NULL);
    std::vector<MPI_Comm> roots(capacity + 1,
                                MPI_COMM_NULL);  // never empty: a null pointer means that roots are not wanted
    MPI_Comm parent = comm;
    int made = 0;
    do {
      levels_.reserve(levels_.size() + capacity);  // so that nothing can throw between making and keeping
      made = 0;
      const int code = ranktree_Comm_hsplit_all(parent, info, levels_at_once, &made, comms.data(), roots.data());
      detail::check(code, "ranktree_Comm_hsplit_all", parent);
      for (std::size_t i = 0; i < static_cast<std::size_t>(made); ++i) levels_.push_back(Level(comms[i], roots[i]));
      if (made > 0) parent = levels_.back().comm();
    } while (made > 0 && made == levels_at_once);
  }

  static void describe(Level& level) {
    char type[RANKTREE_MAX_TYPE] = "";
    int length = 0;
    const int code =
        ranktree_Comm_get_hlevel_info(level.comm_, &level.count_, &level.index_, type, RANKTREE_MAX_TYPE, &length);
    detail::check(code, "ranktree_Comm_get_hlevel_info", level.comm_);
    level.type_ = type;
  }

  // The deepest level first, as on every rank of a level, so that no two ranks wait for each other.
  void free() noexcept {
    int finalized = 0;
    if (!levels_.empty() && MPI_Finalized(&finalized) == MPI_SUCCESS && finalized == 0) {
      for (std::size_t i = levels_.size(); i > 0; --i) {
        Level& level = levels_[i - 1];
        if (level.roots_ != MPI_COMM_NULL) MPI_Comm_free(&level.roots_);
        MPI_Comm_free(&level.comm_);
      }
    }
    levels_.clear();
  }

  std::vector<Level> levels_;
};

}  // namespace ranktree

#endif
