// What all ranks of a communicator must know to split it, small enough for one allreduce: the longest common beginning
// of their chains, and the parts below it (hsplit-2018 §3.2.2 and Algorithm 1, for any binding).
//
// Each rank makes its own summary, and merge() combines two in any order. own_code(), gets_part() and number_part()
// then return each rank's part. A summary is plain bytes, small for any number of ranks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/split/chain.h"

namespace ranktree::core::split {

// The result for a rank that has no next object while other ranks have one.
enum class Leftover : std::uint8_t { kNull, kSelf, kGroup };

// A rank of the communicator that is split.
struct Member {
  int rank = 0;
  int key = 0;             // orders the ranks of a new communicator, before rank
  std::uint32_t host = 0;  // a hash of the name its node has, 0 when unknown
};

// One part below the shared beginning.
struct Sibling {
  std::uint64_t code = 0;
  Member root;  // the first of its members by (key, rank)
};

// The failure on some rank, 0 for none; the largest wins, then the lowest rank.
struct Fault {
  std::int32_t code = 0;
  std::int32_t rank = 0;
};

inline constexpr std::size_t kMaxSiblings = 64;

struct Summary {
  Fault fault;
  std::uint64_t arguments = 0;  // a hash of the arguments that must be equal on all ranks; 0: any
  std::uint64_t request = 0;    // a hash: if it differs, all ranks get MPI_COMM_NULL; 0: any
  std::uint8_t arguments_differ = 0;
  std::uint8_t requests_differ = 0;
  std::uint8_t absent = 0;        // some rank takes no part
  std::uint8_t present = 0;       // some rank takes part
  std::uint8_t native = 0;        // some rank requests what only the MPI library can do
  std::uint8_t hosts_differ = 0;  // the host name of some rank differs from that of its node's first rank
  std::uint8_t children = 0;      // some part is not a leftover
  std::uint8_t overflow = 0;      // more than kMaxSiblings parts: siblings is not complete
  std::uint16_t depth = 0;        // length of the shared beginning
  std::uint16_t sibling_count = 0;
  std::uint64_t code_or = 0;  // over the codes of all parts: with code_and, the bits that differ
  std::uint64_t code_and = 0;
  std::array<std::uint64_t, kMaxDepth> beginning{};
  std::array<Sibling, kMaxSiblings> siblings{};  // by code
};

// The summary of one rank: its whole chain is the common beginning. Links beyond kMaxDepth are ignored.
Summary summarize(std::span<const Link> chain, const Member& member, Leftover leftover);

// The summary of one rank when the parts are given: `code` of its instance, or nothing for a rank outside all
// instances.
Summary summarize_instance(std::optional<std::uint64_t> code, const Member& member);

// The summary of a rank that takes no part.
Summary summarize_absent();

// The number of leading bytes that are in use when at most this many ranks are merged.
std::size_t summary_bytes(int ranks);

// Combines two summaries. Associative and commutative. O(kMaxDepth + kMaxSiblings).
void merge(const Summary& other, Summary& into);

// The code of the part that a rank belongs to.
std::uint64_t own_code(const Summary& all, std::span<const Link> chain, int rank, Leftover leftover);

// True for the codes of ranks that have no next object.
bool is_leftover(std::uint64_t code);

// One rank's part of a split.
struct Part {
  int count = 0;  // of siblings, this part included
  int index = 0;  // among them, by the rank of their roots
};

// True when the rank whose part has this code gets a communicator.
bool gets_part(const Summary& all, std::uint64_t code, Leftover leftover);

// The part's number among its siblings, or nothing when there are too many to list.
std::optional<Part> number_part(const Summary& all, std::uint64_t code, Leftover leftover);

// True when two parts that are nodes have the same host name, or one node has two: MPI and the host names disagree.
bool nodes_disagree(const Summary& all);

}  // namespace ranktree::core::split
