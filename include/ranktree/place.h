/* Pattern x machine -> plan: the slot for each rank, and the gain.
 *
 * Source: treematch-2013 §4, and the placement engine (docs/explanation/placement-engine.md). A plan is kept only if it
 * costs less than the ranks in order; otherwise it is that order, and ranktree_plan_has_gain() returns 0. Equal inputs
 * and seed give equal plans for any number of threads; a search stopped early may give another plan. All functions are
 * local.
 */
#ifndef RANKTREE_PLACE_H
#define RANKTREE_PLACE_H

#include <stddef.h>
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

typedef enum ranktree_algorithm {
  RANKTREE_ALGORITHM_BEST = 0,        /**< "best" (default): the cheapest of engine, greedy and round-robin */
  RANKTREE_ALGORITHM_ENGINE = 1,      /**< "engine": multisection and search (docs/explanation/placement-engine.md) */
  RANKTREE_ALGORITHM_TREEMATCH = 2,   /**< "treematch": as published (docs/explanation/treematch.md) */
  RANKTREE_ALGORITHM_GREEDY = 3,      /**< "greedy" */
  RANKTREE_ALGORITHM_ROUND_ROBIN = 4, /**< "round-robin": over the nodes in turn */
  RANKTREE_ALGORITHM_RANDOM = 5,      /**< "random" */
  RANKTREE_ALGORITHM_IDENTITY = 6     /**< "identity": ranks in order */
} ranktree_algorithm;

/** How hard the engine searches. */
typedef enum ranktree_preset {
  RANKTREE_PRESET_DEFAULT = 0, /**< "default" */
  RANKTREE_PRESET_FAST = 1,    /**< "fast" */
  RANKTREE_PRESET_STRONG = 2   /**< "strong" */
} ranktree_preset;

/** What a plan minimises (docs/explanation/objectives.md). */
typedef enum ranktree_objective {
  RANKTREE_OBJECTIVE_DEFAULT = 0,    /**< options.metric decides, as `ranktree map --metric` */
  RANKTREE_OBJECTIVE_BYTES = 1,      /**< "bytes": hop-bytes */
  RANKTREE_OBJECTIVE_MESSAGES = 2,   /**< "messages": hop-messages */
  RANKTREE_OBJECTIVE_BOTTLENECK = 3, /**< "bottleneck": seconds of the most loaded link */
  RANKTREE_OBJECTIVE_TIME = 4        /**< "time": the same plus the mean waiting of a rank */
} ranktree_objective;

typedef struct ranktree_place_options {
  size_t size; /**< of this structure; ranktree_place_options_init() sets it */
  ranktree_algorithm algorithm;
  ranktree_metric metric;
  ranktree_model collectives; /**< how collective calls become pairs, for patterns that have some */
  ranktree_preset preset;
  uint64_t seed;                  /**< of every random choice; 1 by default */
  int threads;                    /**< at most this many, at least 1 (default); the plan does not depend on it */
  int oversubscribe;              /**< non-zero: more ranks than leaves share leaves, at most ceil(ranks / leaves) one;
                                     0 (default): refused */
  int64_t time_limit_ms;          /**< after which the best found so far is kept; 0 (default): no limit */
  ranktree_keep_going keep_going; /**< NULL (default): no call */
  void* user;                     /**< the argument of keep_going */
  const ranktree_pin* pins;       /**< NULL (default): every rank may have any slot; "treematch" refuses pins */
  int pin_count;                  /**< number of pins, 0 by default */
  ranktree_objective objective;   /**< another than the default requires RANKTREE_METRIC_SIZE, and no whole matrix */
  const char* parameters;         /**< of links, for "bottleneck" and "time": a file of `ranktree calibrate`, or
                                     "ethernet-1g", "ethernet-10g" or "infiniband-100g"; NULL (default): the machine's
                                     own, where it has none, usual ones */
} ranktree_place_options;

/** Writes the defaults into a structure of `size` bytes; what ranktree_place_options_init() calls. */
RANKTREE_API void ranktree_place_options_init_sized(ranktree_place_options* options, size_t size);

/** Writes the defaults. */
static inline void ranktree_place_options_init(ranktree_place_options* options) {
  ranktree_place_options_init_sized(options, sizeof *options);
}

/** Reads a name as the command line writes it. \return RANKTREE_ERROR_INPUT for other names */
RANKTREE_API ranktree_status ranktree_algorithm_parse(const char* name, ranktree_algorithm* algorithm,
                                                      ranktree_error* error);

/** Reads a name. \return as ranktree_algorithm_parse() */
RANKTREE_API ranktree_status ranktree_preset_parse(const char* name, ranktree_preset* preset, ranktree_error* error);

/** Reads a name. \return as ranktree_algorithm_parse() */
RANKTREE_API ranktree_status ranktree_objective_parse(const char* name, ranktree_objective* objective,
                                                      ranktree_error* error);

