// treematch-2013, Table 2: `arity K...` writes for each K the threshold p* and the divisor d* that core/place uses.
#include <cstdio>
#include <cstdlib>

#include "core/place/grouping.h"

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const int arity = std::atoi(argv[i]);
    const auto [threshold, divisor] = ranktree::core::place::best_division(arity);
    std::printf("%d,%lld,%d\n", arity, static_cast<long long>(threshold), divisor);
  }
  return 0;
}
