// The C++ side of predict.c: predict MACHINE COLLECTIVE RANKS BYTES, with every default; the costs alone.
#include <array>
#include <cstdio>
#include <ranktree/predict.hpp>
#include <string>

int main(int argc, char** argv) {
  constexpr std::array kKinds{"base", "hierarchical", "shared"};
  if (argc != 5) return 2;
  try {
    const auto machine = ranktree::Topo::load(argv[1]);
    const auto prediction = ranktree::predict(machine, argv[2], std::stoi(argv[3]), std::stoull(argv[4]));
    for (const ranktree_predicted& cost : prediction.costs()) {
      std::printf("%s %s %s %.17g\n", kKinds[cost.kind], cost.algorithm ? cost.algorithm : "-", cost.choice,
                  cost.seconds);
    }
    if (prediction.groups().empty() || prediction.source().empty()) return 3;
  } catch (const ranktree::Error& error) {
    std::fprintf(stderr, "%s: %s\n", ranktree_status_text(error.status()), error.what());
    return 1;
  }
  return 0;
}
