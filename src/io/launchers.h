// The files and options by which each MPI launcher follows a plan. Nothing is run or written here.
// docs/how-to/rerun-by-a-plan.md states how each launcher was verified.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/place/plan.h"

namespace ranktree::io {

enum class Launcher : std::uint8_t {
  kOpenMpi4,  // mpirun of Open MPI 4 (and 3): rankfile
  kOpenMpi5,  // mpirun of Open MPI 5 (PRRTE): sequential host file, wrapper
  kMpich,     // mpiexec of MPICH 3 to 5 (Hydra): host file, binding lists
  kIntel,     // mpirun of Intel MPI: configuration file
  kSlurm,     // srun: arbitrary host file; binding list where all nodes are bound alike, else wrapper
  kCray,      // srun with Cray MPICH: MPICH_RANK_ORDER file, binding list
  kAprun,     // aprun (ALPS): the same
  kPals,      // mpiexec of HPE's PALS: the same
  kJsrun,     // jsrun (LSF): explicit resource file
  kFlux,      // flux run: manual task map; binding list where all nodes are bound alike, else wrapper
  kGeneric    // any launcher: the wrapper alone, which refuses to run a rank on the wrong host
};

std::string_view launcher_name(Launcher launcher);
std::optional<Launcher> launcher_from_name(std::string_view name);
// In the order of the enumeration, for help texts.
std::vector<std::string_view> launcher_names();

struct LaunchFile {
  std::string name;  // without folder
  std::string content;
  bool executable = false;
};

// A command is: environment, starter, [the user's own options], options, [program with its arguments after wrapper].
struct Launch {
  std::vector<LaunchFile> files;
  std::vector<std::string> environment;  // NAME=value, set for the launcher
  std::string starter;                   // the launcher's usual name: mpirun, mpiexec, srun
  std::vector<std::string> options;      // placement options, number of ranks included
  std::vector<std::string> wrapper;      // goes before the program; empty when the launcher binds
  bool program_in_file = false;          // the program is named in a file and must not be on the command line
  std::vector<std::string> notes;        // for the user, one sentence each
};

// `folder` is where the files will be, as the nodes see it ("." allowed). `program` with its arguments is needed only
// by launchers that name it in a file (kIntel); empty otherwise. Without `binds`, where it is known that their own
// binding fails, the wrapper binds under kSlurm and kMpich. O(ranks + PUs).
// Throws Error(kUnsupported) when the launcher cannot express the plan, saying why and what to use instead.
Launch make_launch(const core::place::Plan& plan, Launcher launcher, const std::string& folder,
                   std::span<const std::string> program, bool binds = true);

}  // namespace ranktree::io
