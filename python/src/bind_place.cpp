#include "bind.h"

void bind_place(nanobind::module_&) {}
