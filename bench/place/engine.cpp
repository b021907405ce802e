// Runs the placement engine on one instance and prints what it cost: bench_place INSTANCE TREE COSTS PRESET SEED...
//
// INSTANCE: written by instances.py. TREE: arities, innermost first, "4:2:16". COSTS: as many numbers, "1:10:100".
// One line a seed: cost (each pair once), user CPU seconds of the engine alone.
#include <sys/resource.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/pattern/affinity.h"
#include "core/place/engine.h"
#include "core/place/placement.h"
#include "core/topo/kind.h"
#include "core/topo/tree.h"

namespace {

using ranktree::core::pattern::Affinity;
namespace place = ranktree::core::place;
namespace topo = ranktree::core::topo;

template <class Number>
std::vector<Number> read_array(std::ifstream& file, std::int64_t count) {
  std::vector<Number> array(static_cast<std::size_t>(count));
  file.read(reinterpret_cast<char*>(array.data()), static_cast<std::streamsize>(array.size() * sizeof(Number)));
  return array;
}

void add_row(Affinity& affinity, const std::vector<std::int32_t>& row) {
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (row[i] == 0 || affinity.indptr.size() - 1 == i) continue;
    affinity.indices.push_back(static_cast<std::int32_t>(i));
    affinity.weights.push_back(row[i]);
  }
  affinity.indptr.push_back(static_cast<std::int64_t>(affinity.indices.size()));
}

Affinity read_instance(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string magic(8, ' ');
  file.read(magic.data(), 8);
  const auto sizes = read_array<std::int64_t>(file, 2);
  Affinity affinity;
  affinity.ranks = static_cast<std::int32_t>(sizes.at(0));
  if (magic.starts_with("CGD1")) {
    for (std::int64_t i = 0; i < sizes[0]; ++i) add_row(affinity, read_array<std::int32_t>(file, sizes[0]));
  } else if (magic.starts_with("CG01")) {
    affinity.indptr = read_array<std::int64_t>(file, sizes[0] + 1);
    affinity.indices = read_array<std::int32_t>(file, sizes[1]);
    const auto weights = read_array<std::int32_t>(file, sizes[1]);
    affinity.weights.assign(weights.begin(), weights.end());
  }
  if (!file) throw std::runtime_error(path + ": not an instance");
  return affinity;
}

// Outermost first.
template <class Number>
std::vector<Number> read_numbers(const std::string& text) {
  std::vector<Number> numbers;
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, ':');) numbers.push_back(static_cast<Number>(std::stod(word)));
  std::reverse(numbers.begin(), numbers.end());
  return numbers;
}

double user_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec) + 1e-6 * static_cast<double>(usage.ru_utime.tv_usec);
}

void run(const std::vector<std::string>& arguments) {
  const Affinity affinity = read_instance(arguments.at(0));
  const auto arities = read_numbers<int>(arguments.at(1));
  const std::vector<topo::Level> levels(arities.size() + 1, topo::Level{topo::Kind::kGroup, {}, {}});
  const topo::Tree tree = topo::uniform_tree(levels, arities).with_costs(read_numbers<double>(arguments.at(2)));
  place::EngineOptions options;
  const std::string& preset = arguments.at(3);
  options.preset = preset == "fast"     ? place::Preset::kFast
                   : preset == "strong" ? place::Preset::kStrong
                                        : place::Preset::kDefault;
  for (std::size_t i = 4; i < arguments.size(); ++i) {
    options.seed = std::stoull(arguments[i]);
    const double begin = user_seconds();
    const place::Placement placement = place::run_engine(tree, affinity, options);
    const double seconds = user_seconds() - begin;
    place::validate(tree, placement, affinity.ranks, options.constraints);
    std::cout << std::setprecision(15) << place::evaluate(tree, affinity, placement).total << ' ' << seconds << '\n';
  }
}

}  // namespace

int main(int count, char** arguments) {
  try {
    run({arguments + 1, arguments + count});
  } catch (const std::exception& error) {
    std::cerr << "bench_place: " << error.what() << '\n';
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
