#include "mpi/attribute.h"

#include <mpi.h>

#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#include "mpi/attribute_key.h"

namespace ranktree::mpi {
namespace {

int copy_attribute(MPI_Comm comm, int keyval, void* extra, void* in, void* out, int* flag) noexcept;
int delete_attribute(MPI_Comm comm, int keyval, void* value, void* extra) noexcept;

AttributeKey& key() {
  static AttributeKey only(copy_attribute, delete_attribute);
  return only;
}

// Guards what all attributes hold.
std::mutex& contents() {
  static std::mutex only;
  return only;
}

int copy_attribute(MPI_Comm /*comm*/, int /*keyval*/, void* /*extra*/, void* in, void* out, int* flag) noexcept {
  try {
    const std::lock_guard lock(contents());
    *static_cast<Annotation**>(out) = new Annotation(*static_cast<Annotation*>(in));
    key().acquire();
    *flag = 1;
  } catch (...) {
    *flag = 0;  // the copy goes without, as a communicator that was never split
  }
  return MPI_SUCCESS;
}

int delete_attribute(MPI_Comm /*comm*/, int /*keyval*/, void* value, void* /*extra*/) noexcept {
  delete static_cast<Annotation*>(value);
  key().release();
  return MPI_SUCCESS;
}

}  // namespace

Annotation get_annotation(MPI_Comm comm) {
  const AttributeKey::Use use(key());
  const auto* annotation = static_cast<const Annotation*>(use.find(comm));
  const std::lock_guard lock(contents());
  return annotation != nullptr ? *annotation : Annotation{};
}

void set_message(Annotation& annotation, std::string_view message) {
  if (annotation.message == message) return;
  annotation.message = message;
  annotation.changed = true;
}

void set_annotation(MPI_Comm comm, std::unique_ptr<Annotation> annotation) {
  annotation->changed = false;
  const AttributeKey::Use use(key());
  if (auto* old = static_cast<Annotation*>(use.find(comm))) {
    const std::lock_guard lock(contents());
    *old = std::move(*annotation);
    return;
  }
  use.set(comm, annotation.get());
  [[maybe_unused]] const Annotation* of_comm = annotation.release();
}

void set_annotation(MPI_Comm comm, Annotation annotation) {
  set_annotation(comm, std::make_unique<Annotation>(std::move(annotation)));
}

}  // namespace ranktree::mpi
