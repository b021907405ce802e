/* defaults NAME=VALUE ...: prints each name whose default in C is not this value; exit code 2 for a name it lacks. */
#include <ranktree/place.h>
#include <ranktree/topo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  ranktree_place_options place;
  ranktree_topo_options topo;
} Defaults;

/* 1: the same, 0: another, -1: no such option. A value that C does not know is another. */
static int is_choice(const Defaults* all, const char* name, const char* value) {
  ranktree_place_options place = all->place;
  ranktree_topo_options topo = all->topo;
  if (strcmp(name, "algorithm") == 0) {
    return !ranktree_algorithm_parse(value, &place.algorithm, NULL) && place.algorithm == all->place.algorithm;
  }
  if (strcmp(name, "metric") == 0) {
    return !ranktree_metric_parse(value, &place.metric, NULL) && place.metric == all->place.metric;
  }
  if (strcmp(name, "collectives") == 0) {
    return !ranktree_model_parse(value, &place.collectives, NULL) && place.collectives == all->place.collectives;
  }
  if (strcmp(name, "preset") == 0) {
    return !ranktree_preset_parse(value, &place.preset, NULL) && place.preset == all->place.preset;
  }
  if (strcmp(name, "unit") == 0) {
    return !ranktree_unit_parse(value, &topo.unit, NULL) && topo.unit == all->topo.unit;
  }
  if (strcmp(name, "cost") == 0) {
    return !ranktree_cost_parse(value, &topo.cost, NULL) && topo.cost == all->topo.cost;
  }
  return -1;
}

/* The same for numbers and for what is not given, "None". */
static int is_value(const Defaults* all, const char* name, const char* value) {
  const int none = strcmp(value, "None") == 0;
  if (strcmp(name, "objective") == 0) return none == (all->place.objective == RANKTREE_OBJECTIVE_DEFAULT);
  if (strcmp(name, "parameters") == 0) return none == (all->place.parameters == NULL);
  if (strcmp(name, "time_limit") == 0) return none == (all->place.time_limit_ms == 0);
  if (strcmp(name, "network") == 0) return none == (all->topo.network == NULL);
  if (strcmp(name, "seed") == 0) return strtoull(value, NULL, 10) == all->place.seed;
  if (strcmp(name, "threads") == 0) return atoi(value) == all->place.threads;
  if (strcmp(name, "oversubscribe") == 0)
    return strcmp(value, "True") == 0 ? all->place.oversubscribe : !all->place.oversubscribe;
  return -1;
}

int main(int argc, char** argv) {
  Defaults all;
  ranktree_place_options_init(&all.place);
  ranktree_topo_options_init(&all.topo);
  for (int i = 1; i < argc; ++i) {
    char* const value = strchr(argv[i], '=');
    if (value == NULL) return 2;
    *value = '\0';
    int same = is_choice(&all, argv[i], value + 1);
    if (same < 0) same = is_value(&all, argv[i], value + 1);
    if (same < 0) return 2;
    if (!same) printf("%s\n", argv[i]);
  }
  return 0;
}
