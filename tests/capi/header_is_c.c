/* The public headers are C: this file compiles them as C11. */
#include "ranktree/base.h"
#include "ranktree/launch.h"
#include "ranktree/pattern.h"
#include "ranktree/place.h"
#include "ranktree/predict.h"
#include "ranktree/topo.h"

const char* version_seen_by_c(void);

const char* version_seen_by_c(void) { return ranktree_version(); }
