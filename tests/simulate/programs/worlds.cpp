// Simulated worlds of different machines in one process, each an application of SMPI: worlds NAME:MACHINE:LEAVES ...
//
// MACHINE is a machine file whose cores are the leaves, LEAVES the number of ranks, on its first leaves. Every rank
// prints the line of library.h after its world's name, and checks the collectives of served.h.
#include <smpi/smpi.h>
#include <simgrid/s4u.hpp>

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "library.h"
#include "served.h"

namespace s4u = simgrid::s4u;

namespace {

struct World {
  std::string name;
  std::string machine;
  int ranks = 0;
};

World read_world(const std::string& text) {
  std::istringstream fields(text);
  World world;
  std::string ranks;
  std::getline(fields, world.name, ':');
  std::getline(fields, world.machine, ':');
  std::getline(fields, ranks);
  world.ranks = std::atoi(ranks.c_str());
  return world;
}

void add_hosts(s4u::NetZone* zone, const World& world, std::vector<s4u::Host*>& hosts) {
  for (int leaf = 0; leaf < world.ranks; ++leaf) {
    s4u::Host* host = zone->create_host(world.name + std::to_string(leaf), 1e9);
    host->set_property("machine", world.machine);
    host->set_property("unit", "Core");
    host->set_property("leaf", std::to_string(leaf));
    host->seal();
    hosts.push_back(host);
  }
}

void no_main(int /*argc*/, char** /*argv*/) {}

void run_rank(const std::string& name) {
  MPI_Init(nullptr, nullptr);
  char line[kLineBytes];
  // SMPI 3.32 cannot match messages on the MPI_COMM_WORLD of one of several applications.
  MPI_Comm world = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &world);
  library_rank(world, line, 4);
  served_rounds(world, 4, 8);
  MPI_Comm_free(&world);
  std::printf("%s %s\n", name.c_str(), line);
  MPI_Finalize();
}

void start_world(const World& world) {
  SMPI_app_instance_register(world.name.c_str(), no_main, world.ranks);
  for (int rank = 0; rank < world.ranks; ++rank) {
    const std::string name = world.name + std::to_string(rank);
    s4u::ActorPtr actor = s4u::Actor::init(name, s4u::Host::by_name(name));
    actor->set_property("instance_id", world.name);
    actor->set_property("rank", std::to_string(rank));
    actor->start([world] { run_rank(world.name); });
  }
}

}  // namespace

int main(int argc, char** argv) {
  s4u::Engine engine(&argc, argv);
  std::vector<World> worlds;
  for (int i = 1; i < argc; ++i) worlds.push_back(read_world(argv[i]));
  s4u::NetZone* zone = s4u::create_full_zone("all");
  std::vector<s4u::Host*> hosts;
  for (const World& world : worlds) add_hosts(zone, world, hosts);
  const s4u::Link* link = zone->create_link("link", 1e9)->set_latency(1e-6)->seal();
  for (s4u::Host* from : hosts) {
    for (s4u::Host* to : hosts) {
      zone->add_route(from->get_netpoint(), to->get_netpoint(), nullptr, nullptr, {s4u::LinkInRoute(link)}, false);
    }
  }
  zone->seal();
  SMPI_init();
  for (const World& world : worlds) start_world(world);
  engine.run();
  SMPI_finalize();
  return 0;
}
