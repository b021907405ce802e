// The container, and the native pattern format inside it.
#include "io/npz.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/pattern/pattern.h"
#include "formats.h"
#include "io/pattern_formats.h"
#include "io/zip_format.h"

namespace ranktree::io {
namespace {

using test::refusal;

// Builds zip files by hand, so that any field can be wrong.
struct Member {
  std::string name;
  std::string bytes;  // as stored
  std::uint32_t crc = 0;
  std::uint64_t size = 0;  // unpacked
  std::uint16_t method = 0;
  std::uint16_t flags = 0;
};

Member stored(const std::string& name, const std::string& bytes) {
  const auto crc = static_cast<std::uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
  return {name, bytes, crc, bytes.size(), 0, 0};
}

std::string zip_of(const std::vector<Member>& members) {
  std::string file;
  std::string directory;
  for (const Member& member : members) {
    const auto offset = static_cast<std::uint32_t>(file.size());
    const auto common = [&](std::string& record) {
      zip::append(record, std::uint16_t{20});
      zip::append(record, member.flags);
      zip::append(record, member.method);
      zip::append(record, std::uint32_t{0});
      zip::append(record, member.crc);
      zip::append(record, static_cast<std::uint32_t>(member.bytes.size()));
      zip::append(record, static_cast<std::uint32_t>(member.size));
      zip::append(record, static_cast<std::uint16_t>(member.name.size()));
      zip::append(record, std::uint16_t{0});
    };
    zip::append(file, zip::kLocalHeader);
    common(file);
    file += member.name + member.bytes;
    zip::append(directory, zip::kCentralHeader);
    zip::append(directory, std::uint16_t{20});
    common(directory);
    directory.append(10, '\0');
    zip::append(directory, offset);
    directory += member.name;
  }
  const auto offset = static_cast<std::uint32_t>(file.size());
  file += directory;
  zip::append(file, zip::kEnd);
  zip::append(file, std::uint32_t{0});
  for (int i = 0; i < 2; ++i) zip::append(file, static_cast<std::uint16_t>(members.size()));
  zip::append(file, static_cast<std::uint32_t>(directory.size()));
  zip::append(file, offset);
  zip::append(file, std::uint16_t{0});
  return file;
}

std::string npy(const std::string& literal, const std::string& data) {
  std::string text("\x93NUMPY\x01\x00", 8);
  zip::append(text, static_cast<std::uint16_t>(literal.size()));
  return text + literal + data;
}

template <typename Item>
std::string npy_of(const std::string& type, const std::vector<Item>& items) {
  return npy("{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + std::to_string(items.size()) + ",), }\n",
             {reinterpret_cast<const char*>(items.data()), items.size() * sizeof(Item)});
}

TEST(Npz, ReadsWhatItWrites) {
  for (const auto zip64 : {NpzWriter::Zip64::kWhereNeeded, NpzWriter::Zip64::kAlways}) {
    NpzWriter writer(zip64);
    const std::vector<std::int64_t> longs{-1, 0, std::int64_t{1} << 62};
    const std::vector<std::int32_t> ints{-7, 7};
    writer.add("longs", longs);
    writer.add("ints", ints);
    writer.add("none", std::span<const std::int32_t>());
    writer.add_numbers("whole", std::vector<double>{1, 2, 9007199254740992.0});
    writer.add_numbers("fractions", std::vector<double>{1, 2.5});
    writer.add_again("again");
    writer.add_text("text", "\xc3\xa9");
    const std::string bytes = std::move(writer).finish();
    const NpzReader reader(bytes, "f");
    EXPECT_EQ(reader.int64s("longs", 3), longs);
    EXPECT_EQ(reader.int32s("ints", 2), ints);
    EXPECT_EQ(reader.count("none"), 0U);
    EXPECT_EQ(reader.doubles("whole", 3), (std::vector<double>{1, 2, 9007199254740992.0}));
    EXPECT_EQ(reader.int64s("whole", 3), (std::vector<std::int64_t>{1, 2, 9007199254740992}));
    EXPECT_EQ(reader.doubles("fractions", 2), (std::vector<double>{1, 2.5}));
    EXPECT_EQ(reader.doubles("again", 2), (std::vector<double>{1, 2.5}));
    EXPECT_TRUE(reader.same("fractions", "again"));
    EXPECT_FALSE(reader.same("fractions", "whole"));
    EXPECT_EQ(reader.text("text"), "\xc3\xa9");
    EXPECT_FALSE(reader.has("other"));
  }
}

