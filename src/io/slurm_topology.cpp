// Slurm's topology.conf for topology/tree and topology/block: topology.conf(5), and the syntax of slurm.conf(5).
#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/topo/machine.h"
#include "io/hostlist.h"
#include "io/network_formats.h"
#include "io/network_tree.h"
#include "io/text.h"

namespace ranktree::io {
namespace {

using core::topo::NetworkPart;

bool is_blank(char letter) { return letter == ' ' || letter == '\t' || letter == '\v' || letter == '\f'; }

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](char letter) { return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + 32) : letter; });
  return result;
}

struct Setting {
  std::string key;  // in small letters
  std::string value;
};

// The settings of one line, with the lines that continue it.
struct Statement {
  std::size_t line = 0;
  std::vector<Setting> settings;

  [[nodiscard]] const std::string* find(std::string_view key) const {
    const auto found =
        std::find_if(settings.begin(), settings.end(), [&](const Setting& each) { return each.key == key; });
    return found == settings.end() ? nullptr : &found->value;
  }
};

// Takes key=value words from a line; values may be quoted, blanks may surround "=".
class SettingReader {
 public:
  SettingReader(std::string_view text, LinePlace place) : text_(text), place_(std::move(place)) {}

  std::vector<Setting> read() {
    std::vector<Setting> settings;
    for (skip_blanks(); !text_.empty(); skip_blanks()) settings.push_back(setting());
    return settings;
  }

 private:
  Setting setting() {
    const std::string_view whole = text_;
    const std::size_t length = std::min(text_.find_first_of("= \t\v\f"), text_.size());
    std::string key = lower(text_.substr(0, length));
    text_.remove_prefix(length);
    skip_blanks();
    if (key.empty() || text_.empty() || text_.front() != '=') place_.expected("keyword=value", whole);
    text_.remove_prefix(1);
    skip_blanks();
    return {key, value(key)};
  }

  std::string value(const std::string& key) {
    const bool is_quoted = !text_.empty() && text_.front() == '"';
    if (is_quoted) text_.remove_prefix(1);
    const std::size_t end = text_.find_first_of(is_quoted ? "\"" : " \t\v\f");
    if (is_quoted && end == std::string_view::npos) place_.expected("a closing '\"'", text_);
    const std::string_view value = text_.substr(0, end);
    if (value.empty()) place_.refuse("expected a value for " + shown(key) + ", found nothing");
    text_.remove_prefix(std::min(text_.size(), value.size() + (is_quoted ? 1 : 0)));
    return std::string(value);
  }

  void skip_blanks() {
    while (!text_.empty() && is_blank(text_.front())) text_.remove_prefix(1);
  }

  std::string_view text_;
  LinePlace place_;
};

class SlurmTopology {
 public:
  SlurmTopology(std::string_view bytes, const std::string& origin) : text_(bytes, origin), tree_(origin) {}

  NetworkPart read() {
    Statement statement;
    while (next(statement)) take(statement);
    return blocks_ ? tree_.build_blocks(sizes_) : tree_.build();
  }

 private:
  [[nodiscard]] LinePlace at(std::size_t line) const { return {text_.origin(), line}; }

  // The next line that has settings: comments removed, continued lines joined.
  bool next(Statement& statement) {
    while (text_.next_line()) {
      statement.line = text_.line_number();
      std::string whole;
      bool more = take_line(whole);
      while (more && text_.next_line()) more = take_line(whole);
      statement.settings = SettingReader(whole, at(statement.line)).read();
      if (!statement.settings.empty()) return true;
    }
    return false;
  }

  // Appends the current line; true when a backslash at its end continues it.
  bool take_line(std::string& whole) {
    const std::string_view line = text_.line().substr(0, text_.line().find('#'));
    const std::size_t last = line.find_last_not_of(" \t\v\f");
    const bool more = last != std::string_view::npos && line[last] == '\\';
    whole += more ? line.substr(0, last) : line;
    return more;
  }

  void take(const Statement& statement) {
    const std::string& kind = statement.settings.front().key;
    if (kind == "ringname") {
      throw core::Error(core::Fault::kUnsupported, text_.origin() + ": line " + std::to_string(statement.line) +
                                                       ": topology/ring is not a tree of switches");
    }
    if (kind == "switchname") {
      take_switch(statement);
    } else if (kind == "blockname") {
      take_block(statement);
    } else if (kind == "blocksizes") {
      take_sizes(statement);
    } else {
      at(statement.line).expected("SwitchName=, BlockName= or BlockSizes=", kind);
    }
  }

  // A file has either switches or blocks.
  void expect_sort(bool blocks, const Statement& statement) {
    if (!tree_.empty() && blocks != blocks_) {
      at(statement.line).refuse("expected either switches or blocks in one file, found both");
    }
    blocks_ = blocks;
  }

  void take_switch(const Statement& statement) {
    expect_sort(false, statement);
    check_keys(statement, {"switchname", "switches", "nodes", "linkspeed"});
    const std::size_t index = tree_.add(single_name(statement), statement.line);
    if (const std::string* list = statement.find("switches")) tree_.put_switches(index, *list, statement.line);
    if (const std::string* list = statement.find("nodes")) tree_.put_hosts(index, *list, statement.line);
  }

  void take_block(const Statement& statement) {
    expect_sort(true, statement);
    check_keys(statement, {"blockname", "nodes"});
    const std::size_t index = tree_.add(single_name(statement), statement.line);
    if (const std::string* list = statement.find("nodes")) tree_.put_hosts(index, *list, statement.line);
  }

  void take_sizes(const Statement& statement) {
    expect_sort(true, statement);
    check_keys(statement, {"blocksizes"});
    const std::string_view text = statement.settings.front().value;
    if (!sizes_.empty()) at(statement.line).expected("BlockSizes= once", text);
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      std::int64_t size = 0;
      const auto [stop, error] = std::from_chars(text.data() + begin, text.data() + end, size);
      if (error != std::errc() || stop != text.data() + end) at(statement.line).expected("sizes like 4,8,16", text);
      sizes_.push_back(size);
      begin = end + 1;
    }
    check_block_sizes(sizes_, at(statement.line));
  }

  void check_keys(const Statement& statement, const std::vector<std::string_view>& known) const {
    for (std::size_t i = 0; i < statement.settings.size(); ++i) {
      const std::string& key = statement.settings[i].key;
      if (std::find(known.begin(), known.end(), key) == known.end()) {
        at(statement.line).expected("a keyword that topology.conf(5) has here", key);
      }
      if (statement.find(key) != &statement.settings[i].value) at(statement.line).expected("each keyword once", key);
    }
  }

  // Slurm takes the name of a switch or block literally; no other line could refer to one with brackets.
  [[nodiscard]] std::string single_name(const Statement& statement) const {
    const std::string& name = statement.settings.front().value;
    const std::vector<std::string> names = expand_hostlist(name, at(statement.line));
    if (names.size() != 1 || names.front() != name) at(statement.line).expected("one name", name);
    return name;
  }

  TextReader text_;
  SwitchTree tree_;
  bool blocks_ = false;
  std::vector<std::int64_t> sizes_;
};

}  // namespace

NetworkPart read_slurm_topology(std::string_view bytes, const std::string& origin) {
  return SlurmTopology(bytes, origin).read();
}

}  // namespace ranktree::io
