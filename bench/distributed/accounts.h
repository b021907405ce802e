// What each simulated rank has allocated with new: all ranks live in one process.
#pragma once

#include <cstddef>
#include <cstdint>

struct Account {
  std::int64_t now = 0;  // bytes
  std::int64_t most = 0;
};

// Booking starts with the first call.
void open_accounts();

// The calling rank's number, from the program that uses this.
std::size_t account_index();

// Of the calling rank.
Account& own_account();
