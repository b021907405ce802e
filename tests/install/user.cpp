// A program of a user of the installed library: places four ranks, of which 0 talks to 2 and 1 to 3.
#include <exception>
#include <iostream>
#include <ranktree/place.hpp>
#include <vector>

int main(int argc, char** argv) {
  try {
    const ranktree::Topo machine = ranktree::Topo::load(argc > 1 ? argv[1] : "live");
    std::vector<double> matrix(16, 0);
    matrix[0 * 4 + 2] = 100;
    matrix[1 * 4 + 3] = 50;
    const ranktree::Plan plan = ranktree::place(machine, ranktree::Pattern::dense(4, matrix, RANKTREE_BORROW),
                                                {.preset = RANKTREE_PRESET_STRONG});
    std::cout << plan.cost("identity") << " -> " << plan.cost() << ":";
    std::vector<int> rank_at(4);
    for (int rank = 0; const int leaf : plan.permutation()) rank_at[static_cast<std::size_t>(leaf)] = rank++;
    for (const int rank : rank_at) std::cout << ' ' << rank;
    std::cout << '\n';
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
