// What a simulation found, as JSON (docs/explanation/simulation.md).
#pragma once

#include <cstdint>
#include <string>

#include "core/simulate/platform.h"
#include "core/simulate/traffic.h"

namespace ranktree::io {

struct SimulationReport {
  double seconds = 0;  // simulated
  int ranks = 0;
  int aborted_ranks = 0;
  std::int64_t peak_bytes = 0;  // of memory, of this process
  const core::simulate::Platform* platform = nullptr;
  const core::simulate::Traffic* traffic = nullptr;
};

std::string write_simulation_report(const SimulationReport& report);
// Written completely or not at all.
void save_simulation_report(const std::string& path, const SimulationReport& report);

}  // namespace ranktree::io
