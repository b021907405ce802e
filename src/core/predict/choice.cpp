#include "core/predict/choice.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <vector>

#include "core/base/error.h"
#include "core/schedule/makers.h"
#include "core/schedule/schedule.h"
#include "core/schedule/transform.h"

namespace ranktree::core::predict {
namespace {

using schedule::Algorithm;
using schedule::Collective;
using schedule::Form;
using schedule::Rank;

constexpr std::string_view kVariants[] = {"native", "messages", "shared", "levels"};
constexpr std::size_t kMaxLevels = 64;  // algorithms in one text

struct Unit {
  char letter;
  std::int64_t bytes;
};
constexpr std::int64_t kKilo = 1024;
constexpr Unit kUnits[] = {{'G', kKilo * kKilo * kKilo}, {'M', kKilo * kKilo}, {'K', kKilo}};

std::string size_text(std::int64_t bytes) {
  for (const Unit& unit : kUnits) {
    if (bytes % unit.bytes == 0) return std::to_string(bytes / unit.bytes) + unit.letter;
  }
  return std::to_string(bytes);
}

std::string algorithms_text(const std::vector<Algorithm>& algorithms) {
  std::string text;
  for (const Algorithm each : algorithms) text += (text.empty() ? "" : "/") + std::string(algorithm_name(each));
  return text;
}

std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

class Reader {
 public:
  Reader(std::string_view text, Collective collective) : text_(text), collective_(collective) {}

  [[nodiscard]] Choice read() const {
    const std::vector<std::string_view> words = parts_of(text_, ':');
    const auto* const variant = std::find(std::begin(kVariants), std::end(kVariants), words[0]);
    if (variant == std::end(kVariants)) fail("variant", "native, messages, shared or levels", words[0]);
    Choice choice{.variant = static_cast<Variant>(variant - std::begin(kVariants))};
    std::size_t next = 1;
    if (choice.variant == Variant::kMessages || choice.variant == Variant::kShared) {
      choice.composition.form = default_form(collective_);
      choice.composition.algorithms = algorithms(words.size() > 1 ? words[1] : std::string_view(), choice.variant);
      next = 2;
    }
    std::vector<std::string_view> seen;
    for (; next < words.size(); ++next) {
      const std::size_t equals = words[next].find('=');
      const std::string_view name = words[next].substr(0, equals);
      if (std::find(seen.begin(), seen.end(), name) != seen.end()) fail(name, "once", "again");
      seen.push_back(name);
      set(choice, name, equals == std::string_view::npos ? std::string_view() : words[next].substr(equals + 1));
    }
    check(choice);
    return choice;
  }

 private:
  [[noreturn]] void fail(std::string_view field, std::string_view expected, std::string_view found) const {
    throw Error(Fault::kInput, "choice '" + std::string(text_) + "': " + std::string(field) + ": expected " +
                                   std::string(expected) + ", found '" + std::string(found) + "'");
  }

  [[nodiscard]] std::vector<Algorithm> algorithms(std::string_view list, Variant variant) const {
    std::vector<Algorithm> found;
    for (const std::string_view word : parts_of(list, '/')) {
      const auto algorithm = schedule::algorithm_from_name(word);
      if (!algorithm) fail("algorithm", "one of " + known_algorithms(), word);
      found.push_back(*algorithm);
    }
    if (found.size() > kMaxLevels) fail("algorithm", "at most " + std::to_string(kMaxLevels), list);
    if (variant == Variant::kShared && found.size() > 1) fail("algorithm", "one", list);
    return found;
  }

  [[nodiscard]] std::string known_algorithms() const {
    std::string names;
    for (const Algorithm algorithm : schedule::algorithms_of(collective_)) {
      names += (names.empty() ? "" : ", ") + std::string(algorithm_name(algorithm));
    }
    return names + " (of " + std::string(collective_name(collective_)) + ")";
  }

