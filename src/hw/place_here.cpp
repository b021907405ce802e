#include "hw/place_here.h"

#include <sched.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <fstream>
#include <map>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/error.h"

namespace ranktree::hw {
namespace {

constexpr int kBitsAWord = CHAR_BIT * static_cast<int>(sizeof(unsigned long));
constexpr int kMostPus = 1048576;

[[noreturn]] void fail(const std::string& call) {
  throw core::Error(core::Fault::kSystem, call + ": " + std::generic_category().message(errno));
}

// The kernel refuses masks shorter than its own, whose length it does not report: grow the mask until it accepts.
std::vector<unsigned long> affinity_mask() {
  for (int pus = CPU_SETSIZE; pus <= kMostPus; pus *= 2) {
    std::vector<unsigned long> mask(static_cast<std::size_t>(pus / kBitsAWord));
    auto* set = reinterpret_cast<cpu_set_t*>(mask.data());
    if (sched_getaffinity(0, mask.size() * sizeof(unsigned long), set) == 0) return mask;
    if (errno != EINVAL) break;
  }
  fail("sched_getaffinity");
}

std::vector<int> pus_of(const std::vector<unsigned long>& mask) {
  std::vector<int> pus;
  for (std::size_t word = 0; word < mask.size(); ++word) {
    for (unsigned long bits = mask[word]; bits != 0; bits &= bits - 1) {
      pus.push_back(static_cast<int>(word) * kBitsAWord + std::countr_zero(bits));
    }
  }
  return pus;
}

// The kernel reduces a requested mask to the cpuset, so requesting all PUs shows the usable ones. Masks belong to
// threads: a short-lived thread makes the request, and this one keeps its mask.
std::vector<int> usable_pus() {
  std::vector<int> pus;
  std::thread asker([&] {
    std::vector<unsigned long> mask = affinity_mask();
    mask.assign(mask.size(), ~0UL);
    sched_setaffinity(0, mask.size() * sizeof(unsigned long), reinterpret_cast<const cpu_set_t*>(mask.data()));
    pus = pus_of(affinity_mask());
  });
  asker.join();
  return pus;
}

// Identifies the core of a PU: its hardware threads have the same text. Where the kernel has none, each PU is a core of
// its own.
std::string core_of(int pu) {
  std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(pu) + "/topology/thread_siblings_list");
  std::string siblings;
  if (!(file >> siblings)) siblings = std::to_string(pu);
  return siblings;
}

}  // namespace

std::string host_here() {
  constexpr std::size_t kLongest = 256;  // POSIX allows 255 letters
  std::array<char, kLongest> name{};
  if (gethostname(name.data(), name.size()) != 0) fail("gethostname");
  name.back() = '\0';
  return name.data();
}

std::vector<int> pus_here() { return pus_of(affinity_mask()); }

std::vector<std::vector<int>> cores_here() {
  std::vector<std::vector<int>> cores;
  std::map<std::string, std::size_t> index;
  for (const int pu : usable_pus()) {
    const auto [entry, fresh] = index.emplace(core_of(pu), cores.size());
    if (fresh) cores.emplace_back();
    cores[entry->second].push_back(pu);
  }
  return cores;
}

}  // namespace ranktree::hw
