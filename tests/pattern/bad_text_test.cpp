// Bad input of the text readers: every case is a file and the one line of error it must cause.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/pattern/pattern.h"
#include "io/pattern_formats.h"

namespace ranktree::io {
namespace {

struct BadInput {
  const char* what;
  std::string text;
  const char* place;
  const char* fragment;
};

using Reader = std::function<core::pattern::Pattern(const std::string&)>;

std::string refusal_of(const Reader& read, const std::string& text) {
  try {
    core::pattern::validate(read(text), "f");
  } catch (const core::Error& error) {
    return error.what();
  }
  return "accepted";
}

void expect_refused(const Reader& read, const std::vector<BadInput>& inputs) {
  for (const BadInput& input : inputs) {
    const std::string text = refusal_of(read, input.text);
    EXPECT_TRUE(text.starts_with("f: " + std::string(input.place))) << input.what << ": " << text;
    EXPECT_NE(text.find(input.fragment), std::string::npos) << input.what << ": " << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << input.what;
  }
}

TEST(MatrixMarket, RefusesBadInput) {
  const auto read = [](const std::string& text) {
    Warnings warnings;
    return read_matrix_market(text, "f", {}, warnings);
  };
  const std::string real = "%%MatrixMarket matrix coordinate real general\n";
  const std::string symmetric = "%%MatrixMarket matrix coordinate real symmetric\n";
  expect_refused(
      read,
      {{"empty", "", "line 1", "empty"},
       {"wrong magic", "%MatrixMarket matrix coordinate real general\n", "line 1", "%%MatrixMarket"},
       {"a zip", "PK\x03\x04\n", "line 1", "%%MatrixMarket"},
       {"vector", "%%MatrixMarket vector coordinate real general\n", "line 1", "matrix"},
       {"complex", "%%MatrixMarket matrix coordinate complex general\n", "line 1", "field"},
       {"skew", "%%MatrixMarket matrix coordinate real skew-symmetric\n", "line 1", "symmetry"},
       {"no size", real + "% nothing more\n", "line 3", "the file ends"},
       {"truncated", real + "3 3 2\n1 2 5\n", "line 4", "the file ends, expected 2 entries, found 1"},
       {"truncated line", real + "3 3 1\n1 2", "line 3", "value: expected a number in 0..2^53, found the end"},
       {"truncated number", real + "% ranktree metric size\n3 3 1\n1 2 5", "line 4", "ends within a line"},
       {"too many", real + "3 3 1\n1 2 5\n1 3 5\n", "line 4", "expected the end of the file"},
       {"more on the line", real + "3 3 1\n1 2 5 6\n", "line 3", "end of the line, found '6'"},
       {"not square", real + "3 4 0\n", "line 2", "as many columns"},
       {"0 ranks", real + "0 0 0\n", "line 2", "rows: expected a whole number in 1..2147483647, found '0'"},
       {"2^31 ranks", real + "2147483648 2147483648 0\n", "line 2", "found '2147483648'"},
       {"2^31 - 1 ranks", real + "2147483647 2147483647 0\n", "line 2", "too many for a file"},
       {"2^31 entries", real + "3 3 2147483648\n1 2 5\n", "line 2", "declares 2147483648 entries"},
       {"negative", real + "3 3 1\n1 2 -5\n", "line 3", "found '-5'"},
       {"NaN", real + "3 3 1\n1 2 nan\n", "line 3", "found 'nan'"},
       {"infinite", real + "3 3 1\n1 2 inf\n", "line 3", "found 'inf'"},
       {"huge", real + "3 3 1\n1 2 1e999\n", "line 3", "found '1e999'"},
       {"beyond 2^53", real + "3 3 1\n1 2 9007199254740993\n", "line 3", "found '9007199254740993'"},
       {"index 0", real + "3 3 1\n0 2 5\n", "line 3", "row: expected a whole number in 1..3, found '0'"},
       {"index beyond", real + "3 3 1\n1 4 5\n", "line 3", "column: expected a whole number in 1..3, found '4'"},
       {"not a number", real + "3 3 1\n1 2 five\n", "line 3", "found 'five'"},
       {"duplicate", real + "3 3 3\n1 2 5\n2 1 5\n1 2 6\n", "line 5", "duplicate entry: the pair is already on line 3"},
       {"upper triangle", symmetric + "3 3 1\n1 2 5\n", "line 3", "lower triangle"},
       {"dense truncated", "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n", "line 6", "the file ends"}});
}

TEST(TreeMatchMatrix, RefusesBadInput) {
  const auto read = [](const std::string& text) {
    Warnings warnings;
    return read_treematch_mat(text, "f", {}, warnings);
  };
  expect_refused(read, {{"empty", "", "line 1", "the file ends"},
                        {"blank", " \n\n", "line 3", "the file ends"},
                        {"wrong magic", "PK\x03\x04", "line 1", "element: expected a number"},
                        {"truncated rows", "0 1 2\n1 0 2\n", "line 3", "expected 3 rows of 3 elements, found 2"},
                        {"truncated row", "0 1 2\n1 0\n", "line 2", "expected 3 elements as in the first row, found 2"},
                        {"long row", "0 1\n1 0 2\n", "line 2", "found 3"},
                        {"more rows", "0 1\n1 0\n1 1\n", "line 3", "expected the end of the file"},
                        {"negative", "0 -1\n1 0\n", "line 1", "found '-1'"},
                        {"NaN", "0 1\nNaN 0\n", "line 2", "found 'NaN'"},
                        {"infinite", "0 1\ninf 0\n", "line 2", "found 'inf'"},
                        {"beyond 2^53", "0 1\n1e16 0\n", "line 2", "found '1e16'"},
                        {"commas", "0,1\n1,0\n", "line 1", "element"}});
}

TEST(MetisGraph, RefusesBadInput) {
  const auto read = [](const std::string& text) {
    Warnings warnings;
    return read_metis_graph(text, "f", {}, warnings);
  };
  expect_refused(
      read, {{"empty", "", "line 1", "the file ends"},
             {"wrong magic", "%%MatrixMarket\n", "line 2", "expected the header"},
             {"0 ranks", "0 0\n", "line 1", "number of vertices: expected a whole number in 1..2147483647, found '0'"},
             {"2^31 vertices", "2147483648 0\n", "line 1", "found '2147483648'"},
             {"2^31 - 1 vertices", "2147483647 0\n\n", "line 1", "declares 2147483647 vertices"},
             {"2^31 edges", "2 2147483648\n2\n1\n", "line 1", "declares 2147483648 edges"},
             {"format", "2 1 2\n2 1\n1 1\n", "line 1", "three digits"},
             {"truncated", "3 2 1\n2 5\n1 5 3 6\n", "line 4", "expected 3 lines of vertices, found 2"},
             {"truncated line", "2 1 1\n2 5\n1", "line 3", "edge weight: expected a number"},
             {"more lines", "2 1 1\n2 5\n1 5\n1\n", "line 4", "expected the end of the file"},
             {"fewer edges", "2 2 1\n2 5\n1 5\n", "line 3", "expected 2 edges as the header declares, found 1"},
             {"index 0", "2 1 1\n0 5\n1 5\n", "line 2", "neighbour: expected a whole number in 1..2, found '0'"},
             {"index beyond", "2 1 1\n3 5\n1 5\n", "line 2", "found '3'"},
             {"negative", "2 1 1\n2 -5\n1 -5\n", "line 2", "found '-5'"},
             {"NaN", "2 1 1\n2 nan\n1 nan\n", "line 2", "found 'nan'"},
             {"one direction", "3 1 1\n2 5\n\n\n", "line 2", "not in its other vertex's list"},
             {"two weights", "2 1 1\n2 5\n1 6\n", "line 3", "weighs 6 here and 5 on line 2"},
             {"duplicate", "2 2 1\n2 5 2 5\n1 5 1 5\n", "line 2", "duplicate entry"},
             {"duplicate of one side", "2 2 1\n2 5\n1 5 1 5\n", "line 3", "duplicate entry"},
             {"loop", "2 1 1\n1 5\n\n", "line 2", "edge to itself"}});
}

TEST(ScotchGraph, RefusesBadInput) {
  const auto read = [](const std::string& text) {
    Warnings warnings;
    return read_scotch_graph(text, "f", {}, warnings);
  };
  expect_refused(
      read, {{"empty", "", "line 1", "the file ends"},
             {"wrong magic", "2\n2 2\n0 010\n", "line 1", "version 0"},
             {"0 ranks", "0\n0 0\n0 000\n", "line 2", "number of vertices: expected a whole number in 1..2147483647"},
             {"2^31 vertices", "0\n2147483648 0\n0 000\n", "line 2", "found '2147483648'"},
             {"2^31 - 1 vertices", "0\n2147483647 0\n0 000\n", "line 2", "declares 2147483647 vertices"},
             {"2^31 arcs", "0\n2 2147483648\n0 000\n1 1\n1 0\n", "line 2", "edges, too many"},
             {"no flags", "0\n2 2\n0\n", "line 3", "flags"},
             {"bad flags", "0\n2 2\n0 020\n", "line 3", "flags"},
             {"truncated", "0\n2 2\n0 010\n1 5 1\n", "line 5", "expected 2 lines of vertices, found 1"},
             {"truncated line", "0\n2 2\n0 010\n1 5 1\n1 5", "line 5", "neighbour: expected"},
             {"more on the line", "0\n2 2\n0 010\n1 5 1 5\n1 5 0\n", "line 4", "expected the end of the line"},
             {"more lines", "0\n2 2\n0 010\n1 5 1\n1 5 0\n0\n", "line 6", "expected the end of the file"},
             {"fewer arcs", "0\n2 4\n0 010\n1 5 1\n1 5 0\n", "line 5", "expected 4 arcs"},
             {"index beyond", "0\n2 2\n0 010\n1 5 2\n1 5 0\n", "line 4", "neighbour: expected a whole number in 0..1"},
             {"below the base", "0\n2 2\n1 010\n1 5 0\n1 5 1\n", "line 4", "in 1..2, found '0'"},
             {"negative", "0\n2 2\n0 010\n1 -5 1\n1 5 0\n", "line 4", "found '-5'"},
             {"NaN", "0\n2 2\n0 010\n1 nan 1\n1 5 0\n", "line 4", "found 'nan'"},
             {"duplicate", "0\n2 4\n0 010\n2 5 1 5 1\n2 5 0 5 0\n", "line 4", "duplicate entry"},
             {"two weights", "0\n2 2\n0 010\n1 5 1\n1 6 0\n", "line 5", "weighs 6 here and 5 on line 4"},
             {"loop", "0\n2 2\n0 010\n1 5 0\n1 5 1\n", "line 4", "edge to itself"},
             {"unknown label", "0\n2 2\n0 110\n7 1 5 9\n8 1 5 7\n", "line 4", "label 9 belongs to no vertex"},
             {"label twice", "0\n2 2\n0 110\n7 1 5 7\n7 1 5 7\n", "line 5", "duplicate entry"}});
}

TEST(Csv, RefusesBadInput) {
  const auto read = [](const std::string& text) {
    Warnings warnings;
    return read_pattern_csv(text, "f", warnings);
  };
  const std::string header = "# ranks=3\nsrc,dst,messages,bytes\n";
  expect_refused(
      read,
      {{"empty", "", "line 1", "the file ends"},
       {"wrong magic", "PK\x03\x04", "line 1", "names of the columns"},
       {"no header", "0,1,2,3\n", "line 1", "names of the columns"},
       {"unknown column", "src,dst,weight\n", "line 1", "unknown column"},
       {"column twice", "src,dst,bytes,bytes\n", "line 1", "twice"},
       {"no amount", "src,dst\n", "line 1", "at least one of messages, bytes"},
       {"no entries", "src,dst,bytes\n", "line 1", "neither entries nor a comment"},
       {"0 ranks", "# ranks=0\nsrc,dst,bytes\n", "line 1", "ranks: expected a number in 1..2147483647, found 0"},
       {"2^31 ranks", "# ranks=2147483648\nsrc,dst,bytes\n", "line 1", "found 2147483648"},
       {"2^31 - 1 ranks", "# ranks=2147483647\nsrc,dst,bytes\n", "", "declares 2147483647 ranks"},
       {"index 2^31 - 2", "src,dst,bytes\n0,2147483646,1\n", "", "too many for a file"},
       {"2^31 entries", "# ranks=3 | lines=2147483648\nsrc,dst,bytes\n0,1,1\n", "line 4", "expected 2147483648"},
       {"truncated", header.substr(0, 9) + " | lines=2" + header.substr(9) + "0,1,2,3\n", "line 4", "the file ends"},
       {"truncated line", header + "0,1,2", "line 3", "the line ends, expected bytes"},
       {"truncated number", "# ranks=3 | lines=1\nsrc,dst,messages,bytes\n0,1,2,3", "line 3", "ends within a line"},
       {"ranks with an exponent", "# ranks=1e3\nsrc,dst,bytes\n0,1,1\n", "line 1", "found '1e3'"},
       {"ranks of a grid", "# ranks=4x16\nsrc,dst,bytes\n0,1,1\n", "line 1", "found '4x16'"},
       {"empty field", header + "0,1,,3\n", "line 3", "messages: expected a number in 0..2^53, found ','"},
       {"other separator", header + "0;1;2;3\n", "line 3", "expected ',' before dst"},
       {"more fields", header + "0,1,2,3,4\n", "line 3", "end of the line"},
       {"out of range", header + "0,3,2,3\n", "line 3", "dst: expected a whole number in 0..2, found '3'"},
       {"negative rank", header + "-1,2,2,3\n", "line 3", "src: expected a whole number in 0..2, found '-1'"},
       {"negative", header + "0,1,2,-3\n", "line 3", "found '-3'"},
       {"NaN", header + "0,1,nan,3\n", "line 3", "found 'nan'"},
       {"beyond 2^53", header + "0,1,1,9007199254740993\n", "line 3", "bytes: expected a number in 0..2^53"},
       {"duplicate", header + "0,1,2,3\n0,2,1,1\n0,1,2,3\n", "line 5", "already on line 3"},
       {"class", "src,dst,bytes,class\n0,1,2,mpi\n", "line 2", "class: expected p2p"}});
}

TEST(Monitoring, RefusesBadInput) {
  const auto read = [](const std::string& text) {
    Warnings warnings;
    return read_monitoring({{"f", 0, text}}, warnings);
  };
  expect_refused(
      read,
      {{"empty", "", "line 1", "the file is empty"},
       {"wrong magic", "PK\x03\x04\n", "line 1", "expected a line of Open MPI's monitoring"},
       {"truncated", "# POINT TO POINT\nE\t0\t1\t300 bytes\t3 ms", "line 2", "the file is truncated"},
       {"truncated at a word", "E\t0\t1\t300 bytes\n", "line 1", "messages: expected a number"},
       {"other letter", "X\t0\t1\t300 bytes\t3 msgs sent\n", "line 1", "expected a line"},
       {"no unit", "E\t0\t1\t300\t3 msgs sent\n", "line 1", "expected 'bytes'"},
       {"negative", "E\t0\t1\t-1 bytes\t3 msgs sent\n", "line 1", "found '-1'"},
       {"NaN", "E\t0\t1\tnan bytes\t3 msgs sent\n", "line 1", "found 'nan'"},
       {"beyond 2^53", "E\t0\t1\t18446744073709551615 bytes\t3 msgs sent\n", "line 1", "bytes: expected"},
       {"negative rank", "E\t0\t-1\t1 bytes\t3 msgs sent\n", "line 1", "destination: expected"},
       {"2^31 ranks", "E\t0\t2147483647\t1 bytes\t3 msgs sent\n", "line 1", "destination: expected"},
       {"2^31 - 1 ranks", "E\t0\t2147483646\t1 bytes\t3 msgs sent\n", "", "expected the files of ranks"},
       {"other rank", "E\t1\t0\t1 bytes\t3 msgs sent\n", "line 1", "source: expected 0, the file's rank, found 1"},
       {"duplicate", "E\t0\t0\t1 bytes\t1 msgs sent\nI\t0\t0\t1 bytes\t1 msgs sent\nE\t0\t0\t1 bytes\t1 msgs sent\n",
        "line 3", "already on line 1"}});
}

}  // namespace
}  // namespace ranktree::io
