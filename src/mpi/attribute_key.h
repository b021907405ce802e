// A key of MPI's attributes that exists while it is in use: a program may end MPI's last session and begin another,
// in which an old key would mean something else (docs/explanation/architecture.md).
#pragma once

#include <mpi.h>

#include <mutex>

namespace ranktree::mpi {

// Uses are attributes that exist and calls in flight; the first makes the key, the last frees it. MPI is never called
// with the lock held, for MPI may hold its own when it calls `copy` and `remove`.
class AttributeKey {
 public:
  // What MPI_Comm_create_keyval takes.
  AttributeKey(MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* remove)
      : copy_(copy), remove_(remove) {}

  // The key, used once more. Throws MpiError.
  int acquire();
  void release() noexcept;

  // The key for the time of one call.
  class Use {
   public:
    explicit Use(AttributeKey& key) : key_(key), keyval_(key.acquire()) {}
    ~Use() { key_.release(); }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    Use(Use&&) = delete;
    Use& operator=(Use&&) = delete;
    // The attribute of a communicator, null where it has none. Throws MpiError.
    [[nodiscard]] void* find(MPI_Comm comm) const;
    // Gives a communicator an attribute, which is a use until release() in `remove`. Throws MpiError.
    void set(MPI_Comm comm, void* value) const;

   private:
    AttributeKey& key_;
    int keyval_;
  };

 private:
  struct ByRank;
  int make();

  MPI_Comm_copy_attr_function* copy_;
  MPI_Comm_delete_attr_function* remove_;
  std::mutex mutex_;
  int keyval_ = MPI_KEYVAL_INVALID;
  long users_ = 0;
};

}  // namespace ranktree::mpi
