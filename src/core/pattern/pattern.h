// Which rank sends how much to which: the communication pattern of one run (treematch-2013 §2.1, reorder-2011 §3.2).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ranktree::core::pattern {

using Rank = std::int32_t;  // rank in MPI_COMM_WORLD

// Traffic is stored separately for each class of call that caused it.
enum class Class : std::uint8_t {
  kPointToPoint,
  kNeighbor,    // neighbourhood collectives, exact through the topology
  kCollective,  // collectives whose pairs are known exactly at the call (Alltoallv, Alltoallw, Gatherv, Scatterv)
  kRma          // one-sided, from the rank the data leaves to the rank it reaches (a Get counts target -> origin)
};
inline constexpr int kClassCount = 4;
// In files and in Python.
inline constexpr std::array<std::string_view, kClassCount> kClassNames{"p2p", "neighbor", "collective", "rma"};

// Messages and bytes of every stored pair, parallel to Pattern::indices. Whole numbers, exact up to 2^53.
struct Traffic {
  std::vector<double> messages;
  std::vector<double> bytes;
};

// Whether some of the messages or bytes are not 0.
bool any_nonzero(const std::vector<double>& values);

// One MPI call on one communicator; the names are MPI's.
enum class Operation : std::uint8_t {
  kBarrier,
  kBcast,
  kReduce,
  kAllreduce,
  kScan,
  kExscan,
  kGather,
  kScatter,
  kAllgather,
  kAllgatherv,
  kAlltoall,
  kReduceScatter,
  kReduceScatterBlock
};
inline constexpr int kOperationCount = 13;
std::string_view operation_name(Operation operation);  // "Bcast", "Reduce_scatter_block", ...

// Collective calls of one kind, summed over the ranks that made them.
struct CollectiveCalls {
  std::int32_t communicator = 0;  // index into Pattern::communicators
  Operation operation = Operation::kBarrier;
  std::int32_t root = -1;   // rank within the communicator; -1 where the operation has none
  std::int32_t bucket = 0;  // floor(log2(bytes of one call at one rank)) + 1; 0 for zero bytes
  double calls = 0;         // summed over ranks: a Bcast by 8 ranks adds 8
  double bytes = 0;  // bytes of the call's message argument, summed over ranks and calls; see docs/reference/formats.md
};

// The calls that send point-to-point messages; a large-count form (MPI_Send_c) counts as the call without it.
enum class SendCall : std::uint8_t {
  kSend,
  kBsend,
  kSsend,
  kRsend,
  kIsend,
  kIbsend,
  kIssend,
  kIrsend,
  kSendrecv,
  kSendrecvReplace,
  kIsendrecv,
  kIsendrecvReplace,
  kSendInit,
  kBsendInit,
  kSsendInit,
  kRsendInit,
  kPsendInit
};
inline constexpr int kSendCallCount = 17;
std::string_view send_call_name(SendCall call);  // "Send", "Isendrecv_replace", ...

// Point-to-point messages of one call on one communicator in one bucket of sizes, summed over ranks.
struct SentMessages {
  std::int32_t communicator = -1;  // index into Pattern::communicators; -1: its members were not recorded
  SendCall call = SendCall::kSend;
  std::int32_t bucket = 0;  // floor(log2(bytes of one message)) + 1; 0 for empty messages
  double messages = 0;
  double bytes = 0;
};
inline constexpr int kBucketCount = 65;

// The members of a communicator, in its rank order, as world ranks. Congruent communicators share one entry.
struct Communicator {
  std::vector<Rank> members;
  std::vector<Rank> remote;  // the other group of an intercommunicator, empty otherwise
};

// What the ranks exchanged between calls by which all of them synchronise: messages and bytes of some pairs, summed
// over all occurrences.
struct Phase {
  std::string name;                 // for people: "before MPI_Allreduce", "MPI_Bcast of 8 ranks"
  double count = 1;                 // occurrences
  std::vector<std::int64_t> pairs;  // indices into Pattern::indices, ascending
  Traffic traffic;                  // parallel to `pairs`
};
inline constexpr int kMostPhases = 63;  // with the one of all other traffic 64

// Calls that moved data but could not be attributed to a pair or a collective: counted by name, never dropped silently.
using Unattributed = std::map<std::string, double>;

struct Metadata {
  bool complete = true;             // false: a rank died or aborted and the file holds what was recovered
  std::string program;              // the command line, empty when imported
  std::vector<std::string> launch;  // the launcher's command, word by word; empty when unknown
  std::string mpi;                  // MPI_Get_library_version's first line, empty when imported
  std::string source;               // "ranktree trace", "Matrix Market", "Open MPI monitoring", ...
  std::vector<std::string> hosts;   // host of each rank, empty when unknown
  std::vector<Rank> missing;        // ranks whose records are absent (complete == false)
  Unattributed unattributed;
};

// Sparse by sender: the receivers of rank i are indices[indptr[i]] .. indices[indptr[i+1]-1], ascending, no duplicates.
// Self messages are kept; the mapper drops them.
struct Pattern {
  Rank ranks = 0;
  std::vector<std::int64_t> indptr{0};
  std::vector<Rank> indices;
  std::array<Traffic, kClassCount> traffic;  // by Class; every array has indices.size() entries
  std::vector<CollectiveCalls> collectives;
  std::vector<SentMessages> sent;  // the point-to-point class by call and size; empty where it was not recorded
  std::vector<Communicator> communicators;
  bool phased = false;        // phases were recorded: collective calls are phases, too; false: all is one phase
  std::vector<Phase> phases;  // the traffic that they lack is one more
  Metadata metadata;

  [[nodiscard]] const Traffic& of(Class kind) const { return traffic[static_cast<std::size_t>(kind)]; }
  [[nodiscard]] Traffic& of(Class kind) { return traffic[static_cast<std::size_t>(kind)]; }
};

// Directed traffic from one rank to another: patterns are built from such entries.
struct Entry {
  Rank from = 0;
  Rank to = 0;
  Class kind = Class::kPointToPoint;
  double messages = 0;
  double bytes = 0;
};

// Sorts, sums equal (from, to, kind) and builds the CSR arrays; O(entries log entries). Throws Error(kInput) when a
// rank is out of 0..ranks-1 or an amount is negative or not finite.
Pattern from_entries(Rank ranks, std::span<const Entry> entries);

// Throws Error(kInput) naming the first violated rule of the struct above; `origin` (a file name) leads the text.
void validate(const Pattern& pattern, const std::string& origin);

// Messages and bytes of all classes together.
Traffic total(const Pattern& pattern);

}  // namespace ranktree::core::pattern
