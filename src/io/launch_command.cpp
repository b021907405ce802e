#include "io/launch_command.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/base/error.h"
#include "io/file.h"
#include "io/launchers.h"

namespace ranktree::io {
namespace {

namespace fs = std::filesystem;

// A word as the shell reads it back: in single quotes where a letter has a meaning.
std::string quoted(const std::string& word) {
  const auto plain = [](unsigned char letter) {
    constexpr std::string_view kOthers = "@%+=:,./-_";
    return letter < 0x80 && (std::isalnum(letter) != 0 || kOthers.find(static_cast<char>(letter)) != kOthers.npos);
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return word;
  std::string text = "'";
  for (const char letter : word) text += letter == '\'' ? std::string("'\"'\"'") : std::string(1, letter);
  return text + "'";
}

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
    text += setting.substr(0, equals) + "=" + quoted(setting.substr(equals + 1)) + " ";
  }
  text += launch.starter;
  std::vector<std::string> words = launch.options;
  if (!launch.program_in_file) {
    words.insert(words.end(), launch.wrapper.begin(), launch.wrapper.end());
    if (program.empty()) words.emplace_back("PROGRAM");
    words.insert(words.end(), program.begin(), program.end());
  }
  for (const std::string& word : words) text += " " + quoted(word);
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
