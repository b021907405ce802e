#include <nanobind/nanobind.h>

#include "bind.h"
#include "core/base/error.h"

// core::Error becomes ranktree.Error, a ValueError with the same one-line text.
NB_MODULE(_core, module) {
  module.doc() = "The C++ core of ranktree; use the ranktree package's modules instead.";
  module.attr("__version__") = RANKTREE_VERSION_TEXT;
  nanobind::exception<ranktree::core::Error>(module, "Error", PyExc_ValueError);
  bind_topo(module);
  bind_pattern(module);
  bind_place(module);
  bind_launch(module);
  bind_trace(module);
  bind_predict(module);
}
