// From measured times to the models' numbers.
#pragma once

#include <span>

#include "core/predict/closed_forms.h"

namespace ranktree::core::predict {

struct Sample {
  double bytes = 0;
  double seconds = 0;  // above 0
};

// The line whose relative errors have the least sum of squares, so that short messages count as much as long ones;
// neither number negative. At least one sample; of samples with one size a line without slope.
Line fit_line(std::span<const Sample> samples);

}  // namespace ranktree::core::predict
