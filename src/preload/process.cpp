#include "preload/process.h"

#include <mpi.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <ios>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/pattern_file.h"
#include "io/text.h"
#include "io/trace_layout.h"
#include "io/trace_records.h"
#include "preload/call.h"
#include "preload/communicator.h"
#include "preload/gather.h"
#include "preload/thread.h"

namespace ranktree::preload {

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): see thread.h
constinit thread_local int depth = 0;
constinit thread_local Thread* this_thread = nullptr;
constinit std::atomic<std::uint32_t> communicator_generation{1};
constinit std::atomic<std::uint32_t> datatype_generation{1};
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

namespace {

// Attribute callbacks. They run inside MPI, perhaps under its lock, and so take none of ours.
int forget_communicator(MPI_Comm, int, void* attribute, void*) {
  communicator_generation.fetch_add(1, std::memory_order_relaxed);
  delete static_cast<Communicator*>(attribute);
  return MPI_SUCCESS;
}

int forget_window(MPI_Win, int, void* attribute, void*) {
  delete static_cast<WorldRanks*>(attribute);
  return MPI_SUCCESS;
}

// MPI_Finalize deletes the attributes of MPI_COMM_SELF before anything else (MPI-4.0 §11.2.4), the oldest last:
// libraries that clean up from there are still recorded.
int finish_recording(MPI_Comm, int, void*, void*) {
  Process::instance().finish();
  return MPI_SUCCESS;
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): read once, when MPI starts
  return value == nullptr ? std::string() : std::string(value);
}

// MPICH puts a tab between words.
std::string first_line(std::string_view text) {
  std::string line(text.substr(0, text.find('\n')));
  std::replace(line.begin(), line.end(), '\t', ' ');
  return line;
}

std::string library_version() {
  std::string text(MPI_MAX_LIBRARY_VERSION_STRING, '\0');
  int length = 0;
  PMPI_Get_library_version(text.data(), &length);
  return first_line(std::string_view(text).substr(0, static_cast<std::size_t>(length)));
}

std::string host_name() {
  std::string text(MPI_MAX_PROCESSOR_NAME, '\0');
  int length = 0;
  PMPI_Get_processor_name(text.data(), &length);
  text.resize(static_cast<std::size_t>(length));
  return text;
}

// As a shell reads it back.
std::string command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string text;
  for (std::string word; std::getline(file, word, '\0');) text += (text.empty() ? "" : " ") + io::shell_word(word);
  return text;
}

// Processes started by MPI_Comm_spawn are another world; their output would overwrite their parents'.
bool is_spawned() {
  if (kSimulated) return false;
  MPI_Comm parent = MPI_COMM_NULL;
  PMPI_Comm_get_parent(&parent);
  return parent != MPI_COMM_NULL;
}

// Where others may write to the folder around it, another user may have made it, to read records or to replace parts.
bool is_own_folder(const std::string& path) noexcept {
  constexpr mode_t kOthersWrite = 022;
  struct stat found{};
  return lstat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode) && found.st_uid == geteuid() &&
         (found.st_mode & kOthersWrite) == 0;
}

}  // namespace

void print_verbose(const std::string& line) noexcept {
  if (environment("RANKTREE_VERBOSE") != "1") return;
  const std::string text = "ranktree: " + line + "\n";
  if (write(STDERR_FILENO, text.data(), text.size()) < 0) return;
}

Process& Process::instance() noexcept {
  RANKTREE_ONE_A_PROCESS auto* const process =
      new Process;  // NOLINT(bugprone-unhandled-exception-at-new): nothing works without
  return *process;
}

void Process::open_keys() {
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget_communicator, &communicator_key_, nullptr);
  PMPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, forget_window, &window_key_, nullptr);
}

void Process::arm_finish() {
  if (finish_armed_) return;
  int finish_key = MPI_KEYVAL_INVALID;
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, finish_recording, &finish_key, nullptr);
  finish_armed_ = PMPI_Comm_set_attr(MPI_COMM_SELF, finish_key, nullptr) == MPI_SUCCESS;
  PMPI_Comm_free_keyval(&finish_key);  // lives on as long as the attribute does
}

