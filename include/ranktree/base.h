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
 */
#ifndef RANKTREE_BASE_H
#define RANKTREE_BASE_H

#define RANKTREE_VERSION_MAJOR 0
#define RANKTREE_VERSION_MINOR 1
#define RANKTREE_VERSION_PATCH 0
#define RANKTREE_API_VERSION ((RANKTREE_VERSION_MAJOR << 16) | (RANKTREE_VERSION_MINOR << 8)) /**< 0x10200: 1.2.x */
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
  RANKTREE_ERROR_INTERNAL = 6 /**< a defect of ranktree: please report it */
} ranktree_status;

enum { RANKTREE_MAX_ERROR_TEXT = 1024 };

typedef struct ranktree_error {
  ranktree_status status;
  char text[RANKTREE_MAX_ERROR_TEXT]; /**< one line, always terminated; longer texts are cut */
} ranktree_error;

/** \return the version of the library that the program runs with, "major.minor.patch", of static lifetime. Local. */
RANKTREE_API const char* ranktree_version(void);

#ifdef __cplusplus
}
#endif

#endif
