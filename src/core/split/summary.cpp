#include "core/split/summary.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <tuple>

#include "core/split/chain.h"
#include "core/topo/kind.h"

namespace ranktree::core::split {
namespace {

constexpr std::uint64_t kLeftoverBit = std::uint64_t{1} << 63U;

bool before(const Member& a, const Member& b) { return std::tie(a.key, a.rank) < std::tie(b.key, b.rank); }

std::uint64_t leftover_code(int rank, Leftover leftover) {
  return leftover == Leftover::kSelf ? kLeftoverBit | static_cast<std::uint64_t>(rank) : kLeftoverBit;
}

std::span<const Sibling> siblings_of(const Summary& summary) {
  return std::span(summary.siblings).first(summary.sibling_count);
}

void set_only_sibling(Summary& summary, const Sibling& sibling) {
  summary.siblings[0] = sibling;
  summary.sibling_count = 1;
  summary.overflow = 0;
  summary.children = is_leftover(sibling.code) ? 0 : 1;
  summary.code_or = summary.code_and = sibling.code;
}

// Shortens the beginning: everything below becomes one part, the one object that came next.
void cut(Summary& summary, std::size_t depth) {
  if (summary.depth == depth) return;
  Member root = summary.siblings[0].root;
  for (const Sibling& sibling : siblings_of(summary)) {
    if (before(sibling.root, root)) root = sibling.root;
  }
  set_only_sibling(summary, {summary.beginning[depth], root});
  summary.depth = static_cast<std::uint16_t>(depth);
}

std::size_t common_depth(const Summary& a, const Summary& b) {
  const std::size_t most = std::min(a.depth, b.depth);
  const auto* end = a.beginning.data() + most;
  return static_cast<std::size_t>(std::mismatch(a.beginning.data(), end, b.beginning.data()).first -
                                  a.beginning.data());
}

// Keeps the parts sorted by code. When there are too many, the part with the first root stays in front, so that cut()
// still finds the first of all.
void unite(const Summary& other, Summary& into) {
  std::array<Sibling, 2 * kMaxSiblings> all;
  std::size_t count = 0;
  const auto a = siblings_of(other);
  const auto b = siblings_of(into);
  for (auto i = a.begin(), j = b.begin(); i != a.end() || j != b.end();) {
    if (j == b.end() || (i != a.end() && i->code < j->code)) {
      all[count++] = *i++;
    } else if (i == a.end() || j->code < i->code) {
      all[count++] = *j++;
    } else {
      all[count++] = before(i->root, j->root) ? *i : *j;
      ++i, ++j;
    }
  }
  if (other.overflow != 0 || count > kMaxSiblings) into.overflow = 1;
  if (into.overflow != 0) {
    const auto* first = std::min_element(all.data(), all.data() + count,
                                         [](const Sibling& x, const Sibling& y) { return before(x.root, y.root); });
    all[0] = *first;
    count = 1;
  }
  std::copy(all.data(), all.data() + count, into.siblings.begin());
  into.sibling_count = static_cast<std::uint16_t>(count);
  into.children |= other.children;
  into.code_or |= other.code_or;
  into.code_and &= other.code_and;
}

void merge_faults(const Fault& other, Fault& into) {
  if (std::tuple(-other.code, other.rank) < std::tuple(-into.code, into.rank)) into = other;
}

std::uint8_t differ(std::uint64_t a, std::uint64_t b) { return a != 0 && b != 0 && a != b ? 1 : 0; }

void merge_agreement(const Summary& other, Summary& into) {
  merge_faults(other.fault, into.fault);
  into.arguments_differ |= other.arguments_differ | differ(other.arguments, into.arguments);
  into.arguments = std::max(into.arguments, other.arguments);
  into.requests_differ |= other.requests_differ | differ(other.request, into.request);
  into.request = std::max(into.request, other.request);
  into.absent |= other.absent;
  into.native |= other.native;
  into.hosts_differ |= other.hosts_differ;
}

}  // namespace

bool is_leftover(std::uint64_t code) { return (code & kLeftoverBit) != 0; }

Summary summarize(std::span<const Link> chain, const Member& member, Leftover leftover) {
  Summary summary;
  summary.present = 1;
  summary.depth = static_cast<std::uint16_t>(std::min(chain.size(), kMaxDepth));
  std::transform(chain.begin(), chain.begin() + summary.depth, summary.beginning.begin(), code_of);
  set_only_sibling(summary, {leftover_code(member.rank, leftover), member});
  return summary;
}

Summary summarize_instance(std::optional<std::uint64_t> code, const Member& member) {
  Summary summary;
  summary.present = 1;
  set_only_sibling(summary, {code.value_or(leftover_code(member.rank, Leftover::kNull)), member});
  return summary;
}

Summary summarize_absent() {
  Summary summary;
  summary.absent = 1;
  return summary;
}

void merge(const Summary& other, Summary& into) {
  if (other.present != 0 && into.present != 0) {
    Summary shorter = other;
    const std::size_t depth = common_depth(other, into);
    cut(shorter, depth);
    cut(into, depth);
    unite(shorter, into);
    merge_agreement(other, into);
    return;
  }
  Summary result = other.present != 0 ? other : into;
  merge_agreement(other.present != 0 ? into : other, result);
  into = result;
}

std::uint64_t own_code(const Summary& all, std::span<const Link> chain, int rank, Leftover leftover) {
  const std::size_t length = std::min(chain.size(), kMaxDepth);
  return all.depth < length ? code_of(chain[all.depth]) : leftover_code(rank, leftover);
}

bool gets_part(const Summary& all, std::uint64_t code, Leftover leftover) {
  return all.children != 0 && (!is_leftover(code) || leftover != Leftover::kNull);
}

std::optional<Part> number_part(const Summary& all, std::uint64_t code, Leftover leftover) {
  if (all.overflow != 0) return std::nullopt;
  const auto siblings = siblings_of(all);
  const auto own =
      std::find_if(siblings.begin(), siblings.end(), [&](const Sibling& sibling) { return sibling.code == code; });
  if (own == siblings.end()) return std::nullopt;
  Part part;
  for (const Sibling& sibling : siblings) {
    if (!gets_part(all, sibling.code, leftover)) continue;
    ++part.count;
    if (sibling.root.rank < own->root.rank) ++part.index;
  }
  return part;
}

bool nodes_disagree(const Summary& all) {
  if (all.hosts_differ != 0) return true;
  std::array<std::uint32_t, kMaxSiblings> hosts{};
  std::size_t count = 0;
  for (const Sibling& sibling : siblings_of(all)) {
    if (!is_leftover(sibling.code) && link_of(sibling.code).kind == topo::Kind::kNode && sibling.root.host != 0) {
      hosts[count++] = sibling.root.host;
    }
  }
  std::sort(hosts.begin(), hosts.begin() + static_cast<std::ptrdiff_t>(count));
  const auto* end = hosts.data() + count;
  return std::adjacent_find(static_cast<const std::uint32_t*>(hosts.data()), end) != end;
}

}  // namespace ranktree::core::split
