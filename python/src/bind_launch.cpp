#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bind.h"
#include "core/base/error.h"
#include "core/place/plan.h"
#include "core/topo/occupancy.h"
#include "io/hostlist.h"
#include "io/launch_wrapper.h"
#include "io/launchers.h"
#include "io/plan_file.h"

namespace {

namespace nb = nanobind;
namespace topo = ranktree::core::topo;
namespace io = ranktree::io;
using ranktree::core::place::Plan;

nb::tuple tuple_of(const topo::RankPlace& place) { return nb::make_tuple(place.host, place.pus); }

std::vector<topo::RankPlace> places_from(const nb::list& tuples) {
  std::vector<topo::RankPlace> places;
  for (const nb::handle item : tuples) {
    const auto tuple = nb::cast<nb::tuple>(item);
    places.push_back({nb::cast<std::string>(tuple[0]), nb::cast<std::vector<int>>(tuple[1])});
  }
  return places;
}

nb::dict make_launch(const Plan& plan, const std::string& name, const std::string& folder,
                     const std::vector<std::string>& program, bool binds) {
  const std::optional<io::Launcher> launcher = io::launcher_from_name(name);
  if (!launcher) {
    std::string known;
    for (const std::string_view other : io::launcher_names()) known += (known.empty() ? "" : ", ") + std::string(other);
    throw ranktree::core::Error(ranktree::core::Fault::kInput, "launcher '" + name + "': expected one of " + known);
  }
  const io::Launch launch = io::make_launch(plan, *launcher, folder, program, binds);
  nb::list files;
  for (const io::LaunchFile& file : launch.files)
    files.append(nb::make_tuple(file.name, file.content, file.executable));
  nb::dict result;
  result["files"] = files;
  result["environment"] = launch.environment;
  result["starter"] = launch.starter;
  result["options"] = launch.options;
  result["wrapper"] = launch.wrapper;
  result["program_in_file"] = launch.program_in_file;
  result["notes"] = launch.notes;
  return result;
}

nb::list check_occupancy(const nb::list& ranks, const nb::list& hosts) {
  std::vector<topo::HostPus> described;
  for (const nb::handle item : hosts) {
    const auto tuple = nb::cast<nb::tuple>(item);
    described.push_back({nb::cast<std::string>(tuple[0]), nb::cast<std::vector<std::vector<int>>>(tuple[1])});
  }
  nb::list result;
  for (const topo::Finding& finding : topo::check_occupancy(places_from(ranks), described)) {
    const std::string trouble(topo::trouble_name(finding.trouble));
    result.append(nb::make_tuple(trouble, finding.host, finding.ranks, finding.pus));
  }
  return result;
}

nb::list misplaced(const nb::list& expected, const nb::list& found, bool compare_pus) {
  nb::list result;
  for (const topo::Misplacement& one : topo::misplaced(places_from(expected), places_from(found), compare_pus)) {
    result.append(nb::make_tuple(one.rank, tuple_of(one.expected), tuple_of(one.found)));
  }
  return result;
}

nb::list slots_of(const Plan& plan) {
  nb::list result;
  for (const ranktree::core::place::Slot& slot : plan.slots) result.append(nb::make_tuple(slot.host, slot.pus));
  return result;
}

std::vector<std::string> launcher_names() {
  std::vector<std::string> names;
  for (const std::string_view name : io::launcher_names()) names.emplace_back(name);
  return names;
}

}  // namespace

void bind_launch(nb::module_& module) {
  using namespace nb::literals;
  module.def("load_plan", &io::load_plan, "path"_a, "The plan in a file.");
  module.def("save_plan", &io::save_plan, "path"_a, "plan"_a, "Writes a plan, completely or not at all.");
  module.def(
      "plan_on_this_node", [](const Plan& plan) { return ranktree::core::place::on_this_node(plan); }, "plan"_a,
      "The plan without the name of its only host.");
  module.def(
      "expand_hostlist",
      [](const std::string& text, const std::string& origin) { return io::expand_hostlist(text, {origin, 1}); },
      "text"_a, "origin"_a, "The names of Slurm's hostlist expression.");
  module.def("plan_slots", &slots_of, "plan"_a, "(host, PUs) of each rank.");
  module.def("launcher_names", &launcher_names, "Launchers that make_launch knows.");
  module.def("make_launch", &make_launch, "plan"_a, "launcher"_a, "folder"_a, "program"_a, "binds"_a = true,
             "Files and options with which a launcher follows a plan.");
  module.def("probe_script", &io::probe_script, "A script that prints where the rank running it is.");
  module.def("check_occupancy", &check_occupancy, "ranks"_a, "hosts"_a,
             "(trouble, host, ranks, PUs) for ranks [(host, PUs)] on hosts [(name, PUs by core)].");
  module.def("misplaced", &misplaced, "expected"_a, "found"_a, "compare_pus"_a,
             "(rank, expected, found) of each rank that is not where it should be.");
  module.def(
      "same_host", [](const std::string& a, const std::string& b) { return topo::same_host(a, b); }, "a"_a, "b"_a,
      "True when both name one host, with or without its domain.");
  module.def("cpu_list", [](const std::vector<int>& pus) { return io::cpu_list(pus); }, "pus"_a, "\"0-2,5\".");
}
