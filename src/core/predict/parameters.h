// What calibration measured, and what the models need: each level's latency and bandwidth.
#pragma once

#include <string>
#include <vector>

namespace ranktree::core::predict {

// Between ranks that meet on one level. Seconds and bytes.
struct LevelParameters {
  std::string name;          // "switch0", "node", "package", ...: what the two ranks have in common lies outside it
  double latency = 0;        // Hockney alpha
  double per_byte = 0;       // Hockney beta; LogGP's G
  double overhead_send = 0;  // LogGP's o, on the sender's processor
  double overhead_receive = 0;
  double gap = 0;  // LogGP's g: least time between two messages
};

struct Parameters {
  std::vector<LevelParameters> levels;  // outermost first, as the hierarchy's given levels
  double reduce_per_byte = 0;           // combining
  double copy_per_byte = 0;             // memory to memory
  // One message at a time leaves a node, however many of its ranks send: the wire is shared.
  bool node_port = true;
  // Inside a node by shared memory (Way::kShared): an operation of m bytes among q ranks costs latency per rank and
  // per_byte for each byte that a rank writes or reads.
  double shared_latency = 0;
  double shared_per_byte = 0;
};

// Levels whose ranks are on different nodes: up to the one named "node"; 0 where none is.
int levels_across_nodes(const Parameters& parameters);

// Where nothing was calibrated: an ordinary cluster (documented in docs/models.md). The first `across` levels are
// between nodes (0 on one node), the others inside; one level is when nothing is said.
Parameters usual_parameters(int levels, int across);
Parameters usual_parameters(int levels);

// The same for a hierarchy of `levels` levels, the first `across` of them between nodes, when it is not the one that
// was measured: levels are paired from the node outwards and inwards, the outermost and innermost standing for those
// beyond them; usual ones where nothing was measured on that side of the node, or of shared memory.
Parameters matched(const Parameters& parameters, int levels, int across);

}  // namespace ranktree::core::predict
