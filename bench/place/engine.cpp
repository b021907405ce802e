// Runs the placement engine on one instance: bench_place INSTANCE TREE COSTS PRESET SEED... [--threads N]
//
// INSTANCE: written by instances.py. TREE: arities, innermost first, "4:2:16"; or a network of nodes with a slot each,
// "torus:8:8:8" or "mesh:8:8:8", whose steps cost 1. COSTS: as many numbers, "1:10:100".
// One line a seed: cost (each pair once), CPU seconds of the engine alone (user and system, all threads), its
// wall-clock seconds, the most memory the process has had so far (MB, the instance with it), a hash of the placement.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <memory>
#include <numeric>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/pattern/affinity.h"
#include "core/pattern/matrix.h"
#include "core/place/engine.h"
#include "core/place/placement.h"
#include "core/topo/interconnect.h"
#include "core/topo/kind.h"
#include "core/topo/tree.h"

namespace {

using ranktree::core::pattern::Affinity;
using MatrixView = ranktree::core::pattern::MatrixView<float>;
namespace place = ranktree::core::place;
namespace topo = ranktree::core::topo;

struct Request {
  std::string instance;
  std::vector<int> arities;
  std::optional<topo::Torus> network;
  std::vector<double> costs;
  place::EngineOptions options;
  std::vector<std::uint64_t> seeds;
};

// Lists of pairs, or a matrix: symmetric, each pair in both of its places.
struct Instance {
  Affinity pairs;
  std::vector<float> matrix;
};

template <class Number>
std::vector<Number> read_array(std::ifstream& file, std::int64_t count) {
  std::vector<Number> array(static_cast<std::size_t>(count));
  file.read(reinterpret_cast<char*>(array.data()), static_cast<std::streamsize>(array.size() * sizeof(Number)));
  return array;
}

template <class Weight>
void read_rows(std::ifstream& file, std::int64_t arcs, Affinity& affinity) {
  affinity.indptr = read_array<std::int64_t>(file, affinity.ranks + 1);
  affinity.indices = read_array<std::int32_t>(file, arcs);
  const auto weights = read_array<Weight>(file, arcs);
  affinity.weights.assign(weights.begin(), weights.end());
}

Instance read_instance(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string form(8, ' ');
  file.read(form.data(), 8);
  const auto sizes = read_array<std::int64_t>(file, 2);
  Instance instance;
  instance.pairs.ranks = static_cast<std::int32_t>(sizes.at(0));
  if (form.starts_with("CGD1")) {
    for (std::int64_t i = 0; i < sizes[0]; ++i) {
      const auto row = read_array<std::int32_t>(file, sizes[0]);
      instance.matrix.insert(instance.matrix.end(), row.begin(), row.end());
    }
  }
  if (form.starts_with("CG01")) read_rows<std::int32_t>(file, sizes.at(1), instance.pairs);
  if (form.starts_with("CG02")) read_rows<std::int64_t>(file, sizes.at(1), instance.pairs);
  if (!file || !form.starts_with("CG")) throw std::runtime_error(path + ": not an instance");
  return instance;
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

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::int64_t peak_megabytes() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word && word != "VmHWM:") {
  }
  std::int64_t kilobytes = 0;
  status >> kilobytes;
  return kilobytes / 1024;
}

// FNV-1a over the leaves.
std::uint64_t hash_of(const place::Placement& placement) {
  std::uint64_t hash = 14695981039346656037U;
  for (const auto leaf : placement.leaf_of) hash = (hash ^ static_cast<std::uint64_t>(leaf)) * 1099511628211U;
  return hash;
}

