// The memory that each simulated rank has allocated with new: all ranks live in one process.
#pragma once

#include <cstddef>
#include <cstdint>

struct Account {
  std::int64_t now = 0;  // bytes
  std::int64_t most = 0;
};

// Accounting starts with the first call.
void open_accounts();

// The number of the calling rank, and whether what is allocated at an address of code counts; the program that uses
// this file defines both.
std::size_t account_index();
bool is_counted(const void* caller);

// The account of the calling rank.
Account& own_account();
