#include "core/schedule/trees.h"

#include <algorithm>
#include <cstdint>

#include "core/schedule/bits.h"
#include "core/schedule/makers.h"
#include "core/schedule/schedule.h"

namespace ranktree::core::schedule {
namespace {

Node flat_node(Rank member, Rank size) {
  Node node;
  if (member > 0) {
    node.parent = 0;
  } else {
    for (Rank child = 1; child < size; ++child) node.children.push_back(child);
  }
  return node;
}

Node chain_node(Rank member, Rank size) {
  Node node{.parent = member - 1, .children = {}};
  if (member + 1 < size) node.children.push_back(member + 1);
  return node;
}

Node binary_node(Rank member, Rank size) {
  Node node{.parent = member > 0 ? (member - 1) / 2 : -1, .children = {}};
  for (std::int64_t child = 2 * std::int64_t{member} + 1; child <= 2 * std::int64_t{member} + 2; ++child) {
    if (child < size) node.children.push_back(static_cast<Rank>(child));
  }
  return node;
}

// The parent lacks the lowest digit that is not 0; the children have one more below it.
Node nomial_node(Rank radix, Rank member, Rank size) {
  Node node;
  std::int64_t unit = 1;
  for (; unit < size && member / unit % radix == 0; unit *= radix) {
    for (std::int64_t digit = 1; digit < radix && member + digit * unit < size; ++digit) {
      node.children.push_back(static_cast<Rank>(member + digit * unit));
    }
  }
  if (member > 0) node.parent = static_cast<Rank>(member - member / unit % radix * unit);
  return node;
}

// The rest of a run, without its first member, is halved; each half is the subtree of its first member.
Node in_order_node(Rank member, Rank size) {
  Node node;
  Rank first = 0;
  Rank count = size;
  while (first != member) {
    const Rank left = count / 2;  // of count - 1, rounded up
    node.parent = first;
    const bool in_left = member < first + 1 + left;
    first += in_left ? 1 : 1 + left;
    count = in_left ? left : count - 1 - left;
  }
  if (count > 1) node.children.push_back(first + 1);
  if (count > 2) node.children.push_back(first + 1 + count / 2);
  return node;
}

}  // namespace

Rank binomial_span(Rank member, Rank size) { return member == 0 ? size : std::min(lowest_bit(member), size - member); }

bool is_tree(Algorithm algorithm) {
  return algorithm == Algorithm::kFlat || algorithm == Algorithm::kChain || algorithm == Algorithm::kPipeline ||
         algorithm == Algorithm::kBinary || algorithm == Algorithm::kBinomial || algorithm == Algorithm::kKNomial ||
         algorithm == Algorithm::kInOrderBinary;
}

Node node_of(Algorithm tree, Rank member, Rank size) {
  switch (tree) {
    case Algorithm::kFlat:
      return flat_node(member, size);
    case Algorithm::kChain:
    case Algorithm::kPipeline:
      return chain_node(member, size);
    case Algorithm::kBinary:
      return binary_node(member, size);
    case Algorithm::kInOrderBinary:
      return in_order_node(member, size);
    case Algorithm::kKNomial:
      return nomial_node(kKNomialRadix, member, size);
    default:
      return nomial_node(2, member, size);
  }
}

}  // namespace ranktree::core::schedule
