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

// In front of what `new` returns.
struct alignas(std::max_align_t) Header {
  std::int64_t counted = 0;  // bytes
};

void book(std::int64_t bytes) {
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
  auto* const header = static_cast<Header*>(std::malloc(sizeof(Header) + size));
  if (header == nullptr) throw std::bad_alloc();
  const bool counts = accounts != nullptr && is_counted(__builtin_return_address(0));
  header->counted = counts ? static_cast<std::int64_t>(malloc_usable_size(header) - sizeof(Header)) : 0;
  if (counts) book(header->counted);
  return header + 1;
}
void operator delete(void* memory) noexcept {
  if (memory == nullptr) return;
  Header* const header = static_cast<Header*>(memory) - 1;
  if (header->counted != 0) book(-header->counted);
  std::free(header);
}
void operator delete(void* memory, std::size_t /*size*/) noexcept { operator delete(memory); }
