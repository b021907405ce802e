// Lines and words of a text file; every error names the file and the line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/pattern/pattern.h"

namespace ranktree::io {

class TextReader {
 public:
  TextReader(std::string_view text, std::string origin) : rest_(text), text_(text), origin_(std::move(origin)) {}

  // Moves to the next line; false at the end of the file. Both "\n" and "\r\n" end a line.
  bool next_line();
  // The next line that is neither blank nor begins with one of `comment`.
  bool next_data_line(std::string_view comment);
  // As next_data_line; at the end of the file it throws "the file ends, expected <what>".
  void need_data_line(std::string_view comment, const char* what);

  [[nodiscard]] std::string_view line() const { return line_; }  // the rest of the current line
  [[nodiscard]] std::size_t line_number() const { return number_; }
  [[nodiscard]] std::size_t file_size() const { return text_.size(); }
  [[nodiscard]] const std::string& origin() const { return origin_; }

  // Skips blanks; true at the end of the line.
  bool at_line_end();
  // The next word, empty at the end of the line. Words are separated by blanks, and by `separator` where it is not a
  // blank.
  std::string_view word(char separator = ' ');
  // The next word as a number in low..high. `what` names it in errors.
  std::int64_t integer(const char* what, std::int64_t low, std::int64_t high);
  // The next word as an amount of traffic: a finite number in 0..2^53.
  double amount(const char* what);
  // Skips `separator` and blanks around it; refuses anything else. A blank separator needs no step.
  void step_over(char separator, std::string_view what);
  // Refuses anything left on the line.
  void expect_line_end();

  [[noreturn]] void refuse(const std::string& text) const;  // "<origin>: line <n>: <text>"
  [[noreturn]] void refuse_at(std::size_t line, const std::string& text) const;

 private:
  [[noreturn]] void refuse_word(const char* what, const std::string& expected);

  std::string_view rest_;  // the text after the current line
  std::string_view line_;
  std::string_view text_;
  std::size_t number_ = 0;
  std::string origin_;
};

// Refuses a number of ranks that is implausible for the size of the file: memory for the rows is allocated only when
// the file has about as many bytes. A lower bound lets small files describe machines of a million ranks.
void check_declared_ranks(std::int64_t ranks, std::size_t file_size, const std::string& place);

// Collects the entries of a text file in any order, then builds the pattern. Errors name the lines of duplicate
// entries.
class EntryList {
 public:
  void reserve(std::size_t entries) { entries_.reserve(entries), lines_.reserve(entries); }
  void add(const core::pattern::Entry& entry, std::size_t line) { entries_.push_back(entry), lines_.push_back(line); }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  // O(entries) when they are already sorted by (from, to, class), O(entries log entries) otherwise.
  [[nodiscard]] core::pattern::Pattern build(core::pattern::Rank ranks, const TextReader& file) const;

 private:
  std::vector<core::pattern::Entry> entries_;
  std::vector<std::size_t> lines_;
};

// Appends a number: whole numbers as such, others with the fewest digits that read back the same double.
void append_number(std::string& text, double value);
void append_number(std::string& text, std::int64_t value);
// The same as a text, for messages.
std::string number_text(double value);

// A word as a POSIX shell reads it back: in single quotes where a letter has a meaning.
std::string shell_word(const std::string& word);

inline constexpr double kLargestExact = 9007199254740992.0;  // 2^53
bool is_whole(double value);

}  // namespace ranktree::io
