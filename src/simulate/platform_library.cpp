// A machine as a platform of SimGrid: a library that smpirun loads by `-platform`.
//
// SimGrid queries each message's route, which Platform computes: one zone holds all hosts, one for each leaf that a
// rank may be on, and no table of routes is kept. Settings are environment variables (docs/explanation/simulation.md):
// RANKTREE_SIMULATE_MACHINE (a machine file), _UNIT (the kind of a leaf), _HOSTS (smpirun's host file: a line "leafN" a
// rank), _REPORT (where the report goes), _PROGRESS (ranks between two lines of progress, none where it is 0).
#include <dlfcn.h>
#include <simgrid/kernel/resource/NetworkModelIntf.hpp>
#include <simgrid/kernel/routing/NetPoint.hpp>
#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <simgrid/s4u.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/simulate/platform.h"
#include "core/simulate/traffic.h"
#include "core/topo/kind.h"
#include "io/file.h"
#include "io/machine_file.h"
#include "io/simulation_report.h"
#include "simulate/host_properties.h"
#include "simulate/smpi_levels.h"

namespace {

namespace simulate = ranktree::core::simulate;
namespace topo = ranktree::core::topo;
namespace s4u = simgrid::s4u;
namespace routing = simgrid::kernel::routing;
using simulate::LinkId;
using topo::Leaf;

constexpr double kHeader = 16;  // bytes that SMPI adds to each message
// Of a host: computing takes no simulated time unless smpi/simulate-computation has it measured, by smpi/host-speed.
constexpr double kFlops = 1e9;
constexpr std::string_view kHostPrefix = "leaf";

std::string setting(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): read before the simulation starts
  return value != nullptr ? value : "";
}

// The most memory that this process has had; that of the process which started it counts in getrusage().
std::int64_t peak_bytes() {
  constexpr std::string_view kLine = "VmHWM:";
  std::ifstream lines("/proc/self/status");
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(kLine)) return std::strtoll(line.c_str() + kLine.size(), nullptr, 10) * 1024;
  }
  return 0;
}

// Simulated ranks whose program has called exit(). To SimGrid they are like those that MPI_Abort has killed.
std::unordered_set<aid_t>& own_exits() {
  static std::unordered_set<aid_t> actors;
  return actors;
}

// The leaf of each rank.
std::vector<Leaf> read_hosts(const std::string& path) {
  std::vector<Leaf> leaves;
  std::istringstream lines(ranktree::io::read_file(path));
  for (std::string line; std::getline(lines, line);) {
    Leaf leaf = -1;
    const char* end = line.data() + line.size();
    const bool named = line.starts_with(kHostPrefix);
    const auto [stop, error] = std::from_chars(line.data() + (named ? kHostPrefix.size() : 0), end, leaf);
    if (!named || error != std::errc() || stop != end || leaf < 0) {
      std::string text = path;
      text.append(": expected lines \"leafN\", found '").append(line).append("'");
      throw ranktree::core::Error(ranktree::core::Fault::kInput, text);
    }
    leaves.push_back(leaf);
  }
  return leaves;
}

// The machine, what SimGrid has of it, and what its messages moved.
class Simulation {
 public:
  Simulation(const topo::Machine& machine, topo::Kind unit, std::vector<Leaf> leaf_of_rank)
      : platform_(machine, unit), leaf_of_rank_(std::move(leaf_of_rank)), traffic_(platform_) {}

  [[nodiscard]] const simulate::Platform& platform() const { return platform_; }
  [[nodiscard]] int ranks() const { return static_cast<int>(leaf_of_rank_.size()); }

  // Every leaf that has ranks, once.
  [[nodiscard]] std::vector<Leaf> used_leaves() const {
    std::vector<Leaf> leaves = leaf_of_rank_;
    std::sort(leaves.begin(), leaves.end());
    leaves.erase(std::unique(leaves.begin(), leaves.end()), leaves.end());
    return leaves;
  }

  // A rank that MPI_Abort or a deadlock ended.
  void count_aborted() { ++aborted_; }

  void count(Leaf from, Leaf to, double bytes) { traffic_.add(from, to, bytes); }

  void write_report(const std::string& path) const {
    const double seconds = s4u::Engine::get_clock();
    ranktree::io::save_simulation_report(path, {seconds, ranks(), aborted_, peak_bytes(), &platform_, &traffic_});
  }

 private:
  simulate::Platform platform_;
  std::vector<Leaf> leaf_of_rank_;
  simulate::Traffic traffic_;
  int aborted_ = 0;
};

// All hosts in one zone whose routes are worked out when a message starts. SimGrid owns it.
class MachineZone final : public routing::NetZoneImpl {
 public:
  MachineZone(const simulate::Platform& platform, std::string machine, std::string unit)
      : NetZoneImpl("machine"),
        platform_(platform),
        machine_(std::move(machine)),
        unit_(std::move(unit)),
        links_(static_cast<std::size_t>(platform.link_count())) {}