  void set(Choice& choice, std::string_view name, std::string_view value) const {
    const bool messages = choice.variant == Variant::kMessages;
    if (name == "segment" && (messages || choice.variant == Variant::kShared)) {
      choice.composition.segment = number(name, value, std::numeric_limits<std::int64_t>::max());
    } else if (name == "groups" && (messages || choice.variant == Variant::kLevels)) {
      choice.groups = static_cast<Rank>(number(name, value, std::numeric_limits<Rank>::max()));
    } else if (name == "form" && messages) {
      const auto form = schedule::form_from_name(value);
      if (!form) fail(name, "leaders, lanes or same-index", value);
      choice.composition.form = *form;
    } else {
      fail("field", fields_of(choice.variant), name);
    }
  }

  static std::string_view fields_of(Variant variant) {
    if (variant == Variant::kMessages) return "form, segment or groups";
    if (variant == Variant::kShared) return "segment";
    return variant == Variant::kLevels ? "groups" : "nothing";
  }

  // Digits, then K, M or G.
  [[nodiscard]] std::int64_t number(std::string_view name, std::string_view value, std::int64_t most) const {
    std::string_view digits = value;
    std::int64_t unit = 1;
    for (const Unit& each : kUnits) {
      if (digits.empty() || digits.back() != each.letter) continue;
      unit = each.bytes;
      digits.remove_suffix(1);
      break;
    }
    std::int64_t read = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), read);
    if (error != std::errc() || end != digits.data() + digits.size() || read < 0 || read > most / unit) {
      fail(name, "a number from 0 to " + std::to_string(most) + " with K, M, G or nothing behind it", value);
    }
    return read * unit;
  }

  // Refuses choices that are invalid on every machine.
  void check(const Choice& choice) const {
    if (choice.variant != Variant::kMessages) return;
    const bool flat = choice.groups == 1;
    if (flat) {
      const auto known = schedule::algorithms_of(collective_);
      const Algorithm algorithm = choice.composition.algorithms[0];
      if (choice.composition.algorithms.size() > 1) fail("algorithm", "one, for there is no hierarchy", "several");
      if (std::find(known.begin(), known.end(), algorithm) == known.end()) {
        fail("algorithm", "one of " + known_algorithms(), algorithm_name(algorithm));
      }
      return;
    }
    const auto forms = schedule::forms_of(collective_);
    if (std::find(forms.begin(), forms.end(), choice.composition.form) == forms.end()) {
      fail("form", "a form of " + std::string(collective_name(collective_)), form_name(choice.composition.form));
    }
    if (choice.groups > 1 && choice.composition.algorithms.size() > 2)
      fail("algorithm", "one or two with groups", "more");
  }

  std::string_view text_;
  Collective collective_;
};

// The fields that count: those the variant does not use have their defaults.
auto used(const Choice& choice) {
  const bool messages = choice.variant == Variant::kMessages;
  const bool has_algorithms = messages || choice.variant == Variant::kShared;
  return std::make_tuple(choice.variant, messages && choice.groups != 1 ? choice.composition.form : Form::kLeaders,
                         has_algorithms ? choice.composition.algorithms : std::vector<Algorithm>(),
                         has_algorithms ? choice.composition.segment : 0,
                         messages || choice.variant == Variant::kLevels ? choice.groups : 0);
}

}  // namespace

bool Choice::operator==(const Choice& other) const { return used(*this) == used(other); }

std::string to_text(const Choice& choice) {
  const auto [variant, form, algorithms, segment, groups] = used(choice);
  std::string text(kVariants[static_cast<std::size_t>(variant)]);
  if (!algorithms.empty()) text += ":" + algorithms_text(algorithms);
  // The form is always written, since each collective has another default.
  if (variant == Variant::kMessages && groups != 1) text += ":form=" + std::string(form_name(form));
  if (segment != 0) text += ":segment=" + size_text(segment);
  if (groups != 0) text += ":groups=" + std::to_string(groups);
  return text;
}

Choice choice_from_text(std::string_view text, Collective collective) { return Reader(text, collective).read(); }

}  // namespace ranktree::core::predict
