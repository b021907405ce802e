// Whole files: errors give the reason, and output is complete or absent.
#include "io/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>

#include "core/base/error.h"
#include "formats.h"
#include "io/pattern_file.h"

namespace ranktree::io {
namespace {

using test::refusal;

class File : public ::testing::Test {
 protected:
  File() {
    std::string name = (std::filesystem::temp_directory_path() / "ranktree-XXXXXX").string();
    folder = ::mkdtemp(name.data());
  }
  ~File() override { std::filesystem::remove_all(folder); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  File(File&&) = delete;
  File& operator=(File&&) = delete;
  [[nodiscard]] std::ptrdiff_t file_count() const {
    return std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
  }

  std::string folder;
};

TEST_F(File, ComesBackAsWritten) {
  const std::string bytes("a\0b\nc", 5);
  write_file_atomically(folder + "/a", bytes);
  EXPECT_EQ(read_file(folder + "/a"), bytes);
  write_file_atomically(folder + "/a", "");
  EXPECT_EQ(read_file(folder + "/a"), "");
  EXPECT_EQ(file_count(), 1);
}

TEST_F(File, ReadingReportsTheReason) {
  EXPECT_EQ(refusal([&] { read_file(folder + "/none"); }), folder + "/none: cannot open: No such file or directory");
  EXPECT_EQ(refusal([&] { read_file(folder); }), folder + ": expected a regular file, found a folder");
  ASSERT_EQ(::mkfifo((folder + "/pipe").c_str(), 0600), 0);
  EXPECT_NE(refusal([&] { read_file(folder + "/pipe"); }).find("found a device, pipe or socket"), std::string::npos);
}

TEST_F(File, WritingReportsTheReasonAndLeavesNothing) {
  EXPECT_EQ(refusal([&] { write_file_atomically(folder + "/none/a", "x"); }),
            folder + "/none/a: cannot write: No such file or directory");
  EXPECT_NE(refusal([&] { write_file_atomically(folder, "x"); }).find("not a regular file"), std::string::npos);
  EXPECT_NE(refusal([&] { write_file_atomically("/dev/full", "x"); }).find("not a regular file"), std::string::npos);
  EXPECT_EQ(file_count(), 0);
}

// "-o /dev/stdout > file" as root replaced /dev/stdout, since what it leads to is a regular file.
TEST_F(File, NamesOfOpenFilesAreNotReplaced) {
  const std::string link = folder + "/stdout";
  write_file_atomically(folder + "/a", "old");
  const int file = ::open((folder + "/a").c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(::symlink(("/proc/self/fd/" + std::to_string(file)).c_str(), link.c_str()), 0);
  EXPECT_NE(refusal([&] { write_file_atomically(link, "new"); }).find("not a regular file"), std::string::npos);
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(read_file(folder + "/a"), "old");
  ::close(file);
}

TEST_F(File, SeveralAreWrittenTogetherOrNotAtAll) {
  write_file_atomically(folder + "/a", "old");
  EXPECT_NE(
      refusal([&] { write_files_atomically({{folder + "/a", "new"}, {folder + "/none/b", "new"}}); }).find("none/b"),
      std::string::npos);
  EXPECT_EQ(read_file(folder + "/a"), "old");
  EXPECT_EQ(file_count(), 1);
  write_files_atomically({{folder + "/a", "new"}, {folder + "/b", "new"}});
  EXPECT_EQ(read_file(folder + "/a") + read_file(folder + "/b"), "newnew");
}

TEST_F(File, PatternsOfUnknownFormatAreRefusedByName) {
  write_file_atomically(folder + "/a.xyz", "x");
  EXPECT_NE(refusal([&] { load_pattern(folder + "/a.xyz"); }).find("a.xyz: unknown extension"), std::string::npos);
  EXPECT_NE(refusal([&] { load_pattern(folder + "/a.npz"); }).find("a.npz: cannot open"), std::string::npos);
  EXPECT_NE(refusal([&] { load_pattern(folder + "/a", PatternFormat::kMonitoring); }).find("a.RANK.prof"),
            std::string::npos);
  EXPECT_NE(refusal([&] { load_pattern(folder, PatternFormat::kMonitoring); }).find("found a folder"),
            std::string::npos);
}

}  // namespace
}  // namespace ranktree::io
