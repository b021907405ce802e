// The parameters of the models, as calibration measures them: each level's latency and bandwidth.
#pragma once

#include <string>
#include <vector>

namespace ranktree::core::predict {

// Between ranks whose lowest common ancestor is on one level. Seconds and bytes.
struct LevelParameters {
  std::string name;          // "switch0", "node", "package", ...: the two ranks are in different objects of this kind
  double latency = 0;        // Hockney alpha
  double per_byte = 0;       // Hockney beta; LogGP's G
  double overhead_send = 0;  // LogGP's o, on the sender's processor
  double overhead_receive = 0;
  double gap = 0;  // LogGP's g: least time between two messages
};

struct Parameters {
  std::vector<LevelParameters> levels;  // outermost first, as the hierarchy's given levels
  double reduce_per_byte = 0;           // combining two operands
  double copy_per_byte = 0;             // copying within memory
  // True: one message at a time leaves a node, however many of its ranks send, because they share the wire.
  bool node_port = true;
  // Shared memory inside a node (Variant::kShared): an operation of m bytes among q ranks costs latency per rank, and
  // per_byte for each byte that a rank writes or reads.
  double shared_latency = 0;
  double shared_per_byte = 0;
};

// The number of levels whose ranks are on different nodes: up to the one named "node"; 0 where there is none.
int levels_across_nodes(const Parameters& parameters);

// Values of an ordinary cluster for when nothing was calibrated (documented in docs/explanation/models.md). The first
// `across` levels are between nodes (0 on one node), the others inside; without `across`, one level is between nodes.
Parameters usual_parameters(int levels, int across);
Parameters usual_parameters(int levels);

// Adapts parameters to a hierarchy of `levels` levels, the first `across` of them between nodes, that is not the one
// measured. Levels are paired from the node outwards and inwards; the outermost and innermost stand for those beyond
// them. Usual values stand in where nothing was measured on that side of the node, or of shared memory.
Parameters matched(const Parameters& parameters, int levels, int across);

}  // namespace ranktree::core::predict
