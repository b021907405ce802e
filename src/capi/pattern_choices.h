// The choices of ranktree/pattern.h beside core's.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "capi/options.h"
#include "core/pattern/affinity.h"
#include "core/pattern/expand.h"
#include "core/pattern/pattern.h"
#include "ranktree/pattern.h"

namespace ranktree::capi {

using NamedMetric = Named<ranktree_metric, core::pattern::Metric>;
inline constexpr std::array kMetrics{
    NamedMetric{RANKTREE_METRIC_SIZE, "size", core::pattern::Metric::kSize},
    NamedMetric{RANKTREE_METRIC_MESSAGES, "msg", core::pattern::Metric::kMessages},
    NamedMetric{RANKTREE_METRIC_AVERAGE, "avg", core::pattern::Metric::kAverage},
};

// Nothing: the model of the traced MPI.
using NamedModel = Named<ranktree_model, std::optional<core::pattern::CollectiveModel>>;
inline constexpr std::array kModels{
    NamedModel{RANKTREE_MODEL_TRACED, "model", std::nullopt},
    NamedModel{RANKTREE_MODEL_OPENMPI, "openmpi", core::pattern::CollectiveModel::kOpenMpi},
    NamedModel{RANKTREE_MODEL_MPICH, "mpich", core::pattern::CollectiveModel::kMpich},
    NamedModel{RANKTREE_MODEL_FLAT, "flat", core::pattern::CollectiveModel::kFlat},
    NamedModel{RANKTREE_MODEL_NONE, "none", core::pattern::CollectiveModel::kNone},
};

// A copy with collective calls as pairs. Throws Error(kInput), naming the option, for another model.
inline core::pattern::Pattern expanded(const core::pattern::Pattern& pattern, const ranktree_model& model,
                                       const std::string& option) {
  const auto chosen = value_of(kModels, model, option);
  return core::pattern::expand(pattern, chosen ? *chosen : core::pattern::natural_model(pattern));
}

}  // namespace ranktree::capi
