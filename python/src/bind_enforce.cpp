#include "bind.h"

void bind_enforce(nanobind::module_&) {}
