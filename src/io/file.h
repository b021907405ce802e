// Reads and writes whole files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ranktree::io {

// The bytes of a regular file. Throws Error(kSystem), naming path and reason, when it cannot be read or is not a file.
std::string read_file(const std::string& path);

// Writes to a new file in the same folder, syncs it and renames it over `path`. The file appears complete or not at
// all, and an existing one stays until then. Throws Error(kSystem), naming path and reason; no temporary file remains.
void write_file_atomically(const std::string& path, std::string_view bytes);

struct NamedBytes {
  std::string path;
  std::string bytes;
};
// The same for several files: all are written and synced before the first one is renamed.
void write_files_atomically(const std::vector<NamedBytes>& files);

}  // namespace ranktree::io
