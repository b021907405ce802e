#include "mpi/attribute_key.h"

#include <mpi.h>

#include <mutex>
#include <utility>

#include "mpi/check.h"

namespace ranktree::mpi {

int AttributeKey::acquire() {
  {
    const std::lock_guard lock(mutex_);
    if (keyval_ != MPI_KEYVAL_INVALID) return ++users_, keyval_;
  }
  int fresh = MPI_KEYVAL_INVALID;
  check(MPI_Comm_create_keyval(copy_, remove_, &fresh, nullptr), "MPI_Comm_create_keyval");
  int keyval = MPI_KEYVAL_INVALID;
  {
    const std::lock_guard lock(mutex_);
    if (keyval_ == MPI_KEYVAL_INVALID) keyval_ = std::exchange(fresh, MPI_KEYVAL_INVALID);
    ++users_;
    keyval = keyval_;
  }
  if (fresh != MPI_KEYVAL_INVALID) MPI_Comm_free_keyval(&fresh);  // another thread was faster
  return keyval;
}

void AttributeKey::release() noexcept {
  int last = MPI_KEYVAL_INVALID;
  {
    const std::lock_guard lock(mutex_);
    if (--users_ == 0) last = std::exchange(keyval_, MPI_KEYVAL_INVALID);
  }
  if (last != MPI_KEYVAL_INVALID) MPI_Comm_free_keyval(&last);
}

void* AttributeKey::Use::find(MPI_Comm comm) const {
  void* value = nullptr;
  int found = 0;
  check(MPI_Comm_get_attr(comm, keyval_, static_cast<void*>(&value), &found), "MPI_Comm_get_attr");
  return found != 0 ? value : nullptr;
}

void AttributeKey::Use::set(MPI_Comm comm, void* value) const {
  check(MPI_Comm_set_attr(comm, keyval_, value), "MPI_Comm_set_attr");
  key_.acquire();
}

}  // namespace ranktree::mpi
