// libranktree_mpi_<mpi>, whose calls the libraries for LD_PRELOAD make without being linked to it: a program that has
// no use for them does not load it.
#pragma once

#include <dlfcn.h>

#include <string>

namespace ranktree::preload {

class CallsLibrary {
 public:
  // Takes the program's own copy where it has one, linked (perhaps made for another MPI of the same binary interface,
  // hence found by one of its functions, behind the names that the calling library defines itself) or loaded:
  // attributes belong to the library that made them. Otherwise loads the copy beside the calling library. Throws
  // std::bad_alloc.
  explicit CallsLibrary(const char* function);

  // Why there is none; empty where there is one.
  [[nodiscard]] const std::string& missing() const { return missing_; }

  // False where it has no such function, which then is null.
  template <typename Function>
  bool find(const char* name, Function& function) const {
    function = reinterpret_cast<Function>(dlsym(handle_, name));
    return function != nullptr;
  }

 private:
  void* handle_ = nullptr;
  std::string missing_;
};

}  // namespace ranktree::preload
