#include "core/schedule/builder.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "core/schedule/links.h"
#include "core/schedule/schedule.h"

namespace ranktree::core::schedule {
namespace {

// The scratch of an arena has addresses of its own until the program is complete.
constexpr std::int64_t kArenaSize = 4503599627370496;  // 2^52

bool reads(const Step& step) { return step.action != Action::kReceive; }
bool writes(const Step& step) { return step.action != Action::kSend; }

}  // namespace

Accesses::Accesses() { pieces_.emplace(std::numeric_limits<std::int64_t>::min(), Piece{}); }

Accesses::Pieces::iterator Accesses::cut(std::int64_t at) {
  const auto next = pieces_.lower_bound(at);
  if (next != pieces_.end() && next->first == at) return next;
  return pieces_.emplace_hint(next, at, std::prev(next)->second);
}

void Accesses::read(std::int64_t first, std::int64_t count, std::int32_t step, std::vector<std::int32_t>& waits) {
  const auto begin = cut(first);
  const auto end = cut(first + count);
  for (auto piece = begin; piece != end; ++piece) {
    if (piece->second.writer >= 0) waits.push_back(piece->second.writer);
    piece->second.readers.push_back(step);
  }
}

void Accesses::write(std::int64_t first, std::int64_t count, std::int32_t step, std::vector<std::int32_t>& waits) {
  const auto begin = cut(first);
  const auto end = cut(first + count);
  for (auto piece = begin; piece != end; ++piece) {
    // The readers themselves waited for the writer.
    const auto& [writer, readers] = piece->second;
    waits.insert(waits.end(), readers.begin(), readers.end());
    if (readers.empty() && writer >= 0) waits.push_back(writer);
  }
  pieces_.erase(std::next(begin), end);
  begin->second = {.writer = step, .readers = {}};
}

Builder::Builder(Rank rank, int arenas, const Links* links) : links_(links), arenas_(static_cast<std::size_t>(arenas)) {
  program_.rank = rank;
}

std::vector<std::int32_t> Builder::touch(const Step& step) {
  const auto index = static_cast<std::int32_t>(program_.steps.size());
  std::vector<std::int32_t> waits;
  if (reads(step) && step.from.buffer != Buffer::kInput) {
    accesses(step.from).read(step.from.first, step.from.count, index, waits);
  }
  if (writes(step)) accesses(step.into).write(step.into.first, step.into.count, index, waits);
  return waits;
}

void Builder::add(Step step, std::vector<std::int32_t> waits) {
  std::sort(waits.begin(), waits.end());
  waits.erase(std::unique(waits.begin(), waits.end()), waits.end());
  step.first_dependency = static_cast<std::uint32_t>(program_.dependencies.size());
  step.dependency_count = static_cast<std::uint32_t>(waits.size());
  program_.dependencies.insert(program_.dependencies.end(), waits.begin(), waits.end());
  program_.steps.push_back(step);
}

void Builder::send(Rank to, const Range& from) {
  if (from.count == 0) return;
  const Step step{.action = Action::kSend, .peer = to, .from = from, .into = {}};
  add(step, touch(step));
}

void Builder::send_to_child(Rank to, const Range& from, bool forwards) {
  if (links_ == nullptr || from.count == 0 || !links_->in_turn(program_.rank, to, from.count)) return send(to, from);
  if (to != turn_.child) {
    if (!turn_.sends.empty()) turn_.earlier = std::exchange(turn_.sends, {});
    turn_.child = to;
  }
  const Step step{.action = Action::kSend, .peer = to, .from = from, .into = {}};
  std::vector<std::int32_t> waits = touch(step);
  waits.insert(waits.end(), turn_.earlier.begin(), turn_.earlier.end());
  add(step, std::move(waits));
  if (forwards) turn_.sends.push_back(latest());
}

void Builder::send_in_turn(Rank to, const Range& from) {
  // Each wait costs a handshake: on nodes of 4, rings of 64 KiB blocks took 1.2 times as long with them.
  constexpr std::int64_t kTimesLonger = 4;
  if (links_ == nullptr || from.count == 0 || !links_->in_turn(program_.rank, to, from.count / kTimesLonger)) {
    return send(to, from);
  }
  const Step step{.action = Action::kSend, .peer = to, .from = from, .into = {}};
  std::vector<std::int32_t> waits = touch(step);
  if (to == last_.to) waits.push_back(last_.send);
  add(step, std::move(waits));
  last_ = {to, latest()};
}

void Builder::receive(Rank from, const Range& into, std::int32_t after) {
  if (into.count == 0) return;
  const Step step{.action = Action::kReceive, .peer = from, .from = {}, .into = into};
  std::vector<std::int32_t> waits = touch(step);
  if (after >= 0) waits.push_back(after);
  add(step, std::move(waits));
}

void Builder::reduce(const Range& from, const Range& into) {
  if (into.count == 0) return;
  const Step step{.action = Action::kReduce, .from = from, .into = into};
  add(step, touch(step));
}

void Builder::copy(const Range& from, const Range& into) {
  if (into.count == 0 || from == into) return;
  const Step step{.action = Action::kCopy, .from = from, .into = into};
  add(step, touch(step));
}

std::int32_t Builder::signal(Rank to, std::span<const std::int32_t> after) {
  add({.action = Action::kSend, .peer = to}, {after.begin(), after.end()});
  return static_cast<std::int32_t>(program_.steps.size() - 1);
}

std::int32_t Builder::await(Rank from, std::span<const std::int32_t> after) {
  add({.action = Action::kReceive, .peer = from}, {after.begin(), after.end()});
  return static_cast<std::int32_t>(program_.steps.size() - 1);
}

void Builder::enter(std::int64_t segment) {
  arena_ = static_cast<std::size_t>(segment) % arenas_.size();
  Arena& arena = arenas_[arena_];
  if (arena.segment != segment) arena.used = 0;
  arena.segment = segment;
}

Range Builder::scratch(std::int64_t count) {
  Arena& arena = arenas_[arena_];
  const std::int64_t first = static_cast<std::int64_t>(arena_) * kArenaSize + arena.used;
  arena.used += count;
  arena.most = std::max(arena.most, arena.used);
  return {.buffer = Buffer::kScratch, .first = first, .count = count};
}

void Builder::lay_out_scratch() {
  std::vector<std::int64_t> base;
  for (const Arena& arena : arenas_) {
    base.push_back(program_.scratch);
    program_.scratch += arena.most;
  }
  const auto place = [&base](Range& range) {
    if (range.buffer != Buffer::kScratch) return;
    range.first = base[static_cast<std::size_t>(range.first / kArenaSize)] + range.first % kArenaSize;
  };
  for (Step& step : program_.steps) {
    place(step.from);
    place(step.into);
  }
}

Program Builder::take() && {
  lay_out_scratch();
  return std::move(program_);
}

}  // namespace ranktree::core::schedule
