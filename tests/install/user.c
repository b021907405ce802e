/* A program of a user of the installed C library: prints the distance of the first and the last leaf of a machine. */
#include <ranktree/topo.h>
#include <stdio.h>

int main(int argc, char** argv) {
  ranktree_topo* topo = NULL;
  ranktree_error error;
  double distance = 0;
  if (ranktree_topo_load(argc > 1 ? argv[1] : NULL, NULL, &topo, &error) != RANKTREE_SUCCESS) {
    fprintf(stderr, "%s\n", error.text);
    return 1;
  }
  if (ranktree_topo_get_distance(topo, 0, ranktree_topo_get_leaf_count(topo) - 1, &distance, &error) !=
      RANKTREE_SUCCESS) {
    fprintf(stderr, "%s\n", error.text);
    ranktree_topo_destroy(topo);
    return 1;
  }
  printf("%d leaves, distance %g\n", ranktree_topo_get_leaf_count(topo), distance);
  ranktree_topo_destroy(topo);
  return 0;
}
