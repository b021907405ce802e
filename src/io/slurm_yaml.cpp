// Slurm's topology.yaml: topology.yaml(5). YAML itself is libyaml's.
#include <yaml.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
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

namespace ranktree::io {
namespace {

using core::topo::NetworkPart;

// libyaml's reader of a text.
class YamlParser {
 public:
  YamlParser(std::string_view bytes, std::string origin) : origin_(std::move(origin)) {
    if (yaml_parser_initialize(&parser_) == 0) {
      throw core::Error(core::Fault::kSystem, origin_ + ": no memory for YAML");
    }
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  }
  YamlParser(const YamlParser&) = delete;
  YamlParser(YamlParser&&) = delete;
  YamlParser& operator=(const YamlParser&) = delete;
  YamlParser& operator=(YamlParser&&) = delete;
  ~YamlParser() { yaml_parser_delete(&parser_); }

  void load(yaml_document_t* document) {
    if (yaml_parser_load(&parser_, document) == 0) refuse();
  }

  // Refuses deeply nested lists: libyaml takes time that grows with the square of their depth.
  void check_depth() {
    int depth = 0;
    yaml_event_type_t type = YAML_NO_EVENT;
    while (type != YAML_DOCUMENT_END_EVENT && type != YAML_STREAM_END_EVENT) {
      yaml_event_t event;
      if (yaml_parser_parse(&parser_, &event) == 0) refuse();
      type = event.type;
      const std::size_t line = event.start_mark.line + 1;
      yaml_event_delete(&event);
      if (type == YAML_SEQUENCE_START_EVENT || type == YAML_MAPPING_START_EVENT) ++depth;
      if (type == YAML_SEQUENCE_END_EVENT || type == YAML_MAPPING_END_EVENT) --depth;
      if (depth > kMaxDepth) LinePlace{origin_, line}.refuse("expected topologies, found lists in lists too deep");
    }
  }

 private:
  static constexpr int kMaxDepth = 32;  // topologies need 7

  [[noreturn]] void refuse() const {
    const std::string problem = parser_.problem == nullptr ? "something else" : parser_.problem;
    LinePlace{origin_, parser_.problem_mark.line + 1}.refuse("expected YAML, found: " + problem);
  }

  yaml_parser_t parser_{};
  std::string origin_;
};

// The first document of a text.
class YamlDocument {
 public:
  YamlDocument(std::string_view bytes, const std::string& origin) {
    YamlParser(bytes, origin).check_depth();
    YamlParser(bytes, origin).load(&document_);
  }
  YamlDocument(const YamlDocument&) = delete;
  YamlDocument(YamlDocument&&) = delete;
  YamlDocument& operator=(const YamlDocument&) = delete;
  YamlDocument& operator=(YamlDocument&&) = delete;
  ~YamlDocument() { yaml_document_delete(&document_); }

  [[nodiscard]] yaml_document_t* get() const { return &document_; }

 private:
  mutable yaml_document_t document_{};  // libyaml's accessors take no const document
};

// A value of the document, with its line.
class YamlPlace {
 public:
  YamlPlace(yaml_document_t* document, const yaml_node_t* node, std::string origin)
      : document_(document), node_(node), origin_(std::move(origin)) {}

  [[nodiscard]] std::size_t line() const { return node_->start_mark.line + 1; }
  [[nodiscard]] LinePlace place() const { return {origin_, line()}; }
  [[nodiscard]] bool is_mapping() const { return node_->type == YAML_MAPPING_NODE; }
  [[nodiscard]] bool is_list() const { return node_->type == YAML_SEQUENCE_NODE; }

  [[nodiscard]] std::vector<YamlPlace> list(const std::string& what) const {
    if (!is_list()) place().expected(what, kind());
    std::vector<YamlPlace> items;
    for (const yaml_node_item_t* item = node_->data.sequence.items.start; item < node_->data.sequence.items.top;
         ++item) {
      items.push_back(at(*item));
    }
    return items;
  }

  [[nodiscard]] std::string text(const std::string& what) const {
    if (node_->type != YAML_SCALAR_NODE) place().expected(what, kind());
    return {reinterpret_cast<const char*>(node_->data.scalar.value), node_->data.scalar.length};
  }

  [[nodiscard]] bool truth() const {
    std::string word = text("true or false");
    for (char& letter : word) letter = letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + 32) : letter;
    if (word == "true" || word == "yes" || word == "on") return true;
    if (word != "false" && word != "no" && word != "off") place().expected("true or false", word);
    return false;
  }

  [[nodiscard]] std::int64_t integer() const {
    const std::string word = text("a number");
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc() || end != word.data() + word.size()) place().expected("a number", word);
    return number;
  }

  // The value of a key, if the mapping has it.
  [[nodiscard]] std::optional<YamlPlace> find(std::string_view key) const {
    for (const auto& [name, value] : fields()) {
      if (name == key) return value;
    }
    return std::nullopt;
  }

  [[nodiscard]] YamlPlace field(const std::string& key) const {
    std::optional<YamlPlace> value = find(key);
    if (!value) place().refuse("expected the key '" + key + "', found a mapping without it");
    return *value;
  }

  // Refuses unknown keys, which may be misspelt, and keys given twice.
  void check_keys(const std::vector<std::string_view>& known) const {
    std::vector<std::string> seen;
    for (const auto& [name, value] : fields()) {
      if (std::find(known.begin(), known.end(), name) == known.end()) {
        value.place().expected("a key that topology.yaml(5) has here", name);
      }
      if (std::find(seen.begin(), seen.end(), name) != seen.end()) value.place().expected("each key once", name);
      seen.push_back(name);
    }
  }