  void fill(const std::vector<Leaf>& leaves) {
    for (LinkId link = 0; link < platform_.network_link_count(); ++link) add_link(link);
    for (const Leaf leaf : leaves) {
      for (const LinkId link : platform_.links_of(leaf)) add_link(link);
      s4u::Host* host = create_host(std::string(kHostPrefix) + std::to_string(leaf), {kFlops});
      host->set_property(ranktree::simulate::kMachine, machine_);
      host->set_property(ranktree::simulate::kUnit, unit_);
      host->set_property(ranktree::simulate::kLeaf, std::to_string(leaf));
      host->seal();
      const std::size_t id = host->get_netpoint()->id();
      leaf_of_.resize(std::max(leaf_of_.size(), id + 1), -1);
      leaf_of_[id] = leaf;
    }
    seal();
  }

  [[nodiscard]] Leaf leaf_of(const routing::NetPoint* point) const { return leaf_of_[point->id()]; }

  void get_local_route(const routing::NetPoint* from, const routing::NetPoint* to, routing::Route* into,
                       double* latency) override {
    const simulate::Route route = platform_.route(leaf_of(from), leaf_of(to));
    for (const LinkId link : route.links) into->link_list_.push_back(links_[static_cast<std::size_t>(link)]);
    if (latency != nullptr) *latency += route.latency;  // not wanted of the way back
  }

 private:
  void add_link(LinkId link) {
    auto& place = links_[static_cast<std::size_t>(link)];
    if (place != nullptr) return;
    s4u::Link* made = create_link(std::to_string(link), {platform_.bandwidth(link)});
    made->set_latency(0.0);
    made->seal();
    place = made->get_impl();
  }

  const simulate::Platform& platform_;
  std::string machine_;  // for the library on simulated ranks (here.cpp)
  std::string unit_;
  std::vector<simgrid::kernel::resource::StandardLinkImpl*> links_;
  std::vector<Leaf> leaf_of_;  // by the number of a host in this zone
};

void watch_aborts(const std::shared_ptr<Simulation>& simulation) {
  s4u::Actor::on_creation_cb([simulation](const s4u::Actor& rank) {
    rank.on_exit([simulation, actor = rank.get_pid()](bool ended) {
      if (ended && !own_exits().contains(actor)) simulation->count_aborted();
    });
  });
}

// A line on standard error for each so many ranks that have finished.
void print_progress(int ranks, int step) {
  s4u::Actor::on_termination_cb([ranks, step, finished = 0](const s4u::Actor&) mutable {
    ++finished;
    if (finished % step == 0 || finished == ranks) {
      std::fprintf(stderr, "ranktree: %d of %d ranks finished, %.6g s simulated\n", finished, ranks,
                   s4u::Engine::get_clock());
    }
  });
}

void load() {
  const std::string hosts = setting("RANKTREE_SIMULATE_HOSTS");
  const std::string file = setting("RANKTREE_SIMULATE_MACHINE");
  const std::string unit_name = setting("RANKTREE_SIMULATE_UNIT");
  const auto unit = topo::kind_from_name(unit_name);
  const topo::Machine machine = ranktree::io::load_machine(file);
  const auto simulation = std::make_shared<Simulation>(machine, unit.value_or(topo::Kind::kCore), read_hosts(hosts));
  auto* zone =
      new MachineZone(simulation->platform(), file, unit_name);  // NOLINT(cppcoreguidelines-owning-memory): SimGrid's
  const std::vector<Leaf> leaves = simulation->used_leaves();
  zone->fill(leaves);
  if (simulation->ranks() >= ranktree::simulate::kLeastForLevels &&
      leaves.size() == static_cast<std::size_t>(simulation->ranks())) {
    ranktree::simulate::know_single_ranks();
  }
  // The public callback that sees the size of a message: SimGrid calls it once for each message, for a factor of the
  // bandwidth.
  zone->get_iface()->get_network_model()->set_bw_factor_cb(
      [simulation, zone](double bytes, const s4u::Host* from, const s4u::Host* to, const std::vector<s4u::Link*>&,
                         const std::unordered_set<s4u::NetZone*>&) {
        simulation->count(zone->leaf_of(from->get_netpoint()), zone->leaf_of(to->get_netpoint()), bytes - kHeader);
        return 1.0;
      });
  watch_aborts(simulation);
  const std::string report = setting("RANKTREE_SIMULATE_REPORT");
  if (!report.empty()) s4u::Engine::on_simulation_end_cb([simulation, report] { simulation->write_report(report); });
  const auto step = static_cast<int>(std::strtol(setting("RANKTREE_SIMULATE_PROGRESS").c_str(), nullptr, 10));
  if (step > 0) print_progress(simulation->ranks(), step);
}

}  // namespace

// In place of SimGrid's, which SMPI calls where a program that is compiled for simulations calls exit().
namespace simgrid::s4u::this_actor {
__attribute__((visibility("default"))) void exit() {
  own_exits().insert(get_pid());
  const auto next = reinterpret_cast<void (*)()>(dlsym(RTLD_NEXT, "_ZN7simgrid3s4u10this_actor4exitEv"));
  if (next != nullptr) next();
  std::_Exit(1);
}
}  // namespace simgrid::s4u::this_actor

extern "C" __attribute__((visibility("default"))) void load_platform(const s4u::Engine& engine);
void load_platform(const s4u::Engine& /*engine*/) {
  try {
    load();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ranktree: %s\n", error.what());
    std::_Exit(1);
  }
}
