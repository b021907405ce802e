// ranktree-bind, the script that binds the ranks of launchers which cannot, and the script that shows where ranks are.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/place/plan.h"
#include "io/launchers.h"

namespace ranktree::io {

// Adds the wrapper, its map, and a note that gives the reason for it: a clause whose subject is the launcher.
void add_wrapper(const core::place::Plan& plan, const std::string& folder, std::string_view reason, Launch& launch);

// A POSIX shell script that prints "ranktree-probe rank host list": where a rank is, found without any MPI.
std::string probe_script();

// "0-2,5": ascending numbers in the format of the kernel's CPU lists.
std::string cpu_list(std::span<const int> pus);

}  // namespace ranktree::io
