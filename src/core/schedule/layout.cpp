#include "core/schedule/layout.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/schedule/hierarchy.h"
#include "core/schedule/makers.h"
#include "core/schedule/schedule.h"

namespace ranktree::core::schedule {
namespace {

constexpr std::int64_t kMostElements = 281474976710656;  // 2^48, of all blocks together

[[noreturn]] void refuse(const std::string& what, const std::string& expected, std::int64_t found) {
  throw Error(Fault::kInput, "schedule: " + what + ": expected " + expected + ", found " + std::to_string(found));
}

bool takes_counts(Collective collective) {
  return collective == Collective::kGather || collective == Collective::kScatter ||
         collective == Collective::kAllgather || collective == Collective::kReduceScatter;
}

void check_list(const std::vector<std::int64_t>& list, const Request& request, const char* what, bool taken) {
  if (list.empty()) return;
  if (!taken) refuse(what, "none for this collective", static_cast<std::int64_t>(list.size()));
  if (static_cast<Rank>(list.size()) != request.ranks) {
    refuse(what, std::to_string(request.ranks) + " entries", static_cast<std::int64_t>(list.size()));
  }
}

void check_size(const Request& request, Rank rank, bool all) {
  if (!all && !request.counts.empty()) {
    const std::int64_t own = block_count(request, rank);
    if (own < 0 || own > kMostElements) refuse("block", "0 to 2^48 elements", own);
    return;
  }
  if (request.counts.empty()) {
    if (request.count < 0 || request.count > kMostElements / request.ranks) {
      refuse("count", "0 to 2^48 elements over all ranks", request.count);
    }
    return;
  }
  std::int64_t left = kMostElements;
  for (const std::int64_t count : request.counts) {
    if (count < 0 || count > left) refuse("block", "0 to 2^48 elements over all ranks", count);
    left -= count;
  }
  for (const std::int64_t first : request.displacements) {
    if (first < -kMostElements || first > kMostElements) refuse("displacement", "at most 2^48 elements", first);
  }
}

}  // namespace

void check_request(const Request& request, Rank rank, bool all) {
  if (request.ranks < 1) refuse("ranks", "at least 1", request.ranks);
  if (rank < 0 || rank >= request.ranks) refuse("rank", "0 to " + std::to_string(request.ranks - 1), rank);
  if (request.root < 0 || request.root >= request.ranks) {
    refuse("root", "0 to " + std::to_string(request.ranks - 1), request.root);
  }
  const bool counts = takes_counts(request.collective);
  check_list(request.counts, request, "counts", counts);
  check_list(request.displacements, request, "displacements",
             counts && request.collective != Collective::kReduceScatter && !request.counts.empty());
  check_size(request, rank, all);
}

Packing::Packing(const Request& request, const Hierarchy& hierarchy)
    : ranks_(request.ranks), size_(request.count), given_(hierarchy.in_rank_order() && request.displacements.empty()) {
  if (request.counts.empty()) return;
  firsts_.reserve(request.counts.size() + 1);
  firsts_.push_back(0);
  bool packed = hierarchy.in_rank_order();
  for (Rank position = 0; position < ranks_; ++position) {
    const auto rank = static_cast<std::size_t>(hierarchy.rank_at(position));
    if (!request.displacements.empty() && request.displacements[rank] != firsts_.back()) packed = false;
    firsts_.push_back(firsts_.back() + request.counts[rank]);
  }
  given_ = packed;
}

}  // namespace ranktree::core::schedule
