// What a target finds out about accepted inputs.
#pragma once

#include <cstdlib>

#include "core/base/error.h"

// Calls a check that accepted input must pass; a refusal is a fault.
template <class Check>
void must(Check check) {
  try {
    check();
  } catch (const ranktree::core::Error&) {
    std::abort();
  }
}
