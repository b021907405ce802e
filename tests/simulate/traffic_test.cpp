#include "core/simulate/traffic.h"

#include <gtest/gtest.h>

#include <string>

#include "core/simulate/platform.h"
#include "core/topo/kind.h"
#include "core/topo/machine.h"
#include "io/machine_file.h"
#include "io/simulation_report.h"

namespace {

using ranktree::core::simulate::Platform;
using ranktree::core::simulate::Traffic;
using ranktree::core::topo::Kind;

// Two nodes of two cores.
ranktree::core::topo::Machine two_nodes() {
  return ranktree::io::read_machine(R"({"format": "ranktree-machine", "version": 1, "shapes": {"s": "core:2"},
    "network": {"hosts": [{"names": "n[0-1]", "shape": "s"}]},
    "costs": {"Cluster": {"latency_s": 1e-6, "bandwidth_bytes_per_s": 1e9}}})",
                                    "test");
}

TEST(Traffic, CountsBytesByLevelAndByLink) {
  const Platform platform(two_nodes(), Kind::kCore);
  Traffic traffic(platform);
  EXPECT_FALSE(traffic.most_loaded());
  traffic.add(0, 1, 100);
  traffic.add(0, 2, 30);
  traffic.add(1, 2, 40);
  traffic.add(3, 3, 5);
  ASSERT_EQ(traffic.levels().size(), 3U);
  EXPECT_EQ(traffic.levels()[0].messages, 2);
  EXPECT_EQ(traffic.levels()[0].bytes, 70);
  EXPECT_EQ(traffic.levels()[1].bytes, 100);
  EXPECT_EQ(traffic.levels()[2].bytes, 5);
  const auto load = traffic.most_loaded();
  ASSERT_TRUE(load);
  EXPECT_EQ(platform.link_name(load->link), "node n0 up");  // 70 bytes at 1 GB/s take longer than 100 at 5 GB/s
  EXPECT_EQ(load->bytes, 70);
  EXPECT_DOUBLE_EQ(load->seconds, 70e-9);
}

TEST(SimulationReport, SeparatesGivenValuesFromUsualOnes) {
  const Platform platform(two_nodes(), Kind::kCore);
  Traffic traffic(platform);
  traffic.add(0, 2, 30);
  const std::string text = ranktree::io::write_simulation_report({2.5, 4, 0, 1, &platform, &traffic});
  EXPECT_NE(text.find(R"("simulated_s": 2.5)"), std::string::npos);
  EXPECT_NE(text.find(R"("latency_given": true)"), std::string::npos);
  EXPECT_NE(text.find(R"("latency_given": false)"), std::string::npos);
  EXPECT_NE(text.find(R"("name": "node n0 up")"), std::string::npos);
  EXPECT_NE(text.find(R"("node n1 down",)"), std::string::npos);  // one of the links, of which others were not used
  EXPECT_EQ(text.find(R"("node n0 down",)"), std::string::npos);
}

}  // namespace
