// The C++ side of place.c: place PATTERN PLAN MACHINE [OBJECTIVE [PARAMETERS]], with every other default.
#include <exception>
#include <iostream>
#include <ranktree/place.hpp>
#include <string>

int main(int argc, char** argv) {
  if (argc < 4 || argc > 6) return 2;
  try {
    const auto machine = ranktree::Topo::load(argv[3]);
    ranktree::PlaceOptions options;
    ranktree_error error{};
    if (argc > 4 && ranktree_objective_parse(argv[4], &options.objective, &error) != RANKTREE_SUCCESS) {
      throw ranktree::Error(error);
    }
    if (argc > 5) options.parameters = argv[5];
    const bool messages = options.objective == RANKTREE_OBJECTIVE_MESSAGES;
    const auto pattern = ranktree::Pattern::load(argv[1], messages ? RANKTREE_METRIC_MESSAGES : RANKTREE_METRIC_SIZE);
    const auto plan = ranktree::place(machine, pattern, options);
    for (const std::string& note : plan.notes()) std::cerr << "ranktree: " << note << '\n';
    plan.save(argv[2]);
  } catch (const ranktree::Error& error) {
    std::cerr << ranktree_status_text(error.status()) << ": " << error.what() << '\n';
    return 1;
  }
  return 0;
}