// True where RANKTREE_TRACE is set. Resolves the path of the trace before the program changes its folder.
bool Process::wanted() {
  output_ = environment("RANKTREE_TRACE");
  if (output_.empty()) return false;
  if (output_ == "-") {
    output_.clear();
    return true;
  }
  output_ = std::filesystem::absolute(output_).string();
  return true;
}

void Process::describe_owner(MPI_Group world) {
  world_group_ = world;
  PMPI_Group_rank(world, &owner_.rank);
  PMPI_Group_size(world, &owner_.ranks);
  owner_.host = host_name();
  owner_.mpi = library_version();
  owner_.program = kSimulated ? environment("RANKTREE_SIMULATE_PROGRAM") : command_line();
  if (!output_.empty()) make_parts_folder();
}

std::string Process::part_file(int thread) const {
  return parts_ + "/rank-" + std::to_string(owner_.rank) + "-" + std::to_string(thread) + ".part";
}

void Process::make_parts_folder() {
  parts_ = output_ + ".parts";
  mkdir(parts_.c_str(), S_IRWXU);
  if (!is_own_folder(parts_)) {
    print_verbose(parts_ + ": expected a folder of this user alone; a crash will lose the records");
    parts_.clear();
    return;
  }
  if (!threads_.empty()) return;
  int left = 0;  // by an earlier run
  while (unlink(part_file(left).c_str()) == 0) ++left;
}

void Process::try_start() {
  int initialized = 0;
  int finalized = 0;
  PMPI_Initialized(&initialized);
  PMPI_Finalized(&finalized);
  if (initialized == 0) return;
  if (finalized != 0 || !wanted() || is_spawned()) {
    state_ = State::kOff;
    return;
  }
  MPI_Group world = MPI_GROUP_NULL;
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  record_in(world);
  arm_finish();
}

// The first time, or again after the last session has ended.
void Process::record_in(MPI_Group world) {
  describe_owner(world);
  if (communicator_key_ == MPI_KEYVAL_INVALID) open_keys();
  for (const auto& thread : threads_) thread->part.mark_finished(false);
  state_ = State::kRecording;
}

void Process::start() noexcept {
  enter();
  shielded([this] {  // after sessions the world comes late
    const Call call;
    const std::scoped_lock lock(mutex_);
    if (state_ != State::kRecording) return;
    MPI_Group world = MPI_GROUP_NULL;
    if (world_group_ == MPI_GROUP_NULL && PMPI_Comm_group(MPI_COMM_WORLD, &world) == MPI_SUCCESS) record_in(world);
    arm_finish();
  });
}

#if RANKTREE_HAS_MPI_Session_init
void Process::follow_session(MPI_Session session) {
  MPI_Group world = MPI_GROUP_NULL;
  if (PMPI_Group_from_session_pset(session, "mpi://WORLD", &world) != MPI_SUCCESS) return;
  record_in(world);
}

void Process::start_session(MPI_Session session) noexcept {
  shielded([this, session] {
    const std::scoped_lock lock(mutex_);
    if (finish_armed_ || state_ == State::kOff) return;
    if (world_group_ == MPI_GROUP_NULL && !wanted()) {
      state_ = State::kOff;
      return;
    }
    sessions_.push_back(session);
    if (world_group_ == MPI_GROUP_NULL) follow_session(session);
  });
  enter();
}

void Process::end_session(MPI_Session session) noexcept {
  shielded([this, session] {
    const std::scoped_lock lock(mutex_);
    const auto open = std::find(sessions_.begin(), sessions_.end(), session);
    if (open == sessions_.end()) return;
    const bool leading = open == sessions_.begin();
    sessions_.erase(open);
    if (finish_armed_ || !leading) return;
    if (world_group_ != MPI_GROUP_NULL) PMPI_Group_free(&world_group_);
    if (!sessions_.empty()) {
      follow_session(sessions_.front());
      return;
    }
    const bool whole = all_on_disk();
    for (const auto& thread : threads_) thread->part.mark_finished(whole);
    PMPI_Comm_free_keyval(&communicator_key_);  // the MPI may give the same number to another library
    PMPI_Win_free_keyval(&window_key_);
  });
}
#endif

