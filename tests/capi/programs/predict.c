/* `ranktree predict --json` in C, for one size: predict MACHINE COLLECTIVE RANKS BYTES [OPTION=VALUE ...]. Prints a
 * line for each cost, a line for each best number of groups, and where the costs of links come from. */
#include <inttypes.h>
#include <ranktree/predict.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ranktree_error error;

static void check(ranktree_status status) {
  if (status == RANKTREE_SUCCESS) return;
  fprintf(stderr, "%s: %s\n", ranktree_status_text(status), error.text);
  exit(1);
}

static void set(ranktree_predict_options* options, char* word) {
  char* value = strchr(word, '=');
  if (value == NULL) exit(2);
  *value++ = '\0';
  if (strcmp(word, "parameters") == 0) {
    options->parameters = value;
  } else if (strcmp(word, "groups") == 0) {
    options->groups = atoi(value);
  } else if (strcmp(word, "by-node") == 0) {
    options->by_node = 1;
  } else if (strcmp(word, "no-shared") == 0) {
    options->no_shared_memory = 1;
  } else if (strcmp(word, "model") == 0) {
    check(ranktree_cost_model_parse(value, &options->model, &error));
  } else {
    exit(2);
  }
}

int main(int argc, char** argv) {
  static const char* const kinds[] = {"base", "hierarchical", "shared"};
  ranktree_predict_options options;
  ranktree_topo* topo = NULL;
  ranktree_prediction* prediction = NULL;
  const ranktree_predicted* cost = NULL;
  const ranktree_predicted_groups* groups = NULL;
  if (argc < 5) return 2;
  ranktree_predict_options_init(&options);
  for (int i = 5; i < argc; ++i) set(&options, argv[i]);
  check(ranktree_topo_load(argv[1], NULL, &topo, &error));
  check(ranktree_predict(topo, argv[2], atoi(argv[3]), strtoull(argv[4], NULL, 10), &options, &prediction, &error));
  for (int i = 0; (cost = ranktree_prediction_get_cost(prediction, i)) != NULL; ++i) {
    printf("%s %s %s %.17g\n", kinds[cost->kind], cost->algorithm ? cost->algorithm : "-", cost->choice, cost->seconds);
  }
  for (int i = 0; (groups = ranktree_prediction_get_groups(prediction, i)) != NULL; ++i) {
    printf("groups %s %s %d %.17g %d %.17g %.17g %d %d %s %s %.17g\n", groups->form, groups->algorithm, groups->groups,
           groups->seconds, groups->divisor, groups->divisor_seconds, groups->continuous, groups->condition_groups,
           groups->condition_holds, groups->condition ? groups->condition : "-", groups->best ? groups->best : "-",
           groups->best_seconds);
  }
  printf("%s\n", ranktree_prediction_get_source(prediction));
  ranktree_prediction_destroy(prediction);
  ranktree_topo_destroy(topo);
  return 0;
}
