// SMPI's levels of a communicator without messages between all pairs of ranks.
//
// Algorithms of SMPI's selectors that know nodes make the levels of a communicator in their first call: two allgathers
// in a ring and, on each rank, a search through the square of the ranks, which takes minutes for 1,024 ranks. SMPI
// takes a host for a node, and a host here is a leaf of the machine. Where no leaf has two ranks, each rank leads a
// node of its own, which needs no messages. SMPI's own calls reach these functions because the library is preloaded.
// Later calls take the same time as with SMPI's own.
// SimGrid 3.32 alone: other releases have other classes, and keep their own levels.
#include <smpi/smpi.h>
#include <xbt/base.h>

#include <simgrid/version.h>
#include <simgrid/s4u.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <unordered_set>

#include "simulate/smpi_levels.h"
#include "simulate/smpi_symbols.h"

#if SIMGRID_VERSION == 33200

namespace simgrid::smpi {

class Topo;

// As in SimGrid, which installs no header of its classes.
class Group {
 public:
  [[nodiscard]] aid_t actor(int rank) const;
  void ref();
};

class Comm {
 public:
  Comm(Group* group, std::shared_ptr<Topo> topology, bool is_level, int id);
  RANKTREE_SEEN void init_smp();
  [[nodiscard]] int size() const;
  Group* group();
  [[nodiscard]] Comm* get_leaders_comm() const;
  [[nodiscard]] int* get_leaders_map() const;
  void set_leaders_comm(Comm* leaders);

 private:
  std::array<std::byte, 1024> own_;  // at least SMPI's
};

// NOLINTBEGIN(bugprone-reserved-identifier,readability-function-size): SMPI's names and parameters
int barrier__ompi_bruck(Comm* comm);
RANKTREE_SEEN int allgather__ring(const void* own, int count, Datatype* type, void* all, int count_of_each,
                                  Datatype* type_of_each, Comm* comm);

namespace {

using ranktree::simulate::next;

bool& single_ranks() {
  static bool value = false;
  return value;
}

// The ranks that make levels now.
std::unordered_set<aid_t>& making() {
  static std::unordered_set<aid_t> ranks;
  return ranks;
}

}  // namespace

void Comm::init_smp() {
  static const auto smpis = next<void (*)(Comm*)>("_ZN7simgrid4smpi4Comm8init_smpEv");
  if (!single_ranks()) return smpis(this);
  const aid_t rank = s4u::this_actor::get_pid();
  making().insert(rank);
  smpis(this);
  making().erase(rank);
  // SMPI has found one leader, since allgather__ring() names no other: that search is short.
  if (get_leaders_comm()->size() < size()) {
    group()->ref();
    set_leaders_comm(new Comm(group(), nullptr, true, MPI_UNDEFINED));
  }
  for (int i = 0; i < size(); ++i) get_leaders_map()[i] = static_cast<int>(group()->actor(i));
}

// The barrier: the first rank that has made the levels of MPI_COMM_WORLD would keep the others from taking part.
int allgather__ring(const void* own, int count, Datatype* type, void* all, int count_of_each, Datatype* type_of_each,
                    Comm* comm) {
  // #lizard forgives the number of parameters: SMPI's
  using Function = decltype(&allgather__ring);
  static const auto smpis = next<Function>("_ZN7simgrid4smpi15allgather__ringEPKviPNS0_8DatatypeEPviS4_PNS0_4CommE");
  if (!making().contains(s4u::this_actor::get_pid())) {
    return smpis(own, count, type, all, count_of_each, type_of_each, comm);
  }
  const int code = comm->size() > 1 ? barrier__ompi_bruck(comm) : MPI_SUCCESS;
  std::fill_n(static_cast<int*>(all), comm->size(), static_cast<int>(comm->group()->actor(0)));
  return code;
}
// NOLINTEND(bugprone-reserved-identifier,readability-function-size)

}  // namespace simgrid::smpi

namespace ranktree::simulate {

void know_single_ranks() { simgrid::smpi::single_ranks() = true; }

}  // namespace ranktree::simulate
#else
namespace ranktree::simulate {

void know_single_ranks() {}

}  // namespace ranktree::simulate
#endif
