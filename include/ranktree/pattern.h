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

/** Reads a pattern: .npz as written by `ranktree trace`, Matrix Market .mtx, TreeMatch .mat, METIS .graph, Scotch .grf,
 * .csv, or Open MPI monitoring .prof, by the file's extension. */
RANKTREE_API ranktree_status ranktree_pattern_load(const char* path, ranktree_pattern** pattern, ranktree_error* error);

/** Traffic from one rank to another. */
typedef struct ranktree_pair {
  int from;
  int to;
  double messages; /**< a whole number, 0 .. 2^53 */
  double bytes;    /**< likewise */
} ranktree_pair;

/** Builds a pattern from directed pairs of point-to-point traffic.
 *
 * \param ranks number of ranks, at least 1
 * \param count number of entries of pairs; equal pairs are summed
 */
RANKTREE_API ranktree_status ranktree_pattern_create(int ranks, int64_t count, const ranktree_pair pairs[],
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
 * the diagonal does not count. Placement counts these numbers for every value of ranktree_place_options.metric.
 */
RANKTREE_API ranktree_status ranktree_pattern_create_dense(int ranks, const double matrix[],
                                                           ranktree_ownership ownership, ranktree_pattern** pattern,
                                                           ranktree_error* error);

/** A copy in which collective calls are expanded to pairs. \param model "model" (as the traced MPI would), "openmpi",
 * "mpich", "flat" or "none". */
RANKTREE_API ranktree_status ranktree_pattern_expand(const ranktree_pattern* pattern, const char* model,
                                                     ranktree_pattern** expanded, ranktree_error* error);

/** Writes a pattern; the extension decides the format. A whole matrix is written as whole numbers of bytes. The file
 * appears complete or not at all. */
RANKTREE_API ranktree_status ranktree_pattern_save(const ranktree_pattern* pattern, const char* path,
                                                   ranktree_error* error);

RANKTREE_API void ranktree_pattern_destroy(ranktree_pattern* pattern);

/** Number of ranks. */
RANKTREE_API int ranktree_pattern_get_rank_count(const ranktree_pattern* pattern);

/** Number of directed pairs with traffic. For a whole matrix, each call counts them. */
RANKTREE_API int64_t ranktree_pattern_get_pair_count(const ranktree_pattern* pattern);

#ifdef __cplusplus
}
#endif

#endif
