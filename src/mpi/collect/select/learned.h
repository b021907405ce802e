// What has been decided for kinds of calls on communicators of one shape: by earlier runs, from a file of
// RANKTREE_COLL_CACHE, and by this process. Communicators begin with what their rank 0 knows.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/predict/candidates.h"
#include "core/predict/choice.h"
#include "core/predict/parameters.h"
#include "io/decisions_file.h"
#include "mpi/collect/call_kind.h"

namespace ranktree::mpi::collect {

class Context;

// Of a process; threads may use it at the same time.
class Learned {
 public:
  // `folder`: empty where nothing is kept. `log`: as Environment::log, for files that cannot be used.
  Learned(std::string folder, std::string log) : folder_(std::move(folder)), log_(std::move(log)) {}
  // Saves what is new, where this is the process of rank 0 of MPI_COMM_WORLD.
  ~Learned();
  Learned(const Learned&) = delete;
  Learned& operator=(const Learned&) = delete;
  Learned(Learned&&) = delete;
  Learned& operator=(Learned&&) = delete;

  // Lines "KIND|VARIANT", of one shape. Reads the file at the first use. Throws std::bad_alloc.
  std::string of(const std::string& shape);
  // Whether some kind of call on so many ranks of one node, which may use as many CPUs as this process, is known not to
  // be native. Throws as of().
  bool has_gain_on_node(int ranks);
  // Throws std::bad_alloc.
  void keep(const std::string& shape, const std::string& kind, const std::string& variant);
  // Writes what was kept since the last time. Throws Error(kSystem) where the file cannot be written.
  void write();
  // The same, as the destructor does, which does not run where the program leaves a communicator that it has not freed:
  // that holds the process's data. Failures are lines of the log.
  void save() noexcept;

 private:
  void load();  // with the lock

  std::string folder_;
  std::string log_;
  std::string path_;
  std::mutex mutex_;
  std::map<int, bool> gains_;  // of has_gain_on_node(), until something is kept
  bool loaded_ = false;
  bool saves_ = false;
  io::Decisions known_;
  io::Decisions newer_;
};

// Of communicators that should decide alike: "4 ranks on 1 node, 2 CPUs, Core, order 1a2b". CPUs are those this process
// may use.
std::string shape_of(const Context& context);

// "allreduce 1K-2K", and between nodes the power of two of the latency in microseconds.
std::string decision_key(const Context& context, const Kind& kind, const core::predict::Parameters& parameters);

// What earlier runs have decided for a kind of call on a communicator of one node, in lines of Learned::of(); nothing
// where it is unknown or cannot be read.
std::optional<core::predict::Choice> known_on_node(std::string_view lines, const Context& context, const Kind& kind);

// The same among candidates, on one node or where links are measured: the number of the candidate, from 1, or 0 for the
// native call.
std::optional<std::size_t> known_among(std::span<const core::predict::Candidate> candidates, std::string_view lines,
                                       const Context& context, const Kind& kind,
                                       const core::predict::Parameters& parameters);

}  // namespace ranktree::mpi::collect