/** Computes a plan: the one that `ranktree map` writes for the same machine, pattern and options. Leaves that
 * ranktree_topo_forbid() excluded are not used. Refuses a pattern that has traffic but none that options.metric counts,
 * and a cost beyond the range of a double. Where options.objective is RANKTREE_OBJECTIVE_MESSAGES, load the pattern
 * with RANKTREE_METRIC_MESSAGES.
 *
 * \param options NULL for the defaults
 * \param[out] plan to be freed with ranktree_plan_destroy()
 * \return RANKTREE_ERROR_MISMATCH where the ranks do not fit the machine, RANKTREE_ERROR_INPUT for wrong options and
 * for parameters that are wrong, RANKTREE_ERROR_SYSTEM where the file of parameters cannot be read,
 * RANKTREE_ERROR_UNSUPPORTED for "treematch" with pins, for parameters where the network is no tree, and for seconds on
 * machines of too many links
 */
RANKTREE_API ranktree_status ranktree_place(const ranktree_topo* topo, const ranktree_pattern* pattern,
                                            const ranktree_place_options* options, ranktree_plan** plan,
                                            ranktree_error* error);

/** Reads a plan (docs/reference/formats/plan.md).
 * \return RANKTREE_ERROR_SYSTEM where the file cannot be read, RANKTREE_ERROR_INPUT where its content is wrong,
 * RANKTREE_ERROR_MISMATCH where parts of it contradict each other (slots and ranks) */
RANKTREE_API ranktree_status ranktree_plan_load(const char* path, ranktree_plan** plan, ranktree_error* error);

/** Writes a plan, completely or not at all. \return RANKTREE_ERROR_SYSTEM where it cannot be written */
RANKTREE_API ranktree_status ranktree_plan_save(const ranktree_plan* plan, const char* path, ranktree_error* error);

RANKTREE_API void ranktree_plan_destroy(ranktree_plan* plan);

/** \return the number of ranks */
RANKTREE_API int ranktree_plan_get_rank_count(const ranktree_plan* plan);

/** \return the host of a rank ("" when the machine has no nodes), NULL out of range */
RANKTREE_API const char* ranktree_plan_get_host(const ranktree_plan* plan, int rank);

/** PUs of a rank by operating-system number. \param[out] pus their numbers
 * \return how many; 0 out of range */
RANKTREE_API int ranktree_plan_get_pus(const ranktree_plan* plan, int rank, const int** pus);

/** \return non-zero when a synthetic description made up the names of the hosts ("n0", "n1", ...), so that no launcher
 * can follow the plan unless hosts have these names; 0 when they are those of this machine or of files */
RANKTREE_API int ranktree_plan_is_described(const ranktree_plan* plan);

/** The leaf of each rank in the machine the plan was made for, by logical number. \param[out] leaves one each rank
 * \return the number of ranks; 0 for a plan from a file, which has only hosts and PUs */
RANKTREE_API int ranktree_plan_get_permutation(const ranktree_plan* plan, const int** leaves);

/** \return zero when the plan is an order that was known, as no placement costs less: the ranks in order, or (but for
 * the objectives of seconds) the traced placement */
RANKTREE_API int ranktree_plan_has_gain(const ranktree_plan* plan);

/** \return non-zero when the time limit or keep_going stopped the search; 0 for a plan from a file. Algorithms without
 * a check ("greedy", "treematch") ignore the limit. */
RANKTREE_API int ranktree_plan_was_stopped(const ranktree_plan* plan);

/** \return what the user should know, one sentence for each number from 0: that the machine lacks hosts of the trace;
 * NULL out of range. Plans from files have none. */
RANKTREE_API const char* ranktree_plan_get_note(const ranktree_plan* plan, int number);

/** Total cost (hop-bytes with metric "size") of a row of the plan's table: "identity", "round-robin", "plan"; "traced"
 * where the pattern knows where its ranks ran: on hosts of the machine, or on others that fit its nodes in order.
 * \return RANKTREE_ERROR_INPUT where there is no such row */
RANKTREE_API ranktree_status ranktree_plan_get_cost(const ranktree_plan* plan, const char* placement, double* cost,
                                                    ranktree_error* error);

/** \return the number of levels of the plan's table, the root's and the leaves' included; level 0 is the root */
RANKTREE_API int ranktree_plan_get_level_count(const ranktree_plan* plan);

/** \return the name of a level as ranktree_topo_get_level_name() has it; where the network is no tree, its distances
 * come first ("Network 3"); NULL out of range */
RANKTREE_API const char* ranktree_plan_get_level_name(const ranktree_plan* plan, int level);

/** The traffic of a row of the plan's table (as ranktree_plan_get_cost()) between ranks whose lowest common ancestor is
 * on a level: bytes with metric "size", each pair once with both directions.
 * \return RANKTREE_ERROR_INPUT where there is no such row or level */
RANKTREE_API ranktree_status ranktree_plan_get_level_weight(const ranktree_plan* plan, const char* placement, int level,
                                                            double* weight, ranktree_error* error);

/** The plan's cost on a level; the levels add up to the cost of row "plan". For a plan from a file it is the level's
 * weight times its cost, which is approximate where the network is not a tree.
 * \return RANKTREE_ERROR_INPUT where there is no such level */
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
