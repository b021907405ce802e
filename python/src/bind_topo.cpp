#include "bind.h"

void bind_topo(nanobind::module_&) {}
