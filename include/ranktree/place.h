/* Pattern x machine -> plan: the slot for each rank, and the gain.
 *
 * Source: treematch-2013 §4, and the placement engine (docs/explanation/placement-engine.md). A plan is kept only if it
 * costs less than the ranks in order; otherwise it is that order, and ranktree_plan_has_gain() returns 0. Equal inputs
 * and seed give equal plans for any number of threads; a search stopped early may give another plan. All functions are
 * local.
 */
#ifndef RANKTREE_PLACE_H
#define RANKTREE_PLACE_H

#include <stdint.h>

#include "ranktree/base.h"
#include "ranktree/pattern.h"
#include "ranktree/topo.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ranktree_plan ranktree_plan;

/** Called regularly during a search, by the thread that called ranktree_place(); it may draw a progress bar or check a
 * flag. Return zero to stop and keep the best placement found so far. It must not throw. */
typedef int (*ranktree_keep_going)(void* user);

/** A slot that a rank must have. */
typedef struct ranktree_pin {
  int rank;
  const char* host; /**< NULL where the machine has one host */
  int pu;           /**< by the operating system's number */
} ranktree_pin;

typedef struct ranktree_place_options {
  const char* algorithm; /**< "best" (default), "engine", "treematch", "greedy", "round-robin", "random", "identity" */
  const char* metric;    /**< "size" (bytes, default), "msg" (messages), "avg" */
  uint64_t seed;
  int oversubscribe;              /**< non-zero: more ranks than leaves share leaves evenly */
  const char* preset;             /**< how hard the engine searches: "fast", "default" (default), "strong" */
  int threads;                    /**< at most this many, at least 1 (default); the plan does not depend on it */
  int64_t time_limit;             /**< milliseconds after which the best found so far is kept; 0 (default): no limit */
  ranktree_keep_going keep_going; /**< NULL (default): no call */
  void* user;                     /**< the argument of keep_going */
  const ranktree_pin* pins;       /**< NULL (default): every rank may have any slot; "treematch" refuses pins */
  int pin_count;                  /**< number of pins, 0 by default */
} ranktree_place_options;

/** The defaults. */
RANKTREE_API void ranktree_place_options_init(ranktree_place_options* options);

/** Computes a plan. Expand collective calls before (ranktree_pattern_expand()); remaining ones are ignored. Leaves that
 * ranktree_topo_forbid() excluded are not used. Refuses a pattern that has traffic but none that options.metric counts,
 * and a cost beyond the range of a double.
 *
 * \param options NULL for the defaults
 * \param[out] plan to be freed with ranktree_plan_destroy()
 */
RANKTREE_API ranktree_status ranktree_place(const ranktree_topo* topo, const ranktree_pattern* pattern,
                                            const ranktree_place_options* options, ranktree_plan** plan,
                                            ranktree_error* error);

RANKTREE_API ranktree_status ranktree_plan_load(const char* path, ranktree_plan** plan, ranktree_error* error);
RANKTREE_API ranktree_status ranktree_plan_save(const ranktree_plan* plan, const char* path, ranktree_error* error);
RANKTREE_API void ranktree_plan_destroy(ranktree_plan* plan);

RANKTREE_API int ranktree_plan_get_rank_count(const ranktree_plan* plan);

/** Host of a rank ("" when the machine has no nodes), NULL out of range. */
RANKTREE_API const char* ranktree_plan_get_host(const ranktree_plan* plan, int rank);

/** PUs of a rank by operating-system number; returns how many and sets *pus; 0 out of range. */
RANKTREE_API int ranktree_plan_get_pus(const ranktree_plan* plan, int rank, const int** pus);

/** The leaf of each rank in the machine the plan was made for, by logical number; returns the number of ranks and sets
 * *leaves; 0 for a plan from a file, which has only hosts and PUs. */
RANKTREE_API int ranktree_plan_get_permutation(const ranktree_plan* plan, const int** leaves);

/** Non-zero when the plan costs less than the ranks in order. */
RANKTREE_API int ranktree_plan_has_gain(const ranktree_plan* plan);

/** Non-zero when the time limit or keep_going stopped the search; 0 for a plan from a file. Algorithms without a check
 * ("greedy", "treematch") ignore the limit. */
RANKTREE_API int ranktree_plan_was_stopped(const ranktree_plan* plan);

/** Total cost (hop-bytes with metric "size") of a row of the plan's table: "identity", "round-robin", "plan"; "traced"
 *  where the pattern knows hosts of the machine. */
RANKTREE_API ranktree_status ranktree_plan_get_cost(const ranktree_plan* plan, const char* placement, double* cost,
                                                    ranktree_error* error);

/** Number of levels of the plan's table, the root's and the leaves' included; level 0 is the root. */
RANKTREE_API int ranktree_plan_get_level_count(const ranktree_plan* plan);

/** hwloc's name of a level's kind; where the network is no tree, its distances come first ("Network 3"). NULL out of
 *  range. */
RANKTREE_API const char* ranktree_plan_get_level_name(const ranktree_plan* plan, int level);

/** The traffic of a row of the plan's table (as ranktree_plan_get_cost()) between ranks whose lowest common ancestor is
 * on a level: bytes with metric "size", each pair once with both directions. */
RANKTREE_API ranktree_status ranktree_plan_get_level_weight(const ranktree_plan* plan, const char* placement, int level,
                                                            double* weight, ranktree_error* error);

/** The plan's cost on a level; the levels add up to the cost of row "plan". For a plan from a file it is the level's
 * weight times its cost, which is approximate where the network is not a tree. */
RANKTREE_API ranktree_status ranktree_plan_get_level_cost(const ranktree_plan* plan, int level, double* cost,
                                                          ranktree_error* error);

/** A lower bound on the cost of any placement of this pattern on this machine (docs/explanation/placement-engine.md).
 *  \return RANKTREE_ERROR_UNSUPPORTED when the plan comes from a file that is older than bounds */
RANKTREE_API ranktree_status ranktree_plan_get_bound(const ranktree_plan* plan, double* bound, ranktree_error* error);

/** (cost - bound) / bound. With 0.1, the plan costs at most 10 % more than the bound, and so than the best placement.
 * Infinity when the bound is 0 and the cost is not.
 *  \return as ranktree_plan_get_bound() */
RANKTREE_API ranktree_status ranktree_plan_get_gap(const ranktree_plan* plan, double* gap, ranktree_error* error);

#ifdef __cplusplus
}
#endif

#endif
