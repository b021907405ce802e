/* `ranktree map` and `ranktree emit` in C: place PATTERN PLAN [OPTION=VALUE ...], with the options of the command line;
 * launcher=NAME writes the launcher's files into folder=FOLDER and prints its command and notes. */
#include <ranktree/launch.h>
#include <ranktree/place.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ranktree_error error;

static void check(ranktree_status status) {
  if (status == RANKTREE_SUCCESS) return;
  fprintf(stderr, "%s: %s\n", ranktree_status_text(status), error.text);
  exit(1);
}

/* The value of an option, or another text where it is not given. */
static const char* option(int argc, char** argv, const char* name, const char* otherwise) {
  const size_t length = strlen(name);
  for (int i = 3; i < argc; ++i) {
    if (strncmp(argv[i], name, length) == 0 && argv[i][length] == '=') return argv[i] + length + 1;
  }
  return otherwise;
}

static ranktree_topo* load_machine(int argc, char** argv) {
  ranktree_topo_options options;
  ranktree_topo* topo = NULL;
  ranktree_topo_options_init(&options);
  options.network = option(argc, argv, "network", NULL);
  check(ranktree_unit_parse(option(argc, argv, "unit", "core"), &options.unit, &error));
  check(ranktree_cost_parse(option(argc, argv, "cost", "hops"), &options.cost, &error));
  check(ranktree_topo_load(option(argc, argv, "machine", NULL), &options, &topo, &error));
  const int threads_per_rank = atoi(option(argc, argv, "threads-per-rank", "1"));
  if (threads_per_rank == 1) return topo;
  ranktree_topo* bundled = NULL;
  check(ranktree_topo_bundle(topo, threads_per_rank, &bundled, &error));
  ranktree_topo_destroy(topo);
  return bundled;
}

static void emit(int argc, char** argv, const ranktree_plan* plan) {
  const char* const program[] = {"./app", "it's", "-n"};
  const char* launcher = option(argc, argv, "launcher", NULL);
  ranktree_launch* launch = NULL;
  if (launcher == NULL) return;
  check(ranktree_launch_create(plan, launcher, option(argc, argv, "folder", "."), program, 3, &launch, &error));
  check(ranktree_launch_write(launch, 0, &error));
  if (ranktree_launch_write(launch, 0, &error) != RANKTREE_ERROR_INPUT) exit(2);
  check(ranktree_launch_write(launch, 1, &error));
  printf("%s\n", ranktree_launch_get_command(launch));
  for (int i = 0; ranktree_launch_get_note(launch, i) != NULL; ++i) {
    fprintf(stderr, "note: %s\n", ranktree_launch_get_note(launch, i));
  }
  ranktree_launch_destroy(launch);
}

/* What the one number of a pair is in files that have only one. */
static ranktree_metric number_of_files(const ranktree_place_options* options) {
  return options->objective == RANKTREE_OBJECTIVE_MESSAGES ? RANKTREE_METRIC_MESSAGES : options->metric;
}

int main(int argc, char** argv) {
  ranktree_place_options options;
  ranktree_pattern* pattern = NULL;
  ranktree_plan* plan = NULL;
  ranktree_topo* topo = load_machine(argc, argv);
  ranktree_place_options_init(&options);
  check(ranktree_metric_parse(option(argc, argv, "metric", "size"), &options.metric, &error));
  check(ranktree_model_parse(option(argc, argv, "collectives", "model"), &options.collectives, &error));
  check(ranktree_algorithm_parse(option(argc, argv, "algorithm", "best"), &options.algorithm, &error));
  check(ranktree_preset_parse(option(argc, argv, "preset", "default"), &options.preset, &error));
  options.seed = strtoull(option(argc, argv, "seed", "1"), NULL, 10);
  options.oversubscribe = option(argc, argv, "oversubscribe", NULL) != NULL;
  options.parameters = option(argc, argv, "parameters", NULL);
  if (option(argc, argv, "objective", NULL) != NULL) {
    check(ranktree_objective_parse(option(argc, argv, "objective", NULL), &options.objective, &error));
  }
  check(ranktree_pattern_load(argv[1], number_of_files(&options), &pattern, &error));
  check(ranktree_place(topo, pattern, &options, &plan, &error));
  for (int i = 0; ranktree_plan_get_note(plan, i) != NULL; ++i) {
    fprintf(stderr, "ranktree: %s\n", ranktree_plan_get_note(plan, i));
  }
  check(ranktree_plan_save(plan, argv[2], &error));
  emit(argc, argv, plan);
  ranktree_plan_destroy(plan);
  ranktree_pattern_destroy(pattern);
  ranktree_topo_destroy(topo);
  return 0;
}
