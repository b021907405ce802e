#include "bind.h"

void bind_pattern(nanobind::module_&) {}
