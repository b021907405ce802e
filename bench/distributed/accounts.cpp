// Compiled without SMPI's wrapper, which renames malloc.
#include "accounts.h"

#include <malloc.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

// One account per rank. This is process-wide state of the benchmark only; the library has none.
constexpr std::size_t kAccounts = std::size_t{1} << 20U;
Account* accounts = nullptr;

void book(std::int64_t bytes) {
  if (accounts == nullptr) return;
  Account& account = own_account();
  account.now += bytes;
  account.most = std::max(account.most, account.now);
}

}  // namespace

void open_accounts() {
  if (accounts == nullptr) accounts = static_cast<Account*>(std::calloc(kAccounts, sizeof(Account)));
}

Account& own_account() { return accounts[account_index() % kAccounts]; }

void* operator new(std::size_t size) {
  void* const memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  book(static_cast<std::int64_t>(malloc_usable_size(memory)));
  return memory;
}
void operator delete(void* memory) noexcept {
  if (memory != nullptr) book(-static_cast<std::int64_t>(malloc_usable_size(memory)));
  std::free(memory);
}
void operator delete(void* memory, std::size_t /*size*/) noexcept { operator delete(memory); }
