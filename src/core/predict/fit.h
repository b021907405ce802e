// Fits the models' parameters to measured times.
#pragma once

#include <span>

#include "core/predict/closed_forms.h"

namespace ranktree::core::predict {

struct Sample {
  double bytes = 0;
  double seconds = 0;  // above 0
};

// The line with the least sum of squared relative errors, so that short messages count as much as long ones; neither
// number is negative. Needs at least one sample; samples of a single size give a line without slope.
Line fit_line(std::span<const Sample> samples);

}  // namespace ranktree::core::predict