Request read_request(std::vector<std::string> words) {
  Request request;
  const auto threads = std::find(words.begin(), words.end(), "--threads");
  if (threads != words.end()) {
    request.options.threads = std::stoi(words.at(static_cast<std::size_t>(threads - words.begin()) + 1));
    words.erase(threads, threads + 2);
  }
  request.instance = words.at(0);
  const std::size_t name = words.at(1).find_first_of("0123456789");
  request.arities = read_numbers<int>(words[1].substr(name));
  if (name > 0) {
    const std::vector<std::uint8_t> wraps(request.arities.size(), words[1].starts_with("torus") ? 1 : 0);
    request.network = topo::Torus{request.arities, wraps, std::vector<topo::Step>(wraps.size())};
  }
  request.costs = read_numbers<double>(words.at(2));
  const auto preset = place::preset_from_name(words.at(3));
  if (!preset) throw std::runtime_error(words[3] + ": not a preset");
  request.options.preset = *preset;
  for (std::size_t i = 4; i < words.size(); ++i) request.seeds.push_back(std::stoull(words[i]));
  return request;
}

place::Placement placed(const topo::Tree& tree, const Instance& instance, const place::EngineOptions& options) {
  if (instance.matrix.empty()) return place::run_engine(tree, instance.pairs, options);
  return place::run_engine(tree, MatrixView{instance.pairs.ranks, instance.matrix.data()}, options);
}

// Innermost level first: the first of which two leaves share a subtree.
double cost_between(const Request& request, topo::Leaf a, topo::Leaf b) {
  std::size_t level = request.costs.size() - 1;
  a /= request.arities[level];
  b /= request.arities[level];
  while (a != b) {
    --level;
    a /= request.arities[level];
    b /= request.arities[level];
  }
  return request.costs[level];
}

double cost_of(const Request& request, const topo::Tree& tree, const Instance& instance,
               const place::Placement& placement) {
  if (instance.matrix.empty()) return place::evaluate(tree, instance.pairs, placement).total;
  const auto ranks = static_cast<std::size_t>(instance.pairs.ranks);
  double total = 0;
  for (std::size_t i = 0; i < ranks; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double weight = instance.matrix[i * ranks + j];
      total += weight * cost_between(request, placement.leaf_of[i], placement.leaf_of[j]);
    }
  }
  return total;
}

topo::Tree machine_of(const Request& request) {
  if (!request.network) {
    const std::vector<topo::Level> levels(request.arities.size() + 1, topo::Level{topo::Kind::kGroup, {}, {}});
    return topo::uniform_tree(levels, request.arities).with_costs(request.costs);
  }
  std::vector<int> positions(static_cast<std::size_t>(topo::node_count(*request.network)));
  std::iota(positions.begin(), positions.end(), 0);
  const std::vector<topo::Level> levels{
      {topo::Kind::kCluster, {}, {}}, {topo::Kind::kNode, {}, {}}, {topo::Kind::kCore, {}, {}}};
  return topo::uniform_tree(levels, std::vector<int>{static_cast<int>(positions.size()), 1})
      .with_interconnect(std::make_shared<const topo::Interconnect>(*request.network, positions));
}

void run(Request request) {
  const Instance instance = read_instance(request.instance);
  const topo::Tree tree = machine_of(request);
  for (const std::uint64_t seed : request.seeds) {
    request.options.seed = seed;
    const double cpu = cpu_seconds();
    const double wall = wall_seconds();
    const place::Placement placement = placed(tree, instance, request.options);
    const double cpu_spent = cpu_seconds() - cpu;
    const double wall_spent = wall_seconds() - wall;
    const std::int64_t memory = peak_megabytes();
    place::validate(tree, placement, instance.pairs.ranks, request.options.constraints);
    std::cout << std::setprecision(15) << cost_of(request, tree, instance, placement) << ' ' << cpu_spent << ' '
              << wall_spent << ' ' << memory << ' ' << hash_of(placement) << '\n'
              << std::flush;  // a limit keeps what is done
  }
}

}  // namespace

int main(int count, char** arguments) {
  try {
    run(read_request({arguments + 1, arguments + count}));
  } catch (const std::exception& error) {
    std::cerr << "bench_place: " << error.what() << '\n';
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
