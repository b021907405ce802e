// A launch as a user has it: the command for a shell, and the files on disk.
#pragma once

#include <span>
#include <string>

#include "io/launchers.h"

namespace ranktree::io {

// The command as a POSIX shell reads it: environment, starter, options, and the program behind the wrapper unless a
// file names it. Without a program it has the word PROGRAM.
std::string launch_command(const Launch& launch, std::span<const std::string> program);

// Writes every file of the launch into a folder, which is made where it is missing: all or none. Throws Error(kInput)
// for an existing file unless `replace`, Error(kSystem) where one cannot be written.
void write_launch_files(const Launch& launch, const std::string& folder, bool replace);

}  // namespace ranktree::io
