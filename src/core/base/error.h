// The one exception type of the C++ layers.
//
// core, io and hw report failure by throwing Error; no other exception leaves them except
// std::bad_alloc. The extern "C" layer, the Python layer and the preload library catch it at
// boundary and turn it into a status, a Python exception or a silent fallback.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace ranktree::core {

// What kind of failure an Error reports.
enum class Fault : std::uint8_t {
  kInput,       // a file or value the caller gave is wrong: the text names file, place, expected, found
  kMismatch,    // two inputs do not fit each other (ranks against leaves, plan against pattern)
  kSystem,      // the operating system refused (open, read, write, bind); the text carries its reason
  kUnsupported  // a well-formed request that this build or machine cannot serve; the text says why
};

class Error : public std::runtime_error {
 public:
  Error(Fault fault, const std::string& text) : std::runtime_error(text), fault_(fault) {}
  [[nodiscard]] Fault fault() const noexcept { return fault_; }

 private:
  Fault fault_;
};

}  // namespace ranktree::core
