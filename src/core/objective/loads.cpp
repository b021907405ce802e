#include "core/objective/loads.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/index.h"
#include "core/objective/flows.h"
#include "core/pattern/pattern.h"
#include "core/place/placement.h"
#include "core/simulate/network_links.h"
#include "core/simulate/platform.h"
#include "core/topo/tree.h"

namespace ranktree::core::objective {
namespace {

using pattern::Rank;
using topo::Leaf;

double eighth_power(double value) {
  const double square = value * value;
  const double fourth = square * square;
  return fourth * fourth;
}

double eighth_root(double value) { return std::sqrt(std::sqrt(std::sqrt(std::max(value, 0.0)))); }

double sum_of_powers(std::span<const double> values, double scale) {
  double sum = 0;
  for (const double value : values) sum += eighth_power(value * scale);
  return sum;
}

}  // namespace

bool Score::better_than(const Score& other) const {
  if (seconds < other.seconds * (1 - kRounding)) return true;
  if (seconds > other.seconds * (1 + kRounding)) return false;
  return hop_bytes < other.hop_bytes * (1 - kRounding);
}

Loads::Loads(const simulate::Platform& platform, const Flows& flows, bool waiting)
    : platform_(platform),
      flows_(flows),
      waiting_(waiting),
      leaf_of_(at(flows.ranks()), -1),
      link_seconds_(flows.phases().size() * at(platform.link_count()), 0),
      sums_(flows.phases().size()) {
  per_byte_.reserve(at(platform.link_count()));
  for (simulate::LinkId link = 0; link < platform.link_count(); ++link) {
    per_byte_.push_back(1 / platform.bandwidth(link));
  }
}

Loads::Loads(const simulate::Platform& platform, const Flows& flows, bool waiting, const place::Placement& placement)
    : Loads(platform, flows, waiting) {
  leaf_of_ = placement.leaf_of;
  for (Rank rank = 0; rank < flows.ranks(); ++rank) {
    const Leaf here = leaf_of(rank);
    for (const Flow& flow : flows.of(rank)) {
      if (flow.peer > rank) continue;
      const Leaf there = leaf_of(flow.peer);
      platform.find_route(here, there, route_);
      hop_bytes_ += (flow.bytes_out + flow.bytes_in) * route_.distance;
      sum_one_way(flow.phase, flow.bytes_out, flow.messages_out);
      platform.turn_back(here, there, route_);
      sum_one_way(flow.phase, flow.bytes_in, flow.messages_in);
    }
  }
  rescale();
  for (std::size_t phase = 0; phase < sums_.size(); ++phase) sums_[phase].peak = largest_of(phase);
}

// What passes route_, into the plain sums.
void Loads::sum_one_way(std::int32_t phase, double bytes, double messages) {
  double per_byte = 0;
  if (bytes != 0) {
    for (const simulate::LinkId link : route_.links) {
      seconds_of(phase, link) += bytes / platform_.bandwidth(link);
      per_byte = std::max(per_byte, per_byte_[at(link)]);
    }
  }
  wait_ += share_of_waiting(bytes, per_byte, messages);
}

void Loads::change(double& number, double value) {
  changes_.emplace_back(&number, number);
  number = value;
}

void Loads::put(Rank rank, Leaf leaf) {
  moves_.emplace_back(rank, leaf_of_[at(rank)]);
  leaf_of_[at(rank)] = leaf;
}

void Loads::add_link(std::int32_t phase, simulate::LinkId link, double bytes) {
  double& seconds = seconds_of(phase, link);
  LinkSums& sums = sums_[at(phase)];
  const double next = seconds + bytes / platform_.bandwidth(link);
  sums.power += eighth_power(next * sums.scale) - eighth_power(seconds * sums.scale);
  sums.peak = std::max(sums.peak, next);
  change(seconds, next);
}

double Loads::share_of_waiting(double bytes, double per_byte, double messages) const {
  if (!waiting_) return 0;
  return (messages * route_.latency + bytes * per_byte) / flows_.ranks();
}

void Loads::add_one_way(std::int32_t phase, double bytes, double messages) {
  double per_byte = 0;
  if (bytes != 0) {
    for (const simulate::LinkId link : route_.links) {
      add_link(phase, link, bytes);
      per_byte = std::max(per_byte, per_byte_[at(link)]);
    }
  }
  wait_ += share_of_waiting(bytes, per_byte, messages);
}

void Loads::add_flow(Rank rank, const Flow& flow, double sign) {
  const Leaf here = leaf_of_[at(rank)];
  const Leaf there = leaf_of_[at(flow.peer)];
  if (here < 0 || there < 0) return;
  platform_.find_route(here, there, route_);
  hop_bytes_ += sign * (flow.bytes_out + flow.bytes_in) * route_.distance;
  add_one_way(flow.phase, sign * flow.bytes_out, sign * flow.messages_out);
  platform_.turn_back(here, there, route_);
  add_one_way(flow.phase, sign * flow.bytes_in, sign * flow.messages_in);
}

void Loads::add_all(Rank rank, Rank without, double sign) {
  for (const Flow& flow : flows_.of(rank)) {
    if (flow.peer != without) add_flow(rank, flow, sign);
  }
}

// Once a move, not once a link.
void Loads::journal_sums() {
  change(hop_bytes_, hop_bytes_);
  change(wait_, wait_);
  for (LinkSums& sums : sums_) {
    change(sums.power, sums.power);
    change(sums.peak, sums.peak);
  }
}

void Loads::move(Rank rank, Leaf leaf) {
  journal_sums();
  add_all(rank, -1, -1);
  put(rank, leaf);
  add_all(rank, -1, 1);
}

void Loads::exchange(Rank a, Rank b) {
  journal_sums();
  add_all(a, -1, -1);
  add_all(b, a, -1);
  const Leaf leaf = leaf_of(a);
  put(a, leaf_of(b));
  put(b, leaf);
  add_all(a, -1, 1);
  add_all(b, a, 1);
}

void Loads::undo_to(Mark mark) {
  while (changes_.size() > mark.changes) {
    *changes_.back().first = changes_.back().second;
    changes_.pop_back();
  }
  while (moves_.size() > mark.moves) {
    leaf_of_[at(moves_.back().first)] = moves_.back().second;
    moves_.pop_back();
  }
}

void Loads::commit() {
  changes_.clear();
  moves_.clear();
}

double Loads::largest_of(std::size_t phase) const {
  const auto links = link_seconds(phase);
  return links.empty() ? 0 : *std::max_element(links.begin(), links.end());
}

Score Loads::score() const {
  double seconds = 0;
  for (std::size_t phase = 0; phase < sums_.size(); ++phase) seconds += largest_of(phase);
  return {seconds + wait_, hop_bytes_};
}

Score Loads::grown_score() const {
  double seconds = 0;
  for (const LinkSums& sums : sums_) seconds += sums.peak;
  return {seconds + wait_, hop_bytes_};
}

double Loads::pressure() const {
  double seconds = 0;
  for (const LinkSums& sums : sums_) seconds += eighth_root(sums.power) / sums.scale;
  return seconds + wait_;
}

void Loads::rescale() {
  for (std::size_t phase = 0; phase < sums_.size(); ++phase) {
    const double most = largest_of(phase);
    sums_[phase].scale = most > 0 ? 1 / most : 1;
    sums_[phase].power = sum_of_powers(link_seconds(phase), sums_[phase].scale);
  }
}

std::vector<double> Loads::heat(double share) {
  std::vector<double> hot;
  hot.reserve(sums_.size());
  for (std::size_t phase = 0; phase < sums_.size(); ++phase) hot.push_back(share * largest_of(phase));
  std::vector<double> heat(leaf_of_.size(), 0);
  for (Rank rank = 0; rank < flows_.ranks(); ++rank) {
    for (const Flow& flow : flows_.of(rank)) {
      platform_.find_route(leaf_of(rank), leaf_of(flow.peer), route_);
      double per_byte = 0;
      for (const simulate::LinkId link : route_.links) per_byte = std::max(per_byte, per_byte_[at(link)]);
      double seconds = share_of_waiting(flow.bytes_out, per_byte, flow.messages_out);
      for (const simulate::LinkId link : route_.links) {
        if (seconds_of(flow.phase, link) >= hot[at(flow.phase)]) seconds += flow.bytes_out / platform_.bandwidth(link);
      }
      heat[at(rank)] += seconds;
      heat[at(flow.peer)] += seconds;
    }
  }
  return heat;
}

}  // namespace ranktree::core::objective
