#include "preload/world/world.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mpi/handle.h"
#include "mpi/own_world.h"
#include "preload/next.h"
#include "preload/settings.h"
#include "preload/world/entries.h"
#include "preload/world/library.h"
#include "preload/world/vote.h"

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

// A private copy of a communicator: calls on it return codes and never call a handler of the program.
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
  [[nodiscard]] MPI_Info get() const noexcept { return info_.get(); }

  // Throws where a word is none, or the MPI refuses it.
  void read() {
    std::istringstream words(setting("RANKTREE_REORDER_INFO"));
    for (std::string word; words >> word;) add(word);
  }

 private:
  void add(const std::string& word) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0)
      throw std::runtime_error("RANKTREE_REORDER_INFO: expected key=value, found '" + word + "'");
    if (get() == MPI_INFO_NULL) check(PMPI_Info_create(info_.receive()), "MPI_Info_create");
    if (PMPI_Info_set(get(), word.substr(0, equals).c_str(), word.substr(equals + 1).c_str()) != MPI_SUCCESS)
      throw std::runtime_error("RANKTREE_REORDER_INFO: MPI_Info_set refuses '" + word + "'");
  }
  mpi::Info info_;
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

// The recorded graph, at rank 0. Collective; the code need not be the same on all ranks.
struct Graph {
  int vertices = 0;
  Numbers sources;
  Numbers degrees;
  Numbers destinations;
  Numbers weights;
  std::vector<double> amounts;

  int receive(MPI_Comm comm) noexcept {
    int* lists[4] = {};
    const char* const metric = is_set("RANKTREE_REORDER_METRIC") ? setting("RANKTREE_REORDER_METRIC") : "size";
    const int code = Library::instance().read_pattern(setting("RANKTREE_REORDER"), comm, metric, &vertices, &lists[0],
                                                      &lists[1], &lists[2], &lists[3]);
    if (code != MPI_SUCCESS) return code;
    sources.reset(lists[0]);
    degrees.reset(lists[1]);
    destinations.reset(lists[2]);
    weights.reset(lists[3]);
    return code;
  }

  void convert() {
    const std::int64_t edges = std::accumulate(degrees.get(), degrees.get() + vertices, std::int64_t{0});
    amounts.reserve(static_cast<std::size_t>(edges) + 1);
    amounts.assign(weights.get(), weights.get() + edges);
    amounts.push_back(0);  // no weights at all would count every edge once
    weights.reset();
  }
};

// The first call that this MPI has and this library does not know: the program's own use of it would miss the new
// world.
const char* call_out_of_reach() {
  for (const char* const* name = static_cast<const char* const*>(kUnknownCalls); *name != nullptr; ++name) {
    if (next_symbol(*name) != nullptr) return *name;
  }
  return nullptr;
}

