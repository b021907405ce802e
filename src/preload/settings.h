// Settings from the environment, and messages to the user.
#pragma once

namespace ranktree::preload {

// The value of an environment variable, "" where there is none.
const char* setting(const char* name) noexcept;

// Whether it is there and not empty.
bool is_set(const char* name) noexcept;

// RANKTREE_VERBOSE=1.
bool is_verbose() noexcept;

// One line on standard error when RANKTREE_VERBOSE=1: "ranktree: <what>: <text>", cut where it is very long.
void print_verbose(const char* what, const char* text) noexcept;

}  // namespace ranktree::preload
