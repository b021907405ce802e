#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "core/schedule/makers.h"
#include "core/schedule/transform.h"

namespace ranktree::core::schedule {
namespace {

using enum Algorithm;

constexpr std::array<std::string_view, kCollectives> kCollectiveNames = {
    "broadcast", "reduce", "allreduce", "barrier", "gather", "scatter", "allgather", "reduce_scatter", "alltoall"};
constexpr std::array<std::string_view, 19> kAlgorithms = {"flat",
                                                          "chain",
                                                          "pipeline",
                                                          "binary",
                                                          "binomial",
                                                          "k-nomial",
                                                          "split-binary",
                                                          "in-order-binary",
                                                          "scatter-ring-allgather",
                                                          "scatter-doubling-allgather",
                                                          "rabenseifner",
                                                          "linear",
                                                          "non-overlapping",
                                                          "recursive-doubling",
                                                          "ring",
                                                          "segmented-ring",
                                                          "pairwise",
                                                          "dissemination",
                                                          "bruck"};
constexpr std::array<std::string_view, 3> kForms = {"leaders", "same-index", "lanes"};

constexpr std::array kBroadcasts = {kFlat,    kChain,       kPipeline,    kBinary,         kBinomial,
                                    kKNomial, kSplitBinary, kScatterRing, kScatterDoubling};
constexpr std::array kReduces = {kFlat, kChain, kPipeline, kBinary, kBinomial, kKNomial, kInOrderBinary, kRabenseifner};
constexpr std::array kAllreduces = {kRabenseifner, kLinear,        kNonOverlapping, kRecursiveDoubling,
                                    kRing,         kSegmentedRing, kPairwise};
constexpr std::array kBarriers = {kFlat, kBinomial, kDissemination};
constexpr std::array kRooted = {kFlat, kBinomial};
constexpr std::array kAllgathers = {kFlat, kRecursiveDoubling, kRing};
constexpr std::array kReduceScatters = {kBinomial, kRabenseifner, kRing, kPairwise};
constexpr std::array kAlltoalls = {kFlat, kBruck};

template <class Word, std::size_t N>
std::optional<Word> look_up(const std::array<std::string_view, N>& names, std::string_view word) {
  const auto found = std::find(names.begin(), names.end(), word);
  if (found == names.end()) return std::nullopt;
  return static_cast<Word>(found - names.begin());
}

}  // namespace

std::string_view collective_name(Collective collective) {
  return kCollectiveNames[static_cast<std::size_t>(collective)];
}
std::string_view algorithm_name(Algorithm algorithm) { return kAlgorithms[static_cast<std::size_t>(algorithm)]; }
std::string_view form_name(Form form) { return kForms[static_cast<std::size_t>(form)]; }
std::optional<Collective> collective_from_name(std::string_view word) {
  return look_up<Collective>(kCollectiveNames, word);
}
std::optional<Algorithm> algorithm_from_name(std::string_view word) { return look_up<Algorithm>(kAlgorithms, word); }
std::optional<Form> form_from_name(std::string_view word) { return look_up<Form>(kForms, word); }

std::span<const Algorithm> algorithms_of(Collective collective) {
  switch (collective) {
    case Collective::kBroadcast:
      return kBroadcasts;
    case Collective::kReduce:
      return kReduces;
    case Collective::kAllreduce:
      return kAllreduces;
    case Collective::kBarrier:
      return kBarriers;
    case Collective::kGather:
    case Collective::kScatter:
      return kRooted;
    case Collective::kAllgather:
      return kAllgathers;
    case Collective::kReduceScatter:
      return kReduceScatters;
    case Collective::kAlltoall:
      return kAlltoalls;
  }
  return {};
}

bool keeps_rank_order(Collective collective, Algorithm algorithm) {
  switch (collective) {
    case Collective::kReduce:
      return algorithm != kBinary;
    case Collective::kAllreduce:
    case Collective::kReduceScatter:
      return algorithm != kRing && algorithm != kSegmentedRing;
    default:
      return true;
  }
}

}  // namespace ranktree::core::schedule
