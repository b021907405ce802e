/* The communication pattern of one run: which rank sends how much to which. Sparse, by world rank.
 *
 * Source of the model: treematch-2013 §2.1, reorder-2011 §3.2. All functions are local.
 */
#ifndef RANKTREE_PATTERN_H
#define RANKTREE_PATTERN_H

#include <stdint.h>

#include "ranktree/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ranktree_pattern ranktree_pattern;

/** What of the traffic counts. */
typedef enum ranktree_metric {
  RANKTREE_METRIC_SIZE = 0,     /**< "size" (default): bytes */
  RANKTREE_METRIC_MESSAGES = 1, /**< "msg": messages */
  RANKTREE_METRIC_AVERAGE = 2   /**< "avg": average bytes a message */
} ranktree_metric;

/** How collective calls become pairs. */
typedef enum ranktree_model {
  RANKTREE_MODEL_TRACED = 0,  /**< "model" (default): as the MPI that was traced */
  RANKTREE_MODEL_OPENMPI = 1, /**< "openmpi": as Open MPI 4.1's tuned component */
  RANKTREE_MODEL_MPICH = 2,   /**< "mpich": as MPICH 4.0's default selection */
  RANKTREE_MODEL_FLAT = 3,    /**< "flat": root to every rank, or every rank to every rank */
  RANKTREE_MODEL_NONE = 4     /**< "none": collective calls do not count */
} ranktree_model;

/** Reads a name as the command line writes it: "size", "msg" or "avg".
 * \return RANKTREE_ERROR_INPUT for other names */
RANKTREE_API ranktree_status ranktree_metric_parse(const char* name, ranktree_metric* metric, ranktree_error* error);

/** Reads a name: "model", "openmpi", "mpich", "flat" or "none". \return as ranktree_metric_parse() */
RANKTREE_API ranktree_status ranktree_model_parse(const char* name, ranktree_model* model, ranktree_error* error);

/** Reads a pattern: .npz as written by `ranktree trace`, Matrix Market .mtx, TreeMatch .mat, METIS .graph, Scotch .grf,
 * .csv, or Open MPI monitoring .prof, by the file's extension; also matrices of numpy (.npy, and .npz with one array)
 * and of scipy.sparse.save_npz (.npz), of numbers up to 2^53.
 *
 * \param metric what the one number of a pair is in formats that have only one: RANKTREE_METRIC_MESSAGES, or otherwise
 * what the file's comment states, bytes where it states nothing. Pass the metric of the placement.
 * \param[out] pattern to be freed with ranktree_pattern_destroy()
 * \return RANKTREE_ERROR_SYSTEM where the file cannot be read, RANKTREE_ERROR_INPUT where its content is wrong
 */
RANKTREE_API ranktree_status ranktree_pattern_load(const char* path, ranktree_metric metric, ranktree_pattern** pattern,
                                                   ranktree_error* error);

/** \return the number of warnings of ranktree_pattern_load(): what the format cannot hold, or is known to count wrongly
 */
RANKTREE_API int ranktree_pattern_get_warning_count(const ranktree_pattern* pattern);

/** \return one line, NULL out of range */
RANKTREE_API const char* ranktree_pattern_get_warning(const ranktree_pattern* pattern, int number);

/** Traffic from one rank to another. */
typedef struct ranktree_pair {
  int from;
  int to;
  uint64_t messages; /**< at most 2^53 */
  uint64_t bytes;    /**< likewise */
} ranktree_pair;

/** Builds a pattern from directed pairs of point-to-point traffic.
 *
 * \param ranks number of ranks, at least 1
 * \param count number of entries of pairs; equal pairs are summed
 * \return RANKTREE_ERROR_INPUT where a rank or an amount is out of range
 */
RANKTREE_API ranktree_status ranktree_pattern_create(int ranks, uint64_t count, const ranktree_pair pairs[],
                                                     ranktree_pattern** pattern, ranktree_error* error);

/** What happens to a caller's matrix. */
typedef enum ranktree_ownership {
  RANKTREE_COPY = 0, /**< copied: the caller may change or free it afterwards */
  RANKTREE_BORROW =
      1 /**< used in place: it must not change until the pattern, and every expansion of it, is destroyed */
} ranktree_ownership;

/** Uses a whole matrix without converting it to lists: for patterns in which most pairs communicate.
 *
 * \param ranks number of ranks, at least 1
 * \param matrix ranks x ranks numbers, row by row: what the row's rank sends to the column's, finite and at least 0;
 * the diagonal does not count, but is checked. Placement counts these numbers for every value of
 * ranktree_place_options.metric.
 * \return RANKTREE_ERROR_INPUT where one is not such a number
 */
RANKTREE_API ranktree_status ranktree_pattern_create_dense(int ranks, const double matrix[],
                                                           ranktree_ownership ownership, ranktree_pattern** pattern,
                                                           ranktree_error* error);

/** A copy in which collective calls are expanded to pairs. ranktree_place() does the same by itself.
 * \return RANKTREE_ERROR_INPUT for another model */
RANKTREE_API ranktree_status ranktree_pattern_expand(const ranktree_pattern* pattern, ranktree_model model,
                                                     ranktree_pattern** expanded, ranktree_error* error);

/** Writes a pattern; the extension decides the format. A whole matrix is written as whole numbers of bytes. What the
 * format cannot hold is left out: all but .npz lose collective calls, and those with one number a pair have the bytes.
 * The file appears complete or not at all.
 * \return RANKTREE_ERROR_SYSTEM where it cannot be written, RANKTREE_ERROR_INPUT for an unknown extension,
 * RANKTREE_ERROR_UNSUPPORTED where the format has no such pattern */
RANKTREE_API ranktree_status ranktree_pattern_save(const ranktree_pattern* pattern, const char* path,
                                                   ranktree_error* error);

RANKTREE_API void ranktree_pattern_destroy(ranktree_pattern* pattern);

/** \return the number of ranks */
RANKTREE_API int ranktree_pattern_get_rank_count(const ranktree_pattern* pattern);

/** \return the number of directed pairs with traffic; for a whole matrix, each call counts them */
RANKTREE_API uint64_t ranktree_pattern_get_pair_count(const ranktree_pattern* pattern);

#ifdef __cplusplus
}
#endif

#endif