 private:
  [[nodiscard]] YamlPlace at(int index) const { return {document_, yaml_document_get_node(document_, index), origin_}; }

  [[nodiscard]] std::vector<std::pair<std::string, YamlPlace>> fields() const {
    if (node_->type != YAML_MAPPING_NODE) place().expected("keys and values", kind());
    std::vector<std::pair<std::string, YamlPlace>> all;
    for (const yaml_node_pair_t* pair = node_->data.mapping.pairs.start; pair < node_->data.mapping.pairs.top; ++pair) {
      all.emplace_back(at(pair->key).text("a key"), at(pair->value));
    }
    return all;
  }

  [[nodiscard]] std::string kind() const {
    if (node_->type == YAML_MAPPING_NODE) return "keys and values";
    return is_list() ? "a list" : text("");
  }

  yaml_document_t* document_;
  const yaml_node_t* node_;
  std::string origin_;
};

class SlurmYaml {
 public:
  explicit SlurmYaml(const std::string& origin) : origin_(origin), tree_(origin) {}

  NetworkPart read(const YamlPlace& root) {
    const YamlPlace topology = chosen(root);
    if (const auto tree = topology.find("tree")) return read_tree(*tree);
    if (const auto block = topology.find("block")) return read_blocks(*block);
    if (const auto flat = topology.find("flat")) {
      if (!flat->is_mapping() && !flat->truth())
        flat->place().expected("'flat: true', 'tree:' or 'block:'", "flat: false");
      return {};  // no host is below a switch
    }
    for (const char* name : {"ring", "torus3d"}) {
      if (const auto other = topology.find(name)) {
        throw core::Error(core::Fault::kUnsupported, origin_ + ": line " + std::to_string(other->line()) +
                                                         ": topology/" + name + " is not a tree of switches");
      }
    }
    topology.place().expected("'tree:', 'block:' or 'flat: true'", "none of them");
  }

 private:
  // The first topology with cluster_default: true, else the first one.
  static YamlPlace chosen(const YamlPlace& root) {
    const std::vector<YamlPlace> topologies = root.list("a list of topologies");
    if (topologies.empty()) root.place().expected("at least one topology", "");
    for (const YamlPlace& each : topologies) {
      each.check_keys({"topology", "cluster_default", "tree", "block", "flat", "ring", "torus3d"});
      (void)each.field("topology").text("the topology's name");
    }
    const auto is_default = [](const YamlPlace& each) {
      const auto value = each.find("cluster_default");
      return value && value->truth();
    };
    const auto found = std::find_if(topologies.begin(), topologies.end(), is_default);
    return found != topologies.end() ? *found : topologies.front();
  }

  NetworkPart read_tree(const YamlPlace& tree) {
    tree.check_keys({"switches"});
    for (const YamlPlace& each : tree.field("switches").list("a list of switches")) {
      each.check_keys({"switch", "children", "nodes"});
      const std::size_t index = add(each.field("switch"));
      if (const auto list = each.find("children")) {
        for_each_text(*list, [&](const std::string& text, std::size_t line) { tree_.put_switches(index, text, line); });
      }
      if (const auto list = each.find("nodes")) put_nodes(index, *list);
    }
    return tree_.build();
  }

  NetworkPart read_blocks(const YamlPlace& block) {
    block.check_keys({"block_sizes", "blocks"});
    std::vector<std::int64_t> sizes;
    if (const auto list = block.find("block_sizes")) {
      for (const YamlPlace& size : list->list("a list of sizes")) sizes.push_back(size.integer());
      check_block_sizes(sizes, list->place());
    }
    for (const YamlPlace& each : block.field("blocks").list("a list of blocks")) {
      each.check_keys({"block", "nodes"});
      const std::size_t index = add(each.field("block"));
      if (const auto list = each.find("nodes")) put_nodes(index, *list);
    }
    return tree_.build_blocks(sizes);
  }

  std::size_t add(const YamlPlace& name) {
    const std::string text = name.text("a name");
    const std::vector<std::string> names = expand_hostlist(text, name.place());
    if (names.size() != 1 || names.front() != text) name.place().expected("one name", text);
    return tree_.add(text, name.line());
  }

  void put_nodes(std::size_t index, const YamlPlace& list) {
    for_each_text(list, [&](const std::string& text, std::size_t line) { tree_.put_hosts(index, text, line); });
  }

  // One hostlist expression, or a list of them.
  template <typename Function>
  static void for_each_text(const YamlPlace& place, Function function) {
    const std::string what = "hosts or switches like n[0-3]";
    if (!place.is_list()) return function(place.text(what), place.line());
    for (const YamlPlace& each : place.list(what)) function(each.text(what), each.line());
  }

  std::string origin_;
  SwitchTree tree_;
};

}  // namespace

NetworkPart read_slurm_yaml(std::string_view bytes, const std::string& origin) {
  const YamlDocument document(bytes, origin);
  const yaml_node_t* root = yaml_document_get_root_node(document.get());
  if (root == nullptr) LinePlace{origin, 1}.expected("a list of topologies", "");
  return SlurmYaml(origin).read(YamlPlace(document.get(), root, origin));
}

}  // namespace ranktree::io
