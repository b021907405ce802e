// The contents of launchers' files, one function for each file.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/place/plan.h"

namespace ranktree::io {

// Lines "rank 0=n2 slot=1": Open MPI's rankfile.
std::string rankfile(const core::place::Plan& plan);
// Lines `host``suffix`, one for each rank in rank order.
std::string hosts_by_rank(const core::place::Plan& plan, std::string_view suffix);
// Lines "rank host list", "-" for a host without a name: what the wrapper reads.
std::string wrapper_map(const core::place::Plan& plan);
// The wrapper itself: a POSIX shell script that reads `map_name` from its own folder.
std::string wrapper_script(std::string_view map_name);
// A POSIX shell script that prints "ranktree-probe rank host list": where a rank is, found without any MPI.
std::string probe_script();
// Lines "-n 1 -host n2 -env NAME list program": Intel MPI's configuration file. `program` is the words as they stand in
// the file; without `pin` the lists are left out, with it every rank has one PU.
std::string intel_configuration(const core::place::Plan& plan, const std::string& program, bool pin);
// Cray's MPICH_RANK_ORDER: ranks in the order in which a block placement takes them, one node a line (cray_order).
std::string cray_rank_order(const core::place::Plan& plan);
// Flux's task map (RFC 34): [[first node, nodes, tasks a node, repetitions], ...] over the used hosts in plan order.
std::string flux_task_map(const core::place::Plan& plan);

// The hosts that have ranks, in the machine's order, each with its ranks ascending. O(ranks log hosts).
std::vector<std::pair<std::string, std::vector<int>>> ranks_by_host(const core::place::Plan& plan);
// The same with each host's ranks in the order of their first PUs, so that every node can bind by one list.
std::vector<std::pair<std::string, std::vector<int>>> cray_order(const core::place::Plan& plan);
// True when no rank has several PUs.
bool one_pu_each(const core::place::Plan& plan);
// True when two ranks have the same PU.
bool shares_pus(const core::place::Plan& plan);

}  // namespace ranktree::io
