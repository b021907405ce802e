// Everything that most generated files of wrappers need. It is small, since it is compiled often.
#pragma once

#include <mpi.h>

#include "preload/hooks.h"
#include "preload/next.h"
#include "preload_has.h"
