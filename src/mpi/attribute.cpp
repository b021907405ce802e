#include "mpi/attribute.h"

#include <mpi.h>

#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#include "mpi/check.h"

namespace ranktree::mpi {
namespace {

int copy_attribute(MPI_Comm comm, int keyval, void* extra, void* in, void* out, int* flag) noexcept;
int delete_attribute(MPI_Comm comm, int keyval, void* value, void* extra) noexcept;

// The one key of all attributes. It exists while somebody uses it: a program may end MPI's last session and begin
// another, in which an old key would mean something else (docs/decisions/0006-attribute-key.md). MPI is never called
// with the lock held, for MPI may hold its own when it calls the functions above.
struct Key {
  std::mutex mutex;
  std::mutex contents;  // of all attributes
  int keyval = MPI_KEYVAL_INVALID;
  long users = 0;  // attributes, and calls under way
};

Key& key() {
  static Key only;
  return only;
}

int acquire() {
  int fresh = MPI_KEYVAL_INVALID;
  {
    const std::lock_guard lock(key().mutex);
    if (key().keyval != MPI_KEYVAL_INVALID) return ++key().users, key().keyval;
  }
  check(MPI_Comm_create_keyval(copy_attribute, delete_attribute, &fresh, nullptr), "MPI_Comm_create_keyval");
  int keyval = MPI_KEYVAL_INVALID;
  {
    const std::lock_guard lock(key().mutex);
    if (key().keyval == MPI_KEYVAL_INVALID) key().keyval = std::exchange(fresh, MPI_KEYVAL_INVALID);
    ++key().users;
    keyval = key().keyval;
  }
  if (fresh != MPI_KEYVAL_INVALID) MPI_Comm_free_keyval(&fresh);  // another thread was faster
  return keyval;
}

void release() noexcept {
  int last = MPI_KEYVAL_INVALID;
  {
    const std::lock_guard lock(key().mutex);
    if (--key().users == 0) last = std::exchange(key().keyval, MPI_KEYVAL_INVALID);
  }
  if (last != MPI_KEYVAL_INVALID) MPI_Comm_free_keyval(&last);
}

// The key for the time of one call.
class KeyUse {
 public:
  KeyUse() : keyval_(acquire()) {}
  ~KeyUse() { release(); }
  KeyUse(const KeyUse&) = delete;
  KeyUse& operator=(const KeyUse&) = delete;
  KeyUse(KeyUse&&) = delete;
  KeyUse& operator=(KeyUse&&) = delete;
  [[nodiscard]] int keyval() const { return keyval_; }

 private:
  int keyval_;
};

int copy_attribute(MPI_Comm /*comm*/, int /*keyval*/, void* /*extra*/, void* in, void* out, int* flag) noexcept {
  try {
    const std::lock_guard lock(key().contents);
    *static_cast<Annotation**>(out) = new Annotation(*static_cast<Annotation*>(in));
    acquire();
    *flag = 1;
  } catch (...) {
    *flag = 0;  // the copy goes without, as a communicator that was never split
  }
  return MPI_SUCCESS;
}

int delete_attribute(MPI_Comm /*comm*/, int /*keyval*/, void* value, void* /*extra*/) noexcept {
  delete static_cast<Annotation*>(value);
  release();
  return MPI_SUCCESS;
}

Annotation* find(MPI_Comm comm, int keyval) {
  void* value = nullptr;
  int found = 0;
  check(MPI_Comm_get_attr(comm, keyval, static_cast<void*>(&value), &found), "MPI_Comm_get_attr");
  return found != 0 ? static_cast<Annotation*>(value) : nullptr;
}

}  // namespace

Annotation get_annotation(MPI_Comm comm) {
  const KeyUse use;
  const Annotation* annotation = find(comm, use.keyval());
  const std::lock_guard lock(key().contents);
  return annotation != nullptr ? *annotation : Annotation{};
}

void say(Annotation& annotation, std::string_view message) {
  if (annotation.message == message) return;
  annotation.message = message;
  annotation.changed = true;
}

void set_annotation(MPI_Comm comm, std::unique_ptr<Annotation> annotation) {
  annotation->changed = false;
  const KeyUse use;
  if (Annotation* old = find(comm, use.keyval())) {
    const std::lock_guard lock(key().contents);
    *old = std::move(*annotation);
    return;
  }
  check(MPI_Comm_set_attr(comm, use.keyval(), annotation.get()), "MPI_Comm_set_attr");
  [[maybe_unused]] const Annotation* of_comm = annotation.release();
  acquire();  // the attribute's own use, until delete_attribute
}

void set_annotation(MPI_Comm comm, Annotation annotation) {
  set_annotation(comm, std::make_unique<Annotation>(std::move(annotation)));
}

}  // namespace ranktree::mpi
