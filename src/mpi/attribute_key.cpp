#include "mpi/attribute_key.h"

#include <mpi.h>

#include <mutex>
#include <utility>

#include "mpi/check.h"

#ifdef SMPI_H
#include <map>
#include <memory>
#endif

namespace ranktree::mpi {

// SMPI's MPI_COMM_WORLD is one object for all ranks of the process: what it holds by a key is one value a rank.
#ifdef SMPI_H
struct AttributeKey::ByRank {
  std::map<int, void*> values;

  static int rank_in(MPI_Comm comm) {
    int rank = 0;
    check(PMPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
    return rank;
  }

  static int copy(MPI_Comm comm, int keyval, void* key, void* in, void* out, int* flag) noexcept {
    const auto& values = static_cast<const ByRank*>(in)->values;
    const auto own = values.find(rank_in(comm));
    *flag = 0;
    if (own == values.end()) return MPI_SUCCESS;
    void* value = nullptr;
    const int code =
        static_cast<AttributeKey*>(key)->copy_(comm, keyval, nullptr, own->second, static_cast<void*>(&value), flag);
    if (*flag != 0) *static_cast<ByRank**>(out) = new ByRank{{{own->first, value}}};
    return code;
  }

  static int remove(MPI_Comm comm, int keyval, void* value, void* key) noexcept {
    const std::unique_ptr<ByRank> all(static_cast<ByRank*>(value));
    for (const auto& [rank, each] : all->values) static_cast<AttributeKey*>(key)->remove_(comm, keyval, each, nullptr);
    return MPI_SUCCESS;
  }
};

int AttributeKey::make() {
  int fresh = MPI_KEYVAL_INVALID;
  MPI_Comm_copy_attr_function* const copy = copy_ == MPI_COMM_NULL_COPY_FN ? copy_ : ByRank::copy;
  check(PMPI_Comm_create_keyval(copy, ByRank::remove, &fresh, this), "MPI_Comm_create_keyval");
  return fresh;
}
#else
int AttributeKey::make() {
  int fresh = MPI_KEYVAL_INVALID;
  check(PMPI_Comm_create_keyval(copy_, remove_, &fresh, nullptr), "MPI_Comm_create_keyval");
  return fresh;
}
#endif

int AttributeKey::acquire() {
  {
    const std::lock_guard lock(mutex_);
    if (keyval_ != MPI_KEYVAL_INVALID) return ++users_, keyval_;
  }
  int fresh = make();
  int keyval = MPI_KEYVAL_INVALID;
  {
    const std::lock_guard lock(mutex_);
    if (keyval_ == MPI_KEYVAL_INVALID) keyval_ = std::exchange(fresh, MPI_KEYVAL_INVALID);
    ++users_;
    keyval = keyval_;
  }
  if (fresh != MPI_KEYVAL_INVALID) PMPI_Comm_free_keyval(&fresh);  // another thread was faster
  return keyval;
}

void AttributeKey::release() noexcept {
  int last = MPI_KEYVAL_INVALID;
  {
    const std::lock_guard lock(mutex_);
    if (--users_ == 0) last = std::exchange(keyval_, MPI_KEYVAL_INVALID);
  }
  if (last != MPI_KEYVAL_INVALID) PMPI_Comm_free_keyval(&last);
}

void* AttributeKey::Use::find(MPI_Comm comm) const {
  void* value = nullptr;
  int found = 0;
  check(PMPI_Comm_get_attr(comm, keyval_, static_cast<void*>(&value), &found), "MPI_Comm_get_attr");
  if (found == 0) return nullptr;
#ifdef SMPI_H
  const auto& values = static_cast<const ByRank*>(value)->values;
  const auto own = values.find(ByRank::rank_in(comm));
  return own != values.end() ? own->second : nullptr;
#else
  return value;
#endif
}

void AttributeKey::Use::set(MPI_Comm comm, void* value) const {
#ifdef SMPI_H
  void* known = nullptr;
  int found = 0;
  check(PMPI_Comm_get_attr(comm, keyval_, static_cast<void*>(&known), &found), "MPI_Comm_get_attr");
  const int rank = ByRank::rank_in(comm);
  if (found != 0) {
    static_cast<ByRank*>(known)->values[rank] = value;
  } else {
    auto all = std::make_unique<ByRank>(ByRank{{{rank, value}}});
    check(PMPI_Comm_set_attr(comm, keyval_, all.get()), "MPI_Comm_set_attr");
    [[maybe_unused]] const ByRank* kept = all.release();
  }
#else
  check(PMPI_Comm_set_attr(comm, keyval_, value), "MPI_Comm_set_attr");
#endif
  key_.acquire();
}

}  // namespace ranktree::mpi
