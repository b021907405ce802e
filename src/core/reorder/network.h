// What an algorithm spread over processes needs of them, so that it runs on MPI and, for tests, inside one process.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <numeric>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace ranktree::core::reorder {

using Bytes = std::vector<std::byte>;

// A list as a message has it, behind what is there; take() takes the next one from the front.
template <typename Item>
void append(Bytes& bytes, const std::vector<Item>& items) {
  const std::size_t start = bytes.size();
  const std::uint64_t count = items.size();
  bytes.resize(start + sizeof(count) + count * sizeof(Item));
  std::memcpy(bytes.data() + start, &count, sizeof(count));
  if (count > 0) std::memcpy(bytes.data() + start + sizeof(count), items.data(), count * sizeof(Item));
}

template <typename Item>
std::vector<Item> take(std::span<const std::byte>& bytes) {
  std::uint64_t count = 0;
  std::memcpy(&count, bytes.data(), sizeof(count));
  std::vector<Item> items(count);
  if (count > 0) std::memcpy(static_cast<void*>(items.data()), bytes.data() + sizeof(count), count * sizeof(Item));
  bytes = bytes.subspan(sizeof(count) + count * sizeof(Item));
  return items;
}

// Ids 0, 1, ... are spread over shards; under MPI id k is rank k's and each rank is one shard. Every function but the
// first two is collective over all shards: it returns on all or throws on all.
class Network {
 public:
  Network() = default;
  virtual ~Network() = default;
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;
  Network(Network&&) = delete;
  Network& operator=(Network&&) = delete;

  [[nodiscard]] virtual int shard_of(int id) const = 0;
  // The ids of the calling shard, ascending.
  [[nodiscard]] virtual std::vector<int> held() const = 0;
  // Messages by the shard they are for; returns those for the caller by sender.
  virtual std::map<int, Bytes> exchange(const std::map<int, Bytes>& messages) = 0;
  // Element by element over all shards.
  virtual std::vector<double> sum(const std::vector<double>& own) = 0;
  // What the shard of id 0 gives, everywhere.
  virtual Bytes broadcast(const Bytes& bytes) = 0;
};

// The content of a letter that needs none.
struct Nothing {
  std::int32_t unused = 0;  // no byte without a value leaves the process
};

// One message from an id to another.
template <typename Content>
struct Letter {
  int to = 0;
  int from = 0;
  Content content{};
};

// Collective. Letters for the ids held here by receiver, then sender, those of one sender in the order they were sent:
// the answer does not depend on how ids are spread. O(n log n) of those sent and received.
template <typename Content>
std::vector<Letter<Content>> deliver(Network& network, const std::vector<Letter<Content>>& letters) {
  using Item = Letter<Content>;
  static_assert(std::is_trivially_copyable_v<Item>, "letters travel as bytes");
  static_assert(sizeof(Item) == 2 * sizeof(int) + sizeof(Content), "no byte without a value leaves the process");
  std::map<int, Bytes> messages;
  for (const Item& letter : letters) {
    const auto bytes = std::as_bytes(std::span(&letter, 1));
    Bytes& message = messages[network.shard_of(letter.to)];
    message.insert(message.end(), bytes.begin(), bytes.end());
  }
  const std::map<int, Bytes> arrived = network.exchange(messages);
  messages.clear();
  std::size_t count = 0;
  for (const auto& [shard, message] : arrived) count += message.size() / sizeof(Item);
  std::vector<Item> received(count);
  auto* next = reinterpret_cast<std::byte*>(received.data());
  for (const auto& [shard, message] : arrived) {
    if (message.empty()) continue;
    std::memcpy(next, message.data(), message.size());
    next += message.size();
  }
  std::stable_sort(received.begin(), received.end(),
                   [](const Item& a, const Item& b) { return std::tie(a.to, a.from) < std::tie(b.to, b.from); });
  return received;
}

// The run of letters to one receiver that starts at `letters`' front; `letters` then starts behind it.
template <typename Content>
std::span<const Letter<Content>> take_run(std::span<const Letter<Content>>& letters, int to) {
  while (!letters.empty() && letters.front().to < to) letters = letters.subspan(1);
  std::size_t length = 0;
  while (length < letters.size() && letters[length].to == to) ++length;
  const auto run = letters.first(length);
  letters = letters.subspan(length);
  return run;
}

// All ids in one process: what is written for many runs at once, one after the other.
class LoneNetwork : public Network {
 public:
  explicit LoneNetwork(int ids) : ids_(ids) {}
  [[nodiscard]] int shard_of(int /*id*/) const override { return 0; }
  [[nodiscard]] std::vector<int> held() const override {
    std::vector<int> all(static_cast<std::size_t>(ids_));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  std::map<int, Bytes> exchange(const std::map<int, Bytes>& messages) override { return messages; }
  std::vector<double> sum(const std::vector<double>& own) override { return own; }
  Bytes broadcast(const Bytes& bytes) override { return bytes; }

 private:
  int ids_;
};

}  // namespace ranktree::core::reorder
