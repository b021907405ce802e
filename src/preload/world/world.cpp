#include "preload/world/world.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "preload/next.h"
#include "preload/world/entries.h"
#include "preload/world/library.h"

namespace ranktree::preload {

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): see world.h
constinit std::atomic<MPI_Comm> new_world{};

namespace {

struct Free {
  void operator()(int* memory) const noexcept { std::free(memory); }  // NOLINT(cppcoreguidelines-no-malloc): C's
};
using Numbers = std::unique_ptr<int, Free>;

void check(int code, const char* what) {
  if (code != MPI_SUCCESS) throw std::runtime_error(std::string(what) + ": error " + std::to_string(code));
}

// A private copy of a communicator: what fails on it is told by codes and calls no handler of the program.
class PrivateCopy {
 public:
  explicit PrivateCopy(MPI_Comm comm) {
    check(PMPI_Comm_dup(comm, &comm_), "MPI_Comm_dup");
    PMPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    PMPI_Comm_rank(comm_, &rank_);
    PMPI_Comm_size(comm_, &size_);
  }
  PrivateCopy(const PrivateCopy&) = delete;
  PrivateCopy& operator=(const PrivateCopy&) = delete;
  PrivateCopy(PrivateCopy&&) = delete;
  PrivateCopy& operator=(PrivateCopy&&) = delete;
  ~PrivateCopy() { PMPI_Comm_free(&comm_); }

  [[nodiscard]] MPI_Comm get() const noexcept { return comm_; }
  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return size_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
};

// What MPI reports where it has no other communicator goes to MPI_COMM_WORLD, which must not end the program now.
class PatientWorld {
 public:
  PatientWorld() {
    check(PMPI_Comm_get_errhandler(MPI_COMM_WORLD, &before_), "MPI_Comm_get_errhandler");
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  }
  PatientWorld(const PatientWorld&) = delete;
  PatientWorld& operator=(const PatientWorld&) = delete;
  PatientWorld(PatientWorld&&) = delete;
  PatientWorld& operator=(PatientWorld&&) = delete;
  ~PatientWorld() {
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, before_);
    PMPI_Errhandler_free(&before_);
  }
  [[nodiscard]] MPI_Errhandler before() const noexcept { return before_; }

 private:
  MPI_Errhandler before_ = MPI_ERRHANDLER_NULL;
};

// RANKTREE_REORDER_INFO: words key=value, for ranktree_Comm_reorder.
class Settings {
 public:
  Settings() {
    std::istringstream words(setting("RANKTREE_REORDER_INFO"));
    for (std::string word; words >> word;) add(word);
  }
  Settings(const Settings&) = delete;
  Settings& operator=(const Settings&) = delete;
  Settings(Settings&&) = delete;
  Settings& operator=(Settings&&) = delete;
  ~Settings() {
    if (info_ != MPI_INFO_NULL) PMPI_Info_free(&info_);
  }
  [[nodiscard]] MPI_Info get() const noexcept { return info_; }

 private:
  void add(const std::string& word) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) return;
    if (info_ == MPI_INFO_NULL) check(PMPI_Info_create(&info_), "MPI_Info_create");
    PMPI_Info_set(info_, word.substr(0, equals).c_str(), word.substr(equals + 1).c_str());
  }
  MPI_Info info_ = MPI_INFO_NULL;
};

// The recorded graph, at rank 0.
struct Graph {
  int vertices = 0;
  Numbers sources;
  Numbers degrees;
  Numbers destinations;
  std::vector<double> weights{0};  // not empty: no weights at all would count every edge once
};

std::string message_of(MPI_Comm comm, int code) {
  const auto message = Library::instance().message;
  std::string text(1024, '\0');
  int length = 0;
  if (message != nullptr && message(comm, text.data(), static_cast<int>(text.size()), &length) == MPI_SUCCESS) {
    text.resize(std::min(static_cast<std::size_t>(length), text.size() - 1));
    if (!text.empty()) return text;
  }
  return "error " + std::to_string(code);
}

Graph read_graph(MPI_Comm comm) {
  const std::string metric = setting("RANKTREE_REORDER_METRIC");
  Graph graph;
  int* sources = nullptr;
  int* degrees = nullptr;
  int* destinations = nullptr;
  int* weights = nullptr;
  const int code = Library::instance().read_pattern(setting("RANKTREE_REORDER").c_str(), comm,
                                                    metric.empty() ? "size" : metric.c_str(), &graph.vertices, &sources,
                                                    &degrees, &destinations, &weights);
  if (code != MPI_SUCCESS) throw std::runtime_error(message_of(comm, code));
  graph.sources.reset(sources);
  graph.degrees.reset(degrees);
  graph.destinations.reset(destinations);
  const Numbers integers(weights);
  if (graph.vertices == 0) return graph;
  const int edges = std::accumulate(degrees, degrees + graph.vertices, 0);
  if (edges != 0) graph.weights.assign(weights, weights + edges);
  return graph;
}

