/* The machine as one tree: switches, nodes, packages, ... down to the leaves; a leaf holds one rank.
 *
 * Source of the model: treematch-2013 §2.2 (Process Placement in Multicore Clusters). All functions are local.
 */
#ifndef RANKTREE_TOPO_H
#define RANKTREE_TOPO_H

#include <stddef.h>

#include "ranktree/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ranktree_topo ranktree_topo;

/** What a leaf is: the slot of one rank. */
typedef enum ranktree_unit {
  RANKTREE_UNIT_CORE = 0, /**< "core" (default): a core with all its PUs */
  RANKTREE_UNIT_PU = 1    /**< "pu": a hardware thread */
} ranktree_unit;

/** What the distance of two leaves is. */
typedef enum ranktree_cost {
  RANKTREE_COST_HOPS = 0,     /**< "hops" (default): edges on the path through the lowest common ancestor */
  RANKTREE_COST_LATENCY = 1,  /**< "latency": seconds; of machine files that have it */
  RANKTREE_COST_BANDWIDTH = 2 /**< "bandwidth": seconds per byte; of machine files that have it */
} ranktree_cost;

typedef struct ranktree_topo_options {
  size_t size;         /**< of this structure; ranktree_topo_options_init() sets it */
  const char* network; /**< a file of switches (docs/reference/formats/network.md), each host of which is such a
                          machine; NULL (default): none */
  ranktree_unit unit;
  ranktree_cost cost;
} ranktree_topo_options;

/** Writes the defaults into a structure of `size` bytes; what ranktree_topo_options_init() calls. */
RANKTREE_API void ranktree_topo_options_init_sized(ranktree_topo_options* options, size_t size);

/** Writes the defaults. */
static inline void ranktree_topo_options_init(ranktree_topo_options* options) {
  ranktree_topo_options_init_sized(options, sizeof *options);
}

/** Reads a name as the command line writes it: "core" or "pu". \return RANKTREE_ERROR_INPUT for other names */
RANKTREE_API ranktree_status ranktree_unit_parse(const char* name, ranktree_unit* unit, ranktree_error* error);

/** Reads a name: "hops", "latency" or "bandwidth". \return as ranktree_unit_parse() */
RANKTREE_API ranktree_status ranktree_cost_parse(const char* name, ranktree_cost* cost, ranktree_error* error);

/** Loads a machine.
 *
 * \param machine NULL or "live": this machine, with marks on what the process may use; the path of an hwloc XML file,
 * or several paths joined by commas (one per node); the path of a JSON machine file; or a synthetic description in
 * hwloc's grammar, with "switch:" and "node:" allowed in front: "switch:2 node:4 package:2 l3:1 core:4".
 * \param options NULL for the defaults
 * \param[out] topo the machine, to be freed with ranktree_topo_destroy()
 * \return RANKTREE_ERROR_INPUT where a description, a file or an option is wrong; RANKTREE_ERROR_UNSUPPORTED where the
 * machine has no such cost; RANKTREE_ERROR_SYSTEM where a file cannot be read
 */
RANKTREE_API ranktree_status ranktree_topo_load(const char* machine, const ranktree_topo_options* options,
                                                ranktree_topo** topo, ranktree_error* error);

/** A copy for ranks that need several leaves each (one per thread): every leaf is a bundle of `count` usable leaves
 * below the lowest object that has as many, and owns their PUs. Remaining leaves are not used.
 *
 * \param count at least 1
 * \return RANKTREE_ERROR_INPUT for a count below 1; RANKTREE_ERROR_MISMATCH where no object has as many
 */
RANKTREE_API ranktree_status ranktree_topo_bundle(const ranktree_topo* topo, int count, ranktree_topo** bundled,
                                                  ranktree_error* error);

/** A copy in which no leaf that owns one of these PUs may be used. Call it before ranktree_topo_bundle().
 *
 * \param host the node of the PUs; NULL: every node
 * \param pus by the operating system's numbers; each must exist
 * \return RANKTREE_ERROR_INPUT where one does not exist
 */
RANKTREE_API ranktree_status ranktree_topo_forbid(const ranktree_topo* topo, const char* host, const int* pus,
                                                  int pu_count, ranktree_topo** rest, ranktree_error* error);

RANKTREE_API void ranktree_topo_destroy(ranktree_topo* topo);

/** \return the number of leaves, which are numbered from 0, depth first (logical numbers) */
RANKTREE_API int ranktree_topo_get_leaf_count(const ranktree_topo* topo);

/** \return the number of levels, the root's and the leaves' included; level 0 is the root */
RANKTREE_API int ranktree_topo_get_level_count(const ranktree_topo* topo);

/** \return hwloc's name of a level's kind ("Package", "L3Cache", "Core"; "Cluster", "Switch0", "Switch1" and "Node"
 * above), NULL out of range */
RANKTREE_API const char* ranktree_topo_get_level_name(const ranktree_topo* topo, int level);

/** The distance of two leaves that have their lowest common ancestor on a level; 0 on the last level.
 * \return RANKTREE_ERROR_INPUT out of range */
RANKTREE_API ranktree_status ranktree_topo_get_level_cost(const ranktree_topo* topo, int level, double* cost,
                                                          ranktree_error* error);

/** The level of the lowest common ancestor of two leaves, the last level for a leaf and itself.
 * \return RANKTREE_ERROR_INPUT out of range */
RANKTREE_API ranktree_status ranktree_topo_get_common_level(const ranktree_topo* topo, int leaf_a, int leaf_b,
                                                            int* level, ranktree_error* error);

/** Distance of two leaves through their lowest common ancestor, by the cost that the machine was loaded with; 0 for a
 * leaf and itself. \return RANKTREE_ERROR_INPUT out of range */
RANKTREE_API ranktree_status ranktree_topo_get_distance(const ranktree_topo* topo, int leaf_a, int leaf_b,
                                                        double* distance, ranktree_error* error);

#ifdef __cplusplus
}
#endif

#endif
