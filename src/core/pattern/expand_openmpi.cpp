// What Open MPI 4.1's coll/tuned sends: the switch points of its fixed decision functions for commutative operations
// (facts from ompi/mca/coll/tuned/coll_tuned_decision_fixed.c of the v4.1.x branch, all without segmentation).
// tests/pattern/test_expand.py compares it with the library itself. coll/basic serves what tuned does not (scan,
// exscan).
#include <cstdint>
#include <span>

#include "core/pattern/expand_call.h"
#include "core/pattern/expand_exchange.h"
#include "core/pattern/expand_rabenseifner.h"
#include "core/pattern/expand_trees.h"
#include "core/pattern/pattern.h"

namespace ranktree::core::pattern::expansion {
namespace {

void broadcast_chosen(const Call& call, const Sends& sends);
void reduce_chosen(const Call& call, const Sends& sends);
void scatter(const Call& call, const Sends& sends);

// Algorithms fall back to simpler ones where there are fewer elements than blocks.

void bcast_parts(const Call& call, const Sends& sends) {
  (elements(call) < call.ranks ? bcast_linear : bcast_scatter_recursive_doubling)(call, sends);
}

void reduce_parts(const Call& call, const Sends& sends) {
  (elements(call) < power_of_two(call.ranks) ? reduce_linear : reduce_rabenseifner_openmpi)(call, sends);
}

void reduce_then_bcast(const Call& call, const Sends& sends) {
  reduce_chosen(with_root(call, 0), sends);
  broadcast_chosen(with_root(call, 0), sends);
}

void allreduce_parts(const Call& call, const Sends& sends) {
  if (elements(call) >= power_of_two(call.ranks)) return allreduce_rabenseifner_openmpi(call, sends);
  reduce_linear(with_root(call, 0), sends);
  bcast_linear(with_root(call, 0), sends);
}

// Also stands for the segmented ring, which equals the plain ring as long as no segment size is set.
void allreduce_around(const Call& call, const Sends& sends) {
  (elements(call) < call.ranks ? allreduce_recursive_doubling : allreduce_ring)(call, sends);
}

void allgather_doubling(const Call& call, const Sends& sends) {
  (is_power_of_two(call.ranks) ? allgather_recursive_doubling : allgather_bruck)(call, sends);
}

void allgather_neighbors(const Call& call, const Sends& sends) {
  (call.ranks % 2 == 0 ? allgather_neighbor_exchange : allgather_ring)(call, sends);
}

// Gathers to rank 0, then broadcasts all of it as one element of a derived type.
void gather_then_bcast(const Call& call, const Sends& sends) {
  gather_linear(with_root(call, 0), sends);
  const std::int64_t bytes = whole(call.bytes, call.ranks);
  broadcast_chosen(with_bytes(with_root(call, 0), bytes, bytes), sends);
}

void reduce_then_scatterv(const Call& call, const Sends& sends) {
  reduce_chosen(with_root(call, 0), sends);
  const Blocks blocks(call.bytes, call.element, call.ranks);
  for (Rank rank = 1; rank < call.ranks; ++rank) {
    if (blocks.size(rank) > 0) sends.add(0, rank, blocks.size(rank));
  }
}

void reduce_then_scatter(const Call& call, const Sends& sends) {
  reduce_chosen(with_root(call, 0), sends);
  scatter(with_bytes(with_root(call, 0), call.bytes / call.ranks, call.element), sends);
}

constexpr Choice kBcast[] = {
    {4, 32, bcast_chain},          {4, 256, bcast_binary},
    {4, 512, bcast_chain},         {4, 1024, bcast_knomial},
    {4, 32768, bcast_linear},      {4, 131072, bcast_binary},
    {4, 262144, bcast_chain},      {4, 524288, bcast_linear},
    {4, 1048576, bcast_binomial},  {4, kAny, bcast_binary},
    {8, 64, bcast_binary},         {8, 128, bcast_binomial},
    {8, 2048, bcast_binary},       {8, 8192, bcast_binomial},
    {8, 1048576, bcast_linear},    {8, kAny, bcast_chain},
    {16, 8, bcast_knomial},        {16, 64, bcast_binary},
    {16, 4096, bcast_knomial},     {16, 16384, bcast_binary},
    {16, 32768, bcast_binomial},   {16, kAny, bcast_linear},
    {32, 4096, bcast_knomial},     {32, 1048576, bcast_binomial},
    {32, kAny, bcast_parts},       {64, 2048, bcast_binomial},
    {128, kAny, bcast_knomial},    {256, 2, bcast_binomial},
    {256, 16384, bcast_binary},    {256, 32768, bcast_linear},
    {256, 65536, bcast_binary},    {256, kAny, bcast_knomial},
    {1024, 16384, bcast_knomial},  {1024, 32768, bcast_split_binary},
    {1024, kAny, bcast_knomial},   {2048, 524288, bcast_knomial},
    {4096, 262144, bcast_knomial}, {4096, kAny, bcast_parts},
    {kAny, 8192, bcast_knomial},   {kAny, 16384, bcast_binary},
    {kAny, kAny, bcast_knomial},
};

constexpr Choice kReduce[] = {
    {4, 8, reduce_parts},
    {4, 16, reduce_binary},
    {4, 32, reduce_chain},
    {4, 262144, reduce_linear},
    {4, kAny, reduce_chain},
    {8, 4096, reduce_binary},
    {8, 65536, reduce_chain},
    {8, 262144, reduce_binomial},
    {8, 524288, reduce_linear},
    {8, 1048576, reduce_binomial},
    {8, kAny, reduce_linear},
    {16, 8192, reduce_binary},
    {16, kAny, reduce_binomial},
    {32, 4096, reduce_binary},
    {256, kAny, reduce_binomial},
    {512, 8192, reduce_binomial},
    {512, 16384, reduce_in_order_binary},
    {2048, kAny, reduce_binomial},
    {4096, 512, reduce_binomial},
    {4096, 1024, reduce_in_order_binary},
    {4096, 8192, reduce_binomial},
    {4096, 16384, reduce_in_order_binary},
    {4096, kAny, reduce_binomial},
    {kAny, 16, reduce_binomial},
    {kAny, 32, reduce_in_order_binary},
    {kAny, 1024, reduce_binomial},
    {kAny, 2048, reduce_in_order_binary},
    {kAny, 8192, reduce_binomial},
    {kAny, 16384, reduce_in_order_binary},
    {kAny, kAny, reduce_binomial},
};

constexpr Choice kAllreduce[] = {
    {4, 8, allreduce_around},
    {4, 4096, allreduce_recursive_doubling},
    {4, 8192, allreduce_around},
    {4, 16384, allreduce_recursive_doubling},
    {4, 262144, allreduce_around},
    {4, kAny, allreduce_parts},
    {8, 16, allreduce_around},
    {16, 8192, allreduce_recursive_doubling},
    {16, kAny, allreduce_parts},
    {32, 64, allreduce_around},
    {32, 4096, allreduce_recursive_doubling},
    {32, kAny, allreduce_parts},
    {64, 128, allreduce_around},
    {64, kAny, allreduce_parts},
    {128, 262144, allreduce_recursive_doubling},
    {128, kAny, allreduce_parts},
    {256, 131072, reduce_then_bcast},
    {256, 262144, allreduce_recursive_doubling},
    {256, kAny, allreduce_parts},
    {512, 4096, reduce_then_bcast},
    {512, kAny, allreduce_parts},
    {4096, 2048, reduce_then_bcast},
    {2048, 16384, allreduce_recursive_doubling},
    {2048, kAny, allreduce_parts},
    {4096, 4096, allreduce_around},
    {4096, 16384, allreduce_recursive_doubling},
    {4096, kAny, allreduce_parts},
    {kAny, 2048, reduce_then_bcast},
    {kAny, 16384, allreduce_around},
    {kAny, 32768, allreduce_recursive_doubling},
    {kAny, kAny, allreduce_around},
};

// All other alltoall algorithms of Open MPI send every block directly.
constexpr Choice kAlltoall[] = {
    {16, kAny, alltoall_direct},   {32, 4, alltoall_direct},      {64, 512, alltoall_bruck},
    {64, kAny, alltoall_direct},   {512, 1024, alltoall_bruck},   {2048, 512, alltoall_bruck},
    {2048, kAny, alltoall_direct}, {4096, 1024, alltoall_bruck},  {4096, kAny, alltoall_direct},
    {8192, 2048, alltoall_bruck},  {kAny, kAny, alltoall_direct},
};

constexpr Choice kAllgather[] = {
    {3, kAny, allgather_ring},           {32, kAny, allgather_doubling},     {64, 1024, allgather_doubling},
    {256, 512, allgather_doubling},      {128, 65536, allgather_neighbors},  {128, kAny, allgather_ring},
    {256, 131072, allgather_neighbors},  {512, 32, allgather_doubling},      {512, 128, allgather_bruck},
    {512, 1024, allgather_doubling},     {512, 131072, allgather_neighbors}, {512, 524288, allgather_ring},
    {512, 1048576, allgather_neighbors}, {512, kAny, allgather_ring},        {1024, 64, allgather_doubling},
    {1024, 256, allgather_bruck},        {1024, 2048, allgather_doubling},   {1024, kAny, allgather_neighbors},
    {2048, 4, allgather_doubling},       {2048, 8, allgather_bruck},         {2048, 16, allgather_doubling},
    {2048, 32, allgather_bruck},         {2048, 256, allgather_doubling},    {2048, 512, allgather_bruck},
    {2048, 4096, allgather_doubling},    {4096, 32, allgather_bruck},        {4096, 128, allgather_doubling},
    {4096, 512, allgather_bruck},        {4096, 4096, allgather_doubling},   {kAny, 2, allgather_doubling},
    {kAny, 8, allgather_bruck},          {kAny, 16, allgather_doubling},     {kAny, 512, allgather_bruck},
    {kAny, 4096, allgather_doubling},    {kAny, kAny, allgather_neighbors},
};

constexpr Choice kAllgatherv[] = {
    {3, kAny, allgather_ring},         {8, 256, gather_then_bcast},          {8, 4096, allgather_neighbors},
    {8, 8192, allgather_ring},         {8, 16384, allgather_neighbors},      {8, 262144, allgather_bruck},
    {8, kAny, allgather_neighbors},    {16, 1024, gather_then_bcast},        {16, kAny, allgather_bruck},
    {32, 128, gather_then_bcast},      {32, 262144, allgather_bruck},        {32, kAny, allgather_ring},
    {128, 256, gather_then_bcast},     {64, 8192, allgather_bruck},          {128, 4096, allgather_bruck},
    {128, kAny, allgather_ring},       {512, 1024, allgather_bruck},         {256, 65536, allgather_neighbors},
    {512, kAny, allgather_ring},       {1024, 512, allgather_bruck},         {1024, 1024, gather_then_bcast},
    {kAny, 4096, allgather_bruck},     {1024, 1048576, allgather_neighbors}, {1024, kAny, allgather_ring},
    {kAny, kAny, allgather_neighbors},
};

constexpr Choice kGather[] = {
    {4, 2, gather_linear_sync},   {4, 4, gather_linear},         {4, 32768, gather_binomial},
    {4, 65536, gather_linear},    {4, 131072, gather_binomial},  {4, kAny, gather_linear_sync},
    {8, 1024, gather_binomial},   {8, 8192, gather_linear},      {8, 32768, gather_binomial},
    {8, 262144, gather_linear},   {8, kAny, gather_linear_sync}, {256, kAny, gather_binomial},
    {512, 2048, gather_binomial}, {512, 8192, gather_linear},    {kAny, kAny, gather_binomial},
};

// linear and linear_nb send the same.
constexpr Choice kScatter[] = {
    {4, kAny, scatter_linear},     {8, 2048, scatter_binomial},   {8, 4096, scatter_linear},
    {8, 8192, scatter_binomial},   {8, kAny, scatter_linear},     {32, 16384, scatter_binomial},
    {32, kAny, scatter_linear},    {kAny, 512, scatter_binomial}, {64, 8192, scatter_linear},
    {64, 16384, scatter_binomial}, {kAny, kAny, scatter_linear},
};

constexpr Choice kReduceScatter[] = {
    {4, 65536, reduce_scatter_ring},
    {4, 131072, reduce_scatter_butterfly},
    {4, kAny, reduce_scatter_ring},
    {8, 8, reduce_then_scatterv},
    {32, 262144, reduce_scatter_recursive_halving},
    {32, kAny, reduce_scatter_ring},
    {64, 64, reduce_then_scatterv},
    {64, 2048, reduce_scatter_recursive_halving},
    {64, 524288, reduce_scatter_butterfly},
    {64, kAny, reduce_scatter_ring},
    {512, 256, reduce_then_scatterv},
    {256, 512, reduce_scatter_recursive_halving},
    {128, 2048, reduce_scatter_butterfly},
    {128, 4096, reduce_scatter_recursive_halving},
    {256, kAny, reduce_scatter_butterfly},
    {512, 1024, reduce_scatter_recursive_halving},
    {512, kAny, reduce_scatter_butterfly},
    {4096, 512, reduce_then_scatterv},
    {1024, 2048, reduce_scatter_recursive_halving},
    {1024, 8192, reduce_scatter_butterfly},
    {1024, 16384, reduce_scatter_recursive_halving},
    {1024, kAny, reduce_scatter_butterfly},
    {4096, 4096, reduce_scatter_recursive_halving},
    {2048, 16384, reduce_scatter_butterfly},
    {2048, 32768, reduce_scatter_recursive_halving},
    {4096, kAny, reduce_scatter_butterfly},
    {8192, 1024, reduce_then_scatterv},
    {8192, 8192, reduce_scatter_recursive_halving},
    {8192, kAny, reduce_scatter_butterfly},
    {kAny, kAny, reduce_scatter_recursive_halving},
};

// Decided by the bytes of one block.
constexpr Choice kReduceScatterBlock[] = {
    {4, 4, reduce_scatter_recursive_doubling},
    {4, 8, reduce_scatter_block_butterfly},
    {4, 16, reduce_scatter_recursive_halving},
    {4, 128, reduce_scatter_block_butterfly},
    {4, 256, reduce_scatter_recursive_halving},
    {4, 4096, reduce_scatter_block_butterfly},
    {4, 8192, reduce_scatter_recursive_halving},
    {4, 131072, reduce_scatter_block_butterfly},
    {4, kAny, reduce_then_scatter},
    {8, 8, reduce_scatter_recursive_halving},
    {8, 32, reduce_scatter_recursive_doubling},
    {8, 256, reduce_scatter_block_butterfly},
    {8, 8192, reduce_scatter_recursive_halving},
    {8, 16384, reduce_scatter_block_butterfly},
    {8, 1048576, reduce_scatter_recursive_halving},
    {8, kAny, reduce_then_scatter},
    {16, 4, reduce_then_scatter},
    {16, 32, reduce_scatter_recursive_halving},
    {16, 128, reduce_scatter_block_butterfly},
    {16, 524288, reduce_scatter_recursive_halving},
    {16, 4194304, reduce_then_scatter},
    {16, kAny, reduce_scatter_block_butterfly},
    {32, 32, reduce_then_scatter},
    {32, 524288, reduce_scatter_recursive_halving},
    {32, 2097152, reduce_then_scatter},
    {32, 4194304, reduce_scatter_recursive_halving},
    {32, kAny, reduce_scatter_block_butterfly},
    {8192, 4, reduce_scatter_recursive_halving},
    {8192, 16, reduce_then_scatter},
    {8192, 65536, reduce_scatter_block_butterfly},
    {8192, 262144, reduce_then_scatter},
    {8192, kAny, reduce_scatter_block_butterfly},
    {kAny, kAny, reduce_scatter_recursive_halving},
};

constexpr Choice kBarrier[] = {
    {4, kAny, barrier_recursive_doubling},
    {8, kAny, barrier_linear},
    {64, kAny, barrier_recursive_doubling},
    {256, kAny, barrier_dissemination},
    {512, kAny, barrier_tree},
    {1024, kAny, barrier_dissemination},
    {4096, kAny, barrier_tree},
    {kAny, kAny, barrier_dissemination},
};

void broadcast_chosen(const Call& call, const Sends& sends) { choose(kBcast, call, call.bytes)(call, sends); }
void reduce_chosen(const Call& call, const Sends& sends) { choose(kReduce, call, call.bytes)(call, sends); }
void scatter(const Call& call, const Sends& sends) { choose(kScatter, call, call.bytes)(call, sends); }

constexpr Choice kScan[] = {{kAny, kAny, scan_linear}};

std::span<const Choice> table(Operation operation) {
  switch (operation) {
    case Operation::kBarrier:
      return kBarrier;
    case Operation::kBcast:
      return kBcast;
    case Operation::kReduce:
      return kReduce;
    case Operation::kAllreduce:
      return kAllreduce;
    case Operation::kScan:
    case Operation::kExscan:
      return kScan;
    case Operation::kGather:
      return kGather;
    case Operation::kScatter:
      return kScatter;
    case Operation::kAllgather:
      return kAllgather;
    case Operation::kAllgatherv:
      return kAllgatherv;
    case Operation::kAlltoall:
      return kAlltoall;
    case Operation::kReduceScatter:
      return kReduceScatter;
    case Operation::kReduceScatterBlock:
      return kReduceScatterBlock;
  }
  return {};
}

}  // namespace

void expand_openmpi(Operation operation, const Call& call, const Sends& sends) {
  const bool per_block = operation == Operation::kReduceScatterBlock;
  const Algorithm algorithm = choose(table(operation), call, per_block ? call.bytes / call.ranks : call.bytes);
  if (algorithm != nullptr) algorithm(call, sends);
}

}  // namespace ranktree::core::pattern::expansion
