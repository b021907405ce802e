// The C++ side of place.c: place PATTERN PLAN MACHINE, with every default.
#include <exception>
#include <iostream>
#include <ranktree/place.hpp>

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  try {
    const auto machine = ranktree::Topo::load(argv[3]);
    ranktree::place(machine, ranktree::Pattern::load(argv[1])).save(argv[2]);
  } catch (const ranktree::Error& error) {
    std::cerr << ranktree_status_text(error.status()) << ": " << error.what() << '\n';
    return 1;
  }
  return 0;
}
