#include "core/objective/model.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/predict/parameters.h"

namespace ranktree::core::objective {
namespace {

struct NetworkClass {
  std::string_view name;
  double latency;          // seconds
  double bits_per_second;  // of a node's link
};

constexpr std::array<NetworkClass, 2> kEthernets{{{"ethernet-1g", 3e-5, 1e9}, {"ethernet-10g", 1e-5, 1e10}}};

}  // namespace

Objective objective_named(std::string_view word) {
  for (const auto& [name, objective] : kObjectives) {
    if (name == word) return objective;
  }
  throw Error(Fault::kInput,
              "objective: expected bytes, messages, bottleneck or time, found '" + std::string(word) + "'");
}

std::optional<predict::Parameters> parameters_of_class(std::string_view word) {
  predict::Parameters usual = predict::usual_parameters(2);  // a level between nodes, and one inside
  if (word == "infiniband-100g") return usual;
  for (const NetworkClass& each : kEthernets) {
    if (each.name != word) continue;
    usual.levels[0].latency = each.latency;
    usual.levels[0].per_byte = 8 / each.bits_per_second;
    return usual;
  }
  return std::nullopt;
}

}  // namespace ranktree::core::objective
