#include <nanobind/nanobind.h>

#include <exception>

#include "bind.h"
#include "core/base/error.h"

namespace nb = nanobind;
using ranktree::core::Error;

namespace {

// FileError, which is an Error and an OSError, for what the operating system refused.
void register_file_error(nb::module_& module, const nb::object& error) {
  const nb::tuple bases = nb::make_tuple(error, nb::handle(PyExc_OSError));
  const nb::object made = nb::steal(PyErr_NewException("ranktree._core.FileError", bases.ptr(), nullptr));
  module.attr("FileError") = made;
  nb::register_exception_translator(
      [](const std::exception_ptr& thrown, void* type) {
        try {
          std::rethrow_exception(thrown);
        } catch (const Error& found) {
          if (found.fault() != ranktree::core::Fault::kSystem) throw;
          PyErr_SetString(static_cast<PyObject*>(type), found.what());
        }
      },
      made.ptr());
}

}  // namespace

// core::Error becomes ranktree.Error, a ValueError with the same one-line text.
NB_MODULE(_core, module) {
  module.doc() = "The C++ core of ranktree; use the ranktree package's modules instead.";
  module.attr("__version__") = RANKTREE_VERSION_TEXT;
  const nb::object error = nb::exception<Error>(module, "Error", PyExc_ValueError);
  register_file_error(module, error);
  bind_topo(module);
  bind_pattern(module);
  bind_place(module);
  bind_grid(module);
  bind_launch(module);
  bind_trace(module);
  bind_predict(module);
}
