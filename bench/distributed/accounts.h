// What each simulated rank has allocated with new: all ranks live in one process.
#pragma once

#include <cstdint>

struct Account {
  std::int64_t now = 0;  // bytes
  std::int64_t most = 0;
};

// Booking starts with the first call.
void open_accounts();

// Of the calling rank.
Account& own_account();
