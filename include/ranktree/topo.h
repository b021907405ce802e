/* The machine as one tree: switches, nodes, packages, ... down to the leaves; a leaf holds one rank.
 *
 * Source of the model: treematch-2013 §2.2 (Process Placement in Multicore Clusters). All functions are local.
 */
#ifndef RANKTREE_TOPO_H
#define RANKTREE_TOPO_H

#include "ranktree/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ranktree_topo ranktree_topo;

/** Loads a machine.
 *
 * \param machine NULL or "live": this machine, with marks on what the process may use; the path of an hwloc XML file,
 * or several paths joined by commas (one per node); the path of a JSON machine file; or a synthetic description in
 * hwloc's grammar, with "switch:" and "node:" allowed in front: "switch:2 node:4 package:2 l3:1 core:4".
 * \param[out] topo the machine, to be freed with ranktree_topo_destroy().
 */
RANKTREE_API ranktree_status ranktree_topo_load(const char* machine, ranktree_topo** topo, ranktree_error* error);

/** A copy cut at the cores: every core becomes one leaf that owns its PUs. */
RANKTREE_API ranktree_status ranktree_topo_cut_at_cores(const ranktree_topo* topo, ranktree_topo** cut,
                                                        ranktree_error* error);

/** A copy for ranks that need several leaves each (one per thread): every leaf is a bundle of `count` usable leaves
 * below the lowest object that has as many, and owns their PUs. Remaining leaves are not used.
 *
 * \param count at least 1
 */
RANKTREE_API ranktree_status ranktree_topo_bundle(const ranktree_topo* topo, int count, ranktree_topo** bundled,
                                                  ranktree_error* error);

/** A copy in which no leaf that owns one of these PUs may be used. Call it after cutting and before bundling.
 *
 * \param host the node of the PUs; NULL: every node
 * \param pus by the operating system's numbers; each must exist
 */
RANKTREE_API ranktree_status ranktree_topo_forbid(const ranktree_topo* topo, const char* host, const int* pus,
                                                  int pu_count, ranktree_topo** rest, ranktree_error* error);

RANKTREE_API void ranktree_topo_destroy(ranktree_topo* topo);

/** Number of leaves; leaves are numbered from 0, depth first (logical numbers). */
RANKTREE_API int ranktree_topo_get_leaf_count(const ranktree_topo* topo);

/** Number of levels, the root's and the leaves' included; level 0 is the root. */
RANKTREE_API int ranktree_topo_get_level_count(const ranktree_topo* topo);

/** hwloc's name of a level's kind ("Package", "L3", "Core"; "Cluster", "Switch" and "Node" above), NULL out of range.
 */
RANKTREE_API const char* ranktree_topo_get_level_name(const ranktree_topo* topo, int level);

/** The level of the lowest common ancestor of two leaves, the last level for a leaf and itself. */
RANKTREE_API ranktree_status ranktree_topo_get_common_level(const ranktree_topo* topo, int leaf_a, int leaf_b,
                                                            int* level, ranktree_error* error);

/** Distance of two leaves in hops through their lowest common ancestor; 0 for a leaf and itself. */
RANKTREE_API ranktree_status ranktree_topo_get_distance(const ranktree_topo* topo, int leaf_a, int leaf_b,
                                                        double* distance, ranktree_error* error);

#ifdef __cplusplus
}
#endif

#endif
