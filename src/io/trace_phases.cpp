#include "io/trace_phases.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/pattern/pattern.h"
#include "core/pattern/phases.h"
#include "io/trace_layout.h"

namespace ranktree::io {
namespace {

using core::pattern::Entry;
using core::pattern::kMostPhases;
using trace_layout::Cut;

using Both = std::pair<std::uint8_t, std::uint8_t>;  // a phase of each side

struct Joint {
  double count = 0;
  std::size_t first = 0;    // cut
  std::uint8_t number = 0;  // 0: not kept
};

std::size_t common_length(const std::vector<Cut>& a, const std::vector<Cut>& b) {
  const auto same = [](const Cut& x, const Cut& y) { return x.operation == y.operation; };
  return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end(), same).first - a.begin());
}

// Occurrences by phase.
std::array<double, kMostPhases + 1> counted(const std::vector<Cut>& cuts) {
  std::array<double, kMostPhases + 1> counts{};
  for (const Cut& cut : cuts) counts.at(cut.phase) += 1;
  return counts;
}

std::map<Both, Joint> joined(const std::vector<Cut>& a, const std::vector<Cut>& b, std::size_t length) {
  std::map<Both, Joint> joints;
  for (std::size_t i = 0; i < length; ++i) {
    Joint& joint = joints.try_emplace({a[i].phase, b[i].phase}, Joint{.first = i}).first->second;
    joint.count += 1;
  }
  joints.erase({0, 0});
  std::vector<Joint*> order;
  order.reserve(joints.size());
  for (auto& [both, joint] : joints) order.push_back(&joint);
  std::sort(order.begin(), order.end(), [](const Joint* x, const Joint* y) {
    return x->count != y->count ? x->count > y->count : x->first < y->first;
  });
  if (order.size() > kMostPhases) order.resize(kMostPhases);
  std::sort(order.begin(), order.end(), [](const Joint* x, const Joint* y) { return x->first < y->first; });
  for (std::size_t i = 0; i < order.size(); ++i) order[i]->number = static_cast<std::uint8_t>(i + 1);
  return joints;
}

void append(std::vector<Entry>& to, const std::vector<Entry>& from, double share) {
  for (Entry entry : from) {
    entry.messages *= share;
    entry.bytes *= share;
    to.push_back(entry);
  }
}

// By pair, how much of its traffic there is for each amount in a phase.
std::vector<double> scales_of(const std::vector<core::pattern::Phase>& phases, const std::vector<double>& total,
                              std::vector<double> core::pattern::Traffic::* amounts) {
  std::vector<double> scales(total.size(), 0);
  for (const core::pattern::Phase& phase : phases) {
    for (std::size_t i = 0; i < phase.pairs.size(); ++i) {
      scales[static_cast<std::size_t>(phase.pairs[i])] += (phase.traffic.*amounts)[i];
    }
  }
  for (std::size_t i = 0; i < scales.size(); ++i) scales[i] = scales[i] > 0 ? total[i] / scales[i] : 1;
  return scales;
}

void scale(std::vector<core::pattern::Phase>& phases, const core::pattern::Traffic& total) {
  for (const auto amounts : {&core::pattern::Traffic::messages, &core::pattern::Traffic::bytes}) {
    const std::vector<double> scales = scales_of(phases, total.*amounts, amounts);
    for (core::pattern::Phase& phase : phases) {
      for (std::size_t i = 0; i < phase.pairs.size(); ++i) {
        (phase.traffic.*amounts)[i] *= scales[static_cast<std::size_t>(phase.pairs[i])];
      }
    }
  }
}

}  // namespace

void merge(TracePhases& into, TracePhases&& from) {
  if (from.cuts.empty()) return;
  if (into.cuts.empty()) {
    into = std::move(from);
    return;
  }
  const std::size_t length = common_length(into.cuts, from.cuts);
  const auto mine = counted(into.cuts);
  const auto theirs = counted(from.cuts);
  const std::map<Both, Joint> joints = joined(into.cuts, from.cuts, length);
  TracePhases both;
  for (const auto& [pair, joint] : joints) {
    if (joint.number == 0) continue;
    std::vector<Entry>& entries = both.entries.at(joint.number - 1U);
    const auto& [a, b] = pair;
    if (a > 0) append(entries, into.entries.at(a - 1U), joint.count / mine.at(a));
    if (b > 0) append(entries, from.entries.at(b - 1U), joint.count / theirs.at(b));
  }
  both.cuts.reserve(length);
  for (std::size_t i = 0; i < length; ++i) {
    const auto found = joints.find({into.cuts[i].phase, from.cuts[i].phase});
    both.cuts.push_back({found == joints.end() ? std::uint8_t{0} : found->second.number, into.cuts[i].operation});
  }
  into = std::move(both);
}

void add_phases(const TracePhases& phases, core::pattern::Pattern& pattern) {
  const auto counts = counted(phases.cuts);
  std::array<std::uint8_t, kMostPhases + 1> operations{};
  for (const Cut& cut : phases.cuts) operations.at(cut.phase) = cut.operation;
  for (std::size_t number = 1; number <= kMostPhases; ++number) {
    const auto operation = static_cast<core::pattern::Operation>(operations.at(number));
    core::pattern::Phase phase =
        core::pattern::make_phase(pattern, "before MPI_" + std::string(core::pattern::operation_name(operation)),
                                  counts.at(number), phases.entries.at(number - 1));
    if (!phase.pairs.empty()) pattern.phases.push_back(std::move(phase));
  }
  if (phases.cuts.size() >= trace_layout::kMostCuts) scale(pattern.phases, core::pattern::total(pattern));
}

}  // namespace ranktree::io
