#include "ranktree/launch.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capi/guard.h"
#include "capi/options.h"
#include "core/base/error.h"
#include "core/place/plan.h"
#include "io/launch_command.h"
#include "io/launchers.h"
#include "ranktree/base.h"
#include "ranktree/place.h"

struct ranktree_launch {
  ranktree::io::Launch launch;
  std::string folder;
  std::string command;
};

namespace {

namespace capi = ranktree::capi;
namespace io = ranktree::io;
using capi::guard;
using capi::require;

io::Launcher launcher_of(const char* name) {
  const auto launcher = io::launcher_from_name(name);
  if (launcher) return *launcher;
  std::string known;
  for (const std::string_view each : io::launcher_names()) known += (known.empty() ? "" : ", ") + std::string(each);
  capi::refuse("launcher", known, "'" + std::string(name) + "'");
}

std::vector<std::string> words_of(const char* const program[], int word_count) {
  capi::require_count(word_count, "word_count");
  if (word_count > 0) require(program, "program");
  std::vector<std::string> words;
  for (const char* word : std::span(program, static_cast<std::size_t>(word_count))) {
    require(word, "program");
    words.emplace_back(word);
  }
  return words;
}

// A plan whose hosts a launcher can reach; the only host of a described machine is this node.
ranktree::core::place::Plan launchable(const ranktree::core::place::Plan& plan) {
  if (!plan.described) return plan;
  if (plan.hosts.size() > 1) {
    throw ranktree::core::Error(ranktree::core::Fault::kUnsupported,
                                "plan: the machine was described in words and has no real hosts: load a machine file");
  }
  return ranktree::core::place::on_this_node(plan);
}

const io::LaunchFile* file_of(const ranktree_launch* launch, int number) {
  const auto& files = launch->launch.files;
  return number >= 0 && std::cmp_less(number, files.size()) ? &files[static_cast<std::size_t>(number)] : nullptr;
}

}  // namespace

const char* ranktree_launcher_name(int number) {
  static const std::vector<std::string_view> names = io::launcher_names();  // of literals: terminated
  return number >= 0 && std::cmp_less(number, names.size()) ? names[static_cast<std::size_t>(number)].data() : nullptr;
}

// NOLINTNEXTLINE(readability-function-size): as many parameters as the command line takes
ranktree_status ranktree_launch_create(const ranktree_plan* plan, const char* launcher, const char* folder,
                                       const char* const program[], int word_count, ranktree_launch** launch,
                                       ranktree_error* error) {  // #lizard forgives: as many as the command line takes
  return guard(error, [&] {
    require(plan, "plan");
    require(launcher, "launcher");
    require(folder, "folder");
    require(launch, "launch");
    const std::vector<std::string> words = words_of(program, word_count);
    io::Launch made = io::make_launch(launchable(plan->plan), launcher_of(launcher), folder, words);
    std::string command = io::launch_command(made, words);
    *launch = new ranktree_launch{std::move(made), folder, std::move(command)};
  });
}

void ranktree_launch_destroy(ranktree_launch* launch) { delete launch; }

const char* ranktree_launch_get_command(const ranktree_launch* launch) { return launch->command.c_str(); }

int ranktree_launch_get_file_count(const ranktree_launch* launch) {
  return static_cast<int>(launch->launch.files.size());
}

const char* ranktree_launch_get_file_name(const ranktree_launch* launch, int number) {
  const io::LaunchFile* file = file_of(launch, number);
  return file != nullptr ? file->name.c_str() : nullptr;
}

const char* ranktree_launch_get_file_text(const ranktree_launch* launch, int number) {
  const io::LaunchFile* file = file_of(launch, number);
  return file != nullptr ? file->content.c_str() : nullptr;
}

const char* ranktree_launch_get_note(const ranktree_launch* launch, int number) {
  const auto& notes = launch->launch.notes;
  return number >= 0 && std::cmp_less(number, notes.size()) ? notes[static_cast<std::size_t>(number)].c_str() : nullptr;
}

ranktree_status ranktree_launch_write(const ranktree_launch* launch, int replace, ranktree_error* error) {
  return guard(error, [&] {
    require(launch, "launch");
    io::write_launch_files(launch->launch, launch->folder, replace != 0);
  });
}
