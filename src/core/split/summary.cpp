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

// With a shorter common beginning, everything below it is one part: the object that comes next. Its root is the first
// of all.
Sibling as_one(const Summary& summary, std::size_t depth) {
  Member root = summary.siblings[0].root;
  for (const Sibling& sibling : siblings_of(summary)) {
    if (before(sibling.root, root)) root = sibling.root;
  }
  return {summary.beginning[depth], root};
}

void cut(Summary& summary, std::size_t depth) {
  if (summary.depth == depth) return;
  set_only_sibling(summary, as_one(summary, depth));
  summary.depth = static_cast<std::uint16_t>(depth);
}

std::size_t common_depth(const Summary& a, const Summary& b) {
  const std::size_t most = std::min(a.depth, b.depth);
  const auto* end = a.beginning.data() + most;
  return static_cast<std::size_t>(std::mismatch(a.beginning.data(), end, b.beginning.data()).first -
                                  a.beginning.data());
}

std::size_t count_union(std::span<const Sibling> a, std::span<const Sibling> b) {
  std::size_t count = a.size() + b.size();
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i].code == b[j].code) --count;
    const bool advance_a = a[i].code <= b[j].code;
    const bool advance_b = b[j].code <= a[i].code;
    i += advance_a ? 1 : 0;
    j += advance_b ? 1 : 0;
  }
  return count;
}

// There are too many parts to list: one entry stands for all, the one with the first root, so that as_one() finds it.
void give_up_list(std::span<const Sibling> others, Summary& into) {
  Sibling first = into.siblings[0];
  for (const Sibling& sibling : siblings_of(into)) first = before(sibling.root, first.root) ? sibling : first;
  for (const Sibling& sibling : others) first = before(sibling.root, first.root) ? sibling : first;
  into.siblings[0] = first;
  into.sibling_count = 1;
  into.overflow = 1;
}

// Merges the parts sorted by code, from the back and in place.
void unite(std::span<const Sibling> others, Summary& into) {
  std::size_t i = others.size();
  std::size_t j = into.sibling_count;
  std::size_t end = count_union(others, siblings_of(into));
  if (into.overflow != 0 || end > kMaxSiblings) return give_up_list(others, into);
  into.sibling_count = static_cast<std::uint16_t>(end);
  while (i > 0) {
    if (j > 0 && into.siblings[j - 1].code > others[i - 1].code) {
      into.siblings[--end] = into.siblings[--j];
    } else if (j > 0 && into.siblings[j - 1].code == others[i - 1].code) {
      const Sibling& own = into.siblings[--j];
      --i;
      into.siblings[--end] = before(others[i].root, own.root) ? others[i] : own;
    } else {
      into.siblings[--end] = others[--i];
    }
  }
}

void merge_faults(const Fault& other, Fault& into) {
  if (std::tuple(-other.code, other.rank) < std::tuple(-into.code, into.rank)) into = other;
}

bool differ(std::uint64_t a, std::uint64_t b) { return a != 0 && b != 0 && a != b; }

void merge_agreement(const Summary& other, Summary& into) {
  merge_faults(other.fault, into.fault);
  into.arguments_differ |= other.arguments_differ;
  if (differ(other.arguments, into.arguments)) into.arguments_differ = 1;
  into.arguments = std::max(into.arguments, other.arguments);
  into.requests_differ |= other.requests_differ;
  if (differ(other.request, into.request)) into.requests_differ = 1;
  into.request = std::max(into.request, other.request);
  into.absent |= other.absent;
  into.native |= other.native;
  into.hosts_differ |= other.hosts_differ;
}

}  // namespace

std::size_t summary_bytes(int ranks) {
  const std::size_t unused = kMaxSiblings - std::min(static_cast<std::size_t>(ranks), kMaxSiblings);
  return sizeof(Summary) - unused * sizeof(Sibling);
}

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

// `other` is not copied, because it may be large.
void merge(const Summary& other, Summary& into) {
  if (other.present == 0) return merge_agreement(other, into);
  if (into.present == 0) {
    Summary result = other;
    merge_agreement(into, result);
    into = result;
    return;
  }
  const std::size_t depth = common_depth(other, into);
  cut(into, depth);
  if (other.depth > depth) {
    const Sibling one = as_one(other, depth);
    into.children = 1;
    into.code_or |= one.code;
    into.code_and &= one.code;
    unite(std::span(&one, 1), into);
  } else {
    into.children |= other.children;
    into.code_or |= other.code_or;
    into.code_and &= other.code_and;
    into.overflow |= other.overflow;
    unite(siblings_of(other), into);
  }
  merge_agreement(other, into);
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
