// What a placement minimises, and by which parameters of the machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/predict/parameters.h"

namespace ranktree::core::objective {

enum class Objective : std::uint8_t {
  kBytes,       // hop-bytes
  kMessages,    // hop-messages
  kBottleneck,  // seconds of the most loaded link, then hop-bytes
  kTime         // the same plus the mean waiting of a rank, then hop-bytes
};

std::optional<Objective> objective_from_name(std::string_view word);  // "bytes", "messages", "bottleneck", "time"

// Usual parameters of a class of clusters: "ethernet-1g", "ethernet-10g", "infiniband-100g".
std::optional<predict::Parameters> parameters_of_class(std::string_view word);

struct Model {
  Objective objective = Objective::kBytes;
  // Measured ones. Nothing: the machine's own values, where it has none, predict::usual_parameters().
  std::optional<predict::Parameters> parameters;
};

}  // namespace ranktree::core::objective
