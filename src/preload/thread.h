// What one thread keeps: its part, and small caches that make the common send a few loads and two additions.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

#include "core/pattern/pattern.h"
#include "preload/call.h"
#include "preload/part.h"
#include "preload/receipt.h"

namespace ranktree::preload {

// Simulated ranks are threads of one process: what is one a process elsewhere is one a thread. They leave their records
// in parts, since SMPI lacks what gathering them takes.
#ifdef RANKTREE_SIMULATED
inline constexpr bool kSimulated = true;
#define RANKTREE_ONE_A_PROCESS thread_local
#else
inline constexpr bool kSimulated = false;
#define RANKTREE_ONE_A_PROCESS static
#endif

struct Communicator;

// Direct-mapped caches. A slot holds when its generation is the present one: freeing a communicator or a datatype,
// whose handle may come back for another, starts a new generation. Generations begin at 1, so a fresh slot never
// matches.
struct PeerSlot {
  MPI_Comm comm;
  int rank;
  std::uint32_t generation;
  core::pattern::SendCall call;
  layout::PairCell* cell;   // point-to-point messages to that rank
  layout::SendCell* sends;  // and those of that call on that communicator, by size
};
struct TypeSlot {
  MPI_Datatype type;
  std::uint32_t generation;
  std::uint64_t bytes;
};
struct CommunicatorSlot {
  MPI_Comm comm;
  std::uint32_t generation;
  Communicator* communicator;
};
inline constexpr unsigned kPeerSlots = 256;
inline constexpr unsigned kTypeSlots = 32;
inline constexpr unsigned kCommunicatorSlots = 64;

struct Thread {
  Thread(std::string path, const PartOwner& owner) : part(std::move(path), owner) {}

  // The cell of a pair; nullptr when memory has run out. When the table moved, remembered cells are forgotten.
  layout::PairCell* pair(std::uint64_t key) noexcept {
    layout::PairCell* cell = part.pair(key);
    forget_moved();
    return cell;
  }
  // The same for the sends of a call on a communicator.
  layout::SendCell* sends(core::pattern::SendCall call, std::uint64_t communicator) noexcept {
    layout::SendCell* cell = part.sends(layout::send_key(call), communicator);
    forget_moved();
    return cell;
  }
  void forget_moved() noexcept {
    if (part_moves == part.moves()) return;
    peers.fill({});
    part_moves = part.moves();
  }

  std::array<PeerSlot, kPeerSlots> peers{};
  std::array<TypeSlot, kTypeSlots> types{};
  std::array<CommunicatorSlot, kCommunicatorSlots> communicators{};
  Part part;
  std::uint64_t part_moves = 0;  // cells in `peers` are of this state of the part
  Receipt receipt;               // reused by every collective call
};

// The library's state: one set a thread, and the two generations.
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): the wrappers have no other place for it
extern constinit thread_local Thread* this_thread __attribute__((tls_model("initial-exec")));
extern constinit std::atomic<std::uint32_t> communicator_generation;
extern constinit std::atomic<std::uint32_t> datatype_generation;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

}  // namespace ranktree::preload
