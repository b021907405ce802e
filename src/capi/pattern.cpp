#include "ranktree/pattern.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "capi/guard.h"
#include "core/base/error.h"
#include "core/pattern/expand.h"
#include "core/pattern/pattern.h"
#include "io/pattern_file.h"
#include "ranktree/base.h"

namespace {

using ranktree::capi::guard;
using ranktree::capi::require;
namespace pattern_core = ranktree::core::pattern;

[[noreturn]] void refuse(const std::string& text) { throw ranktree::core::Error(ranktree::core::Fault::kInput, text); }

pattern_core::CollectiveModel model_of(const pattern_core::Pattern& pattern, const std::string& name) {
  if (name == "model") return pattern_core::natural_model(pattern);
  const auto model = pattern_core::collective_model_from_name(name);
  if (!model) refuse("model: expected 'model', 'openmpi', 'mpich', 'flat' or 'none', found '" + name + "'");
  return *model;
}

}  // namespace

ranktree_status ranktree_pattern_load(const char* path, ranktree_pattern** pattern, ranktree_error* error) {
  return guard(error, [&] {
    require(path, "path");
    require(pattern, "pattern");
    *pattern = new ranktree_pattern{ranktree::io::load_pattern(path).pattern};
  });
}

ranktree_status ranktree_pattern_create(int ranks, int64_t count, const ranktree_pair pairs[],
                                        ranktree_pattern** pattern, ranktree_error* error) {
  return guard(error, [&] {
    require(pattern, "pattern");
    if (ranks < 1) refuse("ranks: expected at least 1, found " + std::to_string(ranks));
    if (count < 0) refuse("count: expected at least 0, found " + std::to_string(count));
    if (count > 0) require(pairs, "pairs");
    std::vector<pattern_core::Entry> entries;
    entries.reserve(static_cast<std::size_t>(count));
    for (const ranktree_pair& pair : std::span(pairs, static_cast<std::size_t>(count))) {
      entries.push_back({pair.from, pair.to, pattern_core::Class::kPointToPoint, pair.messages, pair.bytes});
    }
    *pattern = new ranktree_pattern{pattern_core::from_entries(ranks, entries)};
  });
}

ranktree_status ranktree_pattern_expand(const ranktree_pattern* pattern, const char* model, ranktree_pattern** expanded,
                                        ranktree_error* error) {
  return guard(error, [&] {
    require(pattern, "pattern");
    require(model, "model");
    require(expanded, "expanded");
    *expanded = new ranktree_pattern{pattern_core::expand(pattern->pattern, model_of(pattern->pattern, model))};
  });
}

ranktree_status ranktree_pattern_save(const ranktree_pattern* pattern, const char* path, ranktree_error* error) {
  return guard(error, [&] {
    require(pattern, "pattern");
    require(path, "path");
    ranktree::io::save_pattern(path, pattern->pattern);
  });
}

void ranktree_pattern_destroy(ranktree_pattern* pattern) { delete pattern; }

int ranktree_pattern_get_rank_count(const ranktree_pattern* pattern) { return pattern->pattern.ranks; }

int64_t ranktree_pattern_get_pair_count(const ranktree_pattern* pattern) {
  return static_cast<int64_t>(pattern->pattern.indices.size());
}