Thread* Process::make_thread() {
  if (!idle_threads_.empty()) {
    Thread* thread = idle_threads_.back();
    idle_threads_.pop_back();
    return thread;
  }
  PartOwner owner = owner_;
  owner.thread = static_cast<int>(threads_.size());
  const std::string file = parts_.empty() ? std::string() : part_file(owner.thread);
  threads_.push_back(std::make_unique<Thread>(file, owner));
  if (!file.empty() && !threads_.back()->part.on_disk())
    print_verbose(file + ": cannot be made; a crash will lose its records");
  return threads_.back().get();
}

Thread* Process::enter() noexcept {
  if (this_thread != nullptr) return this_thread;
  if (state_ == State::kOff) return nullptr;
  shielded([this] {
    const Call call;  // the calls of MPI made here are not the program's
    const std::scoped_lock lock(mutex_);
    if (state_ == State::kUntried) try_start();
    if (state_ != State::kRecording) return;
    this_thread = make_thread();
    watch_thread_end();
  });
  return this_thread;
}

// A thread that exits leaves its part to the next new one: thousands of short-lived threads need few files.
void Process::watch_thread_end() {
  struct Leave {
    Leave() = default;
    Leave(const Leave&) = delete;
    Leave& operator=(const Leave&) = delete;
    Leave(Leave&&) = delete;
    Leave& operator=(Leave&&) = delete;
    ~Leave() {
      if (getpid() == process) Process::instance().leave();  // a child of fork() may have a mutex that stays locked
    }
    long process = getpid();
  };
  thread_local const Leave leave;
  (void)leave;
}

void Process::leave() noexcept {
  shielded([this] {
    const std::scoped_lock lock(mutex_);
    if (this_thread != nullptr) idle_threads_.push_back(std::exchange(this_thread, nullptr));
  });
}

bool Process::first_log(std::uint64_t identity) {
  const std::scoped_lock lock(mutex_);
  return logged_.insert(identity).second;
}

bool Process::visit_pairs(const std::function<void(const layout::PairCell&)>& visit) noexcept {
  bool visited = false;
  shielded([&] {
    const std::scoped_lock lock(mutex_);
    if (state_ != State::kRecording) return;
    for (const auto& thread : threads_) thread->part.visit_pairs(visit);
    visited = true;
  });
  return visited;
}

io::TraceRecords Process::merged_records() {
  io::TraceRecords all;
  log_world();
  for (const auto& thread : threads_) io::merge_thread(all, thread->part.records());
  return all;
}

// Other ranks may have sent on MPI_COMM_WORLD though this one did not.
void Process::log_world() {
  if (owner_.rank != 0 || threads_.empty()) return;
  Communicator* world = find_communicator(*threads_.front(), MPI_COMM_WORLD);
  if (world != nullptr) log_members(*threads_.front(), *world);
}

// Whether the files have all that was recorded: one that could not grow lacks what came later.
bool Process::all_on_disk() const noexcept {
  return std::ranges::all_of(threads_, [](const auto& thread) { return thread->part.on_disk(); });
}

void Process::close_parts(bool written) noexcept {
  const bool whole = all_on_disk();
  for (const auto& thread : threads_) {
    thread->part.mark_finished(whole);
    if (written) thread->part.remove_file();
  }
  // Fails while another rank's parts are there: the last one removes it.
  if (written && !parts_.empty()) rmdir(parts_.c_str());
}

void Process::finish() noexcept {
  if (state_.exchange(State::kOff) != State::kRecording) return;
  this_thread = nullptr;
  const Call call;
  bool written = false;
  shielded([&] {
    if (output_.empty() || kSimulated) return;
    written = gather_records([this] { return merged_records(); },
                             [this](io::TraceRecords&& all) {
                               io::save_pattern(output_, io::to_pattern(std::move(all)), io::PatternFormat::kNpz);
                             });
  });
  close_parts(written);
  if (!written && !output_.empty() && !kSimulated && owner_.rank == 0)
    print_verbose(output_ + ": not written" + (parts_.empty() ? "" : "; the records are in " + parts_));
  if (written && owner_.rank == 0) print_verbose(output_ + ": written");
  if (world_group_ != MPI_GROUP_NULL) PMPI_Group_free(&world_group_);
}

}  // namespace ranktree::preload
