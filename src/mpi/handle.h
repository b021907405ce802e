// Owners of MPI objects: copying is impossible, moving swaps, the destructor frees what is owned.
#pragma once

#include <mpi.h>

#include <utility>

#include "mpi/check.h"

namespace ranktree::mpi {

// `Traits` names the handle's type, its null value and the call that frees it. A null handle has no owner. The
// destructor ignores the code of the free call: an owner must be destroyed before MPI_Finalize, when nothing can be
// reported.
template <typename Traits>
class Handle {
 public:
  using Raw = typename Traits::Raw;

  Handle() = default;
  // Takes over the object.
  explicit Handle(Raw raw) : raw_(raw) {}
  ~Handle() {
    if (raw_ != Traits::null()) Traits::free(&raw_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  Handle(Handle&& other) noexcept { swap(other); }
  Handle& operator=(Handle&& other) noexcept {
    swap(other);
    return *this;
  }

  [[nodiscard]] Raw get() const { return raw_; }
  // Where an MPI call may put a new object; only for a handle that owns nothing yet.
  [[nodiscard]] Raw* receive() { return &raw_; }
  // Hands the object over to the caller.
  [[nodiscard]] Raw release() { return std::exchange(raw_, Traits::null()); }
  void swap(Handle& other) noexcept { std::swap(raw_, other.raw_); }

 private:
  Raw raw_ = Traits::null();
};

struct CommunicatorTraits {
  using Raw = MPI_Comm;
  static Raw null() { return MPI_COMM_NULL; }
  static void free(Raw* raw) { PMPI_Comm_free(raw); }
};
struct GroupTraits {
  using Raw = MPI_Group;
  static Raw null() { return MPI_GROUP_NULL; }
  static void free(Raw* raw) { PMPI_Group_free(raw); }
};
struct DatatypeTraits {
  using Raw = MPI_Datatype;
  static Raw null() { return MPI_DATATYPE_NULL; }
  static void free(Raw* raw) { PMPI_Type_free(raw); }
};

struct InfoTraits {
  using Raw = MPI_Info;
  static Raw null() { return MPI_INFO_NULL; }
  static void free(Raw* raw) { PMPI_Info_free(raw); }
};

using Communicator = Handle<CommunicatorTraits>;
using Group = Handle<GroupTraits>;
using Datatype = Handle<DatatypeTraits>;
using Info = Handle<InfoTraits>;

// MPI between construction and destruction.
class Session {
 public:
  Session(int* argument_count, char*** arguments) { check(MPI_Init(argument_count, arguments), "MPI_Init"); }
  ~Session() { MPI_Finalize(); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  Session(Session&&) = delete;
  Session& operator=(Session&&) = delete;
};

}  // namespace ranktree::mpi
