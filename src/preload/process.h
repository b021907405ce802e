// The recording of one process from MPI_Init to MPI_Finalize.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "preload/thread.h"
#include "preload_has.h"

namespace ranktree::preload {

class Process {
 public:
  // Lives until the process exits: threads may call MPI while static objects are destroyed.
  static Process& instance() noexcept;

  // Starts recording when RANKTREE_TRACE is set and MPI is initialised; does nothing when called again.
  // RANKTREE_TRACE=- records without writing a file, for callers that query the traffic while the program runs.
  void start() noexcept;

#if RANKTREE_HAS_MPI_Session_init
  // Programs without MPI_Init: "mpi://WORLD" takes the part of MPI_COMM_WORLD. Nothing collective may be done at the
  // end of a session, so each rank leaves its parts, marked as finished, for `ranktree trace` to put together.
  void start_session(MPI_Session session) noexcept;
  void end_session(MPI_Session session) noexcept;
#endif

  // The caller's records, made at its first call; nullptr when nothing is recorded.
  Thread* enter() noexcept;

  // Calls `visit` with every pair cell of every thread as it is now; false when nothing is recorded.
  bool visit_pairs(const std::function<void(const layout::PairCell&)>& visit) noexcept;

  [[nodiscard]] MPI_Group world_group() const noexcept { return world_group_; }
  [[nodiscard]] int communicator_key() const noexcept { return communicator_key_; }
  [[nodiscard]] int window_key() const noexcept { return window_key_; }
  std::mutex& communicators_mutex() noexcept { return communicators_mutex_; }
  // True once for each communicator identity.
  bool first_log(std::uint64_t identity);

  // Gathers all ranks' records to rank 0, which writes the pattern. Collective; called from MPI_Finalize.
  void finish() noexcept;

 private:
  enum class State : std::uint8_t { kUntried, kRecording, kOff };

  void try_start();
  bool wanted();
  void describe_owner(MPI_Group world);
  void record_in(MPI_Group world);
  [[nodiscard]] std::string part_file(int thread) const;
  void make_parts_folder();
  void open_keys();
  void arm_finish();
#if RANKTREE_HAS_MPI_Session_init
  void follow_session(MPI_Session session);
  std::vector<MPI_Session> sessions_;  // open ones; the first gave the world group
#endif
  Thread* make_thread();
  static void watch_thread_end();
  void leave() noexcept;
  io::TraceRecords merged_records();
  void log_world();
  [[nodiscard]] bool all_on_disk() const noexcept;
  void close_parts(bool written) noexcept;

  std::mutex mutex_;                // guards everything but what start() fixes
  std::mutex communicators_mutex_;  // held while a communicator's description is made
  std::atomic<State> state_{State::kUntried};
  std::string output_;  // empty: no file is wanted
  std::string parts_;   // the folder of parts; empty: records are kept in memory only
  PartOwner owner_;
  bool finish_armed_ = false;
  MPI_Group world_group_ = MPI_GROUP_NULL;
  int communicator_key_ = MPI_KEYVAL_INVALID;
  int window_key_ = MPI_KEYVAL_INVALID;
  std::vector<std::unique_ptr<Thread>> threads_;
  std::vector<Thread*> idle_threads_;  // of threads that have ended, for new ones to go on with
  std::set<std::uint64_t> logged_;
};

// The calling thread's records, as Process::enter() gives them.
inline Thread* entered() noexcept { return this_thread != nullptr ? this_thread : Process::instance().enter(); }

// Runs a body of ours within an MPI call. Running out of memory loses a record, never the program.
template <typename Body>
void shielded(Body body) noexcept {
  try {
    body();
  } catch (...) {  // NOLINT(bugprone-empty-catch): the error cannot be reported; the program must go on
  }
}

// One line on standard error when RANKTREE_VERBOSE=1.
void print_verbose(const std::string& line) noexcept;

}  // namespace ranktree::preload