// The first call that this MPI has and this library does not know: the program's own use of it would miss the new
// world.
const char* call_out_of_reach() {
  if (RANKTREE_LARGE_COUNTS != 0) return nullptr;
  for (const char* const* name = static_cast<const char* const*>(kLargeCountCalls); *name != nullptr; ++name) {
    if (next_symbol(*name) != nullptr) return *name;
  }
  return nullptr;
}

// Why this process cannot have a new world; empty where nothing is in the way.
std::string obstacle(bool spawned) {
  if (spawned) return "started by MPI_Comm_spawn";
  if (const char* name = call_out_of_reach()) return std::string(name) + " is unknown to this library";
  const Library& library = Library::instance();
  if (library.read_pattern == nullptr || library.reorder == nullptr) return RANKTREE_CALLS_LIBRARY " is missing";
  return {};
}

std::string cost_of(MPI_Comm comm) {
  const auto get_info = Library::instance().get_info;
  MPI_Info info = MPI_INFO_NULL;
  if (get_info == nullptr || get_info(comm, &info) != MPI_SUCCESS) return {};
  std::array<std::string, 2> costs;
  for (std::size_t i = 0; i < costs.size(); ++i) {
    std::array<char, 64> value{};
    int found = 0;
    PMPI_Info_get(info, i == 0 ? "ranktree_reorder_before" : "ranktree_reorder_after", value.size() - 1, value.data(),
                  &found);
    if (found != 0) costs[i] = value.data();
  }
  PMPI_Info_free(&info);
  return costs[0].empty() ? std::string() : ", cost " + costs[0] + " -> " + costs[1];
}

// The world's ranks in their new order: the process at new rank k was rank before[k]. Empty: nothing has changed.
struct NewOrder {
  std::vector<int> before;
  MPI_Comm comm = MPI_COMM_NULL;  // all processes in this order, to be freed
};

// Collective over `world`. Any failure leaves the order as it is, on all ranks.
NewOrder agree_on_order(const PrivateCopy& world) {
  const Graph graph = read_graph(world.get());
  const Settings settings;
  NewOrder order;
  int rank = 0;
  const int code =
      Library::instance().reorder(world.get(), graph.vertices, graph.sources.get(), graph.degrees.get(),
                                  graph.destinations.get(), graph.weights.data(), settings.get(), &rank, &order.comm);
  if (code != MPI_SUCCESS) throw std::runtime_error(message_of(world.get(), code));
  std::vector<int> now(static_cast<std::size_t>(world.size()));
  check(PMPI_Allgather(&rank, 1, MPI_INT, now.data(), 1, MPI_INT, world.get()), "MPI_Allgather");
  std::vector<int> before(now.size());
  int moved = 0;
  for (int i = 0; i < world.size(); ++i) {
    before[static_cast<std::size_t>(now[static_cast<std::size_t>(i)])] = i;
    moved += now[static_cast<std::size_t>(i)] == i ? 0 : 1;
  }
  if (world.rank() == 0)
    say("world: " + std::to_string(moved) + " of " + std::to_string(world.size()) + " ranks move" +
        cost_of(order.comm));
  if (moved != 0)
    order.before = std::move(before);
  else
    PMPI_Comm_free(&order.comm);
  return order;
}

NewOrder find_order(MPI_Comm real_world, bool spawned) {
  const PrivateCopy world(real_world);
  const bool wanted = !setting("RANKTREE_REORDER").empty();
  const std::string reason = wanted ? obstacle(spawned) : "RANKTREE_REORDER is not set on every rank";
  std::array<int, 2> votes{wanted ? 1 : 0, reason.empty() ? 0 : 1};
  check(PMPI_Allreduce(MPI_IN_PLACE, votes.data(), 2, MPI_INT, MPI_MAX, world.get()), "MPI_Allreduce");
  if (votes[0] == 0) return {};
  if (votes[1] != 0) {
    if (!reason.empty()) say("world: order as it is: " + reason);
    return {};
  }
  try {
    return agree_on_order(world);
  } catch (const std::exception& error) {
    if (world.rank() == 0) say(std::string("world: order as it is: ") + error.what());
    return {};
  }
}

