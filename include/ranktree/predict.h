/* What a collective will cost on a machine by the models of docs/explanation/models.md: the answer of `ranktree
 * predict` for one size of messages. All functions are local.
 */
#ifndef RANKTREE_PREDICT_H
#define RANKTREE_PREDICT_H

#include <stddef.h>
#include <stdint.h>

#include "ranktree/base.h"
#include "ranktree/topo.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ranktree_prediction ranktree_prediction;

/** How the cost of messages is computed. */
typedef enum ranktree_cost_model {
  RANKTREE_COST_MODEL_CLOSED = 0,   /**< "closed": closed forms */
  RANKTREE_COST_MODEL_HOCKNEY = 1,  /**< "hockney": follows every message; at most 128 ranks */
  RANKTREE_COST_MODEL_LOGGP = 2,    /**< "loggp": likewise */
  RANKTREE_COST_MODEL_AUTOMATIC = 3 /**< "auto" (default): "loggp" for up to 32 ranks, "closed" for more */
} ranktree_cost_model;

typedef struct ranktree_predict_options {
  size_t size;            /**< of this structure; ranktree_predict_options_init() sets it */
  const char* parameters; /**< a file of `ranktree calibrate`; NULL (default): the machine's own latency and bandwidth
                             where it has them on every level, an ordinary cluster's otherwise */
  int groups;             /**< that many groups of consecutive ranks; 0 (default): the machine's levels */
  int by_node;            /**< non-zero: ranks go to nodes in turn; 0 (default): to leaves in order */
  int no_shared_memory;   /**< non-zero: no shared memory inside nodes; 0 (default): where a node has several ranks */
  ranktree_cost_model model;
} ranktree_predict_options;

/** Writes the defaults into a structure of `size` bytes; what ranktree_predict_options_init() calls. */
RANKTREE_API void ranktree_predict_options_init_sized(ranktree_predict_options* options, size_t size);

/** Writes the defaults. */
static inline void ranktree_predict_options_init(ranktree_predict_options* options) {
  ranktree_predict_options_init_sized(options, sizeof *options);
}

/** Reads a name as the command line writes it: "auto", "closed", "hockney" or "loggp".
 * \return RANKTREE_ERROR_INPUT for other names */
RANKTREE_API ranktree_status ranktree_cost_model_parse(const char* name, ranktree_cost_model* model,
                                                       ranktree_error* error);

/** Predicts the costs of a collective.
 *
 * \param topo the machine; its leaves hold one rank each
 * \param collective "bcast", "reduce", "allreduce", "barrier", "gather", "scatter", "allgather", "reduce_scatter" or
 * "alltoall"
 * \param ranks at least 2
 * \param bytes of the whole vector, or of one block in collectives of blocks; a barrier has 0
 * \param options NULL for the defaults
 * \param[out] prediction to be freed with ranktree_prediction_destroy()
 * \return RANKTREE_ERROR_MISMATCH where the machine has fewer leaves than ranks, RANKTREE_ERROR_UNSUPPORTED where too
 * many ranks would be followed, RANKTREE_ERROR_SYSTEM where the file of parameters cannot be read, RANKTREE_ERROR_INPUT
 * where its content, a name or an option is wrong
 */
RANKTREE_API ranktree_status ranktree_predict(const ranktree_topo* topo, const char* collective, int ranks,
                                              uint64_t bytes, const ranktree_predict_options* options,
                                              ranktree_prediction** prediction, ranktree_error* error);

RANKTREE_API void ranktree_prediction_destroy(ranktree_prediction* prediction);

/** What a cost is of. */
typedef enum ranktree_predicted_kind {
  RANKTREE_PREDICTED_BASE = 0,         /**< one algorithm over all ranks */
  RANKTREE_PREDICTED_HIERARCHICAL = 1, /**< the cheapest in groups */
  RANKTREE_PREDICTED_SHARED = 2        /**< the cheapest with shared memory inside nodes */
} ranktree_predicted_kind;

/** One cost. */
typedef struct ranktree_predicted {
  ranktree_predicted_kind kind;
  const char* algorithm; /**< of RANKTREE_PREDICTED_BASE: its name; NULL otherwise */
  const char* choice;    /**< as rules write it (docs/reference/formats/rules.md), with the best segments */
  double seconds;
} ranktree_predicted;

/** \return a cost by its number from 0: base algorithms first, then the hierarchical and the shared one where there
 * are; NULL out of range */
RANKTREE_API const ranktree_predicted* ranktree_prediction_get_cost(const ranktree_prediction* prediction, int number);

/** The best number of groups of one form and algorithm, if all links were as the outermost; and on this machine. */
typedef struct ranktree_predicted_groups {
  const char* form; /**< "leaders", "lanes" or "same-index" */
  const char* algorithm;
  int groups; /**< 1 or the number of ranks: no gain */
  double seconds;
  int divisor; /**< the cheapest number of groups that divides the ranks */
  double divisor_seconds;
  double continuous;     /**< the real number where the closed form is least; 0: it has no such minimum */
  const char* condition; /**< the papers' condition for two levels to win, as a sentence; NULL: they have none */
  int condition_groups;  /**< the number of groups that the condition is for */
  int condition_holds;   /**< non-zero: it holds */
  const char* best;      /**< of all divisors of the ranks the cheapest choice on this machine, with its groups; NULL:
                            messages are not followed, or `condition` is NULL */
  double best_seconds;
} ranktree_predicted_groups;

/** \return an entry by its number from 0, NULL out of range */
RANKTREE_API const ranktree_predicted_groups* ranktree_prediction_get_groups(const ranktree_prediction* prediction,
                                                                             int number);

/** \return where the costs of links come from, as one line */
RANKTREE_API const char* ranktree_prediction_get_source(const ranktree_prediction* prediction);

#ifdef __cplusplus
}
#endif

#endif
