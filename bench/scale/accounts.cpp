// What the library allocates with new for each simulated rank, for library.c: a library to preload, built without
// SMPI's wrapper, which renames malloc.
#include <link.h>
#include <simgrid/actor.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "../distributed/accounts.h"

namespace {

struct Range {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};
Range engine;  // the code of SimGrid and SMPI, whose own records are not counted

int find_simgrid(dl_phdr_info* object, std::size_t /*size*/, void* /*unused*/) {
  if (std::strstr(object->dlpi_name, "libsimgrid") == nullptr) return 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& part = object->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0U) continue;
    engine = {object->dlpi_addr + part.p_vaddr, object->dlpi_addr + part.p_vaddr + part.p_memsz};
  }
  return 1;
}

}  // namespace

bool is_counted(const void* caller) {
  const auto address = reinterpret_cast<std::uintptr_t>(caller);
  return (address < engine.begin || address >= engine.end) && sg_actor_self() != nullptr;
}

// 0 of the simulator itself.
std::size_t account_index() {
  return sg_actor_self() != nullptr ? static_cast<std::size_t>(sg_actor_self_get_pid()) : 0;
}

// Bytes that the calling rank holds; forgets the most that it has held before.
extern "C" double held_now() {
  if (engine.end == 0) dl_iterate_phdr(find_simgrid, nullptr);
  open_accounts();
  Account& account = own_account();
  account.most = account.now;
  return static_cast<double>(account.now);
}

// The most bytes that it has held since held_now().
extern "C" double held_most() { return static_cast<double>(own_account().most); }