TEST(Npz, ConvertsNumbersOfOtherTypesAndByteOrder) {
  const std::string bytes = zip_of(
      {stored("big.npy",
              npy("{'shape': (2,), 'fortran_order': True, 'descr': '>i4'}", {"\0\0\1\0\xff\xff\xff\xfe", 8})),
       stored("bytes.npy", npy_of<std::uint8_t>("|u1", {0, 255})), stored("floats.npy", npy_of<float>("<f4", {0.5F})),
       stored("text.npy", npy("{'descr': '<U3', 'fortran_order': False, 'shape': (), }\n",
                              {"a\0\0\0\xe9\0\0\0\xac\x20\0\0", 12}))});
  const NpzReader reader(bytes, "f");
  EXPECT_EQ(reader.int32s("big", 2), (std::vector<std::int32_t>{256, -2}));
  EXPECT_EQ(reader.doubles("bytes", 2), (std::vector<double>{0, 255}));
  EXPECT_EQ(reader.doubles("floats", 1), std::vector<double>{0.5});
  EXPECT_EQ(reader.text("text"), "a\xc3\xa9\xe2\x82\xac");
}

TEST(Npz, RefusesValuesThatDoNotFit) {
  const std::string bytes = zip_of({stored("a.npy", npy_of<std::int64_t>("<i8", {1, std::int64_t{1} << 31})),
                                    stored("b.npy", npy_of<std::int64_t>("<i8", {(std::int64_t{1} << 53) + 1})),
                                    stored("c.npy", npy_of<std::uint64_t>("<u8", {~std::uint64_t{0}}))});
  const NpzReader reader(bytes, "f");
  EXPECT_EQ(refusal([&] { (void)reader.int32s("a", 2); }), "f: array 'a': [1]: 2147483648 is out of range");
  EXPECT_EQ(refusal([&] { (void)reader.doubles("b", 1); }), "f: array 'b': [0]: 9007199254740993 is out of range");
  EXPECT_NE(refusal([&] { (void)reader.int64s("c", 1); }).find("out of range"), std::string::npos);
}

