// All ids in one process: what has been written for many runs at once, one after the other.
#pragma once

#include <map>
#include <numeric>
#include <vector>

#include "core/reorder/network.h"

namespace ranktree::core::reorder {

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