// What the process knows of the new order.
class World {
 public:
  static World& instance() noexcept {
    static auto* const world = new World;  // NOLINT(bugprone-unhandled-exception-at-new): nothing works without
    return *world;
  }

  void start() {
    const std::scoped_lock lock(mutex_);
    if (started_) return;
    started_ = true;
    const PatientWorld patience;
    MPI_Comm parent = MPI_COMM_NULL;
    PMPI_Comm_get_parent(&parent);
    MPI_Comm comm = settled_ ? same_order() : settle(MPI_COMM_WORLD, parent != MPI_COMM_NULL);
    if (comm != MPI_COMM_NULL) publish(comm, patience.before());
  }

  void put_in_order(MPI_Group* group) {
    const std::scoped_lock lock(mutex_);
    if (!settled_) settle_by(*group);
    int size = 0;
    PMPI_Group_size(*group, &size);
    if (static_cast<std::size_t>(size) != before_.size()) return;
    MPI_Group ordered = MPI_GROUP_NULL;
    check(PMPI_Group_incl(*group, size, before_.data(), &ordered), "MPI_Group_incl");
    PMPI_Group_free(group);
    *group = ordered;
  }

 private:
  // Sessions have no collective call: the ranks meet where they ask for the world's process set.
  void settle_by(MPI_Group group) {
    using Create = int (*)(MPI_Group, const char*, MPI_Info, MPI_Errhandler, MPI_Comm*);
    // The mpi.h of this build may be older than the MPI that runs.
    const auto create = reinterpret_cast<Create>(next_symbol("PMPI_Comm_create_from_group"));
    if (create == nullptr) throw std::runtime_error("sessions without MPI_Comm_create_from_group");
    MPI_Comm real = MPI_COMM_NULL;
    check(create(group, "org.ranktree.world", MPI_INFO_NULL, MPI_ERRORS_RETURN, &real), "MPI_Comm_create_from_group");
    MPI_Comm comm = settle(real, false);
    if (comm != MPI_COMM_NULL) PMPI_Comm_free(&comm);
    PMPI_Comm_free(&real);
  }

  MPI_Comm settle(MPI_Comm real_world, bool spawned) {
    NewOrder order = find_order(real_world, spawned);
    settled_ = true;
    before_ = std::move(order.before);
    return order.comm;
  }

  // MPI_COMM_WORLD in the order that a session has got already.
  MPI_Comm same_order() {
    MPI_Comm comm = MPI_COMM_NULL;
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (std::size_t i = 0; i < before_.size(); ++i) {
      if (before_[i] == rank) check(PMPI_Comm_split(MPI_COMM_WORLD, 0, static_cast<int>(i), &comm), "MPI_Comm_split");
    }
    return comm;
  }

  static void publish(MPI_Comm comm, MPI_Errhandler errhandler) {
    std::array<char, MPI_MAX_OBJECT_NAME> name{};
    int length = 0;
    PMPI_Comm_get_name(MPI_COMM_WORLD, name.data(), &length);
    PMPI_Comm_set_name(comm, name.data());
    PMPI_Comm_set_errhandler(comm, errhandler);
    int key = MPI_KEYVAL_INVALID;
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &key, nullptr);
    PMPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
    PMPI_Comm_free_keyval(&key);  // lives on as long as the attribute does
    new_world.store(comm, std::memory_order_release);
  }

  // MPI_Finalize deletes the attributes of MPI_COMM_SELF first of all, the oldest last: whatever else the program and
  // its tools do from there still has the new world (MPI 4.0 §11.2.4).
  static int forget(MPI_Comm, int, void*, void*) {
    MPI_Comm comm = new_world.exchange(MPI_Comm{});
    return PMPI_Comm_free(&comm);
  }

  std::mutex mutex_;
  bool started_ = false;
  bool settled_ = false;
  std::vector<int> before_;
};

template <typename Body>
void shielded(Body body) noexcept {
  try {
    body();
  } catch (const std::exception& error) {
    say(error.what());
  } catch (...) {  // NOLINT(bugprone-empty-catch): there is nobody to tell; the program must go on
  }
}

}  // namespace

void reorder_world() noexcept {
  shielded([] { World::instance().start(); });
}

void reorder_world_group(MPI_Group* group) noexcept {
  shielded([group] { World::instance().put_in_order(group); });
}

}  // namespace ranktree::preload
