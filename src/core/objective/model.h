// What a placement minimises, and by which parameters of the machine.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "core/predict/parameters.h"

namespace ranktree::core::objective {

enum class Objective : std::uint8_t {
  kBytes,       // hop-bytes
  kMessages,    // hop-messages
  kBottleneck,  // seconds of the most loaded link, then hop-bytes
  kTime         // the same plus the mean waiting of a rank, then hop-bytes
};

// Every option, info key and library takes these names from here, or is tested against them.
inline constexpr std::array<std::pair<std::string_view, Objective>, 4> kObjectives{
    {{"bytes", Objective::kBytes},
     {"messages", Objective::kMessages},
     {"bottleneck", Objective::kBottleneck},
     {"time", Objective::kTime}}};

constexpr std::string_view objective_name(Objective objective) {
  return kObjectives.at(static_cast<std::size_t>(objective)).first;
}

// Throws Error(kInput), which lists them, for another name.
Objective objective_named(std::string_view word);

// Usual parameters of a class of clusters: "ethernet-1g", "ethernet-10g", "infiniband-100g".
std::optional<predict::Parameters> parameters_of_class(std::string_view word);

struct Model {
  Objective objective = Objective::kBytes;
  // Measured ones. Nothing: the machine's own values, where it has none, predict::usual_parameters().
  std::optional<predict::Parameters> parameters;
};

}  // namespace ranktree::core::objective
