// Everything a generated file of wrappers needs.
#pragma once

#include <mpi.h>

#include "preload/hooks.h"
#include "preload/message.h"
#include "preload/next.h"
#include "preload/process.h"
#include "preload/split.h"
#include "preload/thread.h"
#include "preload_has.h"
