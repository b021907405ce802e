// Arbitrary plans and words of a program, written for every launcher: no host's name adds a line to a file, and a shell
// reads the command's words as they were.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/place/plan.h"
#include "io/launch_command.h"
#include "io/launchers.h"
#include "io/plan_file.h"

namespace {

namespace io = ranktree::io;
using ranktree::core::place::Plan;

// The words of a command without expansions, as a POSIX shell takes it apart. Fails on anything else unquoted.
std::vector<std::string> words_of(std::string_view command) {
  constexpr std::string_view kSpecial = "$`\"|&;<>(){}*?[]#~!\n\t";
  std::vector<std::string> words(1);
  bool quoted = false;
  for (std::size_t i = 0; i < command.size(); ++i) {
    const char each = command[i];
    if (each == '\'') {
      quoted = !quoted;
    } else if (quoted) {
      words.back().push_back(each);
    } else if (each == '\\') {
      words.back().push_back(command[++i]);
    } else if (each == ' ') {
      words.emplace_back();
    } else {
      if (kSpecial.find(each) != std::string_view::npos) std::abort();
      words.back().push_back(each);
    }
  }
  if (quoted) std::abort();
  return words;
}

// The same plan on hosts with plain names.
Plan with_plain_hosts(Plan plan) {
  const std::vector<std::string> hosts = plan.hosts;
  const auto plain = [&](std::string& host) {
    const auto place = std::find(hosts.begin(), hosts.end(), host);
    if (!host.empty()) host = "h" + std::to_string(place - hosts.begin());
  };
  for (auto& slot : plan.slots) plain(slot.host);
  for (auto& host : plan.hosts) plain(host);
  return plan;
}

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

void check(const Plan& plan, io::Launcher launcher, const std::vector<std::string>& program) {
  io::Launch launch;
  try {
    launch = io::make_launch(plan, launcher, ".", program);
  } catch (const ranktree::core::Error&) {  // the only way to refuse
    return;
  }
  const io::Launch expected = io::make_launch(with_plain_hosts(plan), launcher, ".", program);
  if (launch.files.size() != expected.files.size()) std::abort();
  for (std::size_t i = 0; i < launch.files.size(); ++i) {
    if (lines_of(launch.files[i].content) != lines_of(expected.files[i].content)) std::abort();
  }
  if (launch.program_in_file) return;
  const std::vector<std::string> words = words_of(io::launch_command(launch, program));
  if (words.size() < program.size() || !std::equal(program.rbegin(), program.rend(), words.rbegin())) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t end = std::min(bytes.find('\0'), size);  // the plan; behind it words, each with a zero at its end
  std::vector<std::string> program{"./app"};
  for (std::size_t at = end + 1; at < size;) {
    const std::size_t next = std::min(bytes.find('\0', at), size);
    program.emplace_back(bytes.substr(at, next - at));
    at = next + 1;
  }
  try {
    const Plan plan = io::read_plan(bytes.substr(0, end), "plan");
    for (const std::string_view name : io::launcher_names()) check(plan, *io::launcher_from_name(name), program);
  } catch (const ranktree::core::Error&) {  // the only way to refuse
  }
  return 0;
}
