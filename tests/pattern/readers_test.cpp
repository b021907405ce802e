// Pattern files as other programs write them.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "core/pattern/pattern.h"
#include "io/pattern_formats.h"

namespace ranktree::io {
namespace {

using core::pattern::Class;
using core::pattern::Pattern;
using core::pattern::Rank;

using Pair = std::tuple<Rank, Rank, double>;

std::vector<Pair> pairs(const Pattern& pattern, std::vector<double> core::pattern::Traffic::* amounts) {
  const core::pattern::Traffic sum = core::pattern::total(pattern);
  std::vector<Pair> list;
  for (Rank from = 0; from < pattern.ranks; ++from) {
    for (auto i = pattern.indptr[from]; i < pattern.indptr[from + 1]; ++i) {
      list.emplace_back(from, pattern.indices[i], (sum.*amounts)[i]);
    }
  }
  return list;
}

std::vector<Pair> byte_pairs(const Pattern& pattern) { return pairs(pattern, &core::pattern::Traffic::bytes); }

TEST(MatrixMarket, ReadsCoordinatesInAnyOrder) {
  Warnings warnings;
  const Pattern pattern = read_matrix_market(
      "%%MatrixMarket matrix coordinate real general\n% a comment\n\n3 3 3\n3 1 7\n1 2 1.5e3\r\n2 2 4\n", "f", {},
      warnings);
  EXPECT_EQ(byte_pairs(pattern), (std::vector<Pair>{{0, 1, 1500}, {1, 1, 4}, {2, 0, 7}}));
  EXPECT_EQ(warnings.size(), 1U);
}

TEST(MatrixMarket, UnfoldsASymmetricMatrix) {
  Warnings warnings;
  const Pattern pattern = read_matrix_market("%%MatrixMarket MATRIX Coordinate Pattern Symmetric\n2 2 2\n1 1\n2 1\n",
                                             "f", core::pattern::Metric::kMessages, warnings);
  EXPECT_EQ(pairs(pattern, &core::pattern::Traffic::messages), (std::vector<Pair>{{0, 0, 1}, {0, 1, 1}, {1, 0, 1}}));
}

TEST(MatrixMarket, ReadsDenseMatricesByColumn) {
  Warnings warnings;
  const Pattern pattern =
      read_matrix_market("%%MatrixMarket matrix array integer general\n2 2\n0\n5\n6\n0\n", "f", {}, warnings);
  EXPECT_EQ(byte_pairs(pattern), (std::vector<Pair>{{0, 1, 6}, {1, 0, 5}}));
}

TEST(TreeMatchMatrix, ReadsRowsOfSenders) {
  Warnings warnings;
  const Pattern pattern = read_treematch_mat("0 5\t0\n1.5 0 2 \n\n 0 0 9", "f", {}, warnings);
  EXPECT_EQ(byte_pairs(pattern), (std::vector<Pair>{{0, 1, 5}, {1, 0, 1.5}, {1, 2, 2}, {2, 2, 9}}));
}

// The graph of the METIS manual's figure 3: seven vertices, eleven edges, and its weighted forms.
TEST(MetisGraph, ReadsTheManualsExamples) {
  const std::string plain = "% a comment\n7 11\n5 3 2\n1 3 4\n5 4 2 1\n2 3 6 7\n1 3 6\n5 4 7\n6 4\n";
  const std::string weighted =
      "7 11 001\n5 1 3 2 2 1\n1 1 3 2 4 1\n5 3 4 2 2 2 1 2\n2 1 3 2 6 2 7 5\n1 1 3 3 6 2\n5 2 4 2 7 6\n6 6 4 5\n";
  const std::string both =
      "7 11 011\n4 5 1 3 2 2 1\n2 1 1 3 2 4 1\n5 5 3 4 2 2 2 1 2\n3 2 1 3 2 6 2 7 5\n1 1 1 3 3 6 2\n"
      "6 5 2 4 2 7 6\n2 6 6 4 5\n";
  const std::string several =
      "7 11 010 3\n1 2 0 5 3 2\n0 2 2 1 3 4\n4 1 1 5 4 2 1\n2 2 3 2 3 6 7\n1 1 1 1 3 6\n"
      "2 2 1 5 4 7\n1 2 1 6 4\n";
  const std::vector<Pair> ones{{0, 1, 1}, {0, 2, 1}, {0, 4, 1}, {1, 2, 1}, {1, 3, 1}, {2, 3, 1},
                               {2, 4, 1}, {3, 5, 1}, {3, 6, 1}, {4, 5, 1}, {5, 6, 1}};
  const std::vector<Pair> weights{{0, 1, 1}, {0, 2, 2}, {0, 4, 1}, {1, 2, 2}, {1, 3, 1}, {2, 3, 2},
                                  {2, 4, 3}, {3, 5, 2}, {3, 6, 5}, {4, 5, 2}, {5, 6, 6}};
  Warnings warnings;
  EXPECT_EQ(byte_pairs(read_metis_graph(plain, "f", {}, warnings)), ones);
  EXPECT_EQ(byte_pairs(read_metis_graph(weighted, "f", {}, warnings)), weights);
  EXPECT_EQ(byte_pairs(read_metis_graph(both, "f", {}, warnings)), weights);
  EXPECT_EQ(byte_pairs(read_metis_graph(several, "f", {}, warnings)), ones);
}

TEST(MetisGraph, AVertexWithoutEdgesHasAnEmptyLine) {
  Warnings warnings;
  const Pattern pattern = read_metis_graph("3 1 1\n3 8\n\n1 8\n", "f", {}, warnings);
  EXPECT_EQ(byte_pairs(pattern), (std::vector<Pair>{{0, 2, 8}}));
}

TEST(ScotchGraph, ReadsLoadsLabelsAndBothBases) {
  Warnings warnings;
  const std::vector<Pair> expected{{0, 1, 5}, {1, 2, 7}};
  EXPECT_EQ(byte_pairs(read_scotch_graph("0\n3 4\n0 010\n1 5 1\n2 5 0 7 2\n1 7 1\n", "f", {}, warnings)), expected);
  EXPECT_EQ(byte_pairs(read_scotch_graph("0\n3 4\n1 011\n9 1 5 2\n9 2 5 1 7 3\n9 1 7 2\n", "f", {}, warnings)),
            expected);
  EXPECT_EQ(byte_pairs(read_scotch_graph("0\n3 4\n0 110\n40 1 5 30\n30 2 5 40 7 10\n10 1 7 30\n", "f", {}, warnings)),
            expected);
}

TEST(Csv, ReadsColumnsInAnyOrderWithAnySeparator) {
  Warnings warnings;
  const std::vector<Pair> expected{{0, 2, 30}, {1, 0, 7}};
  for (const char* text : {"src,dst,messages,bytes\n1,0,1,7\n0,2,3,30\n", "dst;bytes;src\n0;7;1\n2;30;0\n",
                           "src\tdst\tmessages\tbytes\n1\t0\t1\t7\n0\t2\t3\t30",
                           "\"src\", \"dst\", \"bytes\"\r\n1, 0, 7\r\n0 , 2 , 30\r\n",
                           "\xEF\xBB\xBFsrc;dst;bytes\r\n1;0;7\r\n0;2;30\r\n"}) {
    const Pattern pattern = read_pattern_csv(text, "f", warnings);
    EXPECT_EQ(pattern.ranks, 3);
    EXPECT_EQ(byte_pairs(pattern), expected) << text;
  }
}

TEST(Csv, ReadsTheNumberOfRanksInAnyComment) {
  for (const std::string comment : {"# app (4 nodes, ranks=8)", "# ranks=8.", "# [ranks=8]", "# nranks=3 ranks=8"}) {
    Warnings warnings;
    EXPECT_EQ(read_pattern_csv(comment + "\nsrc,dst,bytes\n0,1,1\n", "f", warnings).ranks, 8) << comment;
  }
  for (const std::string comment : {"# ranks=unknown", "# ranks= 8", "# nranks=8"}) {
    Warnings warnings;
    EXPECT_EQ(read_pattern_csv(comment + "\nsrc,dst,bytes\n0,1,1\n", "f", warnings).ranks, 2) << comment;
  }
}

TEST(Csv, ReadsBlanksWithTheHeaderInAComment) {
  Warnings warnings;
  const Pattern pattern = read_pattern_csv(
      "# src dst messages bytes | ranks=5 | point-to-point | a program, Open MPI 4.1.4\n0 1 2 30\n3 0 1 8\n", "f",
      warnings);
  EXPECT_EQ(pattern.ranks, 5);
  EXPECT_EQ(byte_pairs(pattern), (std::vector<Pair>{{0, 1, 30}, {3, 0, 8}}));
  EXPECT_TRUE(warnings.empty());
}

TEST(Csv, ClassesKeepTrafficApart) {
  Warnings warnings;
  const Pattern pattern =
      read_pattern_csv("# ranks=2\nsrc,dst,messages,bytes,class\n0,1,1,2,p2p\n0,1,3,4,rma\n", "f", warnings);
  EXPECT_EQ(pattern.of(Class::kPointToPoint).bytes, std::vector<double>{2});
  EXPECT_EQ(pattern.of(Class::kRma).messages, std::vector<double>{3});
}

// Written by Open MPI 4.1.4 for a program whose rank 0 sends 3 x 100 bytes to rank 1, whose rank 1 puts 50 bytes into
// rank 2 and gets 70 bytes from rank 0, and which broadcasts.
TEST(Monitoring, ReadsWhatOpenMpiWrites) {
  std::vector<MonitoringFile> files{
      {"x.0.prof", 0,
       "# POINT TO POINT\nE\t0\t1\t300 bytes\t3 msgs sent\t4,0,0,15\nI\t0\t1\t5284 bytes\t27 msgs sent\n"
       "# OSC\n# COLLECTIVES\nC\t0\t1\t5284 bytes\t27 msgs sent\nD\tMPI_COMM_WORLD\tprocs: 0,1,2\n"
       "O2A\t0\t2000 bytes\t1 msgs sent\nA2O\t0\t0 bytes\t0 msgs sent\nA2A\t0\t24 bytes\t3 msgs sent\n"},
      {"x.1.prof", 1,
       "# POINT TO POINT\n# OSC\nS\t1\t0\t0 bytes\t1 msgs sent\nR\t1\t0\t70 bytes\t1 msgs sent\n"
       "S\t1\t2\t50 bytes\t1 msgs sent\n# COLLECTIVES\n"},
      {"x.2.prof", 2, "# POINT TO POINT\n# OSC\n# COLLECTIVES\n"}};
  Warnings warnings;
  const Pattern pattern = read_monitoring(files, warnings);
  EXPECT_EQ(pattern.ranks, 3);
  EXPECT_EQ(pattern.indices, (std::vector<Rank>{1, 0, 2}));
  EXPECT_EQ(pattern.of(Class::kPointToPoint).bytes, (std::vector<double>{300, 0, 0}));
  EXPECT_EQ(pattern.of(Class::kCollective).messages, (std::vector<double>{27, 0, 0}));
  EXPECT_EQ(pattern.of(Class::kRma).bytes, (std::vector<double>{70, 0, 50}));
  EXPECT_TRUE(pattern.metadata.complete);
  const auto warned = [&](const char* fragment) {
    return std::any_of(warnings.begin(), warnings.end(),
                       [&](const std::string& text) { return text.find(fragment) != std::string::npos; });
  };
  EXPECT_TRUE(warned("persistent sends"));
  EXPECT_TRUE(warned("linear alltoall"));
  EXPECT_TRUE(warned("osc/pt2pt"));
  EXPECT_NE(pattern.metadata.source.find("persistent sends missing"), std::string::npos);
}

TEST(Monitoring, AMissingRankMakesThePatternIncomplete) {
  const std::vector<MonitoringFile> files{{"x.0.prof", 0, "E\t0\t1\t3 bytes\t1 msgs sent\n"},
                                          {"x.2.prof", 2, "E\t2\t1\t3 bytes\t1 msgs sent\n"}};
  Warnings warnings;
  const Pattern pattern = read_monitoring(files, warnings);
  EXPECT_FALSE(pattern.metadata.complete);
  EXPECT_EQ(pattern.metadata.missing, std::vector<Rank>{1});
  EXPECT_NE(warnings.front().find("no file of rank 1"), std::string::npos);
}

}  // namespace
}  // namespace ranktree::io
