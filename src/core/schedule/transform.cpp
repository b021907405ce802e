#include "core/schedule/transform.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/schedule/builder.h"
#include "core/schedule/hierarchy.h"
#include "core/schedule/layout.h"
#include "core/schedule/levels.h"
#include "core/schedule/links.h"
#include "core/schedule/makers.h"
#include "core/schedule/schedule.h"
#include "core/schedule/team.h"
#include "core/schedule/trees.h"

namespace ranktree::core::schedule {
namespace {

using Maker = void (*)(const Levels&);

struct Transformation {
  Collective collective;
  Form form;
  Maker maker;
};

constexpr std::array kTransformations = {
    Transformation{Collective::kBroadcast, Form::kLeaders, broadcast_by_leaders},
    Transformation{Collective::kBroadcast, Form::kLanes, broadcast_in_lanes},
    Transformation{Collective::kReduce, Form::kLeaders, reduce_by_leaders},
    Transformation{Collective::kReduce, Form::kLanes, reduce_in_lanes},
    Transformation{Collective::kAllreduce, Form::kLanes, allreduce_in_lanes},
    Transformation{Collective::kAllreduce, Form::kLeaders, allreduce_by_leaders},
    Transformation{Collective::kAllreduce, Form::kSameIndex, allreduce_same_index},
    Transformation{Collective::kBarrier, Form::kLeaders, barrier_by_leaders},
    Transformation{Collective::kGather, Form::kLeaders, gather_by_leaders},
    Transformation{Collective::kScatter, Form::kLeaders, scatter_by_leaders},
    Transformation{Collective::kAllgather, Form::kLeaders, allgather_by_leaders},
    Transformation{Collective::kReduceScatter, Form::kLeaders, reduce_scatter_by_leaders},
    Transformation{Collective::kAlltoall, Form::kLanes, alltoall_in_lanes},
    Transformation{Collective::kAlltoall, Form::kLeaders, alltoall_by_leaders},
};

const Transformation* find(Collective collective, Form form) {
  const auto* const found = std::find_if(kTransformations.begin(), kTransformations.end(), [&](const auto& each) {
    return each.collective == collective && each.form == form;
  });
  return found == kTransformations.end() ? nullptr : found;
}

void check_composition(const Request& request, const Hierarchy& hierarchy, const Composition& composition) {
  const std::string name(collective_name(request.collective));
  if (request.ranks != hierarchy.ranks()) {
    throw Error(Fault::kMismatch, "schedule: hierarchy: expected " + std::to_string(request.ranks) + " ranks, found " +
                                      std::to_string(hierarchy.ranks()));
  }
  if (!composition.fits(hierarchy)) {
    throw Error(Fault::kInput, "schedule: algorithms: expected 1 or " + std::to_string(hierarchy.given_levels()) +
                                   ", found " + std::to_string(composition.algorithms.size()));
  }
  if (composition.segment < 0) {
    throw Error(Fault::kInput,
                "schedule: segment: expected 0 or more elements, found " + std::to_string(composition.segment));
  }
  if (find(request.collective, composition.form) == nullptr) {
    throw Error(Fault::kUnsupported,
                "schedule: " + name + ": there is no form " + std::string(form_name(composition.form)));
  }
  if (!request.commutative && !keeps_rank_order(request.collective, hierarchy, composition)) {
    throw Error(Fault::kUnsupported, "schedule: " + name + " by " + std::string(form_name(composition.form)) +
                                         ": expected a commutative operation, found another");
  }
}

bool keeps_order_on(const Levels& levels, int level) {
  const Collective collective = levels.request.collective;
  const bool outermost = level == 0;
  if (levels.composition.form == Form::kLanes) return !outermost || keeps_rank_order(collective, levels.algorithm(0));
  if (levels.composition.form == Form::kSameIndex || collective == Collective::kReduce) {
    return keeps_rank_order(collective, levels.algorithm(level));
  }
  const bool up = !outermost || (collective == Collective::kAllreduce && is_tree(levels.named(0)));
  if (up) return keeps_rank_order(Collective::kReduce, levels.tree(level));
  return collective == Collective::kReduceScatter || keeps_rank_order(collective, levels.algorithm(0));
}

}  // namespace

Algorithm fitting(Collective collective, Algorithm named) {
  const std::span<const Algorithm> known = algorithms_of(collective);
  const auto has = [known](Algorithm algorithm) {
    return std::find(known.begin(), known.end(), algorithm) != known.end();
  };
  if (has(named)) return named;
  if (has(Algorithm::kBinomial)) return Algorithm::kBinomial;
  return has(Algorithm::kRecursiveDoubling) ? Algorithm::kRecursiveDoubling : known.front();
}

std::span<const Form> forms_of(Collective collective) {
  static constexpr std::array kVectors = {Form::kLeaders, Form::kLanes};
  static constexpr std::array kLanesFirst = {Form::kLanes, Form::kLeaders, Form::kSameIndex};
  if (collective == Collective::kAllreduce) return kLanesFirst;
  if (collective == Collective::kAlltoall) return std::span(kLanesFirst).first(2);
  const bool vector = collective == Collective::kBroadcast || collective == Collective::kReduce;
  return std::span(kVectors).first(vector ? 2 : 1);
}

Form default_form(Collective collective) {
  const bool lanes = collective == Collective::kAllreduce || collective == Collective::kAlltoall;
  return lanes ? Form::kLanes : Form::kLeaders;
}

bool keeps_rank_order(Collective collective, const Hierarchy& hierarchy, const Composition& composition) {
  if (collective != Collective::kReduce && collective != Collective::kAllreduce &&
      collective != Collective::kReduceScatter) {
    return true;
  }
  if (hierarchy.levels() == 1) {
    return keeps_rank_order(collective, fitting(collective, composition.algorithm_of(hierarchy, 0)));
  }
  if (!hierarchy.in_rank_order()) return false;
  const Request request{.collective = collective, .ranks = hierarchy.ranks()};
  const View view(hierarchy, 0, 0);
  Builder builder(0);
  const Levels levels{request, hierarchy, composition, view, builder};
  for (int level = 0; level < hierarchy.levels(); ++level) {
    if (!keeps_order_on(levels, level)) return false;
  }
  return true;
}

Program transform(const Request& request, const Hierarchy& hierarchy, const Composition& composition, Rank rank,
                  const Links* links) {
  check_request(request, rank, true);
  check_composition(request, hierarchy, composition);
  if (hierarchy.levels() == 1) {
    return make(request, {fitting(request.collective, composition.algorithm_of(hierarchy, 0)), composition.segment},
                rank, links);
  }
  const View view(hierarchy, rank, has_root(request.collective) ? request.root : 0);
  Builder builder(rank, arenas_of(hierarchy), moves_whole(request, composition.segment) ? links : nullptr);
  find(request.collective, composition.form)->maker({request, hierarchy, composition, view, builder});
  return std::move(builder).take();
}

Schedule transform_all(const Request& request, const Hierarchy& hierarchy, const Composition& composition,
                       const Links* links) {
  Schedule schedule;
  for (Rank rank = 0; rank < request.ranks; ++rank)
    schedule.push_back(transform(request, hierarchy, composition, rank, links));
  return schedule;
}

}  // namespace ranktree::core::schedule
