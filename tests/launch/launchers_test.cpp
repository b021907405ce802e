// Expected texts: the launchers' own documentation, and syntax that was checked rank by rank
// (docs/how-to/rerun-by-a-plan.md).
#include "io/launchers.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/place/plan.h"
#include "io/launch_wrapper.h"

namespace ranktree::io {
namespace {

using core::Error;
using core::place::Plan;

// Five ranks on two hosts; rank 3 has two PUs.
Plan plan() {
  Plan result;
  result.slots = {{"n2", {1}}, {"n0", {0}}, {"n2", {0}}, {"n0", {2, 3}}, {"n2", {4}}};
  result.hosts = {"n0", "n1", "n2"};
  result.pus_per_host = {8, 8, 8};
  return result;
}

Plan plan_of(std::vector<core::place::Slot> slots) {
  Plan result = plan();
  result.slots = std::move(slots);
  return result;
}

std::string file(const Launch& launch, std::string_view name) {
  for (const LaunchFile& one : launch.files) {
    if (one.name == name) return one.content;
  }
  return "no such file";
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

TEST(CpuList, IsWhatTheKernelWrites) {
  EXPECT_EQ(cpu_list(std::vector<int>{0}), "0");
  EXPECT_EQ(cpu_list(std::vector<int>{0, 1}), "0-1");
  EXPECT_EQ(cpu_list(std::vector<int>{0, 1, 2, 5, 7, 8}), "0-2,5,7-8");
}

TEST(OpenMpi4, GetsARankfileOfPhysicalPus) {
  const Launch launch = make_launch(plan(), Launcher::kOpenMpi4, "/d", {});
  EXPECT_EQ(file(launch, "rankfile"),
            "rank 0=n2 slot=1\nrank 1=n0 slot=0\nrank 2=n2 slot=0\nrank 3=n0 slot=2-3\nrank 4=n2 slot=4\n");
  EXPECT_EQ(joined(launch.options), "-n 5 --rankfile /d/rankfile --use-hwthread-cpus --mca rmaps_rank_file_physical 1");
  EXPECT_TRUE(launch.wrapper.empty());
}

TEST(OpenMpi4, OversubscribesWhereRanksShareAPu) {
  const Launch launch = make_launch(plan_of({{"n0", {1}}, {"n0", {0, 1}}}), Launcher::kOpenMpi4, "/d", {});
  EXPECT_EQ(launch.options.back(), "--oversubscribe");
  const Launch apart = make_launch(plan_of({{"n0", {1}}, {"n1", {1}}}), Launcher::kOpenMpi4, "/d", {});
  EXPECT_EQ(apart.options.back(), "1") << "the same number on another host is another PU";
}

TEST(OpenMpi5, GetsHostsInRankOrderAndTheWrapper) {
  const Launch launch = make_launch(plan(), Launcher::kOpenMpi5, "/d", {});
  EXPECT_EQ(file(launch, "hostfile"), "n2\nn0\nn2\nn0\nn2\n");
  EXPECT_EQ(joined(launch.options), "-n 5 --hostfile /d/hostfile --map-by seq --bind-to none");
  EXPECT_EQ(launch.wrapper, std::vector<std::string>{"/d/ranktree-bind"});
}

TEST(Mpich, BindsByALineForEachRunOfRanksOnAHost) {
  const Launch launch = make_launch(plan(), Launcher::kMpich, "/d", {});
  EXPECT_EQ(file(launch, "hostfile"),
            "n2:1 binding=user:1\nn0:1 binding=user:0\nn2:1 binding=user:0\nn0:1 binding=user:2+3\n"
            "n2:1 binding=user:4\n");
  EXPECT_EQ(joined(launch.options), "-n 5 -f /d/hostfile");
  EXPECT_TRUE(launch.wrapper.empty());
  // Hydra refuses a second list for the host of the line before.
  const Plan unlike = plan_of({{"n2", {1}}, {"n2", {0}}, {"n0", {0}}, {"n0", {2, 3}}});
  EXPECT_EQ(file(make_launch(unlike, Launcher::kMpich, "/d", {}), "hostfile"),
            "n2:2 binding=user:1,0\nn0:2 binding=user:0,2+3\n");
}

TEST(Mpich, BindsByOneListWhereAllHostsAreBoundAlike) {
  const Plan alike = plan_of({{"n2", {1}}, {"n2", {0, 2}}, {"n0", {1}}, {"n1", {1}}, {"n1", {0, 2}}});
  const Launch launch = make_launch(alike, Launcher::kMpich, "/d", {});
  EXPECT_EQ(file(launch, "hostfile"), "n2:2\nn0:1\nn1:2\n");
  EXPECT_EQ(joined(launch.options), "-n 5 -f /d/hostfile -bind-to user:1,0+2");
  EXPECT_TRUE(launch.wrapper.empty());
  const Plan again = plan_of({{"n2", {1}}, {"n0", {1}}, {"n2", {1}}});  // the list restarts for rank 2
  EXPECT_EQ(joined(make_launch(again, Launcher::kMpich, "/d", {}).options), "-n 3 -f /d/hostfile -bind-to user:1");
  const Plan apart = plan_of({{"n2", {1}}, {"n0", {1}}, {"n2", {0}}});
  EXPECT_EQ(file(make_launch(apart, Launcher::kMpich, "/d", {}), "hostfile"),
            "n2:1 binding=user:1\nn0:1 binding=user:1\nn2:1 binding=user:0\n");
}

TEST(Mpich, GetsTheWrapperWhereHydraFailsOrItsLinesAreTooLong) {
  const Launch failed = make_launch(plan(), Launcher::kMpich, "/d", {}, false);
  EXPECT_EQ(file(failed, "hostfile"), "n2:1\nn0:1\nn2:1\nn0:1\nn2:1\n");
  EXPECT_EQ(joined(failed.options), "-n 5 -f /d/hostfile -bind-to none");
  EXPECT_EQ(file(failed, "ranktree-bind.map"), "0 n2 1\n1 n0 0\n2 n2 0\n3 n0 2-3\n4 n2 4\n");
  EXPECT_EQ(failed.wrapper, std::vector<std::string>{"/d/ranktree-bind"});
  std::vector<core::place::Slot> slots = {{"n0", {0}}};
  for (int pu = 1; pu <= 200; ++pu) slots.push_back({"n2", {pu + 1000}});  // 999 characters
  const Launch cut = make_launch(plan_of(slots), Launcher::kMpich, "/d", {});
  EXPECT_EQ(file(cut, "hostfile"), "n0:1\nn2:200\n");
  EXPECT_FALSE(cut.wrapper.empty());
  for (core::place::Slot& slot : slots) slot.host = "n0";  // by an option, which has no such limit
  EXPECT_TRUE(make_launch(plan_of(slots), Launcher::kMpich, "/d", {}).wrapper.empty());
}

TEST(Mpich, BindsThePlanOfOneHost) {
  const Launch named = make_launch(plan_of({{"n0", {1}}, {"n0", {0, 2}}, {"n0", {1}}}), Launcher::kMpich, "/d", {});
  EXPECT_EQ(file(named, "hostfile"), "n0:3\n");
  EXPECT_EQ(joined(named.options), "-n 3 -f /d/hostfile -bind-to user:1,0+2,1");
  EXPECT_TRUE(named.wrapper.empty());
  const Launch here = make_launch(plan_of({{"", {1}}, {"", {0}}}), Launcher::kMpich, "/d", {});
  EXPECT_EQ(joined(here.options), "-n 2 -bind-to user:1,0");
  EXPECT_TRUE(here.files.empty());
}

TEST(Intel, NamesTheWrapperOnEachLine) {
  const std::vector<std::string> program = {"./app", "-v", "3"};
  const Launch launch =
      make_launch(plan_of({{"n2", {1}}, {"n0", {0}}, {"n2", {0, 2}}}), Launcher::kIntel, "/d", program);
  EXPECT_EQ(file(launch, "configfile"),
            "-n 1 -host n2 /d/ranktree-bind ./app -v 3\n"
            "-n 1 -host n0 /d/ranktree-bind ./app -v 3\n"
            "-n 1 -host n2 /d/ranktree-bind ./app -v 3\n");
  EXPECT_EQ(file(launch, "ranktree-bind.map"), "0 n2 1\n1 n0 0\n2 n2 0,2\n");
  EXPECT_EQ(launch.environment, std::vector<std::string>{"I_MPI_PIN=0"});
  EXPECT_EQ(joined(launch.options), "-configfile /d/configfile");
  EXPECT_TRUE(launch.program_in_file);
}

TEST(Intel, RefusesWhatItsFileCannotExpress) {
  EXPECT_THROW(make_launch(plan(), Launcher::kIntel, "/d", {}), Error);
  const std::vector<std::string> program = {"./app", "two words"};
  EXPECT_THROW(make_launch(plan(), Launcher::kIntel, "/d", program), Error);
  EXPECT_THROW(make_launch(plan(), Launcher::kIntel, "/my run", std::vector<std::string>{"./app"}), Error);
}

TEST(Slurm, GetsAnArbitraryHostFile) {
  const Launch launch = make_launch(plan(), Launcher::kSlurm, "/d", {});
  EXPECT_EQ(file(launch, "hostfile"), "n2\nn0\nn2\nn0\nn2\n");
  EXPECT_EQ(launch.environment, std::vector<std::string>{"SLURM_HOSTFILE=/d/hostfile"});
  EXPECT_EQ(joined(launch.options), "-n 5 -m arbitrary --cpu-bind=none --kill-on-bad-exit=1");
  EXPECT_EQ(launch.starter, "srun");
  EXPECT_EQ(launch.wrapper, std::vector<std::string>{"/d/ranktree-bind"});
}

TEST(Slurm, BindsByOneListWhereAllNodesAreBoundAlike) {
  // By local task: n2's ranks 0 and 2 have PUs 1 and 0, n0's only rank the first of them.
  const Plan alike = plan_of({{"n2", {1}}, {"n0", {1}}, {"n2", {0}}});
  const Launch launch = make_launch(alike, Launcher::kSlurm, "/d", {});
  EXPECT_EQ(joined(launch.options), "-n 3 -m arbitrary --cpu-bind=map_cpu:1,0 --kill-on-bad-exit=1");
  EXPECT_TRUE(launch.wrapper.empty());
  const Plan several = plan_of({{"n0", {0, 5}}, {"n2", {0, 5}}, {"n0", {63, 64}}});
  EXPECT_EQ(joined(make_launch(several, Launcher::kSlurm, "/d", {}).options),
            "-n 3 -m arbitrary --cpu-bind=mask_cpu:0x21,0x18000000000000000 --kill-on-bad-exit=1");
  const Plan differs = plan_of({{"n2", {1}}, {"n0", {0}}});
  EXPECT_FALSE(make_launch(differs, Launcher::kSlurm, "/d", {}).wrapper.empty());
}

// Without --overcommit, srun refuses more tasks than processors.
TEST(Slurm, OvercommitsWhereRanksSharePus) {
  const Plan shared = plan_of({{"n0", {0}}, {"n0", {0}}, {"n2", {0}}, {"n2", {0}}});
  EXPECT_EQ(joined(make_launch(shared, Launcher::kSlurm, "/d", {}).options),
            "-n 4 -m arbitrary --cpu-bind=map_cpu:0,0 --overcommit --kill-on-bad-exit=1");
  EXPECT_EQ(make_launch(shared, Launcher::kCray, "/d", {}).options.back(), "--overcommit");
}

TEST(Slurm, BindsByTheWrapperWithoutAPluginForAffinity) {
  const Plan alike = plan_of({{"n2", {1}}, {"n0", {1}}});
  const Launch launch = make_launch(alike, Launcher::kSlurm, "/d", {}, false);
  EXPECT_EQ(joined(launch.options), "-n 2 -m arbitrary --cpu-bind=none --kill-on-bad-exit=1");
  EXPECT_EQ(launch.wrapper, std::vector<std::string>{"/d/ranktree-bind"});
}

TEST(Cray, ListsRanksByNodeAndBindsEveryNodeAlike) {
  const Plan even = plan_of({{"n2", {1}}, {"n0", {0}}, {"n2", {0}}, {"n0", {1}}});
  const Launch launch = make_launch(even, Launcher::kCray, "/d", {});
  EXPECT_EQ(file(launch, "MPICH_RANK_ORDER"), "# n0\n1,3\n# n2\n2,0\n");
  EXPECT_EQ(joined(launch.options), "-n 4 --ntasks-per-node=2 -m block --cpu-bind=map_cpu:0,1");
}

TEST(Cray, RefusesUnequalNodes) {
  for (const Launcher launcher : {Launcher::kCray, Launcher::kAprun, Launcher::kPals}) {
    EXPECT_THROW(make_launch(plan(), launcher, "/d", {}), Error);
    EXPECT_THROW(make_launch(plan_of({{"n0", {0}}, {"n2", {1}}}), launcher, "/d", {}), Error);
  }
}

TEST(Cray, ItsOtherLaunchersPlaceByTheSameFile) {
  const Plan even = plan_of({{"n2", {4}}, {"n0", {0, 1}}, {"n2", {0, 1}}, {"n0", {4}}});
  const Launch aprun = make_launch(even, Launcher::kAprun, "/d", {});
  EXPECT_EQ(aprun.starter, "aprun");
  EXPECT_EQ(joined(aprun.options), "-n 4 -N 2 -cc 0-1:4");
  const Launch pals = make_launch(even, Launcher::kPals, "/d", {});
  EXPECT_EQ(pals.starter, "mpiexec");
  EXPECT_EQ(joined(pals.options), "-n 4 --ppn 2 --hosts n0,n2 --cpu-bind list:0-1:4");
  for (const Launch& launch : {aprun, pals}) {
    EXPECT_EQ(file(launch, "MPICH_RANK_ORDER"), "# n0\n1,3\n# n2\n2,0\n");
    EXPECT_TRUE(launch.wrapper.empty());
  }
}

TEST(Jsrun, GetsAResourceFileWithHostsByNumber) {
  const Launch launch = make_launch(plan(), Launcher::kJsrun, "/d", {});
  EXPECT_EQ(joined(launch.options), "--erf_input /d/erf");
  EXPECT_EQ(file(launch, "erf"),
            "cpu_index_using: physical\n"
            "rank: 0: { host: 3; cpu: {1} }\n"
            "rank: 1: { host: 1; cpu: {0} }\n"
            "rank: 2: { host: 3; cpu: {0} }\n"
            "rank: 3: { host: 1; cpu: {2-3} }\n"
            "rank: 4: { host: 3; cpu: {4} }\n");
  EXPECT_TRUE(launch.wrapper.empty());
  const Launch shared = make_launch(plan_of({{"n0", {1}}, {"n0", {0, 1}}}), Launcher::kJsrun, "/d", {});
  EXPECT_NE(file(shared, "erf").find("oversubscribe_cpu: allow\n"), std::string::npos);
}

TEST(Flux, CountsUsedNodesInTheMachinesOrder) {
  const Launch launch = make_launch(plan_of({{"n2", {1}}, {"n2", {0}}, {"n0", {0}}}), Launcher::kFlux, "/d", {});
  EXPECT_EQ(joined(launch.options),
            "-N2 -n 3 --requires=hosts:n0,n2 --taskmap=manual:[[1,1,2,1],[0,1,1,1]] -o cpu-affinity=off");
  EXPECT_FALSE(launch.wrapper.empty());
  const Launch alike = make_launch(plan_of({{"n2", {1}}, {"n2", {0, 3}}, {"n0", {1}}}), Launcher::kFlux, "/d", {});
  EXPECT_EQ(alike.options.back(), "cpu-affinity=map:1;0,3");
  EXPECT_TRUE(alike.wrapper.empty());
}

TEST(Generic, NeedsNoHostNames) {
  const Launch launch = make_launch(plan_of({{"", {1}}, {"", {0}}}), Launcher::kGeneric, "/d", {});
  EXPECT_EQ(file(launch, "ranktree-bind.map"), "0 - 1\n1 - 0\n");
  EXPECT_TRUE(launch.files[0].executable);
}

TEST(MakeLaunch, NamesTheRankWithoutAHost) {
  try {
    make_launch(plan_of({{"n0", {1}}, {"", {0}}}), Launcher::kMpich, "/d", {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("launcher mpich: rank 1 has no host name"), std::string::npos);
  }
}

TEST(LauncherNames, LeadBackToTheirLaunchers) {
  for (const std::string_view name : launcher_names()) EXPECT_EQ(launcher_name(*launcher_from_name(name)), name);
  EXPECT_FALSE(launcher_from_name("openmpi"));
}

}  // namespace
}  // namespace ranktree::io
