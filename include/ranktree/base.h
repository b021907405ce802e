/* Ranktree: MPI programs that follow the machine's tree. Every other header uses this one.
 *
 * Errors, once for the whole interface: every function that can fail returns a ranktree_status. Its last parameter is
 * a pointer to a ranktree_error of the caller, or NULL. On failure the function writes the reason there, as one line
 * that names the file, the place, what was expected and what was found; on success it does not touch it. Output
 * parameters are untouched on failure. No function exits, aborts, prints, or changes affinity, environment or signal
 * handlers.
 *
 * Objects are opaque: a load or create function makes them, accessors read them, and their destroy function, which
 * accepts NULL, frees them. Objects are immutable; several threads may read one at the same time. Strings and arrays
 * that an accessor returns belong to the object and live as long as it does.
 *
 * Structures without a size are plain values: ranktree_error, ranktree_pair, ranktree_pin, ranktree_location, and those
 * that accessors point to. Their members are fixed within an ABI, that is, while RANKTREE_API_VERSION is the same.
 *
 * Options are structures whose first member is their size: call their init function, then change members. A program
 * that was compiled with an older header thus works with a newer library of the same ABI. NULL means the defaults,
 * which are those of the command line, except that plans minimise bytes. Choices are enumerations; each has a function
 * that reads its name as the command line writes it.
 *
 * Numbers: ranks, leaves, levels and PUs are counted by int; pairs, messages and bytes by uint64_t.
 */
#ifndef RANKTREE_BASE_H
#define RANKTREE_BASE_H

#define RANKTREE_VERSION_MAJOR 0
#define RANKTREE_VERSION_MINOR 1
#define RANKTREE_VERSION_PATCH 0

/** The version of the interface that a program is compiled with; 0x10200: 1.2.x. While the major version is 0, each
 * minor version has an ABI of its own, and libraries are named by both (libranktree.so.0.1). */
#define RANKTREE_API_VERSION (RANKTREE_VERSION_MAJOR * 65536 + RANKTREE_VERSION_MINOR * 256)
#if defined(_WIN32)
#define RANKTREE_API
#else
#define RANKTREE_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ranktree_status {
  RANKTREE_SUCCESS = 0,
  RANKTREE_ERROR_INPUT = 1,       /**< a file or an argument is wrong */
  RANKTREE_ERROR_MISMATCH = 2,    /**< two inputs do not fit each other (ranks against leaves) */
  RANKTREE_ERROR_SYSTEM = 3,      /**< the operating system refused */
  RANKTREE_ERROR_UNSUPPORTED = 4, /**< a well-formed request that cannot be served here */
  RANKTREE_ERROR_MEMORY = 5,
  RANKTREE_ERROR_INTERNAL = 6, /**< a defect of ranktree: please report it */
  RANKTREE_ERROR_MPI = 7       /**< an MPI call failed; only ranktree::Error has it (ranktree/error.hpp) */
} ranktree_status;

enum { RANKTREE_MAX_ERROR_TEXT = 1024 };

typedef struct ranktree_error {
  ranktree_status status;
  char text[RANKTREE_MAX_ERROR_TEXT]; /**< one line, always terminated; longer texts are cut */
} ranktree_error;

/** \return the version of the library that the program runs with, "major.minor.patch", of static lifetime. Local. */
RANKTREE_API const char* ranktree_version(void);

/** \return RANKTREE_API_VERSION as the library that the program runs with was compiled with it. Local. A program may
 * compare it with its own: equal numbers have the same ABI. */
RANKTREE_API int ranktree_api_version(void);

/** \return a few words for a status ("wrong input"), of static lifetime; "unknown status" for other numbers. Local. */
RANKTREE_API const char* ranktree_status_text(ranktree_status status);

#ifdef __cplusplus
}
#endif

#endif
