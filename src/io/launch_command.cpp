#include "io/launch_command.h"

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "core/base/error.h"
#include "io/file.h"
#include "io/launchers.h"
#include "io/text.h"

namespace ranktree::io {
namespace {

namespace fs = std::filesystem;

std::string path_of(const std::string& folder, const LaunchFile& file) {
  return (fs::path(folder) / file.name).string();
}

// Those who may read a script may run it.
void make_executable(const std::string& path) {
  const fs::perms read = fs::status(path).permissions();
  fs::perms run = fs::perms::none;
  if ((read & fs::perms::owner_read) != fs::perms::none) run |= fs::perms::owner_exec;
  if ((read & fs::perms::group_read) != fs::perms::none) run |= fs::perms::group_exec;
  if ((read & fs::perms::others_read) != fs::perms::none) run |= fs::perms::others_exec;
  fs::permissions(path, run, fs::perm_options::add);
}

}  // namespace

std::string launch_command(const Launch& launch, std::span<const std::string> program) {
  std::string text;
  for (const std::string& setting : launch.environment) {
    const std::size_t equals = setting.find('=');
    text += setting.substr(0, equals) + "=" + shell_word(setting.substr(equals + 1)) + " ";
  }
  text += launch.starter;
  std::vector<std::string> words = launch.options;
  if (!launch.program_in_file) {
    words.insert(words.end(), launch.wrapper.begin(), launch.wrapper.end());
    if (program.empty()) words.emplace_back("PROGRAM");
    words.insert(words.end(), program.begin(), program.end());
  }
  for (const std::string& word : words) text += " " + shell_word(word);
  return text;
}

void write_launch_files(const Launch& launch, const std::string& folder, bool replace) {
  std::vector<NamedBytes> files;
  for (const LaunchFile& file : launch.files) {
    files.push_back({path_of(folder, file), file.content});
    std::error_code ignored;
    if (!replace && fs::exists(fs::symlink_status(files.back().path, ignored))) {
      throw core::Error(core::Fault::kInput, files.back().path + ": exists already");
    }
  }
  try {
    fs::create_directories(folder);
    write_files_atomically(files);
    for (const LaunchFile& file : launch.files) {
      if (file.executable) make_executable(path_of(folder, file));
    }
  } catch (const fs::filesystem_error& error) {
    throw core::Error(core::Fault::kSystem, folder + ": " + error.code().message());
  }
}

}  // namespace ranktree::io