TEST(Npz, RefusesZipsThatAreDamaged) {
  const auto open = [](const std::string& bytes) {
    return refusal([&] { (void)NpzReader(bytes, "f").int64s("a", 2); });
  };
  const Member good = stored("a.npy", npy_of<std::int64_t>("<i8", {5, 6}));
  const std::string file = zip_of({good});
  EXPECT_EQ(open(file), "accepted");
  EXPECT_EQ(open(""), "f: the file is empty");
  EXPECT_EQ(open("%%MatrixMarket"), "f: expected an .npz file (a zip, beginning with 'PK')");
  EXPECT_EQ(open("PK"), "f: zip end record: missing, the file is truncated");
  for (std::size_t size = 2; size < file.size(); ++size) {
    EXPECT_EQ(open(file.substr(0, size)), "f: zip end record: missing, the file is truncated") << size;
  }
  EXPECT_NE(open(zip_of({good, good})).find("is in the file twice"), std::string::npos);
  EXPECT_EQ(open(zip_of({stored("b.npy", good.bytes)})), "f: array 'a': missing");

  const auto changed = [&](const std::function<void(Member&)>& change) {
    Member member = good;
    change(member);
    return open(zip_of({member}));
  };
  EXPECT_NE(changed([](Member& m) { m.crc ^= 1U; }).find("checksum (CRC-32)"), std::string::npos);
  EXPECT_NE(changed([](Member& m) { m.flags = 1; }).find("encrypted"), std::string::npos);
  EXPECT_NE(changed([](Member& m) { m.method = 12; }).find("expected method stored or deflated, found 12"),
            std::string::npos);
  EXPECT_NE(changed([](Member& m) { m.method = zip::kDeflated; }).find("array 'a'"), std::string::npos);
  EXPECT_NE(changed([](Member& m) { m.size = 4'000'000'000; }).find("declares 4000000000 bytes, impossible"),
            std::string::npos);
  std::string overlapping = file;  // the entry's offset points into the directory
  overlapping[overlapping.size() - zip::kEndSize - good.name.size() - 4] = 60;
  EXPECT_NE(open(overlapping).find("overlaps"), std::string::npos);
}

TEST(Npz, RefusesAZipBomb) {
  // 1000 zeros a byte: the densest that deflate can be is declared for very few bytes.
  Member bomb = stored("a.npy", npy_of<std::int64_t>("<i8", {5, 6}));
  bomb.method = zip::kDeflated;
  bomb.size = bomb.bytes.size() * 2000;
  EXPECT_NE(refusal([&] { (void)NpzReader(zip_of({bomb}), "f").int64s("a", 2); }).find("impossible"),
            std::string::npos);
}

TEST(Npz, RefusesArraysThatAreNotWhatIsExpected) {
  const auto with = [](const std::string& array) {
    return refusal([&] { (void)NpzReader(zip_of({stored("a.npy", array)}), "f").int64s("a", 2); });
  };
  const std::string data(16, '\1');
  const auto header = [&](const std::string& type, const std::string& order, const std::string& shape) {
    return with(npy("{'descr': " + type + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }\n", data));
  };
  EXPECT_EQ(header("'<i8'", "False", "(2,)"), "accepted");
  EXPECT_EQ(header("'<i8'", "True", "(2,)"), "accepted");
  EXPECT_NE(header("'<f8'", "False", "(2,)").find("expected integers, found type 'f8'"), std::string::npos);
  EXPECT_NE(header("'<c16'", "False", "(1,)").find("found type '<c16'"), std::string::npos);
  EXPECT_NE(header("'|O'", "False", "(2,)").find("found type '|O'"), std::string::npos);
  EXPECT_NE(header("[('a', '<i8')]", "False", "(2,)").find("integers"), std::string::npos);
  EXPECT_NE(header("'<i8'", "True", "(2, 1)").find("one dimension, found 2"), std::string::npos);
  EXPECT_NE(header("'<i8'", "False", "(3,)").find("declares 3 items of 8 bytes, but holds 16 bytes"),
            std::string::npos);
  EXPECT_NE(header("'<i8'", "False", "(2147483648,)").find("declares 2147483648 items"), std::string::npos);
  EXPECT_NE(header("'<i8'", "False", "(18446744073709551615,)").find("declares"), std::string::npos);
  EXPECT_NE(header("'<i8'", "False", "(-2,)").find("shape"), std::string::npos);
  EXPECT_NE(header("'<i4'", "False", "(4,)").find("expected 2 items, found 4"), std::string::npos);
  EXPECT_NE(header("'<i8'", "Maybe", "(2,)").find("True or False"), std::string::npos);
  EXPECT_NE(with(npy("{'descr': '<i8', 'shape': (2,)}", data)).find("lacks"), std::string::npos);
  EXPECT_NE(with(npy("{'descr': '<i8'", data)).find("damaged"), std::string::npos);
  EXPECT_NE(with("NUMPY and no more").find("expected a .npy array"), std::string::npos);
  EXPECT_NE(with(std::string("\x93NUMPY\x09\x00\x02\x00{}xxxx", 16)).find("version"), std::string::npos);
}

// --- patterns

using Arrays = std::map<std::string, std::string>;

Arrays good_arrays() {
  return {{"indptr", npy_of<std::int64_t>("<i8", {0, 2, 2, 3})},
          {"indices", npy_of<std::int32_t>("<i4", {1, 2, 0})},
          {"messages", npy_of<std::int64_t>("<i8", {1, 2, 3})},
          {"bytes", npy_of<double>("<f8", {10, 20, 30})}};
}

std::string pattern_refusal(const Arrays& changes) {
  Arrays arrays = good_arrays();
  for (const auto& [name, bytes] : changes) arrays[name] = bytes;
  std::vector<Member> members;
  for (const auto& [name, bytes] : arrays) {
    if (!bytes.empty()) members.push_back(stored(name + ".npy", bytes));
  }
  return refusal([&] { read_pattern_npz(zip_of(members), "f.npz"); });
}

std::string metadata(const std::string& json) { return npy_of<char>("|u1", {json.begin(), json.end()}); }

TEST(PatternNpz, ReadsPlainArraysAsPointToPoint) {
  std::vector<Member> members;
  for (const auto& [name, bytes] : good_arrays()) members.push_back(stored(name + ".npy", bytes));
  const core::pattern::Pattern pattern = read_pattern_npz(zip_of(members), "f.npz");
  EXPECT_EQ(pattern.ranks, 3);
  EXPECT_EQ(pattern.of(core::pattern::Class::kPointToPoint).bytes, (std::vector<double>{10, 20, 30}));
}

struct BadArrays {
  const char* what;
  Arrays changes;
  const char* expected;
};

void expect_refused(const std::vector<BadArrays>& cases) {
  for (const auto& [what, changes, expected] : cases) {
    const std::string text = pattern_refusal(changes);
    EXPECT_NE(text.find(expected), std::string::npos) << what << ": " << text;
  }
}

std::string longs(const std::vector<std::int64_t>& values) { return npy_of<std::int64_t>("<i8", values); }
std::string ints(const std::vector<std::int32_t>& values) { return npy_of<std::int32_t>("<i4", values); }
std::string doubles(const std::vector<double>& values) { return npy_of<double>("<f8", values); }

TEST(PatternNpz, RefusesBadPairs) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  expect_refused(
      {{"nothing", {}, "accepted"},
       {"no indptr", {{"indptr", ""}}, "array 'indptr': missing"},
       {"no amounts", {{"bytes", ""}, {"messages", ""}}, "neither array 'messages' nor 'bytes'"},
       {"0 ranks", {{"indptr", longs({0})}}, "at least 1 rank, found 0"},
       {"offsets fall", {{"indptr", longs({0, 2, 1, 3})}}, "indptr[2]"},
       {"offsets begin late", {{"indptr", longs({1, 2, 2, 3})}}, "indptr[0]"},
       {"offsets end negative", {{"indptr", longs({0, 2, 2, -3})}}, "negative"},
       {"2^31 entries", {{"indptr", longs({0, 2, 2, std::int64_t{1} << 31})}}, "expected 2147483648 items, found 3"},
       {"index beyond", {{"indices", ints({1, 3, 0})}}, "indices[1]: expected a rank in 0..2, found 3"},
       {"negative index", {{"indices", ints({-1, 2, 0})}}, "indices[0]"},
       {"duplicate", {{"indices", ints({1, 1, 0})}}, "indices[1]: receivers of rank 0 must ascend without duplicates"},
       {"unsorted", {{"indices", ints({2, 1, 0})}}, "indices[1]"},
       {"short", {{"bytes", doubles({1, 2})}}, "array 'bytes': expected 3 items, found 2"},
       {"negative", {{"bytes", doubles({1, 2, -3})}}, "bytes[2]: expected a number in 0..2^53"},
       {"NaN", {{"bytes", doubles({1, nan, 3})}}, "bytes[1]"},
       {"infinite", {{"messages", doubles({1, 2, 1 / 0.0})}}, "messages[2]"},
       {"beyond 2^53", {{"bytes", doubles({1e16, 2, 3})}}, "bytes[0]"},
       {"classes differ",
        {{"p2p_bytes", doubles({10, 20, 31})}, {"p2p_messages", longs({1, 2, 3})}},
        "bytes[2]: the classes add up to 31, found 30"}});
}

TEST(PatternNpz, RefusesBadMetadata) {
  expect_refused({{"not JSON", {{"metadata", metadata("{")}}, "metadata: line 1: expected JSON"},
                  {"other format",
                   {{"metadata", metadata(R"({"format":"x"})")}},
                   "metadata: expected \"format\": \"ranktree-pattern\""},
                  {"other version",
                   {{"metadata", metadata(R"({"format":"ranktree-pattern","version":2})")}},
                   "expected version 1, found 2"},
                  {"version beyond 32 bits",
                   {{"metadata", metadata(R"({"format":"ranktree-pattern","version":4294967297})")}},
                   "expected version 1, found 4294967297"},
                  {"version with a fraction",
                   {{"metadata", metadata(R"({"format":"ranktree-pattern","version":1.9})")}},
                   "field 'version': expected a whole number"},
                  {"a field twice",
                   {{"metadata", metadata(R"({"format":"ranktree-pattern","version":1,"version":1})")}},
                   "version"},
                  {"missing rank beyond 32 bits",
                   {{"metadata", metadata(R"({"format":"ranktree-pattern","version":1,"missing":[4294967297]})")}},
                   "missing: rank -1"},
                  {"other ranks",
                   {{"metadata", metadata(R"({"format":"ranktree-pattern","version":1,"ranks":4})")}},
                   "declares 4 ranks"},
                  {"wrong type",
                   {{"metadata", metadata(R"({"format":"ranktree-pattern","version":1,"hosts":"a"})")}},
                   "field 'hosts' has the wrong type"},
                  {"hosts",
                   {{"metadata", metadata(R"({"format":"ranktree-pattern","version":1,"hosts":["a"]})")}},
                   "hosts: expected one for each of 3 ranks"},
                  {"missing rank",
                   {{"metadata", metadata(R"({"format":"ranktree-pattern","version":1,"missing":[3]})")}},
                   "missing: rank 3"}});
}

TEST(PatternNpz, RefusesBadCommunicatorsAndCalls) {
  expect_refused({{"communicators",
                   {{"communicator_indptr", longs({0, 4})}, {"communicator_members", ints({0, 1, 2})}},
                   "communicator_indptr[1]"},
                  {"calls",
                   {{"call_communicator", ints({0})},
                    {"call_operation", ints({0})},
                    {"call_root", ints({-1})},
                    {"call_bucket", ints({0})},
                    {"call_count", longs({1})},
                    {"call_bytes", longs({0})}},
                   "communicator 0 is not listed"},
                  {"operation",
                   {{"call_communicator", ints({0})},
                    {"call_operation", ints({99})},
                    {"call_root", ints({-1})},
                    {"call_bucket", ints({0})},
                    {"call_count", longs({1})},
                    {"call_bytes", longs({0})}},
                   "call_operation[0]: expected 0..12, found 99"}});
}

TEST(PatternNpz, KeepsSumsOfAllRanksAbove2To53) {
  core::pattern::Pattern pattern = test::full_pattern();
  ASSERT_FALSE(pattern.collectives.empty());
  pattern.collectives[0].bytes = 1e17;
  pattern.sent = {
      {.communicator = 0, .call = core::pattern::SendCall::kSend, .bucket = 40, .messages = 4, .bytes = 3e18}};
  const core::pattern::Pattern again = read_pattern_npz(write_pattern_npz(pattern), "f");
  EXPECT_EQ(again.collectives[0].bytes, 1e17);
  EXPECT_EQ(again.sent[0].bytes, 3e18);
  pattern.sent[0].bytes = 1e26;
  EXPECT_THROW(core::pattern::validate(pattern, "f"), core::Error);
}

TEST(PatternNpz, KeepsPhases) {
  const core::pattern::Pattern pattern = read_pattern_npz(write_pattern_npz(test::full_pattern()), "f");
  ASSERT_TRUE(pattern.phased);
  ASSERT_EQ(pattern.phases.size(), 2U);
  EXPECT_EQ(pattern.phases[0].name, "before MPI_Barrier");
  EXPECT_EQ(pattern.phases[0].count, 3);
  EXPECT_EQ(pattern.phases[0].pairs, (std::vector<std::int64_t>{0, 2}));
  EXPECT_EQ(pattern.phases[0].traffic.bytes, (std::vector<double>{0, 8}));
  EXPECT_EQ(pattern.phases[1].traffic.messages, (std::vector<double>{0.5}));
  core::pattern::Pattern without = test::full_pattern();
  without.phases.clear();
  EXPECT_TRUE(read_pattern_npz(write_pattern_npz(without), "f").phased);
  without.phased = false;
  EXPECT_FALSE(read_pattern_npz(write_pattern_npz(without), "f").phased);
}

TEST(PatternNpz, RefusesBadPhases) {
  const auto with = [](const std::vector<std::int64_t>& indptr, const std::vector<std::int64_t>& pairs) {
    return Arrays{{"phase_indptr", longs(indptr)},
                  {"phase_pairs", longs(pairs)},
                  {"phase_messages", longs(std::vector<std::int64_t>(pairs.size(), 1))},
                  {"phase_bytes", longs(std::vector<std::int64_t>(pairs.size(), 1))},
                  {"phase_count", longs(std::vector<std::int64_t>(indptr.size() - 1, 1))}};
  };
  expect_refused({{"offsets", with({0, 3}, {0, 1}), "phase_indptr[1]"},
                  {"pair out of range", with({0, 1}, {99}), "phase 0: expected ascending pairs below"},
                  {"pair twice", with({0, 2}, {1, 1}), "phase 0: expected ascending pairs below"},
                  {"too many", with(std::vector<std::int64_t>(65, 0), {}), "phases: expected at most 63, found 64"}});
}

// Any damage is refused or harmless.
TEST(PatternNpz, EveryTruncationAndFlippedByteIsHandled) {
  const std::string good = write_pattern_npz(test::full_pattern());
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_NE(refusal([&] { read_pattern_npz(good.substr(0, size), "f"); }), "accepted") << size;
  }
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string damaged = good;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x5a);
    refusal([&] { read_pattern_npz(damaged, "f"); });
  }
}

}  // namespace
}  // namespace ranktree::io
