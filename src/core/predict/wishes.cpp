#include "core/predict/wishes.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/predict/choice.h"
#include "core/schedule/makers.h"

namespace ranktree::core::predict {
namespace {

using schedule::Collective;

constexpr std::string_view kSeparators = "; \t\n";

std::optional<Collective> collective_from_word(std::string_view word) {
  if (word == "bcast") return Collective::kBroadcast;
  if (word == "reduce_scatter_block") return Collective::kReduceScatter;
  return schedule::collective_from_name(word);
}

std::string collective_words() {
  std::string words = "all, bcast, reduce_scatter_block";
  for (std::size_t i = 0; i < schedule::kCollectives; ++i) {
    words += ", " + std::string(collective_name(static_cast<Collective>(i)));
  }
  return words;
}

Wish wish_from_text(std::string_view text, Collective collective) {
  if (text == "auto") return {.automatic = true, .choice = {}};
  return {.automatic = false, .choice = choice_from_text(text, collective)};
}

// For all collectives that can have it; an error where none can.
void wish_for_all(std::string_view text, Wishes& wishes) {
  bool somewhere = false;
  std::string first;
  for (std::size_t i = 0; i < wishes.size(); ++i) {
    try {
      wishes.at(i) = wish_from_text(text, static_cast<Collective>(i));
      somewhere = true;
    } catch (const Error& error) {
      if (first.empty()) first = error.what();
    }
  }
  if (!somewhere) throw Error(Fault::kInput, first);
}

void wish_for(std::string_view entry, Wishes& wishes) {
  const std::size_t equals = entry.find('=');
  const std::string_view name = entry.substr(0, equals);
  if (name == "all") return;
  const auto collective = collective_from_word(name);
  if (!collective) {
    throw Error(Fault::kInput, "'" + std::string(entry) + "': expected one of " + collective_words() + ", found '" +
                                   std::string(name) + "'");
  }
  wishes.at(static_cast<std::size_t>(*collective)) = wish_from_text(entry.substr(equals + 1), *collective);
}

template <typename Use>
void for_each_entry(std::string_view text, Use use) {
  for (std::size_t begin = text.find_first_not_of(kSeparators); begin != std::string_view::npos;
       begin = text.find_first_not_of(kSeparators, begin)) {
    const std::size_t end = std::min(text.find_first_of(kSeparators, begin), text.size());
    use(text.substr(begin, end - begin));
    begin = end;
  }
}

// "bcast=..." and "all=..." are entries; "messages:ring:groups=4" is not.
bool is_entry(std::string_view text) {
  const std::size_t end = text.find_first_of(":=/.");
  return end != std::string_view::npos && text[end] == '=';
}

}  // namespace

bool is_inline(std::string_view text) {
  if (is_entry(text)) return true;
  const std::string_view word = text.substr(0, text.find_first_of(":; \t\n"));
  constexpr std::array<std::string_view, 6> kWords{"", "auto", "native", "messages", "shared", "levels"};
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

Wishes wishes_from_text(std::string_view text) {
  Wishes wishes;
  if (text.find_first_not_of(kSeparators) == std::string_view::npos) text = "auto";
  if (!is_entry(text)) {
    wish_for_all(text, wishes);
    return wishes;
  }
  for_each_entry(text, [&](std::string_view entry) {
    if (entry.starts_with("all=")) wish_for_all(entry.substr(4), wishes);
  });
  for_each_entry(text, [&](std::string_view entry) { wish_for(entry, wishes); });
  return wishes;
}

}  // namespace ranktree::core::predict
