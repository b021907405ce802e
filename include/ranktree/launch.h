/* From a plan to a launch: a launcher's own files and its command, as `ranktree emit` writes them; and whether the
 * ranks of a running job are where the plan has them, as `ranktree run --verify` checks it
 * (docs/how-to/rerun-by-a-plan.md). All functions are local.
 */
#ifndef RANKTREE_LAUNCH_H
#define RANKTREE_LAUNCH_H

#include "ranktree/base.h"
#include "ranktree/place.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ranktree_launch ranktree_launch;

/** \return the name of a launcher that ranktree_launch_create() knows, in the order of `ranktree emit --help`; NULL out
 * of range */
RANKTREE_API const char* ranktree_launcher_name(int number);

/** Makes files and command with which a launcher follows a plan. Nothing is written.
 *
 * \param launcher "openmpi4", "openmpi5", "mpich", "intel", "slurm", "cray", "aprun", "pals", "jsrun", "flux" or
 * "generic"
 * \param folder where the files will be, as the nodes see it
 * \param program the program and its arguments; "intel" needs it, others put it into the command only
 * \param word_count number of words of program, 0 where it is not known: the command then has PROGRAM in its place
 * \param[out] launch to be freed with ranktree_launch_destroy()
 * \return RANKTREE_ERROR_UNSUPPORTED where the launcher cannot express the plan, or its hosts have made-up names
 * (ranktree_plan_is_described()) and are several; RANKTREE_ERROR_INPUT for another name
 */
RANKTREE_API ranktree_status ranktree_launch_create(const ranktree_plan* plan, const char* launcher, const char* folder,
                                                    const char* const program[], int word_count,
                                                    ranktree_launch** launch, ranktree_error* error);

RANKTREE_API void ranktree_launch_destroy(ranktree_launch* launch);

/** \return the command as a shell reads it */
RANKTREE_API const char* ranktree_launch_get_command(const ranktree_launch* launch);

/** \return the number of files */
RANKTREE_API int ranktree_launch_get_file_count(const ranktree_launch* launch);

/** \return the name of a file without its folder, NULL out of range */
RANKTREE_API const char* ranktree_launch_get_file_name(const ranktree_launch* launch, int number);

/** \return the text of a file, NULL out of range */
RANKTREE_API const char* ranktree_launch_get_file_text(const ranktree_launch* launch, int number);

/** \return what the user should know, one sentence for each number from 0; NULL out of range */
RANKTREE_API const char* ranktree_launch_get_note(const ranktree_launch* launch, int number);

/** Writes all files into the folder, which is made where it is missing: all or none.
 *
 * \param replace zero: existing files are refused
 * \return RANKTREE_ERROR_INPUT for an existing file, RANKTREE_ERROR_SYSTEM where one cannot be written
 */
RANKTREE_API ranktree_status ranktree_launch_write(const ranktree_launch* launch, int replace, ranktree_error* error);

/** Where one rank is. */
typedef struct ranktree_location {
  const char* host;
  const int* pus; /**< the PUs that it may run on by the operating system's numbers, ascending */
  int pu_count;
} ranktree_location;

/** Compares where ranks are with where a plan has them. Host names with and without a domain are equal.
 *
 * \param rank_count length of found and of wrong; the plan's number of ranks
 * \param compare_pus zero: hosts alone count
 * \param[out] wrong the ranks that are elsewhere, ascending; may be NULL
 * \param[out] wrong_count their number
 * \return RANKTREE_ERROR_MISMATCH where the plan has another number of ranks
 */
RANKTREE_API ranktree_status ranktree_plan_verify(const ranktree_plan* plan, int rank_count,
                                                  const ranktree_location found[], int compare_pus, int wrong[],
                                                  int* wrong_count, ranktree_error* error);

#ifdef __cplusplus
}
#endif

#endif