// Why this process cannot have a new world; empty where it can.
Reason obstacle(bool spawned) noexcept {
  if (spawned) return Reason("started by MPI_Comm_spawn");
  if (!Library::instance().missing.empty()) return Library::instance().missing;
  const char* const name = call_out_of_reach();
  if (name == nullptr) return {};
  return reason_of([name] { throw std::runtime_error(std::string(name) + " is unknown to this library"); });
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

// What a rank needs to compute an order and to take it over, made before any rank waits for another: from there on
// nothing but MPI can fail on one rank alone.
struct Request {
  Graph graph;
  Settings settings;
  std::vector<int> now;     // the new rank of each process, -1 where it has got none
  std::vector<int> before;  // its inverse

  void prepare(const PrivateCopy& world, int read) {
    if (read != MPI_SUCCESS) throw std::runtime_error(message_of(world.get(), read));
    graph.convert();
    settings.read();
    now.resize(static_cast<std::size_t>(world.size()));
    before.resize(static_cast<std::size_t>(world.size()));
  }
};

constexpr const char* kWorld = "world";
constexpr const char* kUnchanged = "world: order as it is";

bool all_ready(const PrivateCopy& world, const Reason& obstacle) noexcept {
  return all_agree(world.get(), kUnchanged, {"RANKTREE_REORDER", true, obstacle});
}

void print_order(const PrivateCopy& world, MPI_Comm comm, int moved) noexcept {
  if (world.rank() != 0) return;
  const Reason failed = reason_of([&] {
    const std::string count = std::to_string(moved) + " of " + std::to_string(world.size());
    print_verbose(kWorld, (count + " ranks move" + cost_of(comm)).c_str());
  });
  if (!failed.empty()) print_verbose(kWorld, failed.c_str());
}

// Collective: the new rank of every process; whether all have one.
bool exchange(const PrivateCopy& world, const Reason& failed, int rank, std::vector<int>& now) {
  const int mine = failed.empty() ? rank : -1;
  check(PMPI_Allgather(&mine, 1, MPI_INT, now.data(), 1, MPI_INT, world.get()), "MPI_Allgather");
  if (std::find(now.begin(), now.end(), -1) == now.end()) return true;
  all_ready(world, failed);
  return false;
}

// Collective over `world`. Any failure leaves the order as it is, on all ranks.
NewOrder agree_on_order(const PrivateCopy& world) {
  Request request;
  const Graph& graph = request.graph;
  const int read = request.graph.receive(world.get());
  if (!all_ready(world, reason_of([&] { request.prepare(world, read); }))) return {};
  NewOrder order;
  int rank = 0;
  const int code = Library::instance().reorder(world.get(), graph.vertices, graph.sources.get(), graph.degrees.get(),
                                               graph.destinations.get(), graph.amounts.data(), request.settings.get(),
                                               &rank, &order.comm);
  const Reason failed = reason_of([&] {
    if (code != MPI_SUCCESS) throw std::runtime_error(message_of(world.get(), code));
  });
  if (!exchange(world, failed, rank, request.now)) return {};
  int moved = 0;
  for (int i = 0; i < world.size(); ++i) {
    const int vertex = request.now[static_cast<std::size_t>(i)];
    request.before[static_cast<std::size_t>(vertex)] = i;
    moved += vertex == i ? 0 : 1;
  }
  print_order(world, order.comm, moved);
  if (moved != 0)
    order.before = std::move(request.before);
  else
    PMPI_Comm_free(&order.comm);
  return order;
}

NewOrder find_order(const PrivateCopy& world, bool spawned) {
  const bool wanted = is_set("RANKTREE_REORDER");
  if (!all_agree(world.get(), kUnchanged, {"RANKTREE_REORDER", wanted, wanted ? obstacle(spawned) : Reason()}))
    return {};
  return agree_on_order(world);
}

// Which of the program's grids, or graphs, are ours to make.
enum class Ours : std::uint8_t { kUndecided, kNone, kPermitted, kAll };

// Of a topology.
struct Words {
  const char* variable;
  const char* set;
  const char* objective;
  const char* bad_objective;
  const char* made_by_mpi;
  const char* left;  // where the program does not permit it
};
constexpr std::array<Words, 2> kWords{
    Words{"RANKTREE_CART", "RANKTREE_CART=1", "RANKTREE_CART_OBJECTIVE",
          "RANKTREE_CART_OBJECTIVE: expected bytes, messages, bottleneck or time", "grids: made by the MPI",
          "the program passes reorder=0; RANKTREE_CART=all reorders it all the same"},
    Words{"RANKTREE_GRAPH", "RANKTREE_GRAPH=1", "RANKTREE_GRAPH_OBJECTIVE",
          "RANKTREE_GRAPH_OBJECTIVE: expected bytes, messages, bottleneck or time", "graphs: made by the MPI",
          "the program passes reorder=0"}};

const Words& words_of(Topology topology) { return kWords.at(static_cast<std::size_t>(topology)); }

bool has_calls(Topology topology) noexcept {
  const Library& library = Library::instance();
  if (topology == Topology::kGrid) return library.cart_create != nullptr && library.cart_create_weighted != nullptr;
  return library.dist_graph_create != nullptr && library.dist_graph_create_adjacent != nullptr &&
         library.graph_create != nullptr;
}

// Collective: the variable, which all ranks must follow or none. Only grids have a value "all".
Ours decide_on(Topology topology, MPI_Comm comm) noexcept {
  const Words& words = words_of(topology);
  const std::string_view given = setting(words.variable);
  const bool all = topology == Topology::kGrid && given == "all";
  const bool wanted = all || given == "1";
  Reason obstacle;
  if (wanted && !has_calls(topology)) {
    const Reason& missing = Library::instance().missing;
    obstacle = missing.empty() ? Reason(RANKTREE_CALLS_LIBRARY ": no calls that make topologies") : missing;
  }
  constexpr std::array<std::string_view, 5> kObjectives{"", "bytes", "messages", "bottleneck", "time"};
  if (std::ranges::find(kObjectives, std::string_view(setting(words.objective))) == kObjectives.end()) {
    obstacle = Reason(words.bad_objective);
  }
  if (!all_agree(comm, words.made_by_mpi, {words.set, wanted, obstacle})) return Ours::kNone;
  if (topology != Topology::kGrid) return Ours::kPermitted;
  const Ballot of_all{"RANKTREE_CART=all", all, {}};
  return all_agree(comm, "grids with reorder=0: made by the MPI", of_all) ? Ours::kAll : Ours::kPermitted;
}

// What the process knows of the new order.
class World {
 public:
  static World& instance() noexcept {
    alignas(World) static std::array<std::byte, sizeof(World)> memory;
    static auto* const world = new (memory.data()) World;  // not from the heap, which may have ended; never destroyed
    return *world;
  }

  void start() {
    const std::scoped_lock lock(mutex_);
    if (started_) return;
    started_ = true;
    const PatientWorld patience;
    const PrivateCopy world(MPI_COMM_WORLD);
    for (const Topology each : {Topology::kGrid, Topology::kGraph}) ours(each).store(decide_on(each, world.get()));
    MPI_Comm parent = MPI_COMM_NULL;
    PMPI_Comm_get_parent(&parent);
    MPI_Comm comm = settled_ ? same_order(world) : settle(world, parent != MPI_COMM_NULL);
    if (comm != MPI_COMM_NULL) publish(comm, patience.before());
  }

  bool makes(Topology topology, MPI_Comm comm, bool permitted) noexcept {
    int inter = 1;
    Ours which = ours(topology).load();
    if (which == Ours::kNone || comm == MPI_COMM_NULL) return false;
    if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter != 0) return false;
    if (which == Ours::kUndecided) {
      which = decide_on(topology, comm);
    } else if (!mpi::is_within_own_world(comm)) {
      return false;
    }
    if (which != Ours::kPermitted) return which == Ours::kAll;
    // Ranks may pass different values: all make it by the same call.
    int by_all = permitted ? 1 : 0;
    if (PMPI_Allreduce(MPI_IN_PLACE, &by_all, 1, MPI_INT, MPI_MIN, comm) != MPI_SUCCESS) return false;
    if (by_all == 0) print_left(topology, comm);
    return by_all != 0;
  }

  void put_in_order(MPI_Group* group) {
    const std::scoped_lock lock(mutex_);
    int size = 0;
    PMPI_Group_size(*group, &size);
    if (size < 2) return;
    if (!settled_ && is_set("RANKTREE_REORDER")) settle_by(*group);
    if (static_cast<std::size_t>(size) != before_.size()) return;
    MPI_Group ordered = MPI_GROUP_NULL;
    check(PMPI_Group_incl(*group, size, before_.data(), &ordered), "MPI_Group_incl");
    PMPI_Group_free(group);
    *group = ordered;
  }

 private:
  // Sessions have no collective call: the ranks synchronise where they query the world's process set.
  void settle_by(MPI_Group group) {
    using Create = int (*)(MPI_Group, const char*, MPI_Info, MPI_Errhandler, MPI_Comm*);
    // The mpi.h of this build may be older than the MPI that runs.
    const auto create = reinterpret_cast<Create>(next_symbol("PMPI_Comm_create_from_group"));
    if (create == nullptr) throw std::runtime_error("sessions without MPI_Comm_create_from_group");
    MPI_Comm real = MPI_COMM_NULL;
    check(create(group, "org.ranktree.world", MPI_INFO_NULL, MPI_ERRORS_RETURN, &real), "MPI_Comm_create_from_group");
    MPI_Comm comm = settle(PrivateCopy(real), false);
    if (comm != MPI_COMM_NULL) PMPI_Comm_free(&comm);
    PMPI_Comm_free(&real);
  }

  MPI_Comm settle(const PrivateCopy& world, bool spawned) {
    NewOrder order = find_order(world, spawned);
    settled_ = true;
    before_ = std::move(order.before);
    return order.comm;
  }

  std::atomic<Ours>& ours(Topology topology) noexcept { return ours_[static_cast<std::size_t>(topology)]; }

  void print_left(Topology topology, MPI_Comm comm) noexcept {
    int rank = 0;
    if (PMPI_Comm_rank(comm, &rank) != MPI_SUCCESS || rank != 0) return;
    if (printed_left_[static_cast<std::size_t>(topology)].exchange(true)) return;
    print_verbose(words_of(topology).made_by_mpi, words_of(topology).left);
  }

  // MPI_COMM_WORLD in the order that a session has got already.
  MPI_Comm same_order(const PrivateCopy& world) {
    MPI_Comm comm = MPI_COMM_NULL;
    for (std::size_t i = 0; i < before_.size(); ++i) {
      if (before_[i] == world.rank())
        check(PMPI_Comm_split(world.get(), 0, static_cast<int>(i), &comm), "MPI_Comm_split");
    }
    return comm;
  }

  static void publish(MPI_Comm comm, MPI_Errhandler errhandler) {
    std::array<char, MPI_MAX_OBJECT_NAME> name{};
    int length = 0;
    // The ranks have agreed: a failure here costs a name or a handler, but no rank may stay in the old world.
    const auto succeeded = [](int code, const char* call) {
      if (code != MPI_SUCCESS) print_verbose(call, "failed");
      return code == MPI_SUCCESS;
    };
    if (succeeded(PMPI_Comm_get_name(MPI_COMM_WORLD, name.data(), &length), "MPI_Comm_get_name")) {
      succeeded(PMPI_Comm_set_name(comm, name.data()), "MPI_Comm_set_name");
    }
    succeeded(PMPI_Comm_set_errhandler(comm, errhandler), "MPI_Comm_set_errhandler");
    int key = MPI_KEYVAL_INVALID;
    if (succeeded(PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &key, nullptr), "MPI_Comm_create_keyval")) {
      succeeded(PMPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr), "MPI_Comm_set_attr");
      succeeded(PMPI_Comm_free_keyval(&key), "MPI_Comm_free_keyval");  // lives on as long as the attribute does
    }
    new_world.store(comm, std::memory_order_release);
  }

  // MPI_Finalize deletes the attributes of MPI_COMM_SELF first of all, the oldest last: whatever else the program and
  // its tools do from there still has the new world (MPI 4.0 §11.2.4).
  static int forget(MPI_Comm, int, void*, void*) {
    MPI_Comm comm = new_world.exchange(MPI_Comm{});
    return PMPI_Comm_free(&comm);
  }

  std::mutex mutex_;
  std::array<std::atomic<Ours>, kWords.size()> ours_{};  // undecided
  std::array<std::atomic<bool>, kWords.size()> printed_left_{};
  bool started_ = false;
  bool settled_ = false;
  std::vector<int> before_;
};

template <typename Body>
void shielded(Body body) noexcept {
  try {
    body();
  } catch (const std::exception& error) {
    print_verbose(kWorld, error.what());
  } catch (...) {  // NOLINT(bugprone-empty-catch): the error cannot be reported; the program must go on
  }
}

}  // namespace

void reorder_world() noexcept {
  shielded([] { World::instance().start(); });
}

bool makes(Topology topology, MPI_Comm comm, bool permitted) noexcept {
  return World::instance().makes(topology, comm, permitted);
}

void reorder_world_group(MPI_Group* group) noexcept {
  shielded([group] { World::instance().put_in_order(group); });
}

}  // namespace ranktree::preload
